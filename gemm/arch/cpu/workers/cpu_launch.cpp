// Options from the environment, and handing the blocks of a grid to workers.
#include "weft/gemm/arch/cpu/executor/cpu_options.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "weft/gemm/arch/cpu/workers/cpu_stack_watch.hpp"
#include "weft/gemm/arch/cpu/workers/cpu_worker.hpp"

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

// Why this cannot be launched; empty if it can.
std::string LaunchFault(const cpu::GridLaunch& launch, const CpuOptions& options) {
  if (!options.invalid.empty()) return options.invalid;
  const auto schedule = static_cast<int>(options.schedule);
  if (schedule < 0 || schedule > static_cast<int>(Schedule::kRandom)) {
    return "CPU executor: options.schedule is " + std::to_string(schedule) +
           ", which names no schedule";
  }
  const auto copies = static_cast<int>(options.copies);
  if (copies < 0 || copies > static_cast<int>(Copies::kDeferred)) {
    return "CPU executor: options.copies is " + std::to_string(copies) +
           ", neither eager nor deferred";
  }
  constexpr int64_t kLeastStack = int64_t{64} << 10, kMostStack = int64_t{1} << 30;
  if (options.stack_bytes < kLeastStack || options.stack_bytes > kMostStack) {
    return "CPU executor: options.stack_bytes (WEFT_CPU_STACK) is " +
           std::to_string(options.stack_bytes) + "; a lane's stack has " +
           std::to_string(kLeastStack) + " to " + std::to_string(kMostStack) + " bytes";
  }
  const auto extents = [](Dim3 d) {
    return std::to_string(d.x) + " x " + std::to_string(d.y) + " x " + std::to_string(d.z);
  };
  const Dim3 grid = launch.grid;
  constexpr int kMostYZ = 65535;
  if (grid.x < 1 || grid.y < 1 || grid.z < 1 || grid.y > kMostYZ || grid.z > kMostYZ) {
    return "CPU executor: a grid of " + extents(grid) +
           " blocks; each extent is at least 1, and y and z at most 65535";
  }
  const Dim3 cluster = launch.attributes.cluster;
  constexpr int kMostBlocks = 16;
  const auto fits = [](int blocks, int of) {
    return blocks >= 1 && blocks <= kMostBlocks && of % blocks == 0;
  };
  if (!fits(cluster.x, grid.x) || !fits(cluster.y, grid.y) || !fits(cluster.z, grid.z) ||
      cluster.x * cluster.y * cluster.z > kMostBlocks) {
    return "CPU executor: clusters of " + extents(cluster) + " blocks for a grid of " +
           extents(grid) + "; each extent divides the grid's, and a cluster has at most 16 blocks";
  }
  if (cluster.x * cluster.y * cluster.z > 1 && !launch.engines) {
    return "CPU executor: clusters need a kernel whose kRequires.min is 90";
  }
  return {};
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

void Add(const CpuStats& from, CpuStats* to) {
  to->blocks += from.blocks;
  to->switches += from.switches;
  to->collectives += from.collectives;
  to->mma += from.mma;
  to->wgmma += from.wgmma;
  to->bulk_copies += from.bulk_copies;
  to->ldmatrix_phases += from.ldmatrix_phases;
  to->ldmatrix_wavefronts += from.ldmatrix_wavefronts;
  to->shared_phases += from.shared_phases;
  to->shared_wavefronts += from.shared_wavefronts;
  to->bulk_bytes += from.bulk_bytes;
  for (const auto traffic : {&CpuStats::global_loads, &CpuStats::global_stores}) {
    (to->*traffic).bytes += (from.*traffic).bytes;
    (to->*traffic).sampled_bytes += (from.*traffic).sampled_bytes;
    (to->*traffic).sampled_sectors += (from.*traffic).sampled_sectors;
  }
}

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
  ReadNumber("WEFT_CPU_STACK", &options.stack_bytes, &options.invalid);
  return options;
}

namespace cpu {

namespace {

// Kernels round to nearest and keep subnormal numbers, whatever the caller has set (or a library that was linked with
// -ffast-math, which flushes them in the whole program). Threads that are started meanwhile inherit it.
class DefaultFloatingPoint {
 public:
  DefaultFloatingPoint() {
    std::fegetenv(&callers_);
    std::fesetenv(FE_DFL_ENV);
#if defined(__SSE2__)
    _mm_setcsr(
        0x1F80);  // the value at a program's start; FE_DFL_ENV of old C libraries keeps the flags that flush
#endif
  }
  ~DefaultFloatingPoint() { std::fesetenv(&callers_); }
  DefaultFloatingPoint(const DefaultFloatingPoint&) = delete;
  DefaultFloatingPoint& operator=(const DefaultFloatingPoint&) = delete;

 private:
  std::fenv_t callers_;
};

}  // namespace

CpuReport cpu::RunGrid(const GridLaunch& launch, const CpuOptions& options) {
  CpuReport report;
  report.error = LaunchFault(launch, options);
  if (!report.ok()) return report;
  const DefaultFloatingPoint floating_point;
  const StackWatch stack_watch;

  const Dim3 cluster = launch.attributes.cluster;
  const int64_t cluster_blocks = int64_t{cluster.x} * cluster.y * cluster.z;
  const int64_t clusters = int64_t{launch.grid.x} * launch.grid.y * launch.grid.z / cluster_blocks;
  std::atomic<int64_t> next{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;  // of report and failed_cluster
  int64_t failed_cluster = clusters;

  // Clusters are handed out in order and those begun are finished, so the lowest that fails is
  // always among the ones that have run.
  const auto work = [&] {
    std::unique_ptr<Worker> worker = Worker::Take();
    {
      const WatchedThread watched(*worker);
      while (!stop.load(std::memory_order_relaxed)) {
        const int64_t index = next.fetch_add(1, std::memory_order_relaxed);
        if (index >= clusters) break;
        std::string error = worker->RunCluster(launch, options, index);
        if (error.empty()) continue;
        stop.store(true, std::memory_order_relaxed);
        const std::lock_guard<std::mutex> lock(mutex);
        if (index < failed_cluster) {
          failed_cluster = index;
          report.error = std::move(error);
        }
      }
    }
    CpuStats stats;
    worker->TakeStats(&stats);
    Worker::Give(std::move(worker));
    const std::lock_guard<std::mutex> lock(mutex);
    Add(stats, &report.stats);
  };

  std::vector<std::thread> threads;
  const int workers = WorkerCount(options, clusters);
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
