// Stacks, shared memory, and what a block needs to begin and to be left.
#include "weft/gemm/arch/cpu/workers/cpu_slot.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "weft/gemm/arch/cpu/executor/cpu_schedule.hpp"

namespace weft::arch::cpu {
namespace {

constexpr size_t kPage = 4096;
// A guard below each stack, as large as a frame that shall not step over it: addresses alone, no memory. Its odd page
// also spreads the stacks' tops over the L2 cache.
constexpr size_t kGuard = 257 * kPage;

// Space on both sides of the shared memory: untouchable under ASan, else watched for changes.
constexpr size_t kFence = 1024;
constexpr size_t kSharedAlignment = 1024;
constexpr uint32_t kFencePattern = 0xFE9CEFE9u;

size_t RoundUp(size_t value, size_t to) {
  return (value + to - 1) / to * to;
}

// ThreadSanitizer's reports call the lane by its name.
void* NewTsanFiber(int warp, int lane) {
  void* fiber = __tsan_create_fiber(0);
  const std::string name = "warp " + std::to_string(warp) + " lane " + std::to_string(lane);
  __tsan_set_fiber_name(fiber, name.c_str());
  return fiber;
}

}  // namespace

size_t Slot::WarpStacks() const {
  return (stack_bytes_ + kGuard) * kWarpLanes;
}

void Slot::FreeWarps() {
  for (size_t w = 0; w < lanes_.size(); ++w) {
    for (int l = 0; UnderTsan() && l < kWarpLanes; ++l) {
      __tsan_destroy_fiber(lanes_[w][l].context.tsan_fiber);
    }
    munmap(stacks_[w], WarpStacks());
  }
  lanes_.clear();
  warp_lanes_.clear();
  stacks_.clear();
}

Slot::~Slot() {
  FreeWarps();
  std::free(arena_);
  std::free(async_image_);
}

bool Slot::AddWarp() {
  void* memory = mmap(nullptr, WarpStacks(), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  auto* stacks = static_cast<char*>(memory);
  auto lanes = std::make_unique<Lane[]>(kWarpLanes);
  const int warp = static_cast<int>(lanes_.size());
  for (int l = 0; l < kWarpLanes; ++l) {
    char* guard = stacks + l * (stack_bytes_ + kGuard);
    // May fail when the process has too many mappings: then the stack has no guard, but works.
    (void)mprotect(guard, kGuard, PROT_NONE);
    Lane& lane = lanes[l];
    lane.tid = warp * kWarpLanes + l;
    lane.lane = l;
    lane.warp = warp;
    lane.context.stack_low = guard + kGuard;
    lane.context.stack_bytes = stack_bytes_;
    if (UnderTsan()) lane.context.tsan_fiber = NewTsanFiber(warp, l);
  }
  warp_lanes_.push_back(lanes.get());
  lanes_.push_back(std::move(lanes));
  stacks_.push_back(stacks);
  return true;
}

bool Slot::IsBehindStack(const void* address) const {
  for (const char* stacks : stacks_) {
    const auto at = reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(stacks);
    if (at < WarpStacks()) return at % (stack_bytes_ + kGuard) < kGuard;
  }
  return false;
}

bool Slot::Reserve(const GridLaunch& launch, size_t stack_bytes) {
  stack_bytes = RoundUp(stack_bytes, 2 * kPage);  // even, as the guard is odd
  if (stack_bytes_ != stack_bytes) {
    FreeWarps();
    stack_bytes_ = stack_bytes;
  }
  const size_t shared_bytes = launch.shared_bytes;
  if (warps_ == nullptr) warps_ = std::make_unique<Warp[]>(kMaxWarps);
  while (static_cast<int>(lanes_.size()) * kWarpLanes < launch.threads) {
    if (!AddWarp()) return false;
  }
  const size_t needed = kFence + RoundUp(shared_bytes, kSharedAlignment) + kFence;
  if (arena_bytes_ < needed) {
    std::free(arena_);
    arena_ = static_cast<char*>(std::aligned_alloc(kSharedAlignment, needed));
    arena_bytes_ = arena_ != nullptr ? needed : 0;
  }
  if (launch.engines && async_bytes_ < needed) {
    std::free(async_image_);
    async_image_ = static_cast<char*>(std::aligned_alloc(kSharedAlignment, needed));
    async_bytes_ = async_image_ != nullptr ? needed : 0;
    if (async_image_ == nullptr) return false;
    if (async_ == nullptr) async_ = std::make_unique<Async>();
  }
  shared_bytes_ = shared_bytes;
  return arena_ != nullptr;
}

void Slot::FillShared(uint64_t seed, bool poison) {
  char* shared = arena_ + kFence;
  AsanUnpoison(arena_, arena_bytes_);
  for (size_t i = 0; i < kFence; i += 4) {
    __builtin_memcpy(arena_ + i, &kFencePattern, 4);
    __builtin_memcpy(shared + shared_bytes_ + i % (kFence / 2), &kFencePattern, 4);
  }
  const auto fill = [&](char* image, uint32_t word) {
    for (size_t i = 0; i + 4 <= shared_bytes_; i += 4, word += 0x9E3779B9u) {
      __builtin_memcpy(image + i, &word, 4);
    }
  };
  const auto word = static_cast<uint32_t>(seed * 0x9E3779B97F4A7C15ull >> 32) | 1u;
  if (poison) fill(shared, word);
  if (poison && block_.async != nullptr) fill(async_image_, ~word);
  AsanPoison(arena_, kFence);
  AsanPoison(shared + shared_bytes_, arena_bytes_ - kFence - shared_bytes_);
}

bool Slot::SharedFenceIntact() const {
  const char* end = arena_ + kFence + shared_bytes_;
  for (size_t i = 0; i < kFence; i += 4) {
    uint32_t before = 0;
    uint32_t after = 0;
    __builtin_memcpy(&before, arena_ + i, 4);
    __builtin_memcpy(&after, end + i % (kFence / 2), 4);
    if (before != kFencePattern || after != kFencePattern) return false;
  }
  return true;
}

bool Slot::StartBlock(const GridLaunch& launch, const CpuOptions& options, Dim3 at,
                      Cluster* cluster) {
  if (!Reserve(launch, static_cast<size_t>(options.stack_bytes))) return false;
  const int64_t index = at.x + int64_t{launch.grid.x} * (at.y + int64_t{launch.grid.y} * at.z);
  block_.index = at;
  block_.cluster = cluster;
  block_.rank = static_cast<int>(cluster->blocks.size());
  block_.has_started = false;
  block_.dependency_met = false;
  block_.launch = &launch;
  block_.warp_count = (launch.threads + kWarpLanes - 1) / kWarpLanes;
  block_.alive_warps = block_.warp_count;
  block_.ready = 0;
  block_.warps = warps_.get();
  block_.failure.happened = false;
  block_.shared_base = arena_ + kFence;
  block_.async_base = launch.engines ? async_image_ : nullptr;
  block_.async = launch.engines ? async_.get() : nullptr;
  for (Barrier& barrier : block_.barriers) {
    barrier.expected = barrier.arrived = 0;
    barrier.arrived_warps = barrier.waiting_warps = 0;
    barrier.dependency[0] = barrier.dependency[1] = false;
  }
  for (int w = 0; w < block_.warp_count; ++w) {
    Warp& warp = warps_[w];
    warp.index = w;
    warp.lanes = lanes_[w].get();
    warp.pending_count = 0;
    warp.cluster_arrivals = warp.cluster_waits = 0;
    warp.waits_for_cluster = false;
    for (auto& dependency : warp.sync_dependency) dependency[0] = dependency[1] = false;
    const int lanes = std::min(launch.threads - w * kWarpLanes, kWarpLanes);
    warp.population = warp.alive = lanes == kWarpLanes ? ~0u : (1u << lanes) - 1;
  }
  Prepare(block_, options);
  if (block_.async != nullptr) block_.async->Reset(block_, options);

  logs_accesses_ = index == 0;
  if (logs_accesses_) {
    logs_.resize(launch.threads);
    for (AccessLog& log : logs_) {
      log.shared.clear();
      log.loads.clear();
      log.stores.clear();
    }
  }
  for (int tid = 0; tid < launch.threads; ++tid) {
    Lane& lane = lanes_[tid / kWarpLanes][tid % kWarpLanes];
    lane.thread_count = launch.threads;
    lane.block_index = block_.index;
    lane.grid = launch.grid;
    lane.shared_base = block_.shared_base;
    lane.async = block_.async;
    lane.async_base = block_.async_base;
    lane.unfenced.clear();
    lane.store_groups = 0;
    lane.dependent = launch.attributes.dependent;
    lane.dependency_met = !lane.dependent;
    lane.shared_bytes = shared_bytes_;
    lane.preemptive = options.schedule == Schedule::kRandom;
    lane.access_log = logs_accesses_ ? &logs_[tid] : nullptr;
    lane.loaded_bytes = lane.stored_bytes = lane.bulk_bytes = 0;
    lane.copies.Reset(options.copies == Copies::kDeferred, options.poison);
    lane.warps = warp_lanes_.data();
    lane.block = &block_;
    lane.warp_state = &warps_[lane.warp];
    lane.waiting_in = Operation::kNotStarted;
    MakeFresh(&lane);
  }
  for (int w = 0; w < block_.warp_count; ++w) {
    warps_[w].runnable = 0;
    MakeRunnable(block_, warps_[w], warps_[w].population);
  }
  FillShared(options.seed + static_cast<uint64_t>(index), options.poison);
  cluster->blocks.push_back(&block_);
  ++cluster->alive_blocks;
  cluster->alive_warps += block_.warp_count;
  return true;
}

std::string Slot::EndBlock() {
  ++block_.stats.blocks;
  if (!block_.failure.happened && !SharedFenceIntact()) {
    block_.failure = {.happened = true,
                      .lane = nullptr,
                      .at = {},
                      .rule =
                          "shared memory: the kernel wrote outside its SharedStorage (build with "
                          "-fsanitize=address to see the line)"};
  }
  if (block_.async != nullptr) block_.async->ReleaseTo(&block_.end_token);
  Acquire(&block_.end_token);
  AsanUnpoison(arena_, arena_bytes_);
  if (block_.failure.happened) return Describe(block_);
  for (int w = 0; w < block_.warp_count; ++w) {
    for (int l = 0; l < kWarpLanes && (warps_[w].population >> l & 1) != 0; ++l) {
      block_.stats.global_loads.bytes += lanes_[w][l].loaded_bytes;
      block_.stats.global_stores.bytes += lanes_[w][l].stored_bytes;
      block_.stats.bulk_bytes += lanes_[w][l].bulk_bytes;
    }
  }
  if (logs_accesses_) CountAccesses(logs_, &block_.stats);
  return {};
}

void Slot::Abandon() {
  for (int w = 0; w < block_.warp_count; ++w) {
    AsanUnpoison(stacks_[w], WarpStacks());  // frames that nobody will leave
    for (int l = 0; UnderTsan() && l < kWarpLanes; ++l) {
      Lane& lane = lanes_[w][l];
      if (lane.waiting_in == Operation::kNotStarted) continue;
      // In the lane's name: what it did is over, the caller may look at it.
      constexpr unsigned kNoSync = 1;
      __tsan_switch_to_fiber(lane.context.tsan_fiber, kNoSync);
      Release(&block_.end_token);
      __tsan_switch_to_fiber(block_.cluster->worker.tsan_fiber, kNoSync);
      if (lane.waiting_in == Operation::kExited) continue;
      // The fiber's history of calls is unbalanced for good, so the next block gets a new one.
      __tsan_destroy_fiber(lane.context.tsan_fiber);
      lane.context.tsan_fiber = NewTsanFiber(w, l);
    }
  }
}

}  // namespace weft::arch::cpu
