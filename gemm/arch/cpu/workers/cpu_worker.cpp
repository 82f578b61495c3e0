// One cluster of blocks from start to end.
#include "weft/gemm/arch/cpu/workers/cpu_worker.hpp"

#include <mutex>
#include <string>
#include <utility>

#include "weft/gemm/arch/cpu/executor/cpu_schedule.hpp"

namespace weft::arch::cpu {
namespace {

// Idle workers. Initialised by the compiler, not on first use: ThreadSanitizer does not see what a
// guard in uninstrumented code orders. Never destroyed: a launch may come from a static destructor.
constinit std::mutex pool_mutex;
constinit std::vector<std::unique_ptr<Worker>>* pool = nullptr;  // guarded by pool_mutex

}  // namespace

std::unique_ptr<Worker> Worker::Take() {
  const std::lock_guard<std::mutex> lock(pool_mutex);
  if (pool == nullptr || pool->empty()) return std::make_unique<Worker>();
  std::unique_ptr<Worker> worker = std::move(pool->back());
  pool->pop_back();
  return worker;
}

void Worker::Give(std::unique_ptr<Worker> worker) {
  const std::lock_guard<std::mutex> lock(pool_mutex);
  if (pool == nullptr) pool = new std::vector<std::unique_ptr<Worker>>;
  pool->push_back(std::move(worker));
}

std::size_t Worker::FullStack(const void* address) const {
  for (const auto& slot : slots_) {
    if (slot->IsBehindStack(address)) return slot->stack_bytes();
  }
  return 0;
}

void Worker::TakeStats(CpuStats* stats) {
  for (const auto& slot : slots_) Add(slot->TakeStats(), stats);
}

std::string Worker::RunCluster(const GridLaunch& launch, const CpuOptions& options, int64_t index) {
  const Dim3 shape = launch.attributes.cluster;
  const int64_t across = launch.grid.x / shape.x, down = launch.grid.y / shape.y;
  const Dim3 first{.x = static_cast<int>(index % across) * shape.x,
                   .y = static_cast<int>(index / across % down) * shape.y,
                   .z = static_cast<int>(index / across / down) * shape.z};
  const auto size = static_cast<size_t>(shape.x * shape.y * shape.z);
  while (slots_.size() < size) slots_.push_back(std::make_unique<Slot>());

  cluster_.blocks.clear();
  cluster_.alive_blocks = cluster_.alive_warps = cluster_.arrived_warps = 0;
  cluster_.phase = 0;
  cluster_.dependency[0] = cluster_.dependency[1] = false;
  for (int rank = 0; rank < static_cast<int>(size); ++rank) {
    const Dim3 at{.x = first.x + rank % shape.x,
                  .y = first.y + rank / shape.x % shape.y,
                  .z = first.z + rank / shape.x / shape.y};
    if (!slots_[rank]->StartBlock(launch, options, at, &cluster_)) {
      return "CPU executor: no memory for the stacks or the shared memory of a block of " +
             std::to_string(launch.threads) + " threads";
    }
  }
  if (UnderTsan()) cluster_.worker.tsan_fiber = __tsan_get_current_fiber();
  for (size_t i = 0; i < size; ++i) Release(&slots_[i]->block().start_token);
  Enter(cluster_);

  bool failed = false;
  std::string error;
  for (size_t i = 0; i < size; ++i) failed |= slots_[i]->block().failure.happened;
  for (size_t i = 0; i < size; ++i) {
    if (failed) slots_[i]->Abandon();
    std::string text = slots_[i]->EndBlock();
    if (error.empty()) error = std::move(text);
  }
  return error;
}

}  // namespace weft::arch::cpu
