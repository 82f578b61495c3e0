// Copies in flight, and when the engines work.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "weft/gemm/arch/cpu/executor/cpu_async.hpp"
#include "weft/gemm/arch/cpu/executor/cpu_schedule.hpp"

namespace weft::arch::cpu {
namespace {

constexpr char kTma[] = "TMA";

struct EngineCall {
  void (*call)(void*);
  void* argument;
};

void EngineMain(context::transfer_t arrived) {
  const auto* call = static_cast<const EngineCall*>(arrived.data);
  call->call(call->argument);
  context::jump_fcontext(arrived.fctx, nullptr);
}

std::unique_ptr<Copy> NewCopy(Async& async) {
  if (async.spare.empty()) return std::make_unique<Copy>();
  std::unique_ptr<Copy> copy = std::move(async.spare.back());
  async.spare.pop_back();
  return copy;
}

// Moves the bytes and tells the barrier.
void Land(Block& block, size_t index) {
  const Unseen unseen;
  Async& async = *block.async;
  std::unique_ptr<Copy> copy = std::move(async.copies[index]);
  async.copies.erase(async.copies.begin() + static_cast<std::ptrdiff_t>(index));
  Mbarrier& barrier = *copy->barrier;
  if (copy->block->alive_warps == 0) {
    FailF(copy->lane, copy->at,
          "cluster: the block of rank %d has returned before this copy reached its shared memory",
          copy->block->rank);
  }
  async.tma.Run(kTma, 0, [&] {
    Acquire(&copy->token);
    if (copy->is_cp_async) {
      copy->finish(copy->queue);
    } else {
      copy->work.perform(copy->work);
    }
    Release(&barrier.token[barrier.phase & 1]);
  });
  barrier.dependency |= copy->dependency;
  if (copy->is_cp_async) {
    async.handed_over.insert(async.handed_over.end(), copy->unfenced.begin(), copy->unfenced.end());
    --barrier.pending;
  } else {
    ++block.stats.bulk_copies;
    barrier.tx -= copy->work.bytes;
  }
  Lane* lane = copy->lane;
  const Location at = copy->at;
  Block* barrier_block = copy->block;
  async.spare.push_back(std::move(copy));
  Settle(*barrier_block, barrier, lane, at);
}

void InFlight(Lane* lane, std::unique_ptr<Copy> copy) {
  Async& async = *lane->async;
  copy->lane = lane;
  copy->dependency = lane->dependency_met;
  Release(&copy->token);
  if (!copy->is_cp_async && async.deferred && async.poison) {
    async.tma.Run(kTma, 0, [&] {
      Acquire(&copy->token);
      copy->work.poison(copy->work);
    });
  }
  async.copies.push_back(std::move(copy));
  if (!async.deferred) Land(*lane->block, async.copies.size() - 1);
}

// Moves a store's bytes.
void ReadStore(Async& async, Store& store) {
  async.tma.Run(kTma, 0, [&] {
    Acquire(&store.token);
    store.work.perform(store.work);
    Release(&store.token);
  });
}

// Which of the copies that someone waits for (or of all) is next; -1 if there is none.
int NextCopy(Block& block, bool useful_only) {
  const auto& copies = block.async->copies;
  const auto count = static_cast<int>(copies.size());
  if (count == 0) return -1;
  const bool ordered = block.schedule == Schedule::kForward;
  const bool backward = block.schedule == Schedule::kReverse;
  const int start = ordered    ? 0
                    : backward ? count - 1
                               : static_cast<int>((NextRandom(block) >> 33) % count);
  for (int i = 0; i < count; ++i) {
    const int index = (backward ? start - i + count : start + i) % count;
    if (!useful_only || copies[index]->barrier->waiter_count > 0) return index;
  }
  return -1;
}

bool CopyStep(Block& block, bool useful_only) {
  const int index = NextCopy(block, useful_only);
  if (index < 0) return false;
  Land(block, static_cast<size_t>(index));
  return true;
}

bool TensorSteps(Block& block, bool useful_only) {
  const int first = block.schedule == Schedule::kForward || block.schedule == Schedule::kReverse
                        ? 0
                        : static_cast<int>((NextRandom(block) >> 33) % block.warp_count);
  for (int i = 0; i < block.warp_count; ++i) {
    if (TensorStep(block, (first + i) % block.warp_count, useful_only)) return true;
  }
  return false;
}

}  // namespace

Engine::~Engine() {
  if (tsan_fiber_ != nullptr) __tsan_destroy_fiber(tsan_fiber_);
  std::free(stack_);
}

void Engine::RunOnOwnStack(const char* name, int number, void (*call)(void*), void* argument) {
  constexpr unsigned kNoSync = 1;
  constexpr size_t kStackBytes = 128 * 1024;
  if (tsan_fiber_ == nullptr) {
    char text[64];
    std::snprintf(text, sizeof(text), name, number);
    tsan_fiber_ = __tsan_create_fiber(0);
    __tsan_set_fiber_name(tsan_fiber_, text);
    stack_ = static_cast<char*>(std::aligned_alloc(64, kStackBytes));
  }
  EngineCall to_make{call, argument};
  void* back = __tsan_get_current_fiber();
  const auto main = context::make_fcontext(stack_ + kStackBytes, kStackBytes, &EngineMain);
  __tsan_switch_to_fiber(tsan_fiber_, kNoSync);
  context::jump_fcontext(main, &to_make);
  __tsan_switch_to_fiber(back, kNoSync);
}

void Engine::ReleaseTo(void* token) {
  if (tsan_fiber_ == nullptr) return;
  RunOnOwnStack(kTma, 0, [](void* t) { Release(t); }, token);
}

void Async::ReleaseTo(void* token) {
  tma.ReleaseTo(token);
  for (TensorCore& core : tensor) core.engine.ReleaseTo(token);
}

void Async::Reset(Block& block, const CpuOptions& options) {
  const Unseen unseen;
  // Engines that are late, or early to some degree: each finds what the others hide.
  constexpr uint64_t kDegrees[] = {0, 512, 64, 8};
  const bool seeded = block.schedule == Schedule::kPriority || block.schedule == Schedule::kRandom;
  early_one_in = seeded ? kDegrees[NextRandom(block) >> 62] : 0;
  deferred = options.copies == Copies::kDeferred;
  poison = options.poison;
  barriers.clear();
  while (!copies.empty()) {
    spare.push_back(std::move(copies.back()));
    copies.pop_back();
  }
  stores.clear();
  handed_over.clear();
  for (TensorCore& core : tensor) {
    core.products.clear();
    core.groups.clear();
    core.uncommitted = 0;
    core.committed = 0;
    core.sums.clear();
    core.fenced = core.waits = false;
    core.issued = 0;
  }
  for (WarpgroupLog& log : warpgroups) {
    log.entries.clear();
    log.first = 0;
  }
  // What a launch gives each thread: the register file's equal share, in eights.
  constexpr int kRegisterFile = 65536, kUnit = 8, kMost = 248;
  const int share = kRegisterFile / (block.warp_count * kWarpLanes) / kUnit * kUnit;
  for (int w = 0; w < kMaxWarps; ++w) {
    registers[w] = block.launch->registers > 0 ? block.launch->registers : std::min(share, kMost);
    registers_wanted[w] = 0;
  }
  register_budget = registers[0] * block.warp_count;
}

// The copies go first or the products, and one may be late while the other is early.
bool EngineStep(Block& block, bool useful_only) {
  if (block.async == nullptr) return false;
  const bool tensor_first =
      block.schedule == Schedule::kReverse ||
      (block.schedule != Schedule::kForward && (NextRandom(block) >> 40 & 1) != 0);
  if (tensor_first) return TensorSteps(block, useful_only) || CopyStep(block, useful_only);
  return CopyStep(block, useful_only) || TensorSteps(block, useful_only);
}

void HandOverWrites(Lane* lane) {
  const Unseen unseen;
  auto& all = lane->async->handed_over;
  all.insert(all.end(), lane->unfenced.begin(), lane->unfenced.end());
  lane->unfenced.clear();
  constexpr size_t kMany = 1 << 16;
  if (all.size() < kMany) return;
  // Nobody fences, so the same addresses come again and again.
  const auto key = [](SharedRange r) { return uint64_t{r.offset} << 32 | r.bytes; };
  std::sort(all.begin(), all.end(), [&](SharedRange a, SharedRange b) { return key(a) < key(b); });
  all.erase(std::unique(all.begin(), all.end(),
                        [&](SharedRange a, SharedRange b) { return key(a) == key(b); }),
            all.end());
}

void PublishHandedOver(Lane* lane) {
  const Unseen unseen;
  for (const SharedRange range : lane->async->handed_over) {
    std::memcpy(lane->async_base + range.offset, lane->shared_base + range.offset, range.bytes);
  }
  lane->async->handed_over.clear();
}

void IssueCopy(Lane* lane, const MbarPlace& place, const CopyWork& work, Location at) {
  Mbarrier& barrier = FindMbarrier(lane, place, at);
  if (!barrier.fenced) {
    FailF(lane, at,
          "mbarrier at shared offset %u: TMA may not know it yet; FenceMbarInit is "
          "missing after MbarInit at %s:%u",
          barrier.offset, barrier.init_at.file_name(),
          static_cast<unsigned>(barrier.init_at.line()));
  }
  {
    const Unseen unseen;
    std::unique_ptr<Copy> copy = NewCopy(*lane->async);
    copy->work = work;
    copy->is_cp_async = false;
    copy->barrier = &barrier;
    copy->block = place.block;
    copy->at = at;
    InFlight(lane, std::move(copy));
  }
  if (lane->preemptive) Preempt(lane);
}

void IssueStore(Lane* lane, const CopyWork& work, Location at) {
  {
    const Unseen unseen;
    auto store = std::make_unique<Store>();
    store->work = work;
    store->lane = lane;
    store->at = at;
    store->group = lane->store_groups;
    Release(&store->token);
    Async& async = *lane->async;
    async.stores.push_back(std::move(store));
    if (!async.deferred) ReadStore(async, *async.stores.back());
  }
  if (lane->preemptive) Preempt(lane);
}

void CommitStores(Lane* lane) {
  ++lane->store_groups;
}

void WaitForStores(Lane* lane, int groups) {
  if (lane->preemptive) Preempt(lane);
  const Unseen unseen;
  auto& stores = lane->async->stores;
  const auto ends = [&](const std::unique_ptr<Store>& store) {
    return store->lane == lane && store->group < lane->store_groups - groups;
  };
  for (const auto& store : stores) {
    if (!ends(store)) continue;
    if (lane->async->deferred) ReadStore(*lane->async, *store);
    Acquire(&store->token);
  }
  std::erase_if(stores, ends);
}

void CheckStoresAtExit(Lane* lane) {
  for (const auto& store : lane->async->stores) {
    if (store->lane != lane) continue;
    FailF(
        lane, store->at,
        "TMA: a lane returned from the kernel before its store had been read (TmaStoreWaitRead is "
        "missing or too short, or the group was not committed)");
  }
}

void LandValues(Block& block) {
  auto& copies = block.async->copies;
  for (size_t i = 0; i < copies.size();) {
    if (!copies[i]->is_cp_async && copies[i]->work.is_value) {
      Land(block, i);
    } else {
      ++i;
    }
  }
}

void IssueCpAsyncArrive(Lane* lane, const MbarPlace& place, void (*finish)(CopyQueue&),
                        Location at) {
  Mbarrier& barrier = FindMbarrier(lane, place, at);
  {
    const Unseen unseen;
    std::unique_ptr<Copy> copy = NewCopy(*lane->async);
    copy->is_cp_async = true;
    copy->finish = finish;
    lane->copies.MoveTo(&copy->queue);
    copy->unfenced.assign(lane->unfenced.begin(), lane->unfenced.end());
    lane->unfenced.clear();
    copy->barrier = &barrier;
    copy->block = place.block;
    copy->at = at;
    InFlight(lane, std::move(copy));
  }
  if (lane->preemptive) Preempt(lane);
}

}  // namespace weft::arch::cpu
