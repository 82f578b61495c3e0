// Options from the environment, and handing the blocks of a grid to workers.
#include "weft/gemm/arch/cpu_options.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "weft/gemm/arch/cpu_worker.hpp"

namespace weft::arch {
namespace {

constexpr int kMostDefaultWorkers = 32;

template <class T>
struct Choice {
  const char* name;
  T value;
};

template <class T, size_t N>
void ReadChoice(const char* variable, const Choice<T> (&choices)[N], T* value,
                std::string* invalid) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return;
  std::string names;
  for (const Choice<T>& choice : choices) {
    if (std::strcmp(text, choice.name) == 0) {
      *value = choice.value;
      return;
    }
    names += names.empty() ? "" : ", ";
    names += choice.name;
  }
  *invalid = std::string("CPU executor: ") + variable + "=" + text + " is not one of " + names;
}

template <class T>
void ReadNumber(const char* variable, T* value, std::string* invalid) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return;
  const char* end = text + std::strlen(text);
  T number{};
  const auto [stopped, error] = std::from_chars(text, end, number);
  if (error != std::errc() || stopped != end || number < T{0}) {
    *invalid = std::string("CPU executor: ") + variable + "=" + text +
               " is not a number from 0 on that fits its type";
    return;
  }
  *value = number;
}

void Add(const CpuStats& from, CpuStats* to) {
  to->blocks += from.blocks;
  to->switches += from.switches;
  to->collectives += from.collectives;
  to->mma += from.mma;
  to->ldmatrix_phases += from.ldmatrix_phases;
  to->ldmatrix_wavefronts += from.ldmatrix_wavefronts;
  to->shared_phases += from.shared_phases;
  to->shared_wavefronts += from.shared_wavefronts;
}

int WorkerCount(const CpuOptions& options, int64_t blocks) {
  // Starting a thread costs more than a small block; two of them run one after the other.
  constexpr int64_t kTooFewToShare = 2;
  int64_t workers = options.workers;
  if (workers <= 0) {
    if (blocks <= kTooFewToShare) return 1;
    workers = std::clamp<int64_t>(std::thread::hardware_concurrency(), 1, kMostDefaultWorkers);
  }
  return static_cast<int>(std::min(workers, blocks));
}

}  // namespace

CpuOptions CpuOptions::FromEnvironment() {
  CpuOptions options;
  ReadChoice<Copies>("WEFT_CPU_COPIES",
                     {{"eager", Copies::kEager}, {"deferred", Copies::kDeferred}}, &options.copies,
                     &options.invalid);
  ReadChoice<Schedule>("WEFT_CPU_SCHEDULE",
                       {{"forward", Schedule::kForward},
                        {"reverse", Schedule::kReverse},
                        {"priority", Schedule::kPriority},
                        {"random", Schedule::kRandom}},
                       &options.schedule, &options.invalid);
  ReadNumber("WEFT_CPU_SEED", &options.seed, &options.invalid);
  ReadNumber("WEFT_CPU_WORKERS", &options.workers, &options.invalid);
  return options;
}

namespace cpu {

CpuReport RunGrid(const GridLaunch& launch, const CpuOptions& options) {
  CpuReport report;
  report.error = options.invalid;
  const Dim3 grid = launch.grid;
  constexpr int kMostYZ = 65535;
  if (grid.x < 1 || grid.y < 1 || grid.z < 1 || grid.y > kMostYZ || grid.z > kMostYZ) {
    report.error = "CPU executor: a grid of " + std::to_string(grid.x) + " x " +
                   std::to_string(grid.y) + " x " + std::to_string(grid.z) +
                   " blocks; each extent is at least 1, and y and z at most 65535";
  }
  if (!report.ok()) return report;

  const int64_t blocks = int64_t{grid.x} * grid.y * grid.z;
  std::atomic<int64_t> next{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;  // of report and failed_block
  int64_t failed_block = blocks;

  // Blocks are handed out in order and those begun are finished, so the lowest that fails is always
  // among the ones that have run.
  const auto work = [&] {
    std::unique_ptr<Worker> worker = Worker::Take();
    while (!stop.load(std::memory_order_relaxed)) {
      const int64_t index = next.fetch_add(1, std::memory_order_relaxed);
      if (index >= blocks) break;
      std::string error = worker->RunBlock(launch, options, index);
      if (error.empty()) continue;
      stop.store(true, std::memory_order_relaxed);
      const std::lock_guard<std::mutex> lock(mutex);
      if (index < failed_block) {
        failed_block = index;
        report.error = std::move(error);
      }
    }
    const CpuStats stats = worker->TakeStats();
    Worker::Give(std::move(worker));
    const std::lock_guard<std::mutex> lock(mutex);
    Add(stats, &report.stats);
  };

  std::vector<std::thread> threads;
  const int workers = WorkerCount(options, blocks);
  for (int i = 1; i < workers; ++i) {
    try {
      threads.emplace_back(work);
    } catch (const std::system_error&) {
      break;  // the threads that there are do it all
    }
  }
  work();
  for (std::thread& thread : threads) thread.join();
  return report;
}

}  // namespace cpu
}  // namespace weft::arch
