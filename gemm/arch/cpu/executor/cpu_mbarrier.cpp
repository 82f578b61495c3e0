// mbarriers: a side table, found by the word that MbarInit leaves in shared memory.
#include <algorithm>
#include <bit>

#include "weft/gemm/arch/cpu/executor/cpu_async.hpp"
#include "weft/gemm/arch/cpu/executor/cpu_schedule.hpp"

namespace weft::arch::cpu {
namespace {

constexpr uint64_t kWordTag = 0x6D626172ull << 32;  // "mbar"; the low half is the table's index
constexpr int32_t kNeverSeen = -2;
constexpr int kMostTxBytes = (1 << 20) - 1;

// The barrier at `offset` whose word this is; null if there is none.
Mbarrier* Lookup(Block& block, uint32_t offset, uint64_t word) {
  const auto index = static_cast<uint32_t>(word);
  auto& barriers = block.async->barriers;
  if ((word & ~uint64_t{0xFFFFFFFF}) != kWordTag || index >= barriers.size()) return nullptr;
  return barriers[index]->offset == offset ? barriers[index].get() : nullptr;
}

}  // namespace

Mbarrier& FindMbarrier(Lane* lane, const MbarPlace& place, Location at) {
  if (Mbarrier* barrier = Lookup(*place.block, place.offset, place.word)) return *barrier;
  for (const auto& barrier : place.block->async->barriers) {
    if (barrier->offset != place.offset) continue;
    FailF(lane, at, "mbarrier at shared offset %u: overwritten since MbarInit at %s:%u",
          place.offset, barrier->init_at.file_name(),
          static_cast<unsigned>(barrier->init_at.line()));
  }
  FailF(lane, at, "mbarrier at shared offset %u: used before MbarInit", place.offset);
}

uint64_t MbarInit(Lane* lane, uint32_t offset, uint64_t old_word, int count, Location at) {
  const Unseen unseen;
  Block& block = *lane->block;
  if (count < 1 || count >= 1 << 20) {
    FailF(lane, at, "mbarrier: a count of %d; it is 1 to 1048575", count);
  }
  auto& barriers = block.async->barriers;
  Mbarrier* barrier = Lookup(block, offset, old_word);
  size_t index = static_cast<uint32_t>(old_word);
  if (barrier == nullptr) {
    index = barriers.size();
    for (size_t i = 0; i < barriers.size(); ++i) {
      if (barriers[i]->offset == offset) index = i;  // its word was overwritten: starts anew
    }
    if (index == barriers.size()) barriers.push_back(std::make_unique<Mbarrier>());
    barrier = barriers[index].get();
  }
  if (barrier->waiter_count > 0) {
    FailF(lane, at, "mbarrier at shared offset %u: initialised again while lanes wait for it",
          offset);
  }
  *barrier = Mbarrier{};
  barrier->offset = offset;
  barrier->count = barrier->pending = count;
  barrier->initialiser = lane;
  barrier->init_at = at;
  return kWordTag | index;
}

void FenceMbarInit(Lane* lane) {
  if (lane->async == nullptr) return;
  for (const auto& barrier : lane->async->barriers) {
    if (barrier->initialiser == lane) barrier->fenced = true;
  }
}

void Settle(Block& block, Mbarrier& barrier, Lane* lane, Location at) {
  if (barrier.pending > 0) return;
  if (barrier.tx < 0) {
    FailF(
        lane, at,
        "mbarrier at shared offset %u: %lld bytes more have arrived than its phase expects (wrong "
        "expect_tx?)",
        barrier.offset, static_cast<long long>(-barrier.tx));
  }
  if (barrier.tx > 0) return;
  ++barrier.phase;
  barrier.pending = barrier.count;
  if (barrier.waiter_count == 0) return;
  barrier.waiter_count = 0;
  for (int w = 0; w < block.warp_count; ++w) {
    if (barrier.waiting[w] == 0) continue;
    MakeRunnable(block, block.warps[w], barrier.waiting[w]);
    barrier.waiting[w] = 0;
  }
}

void MbarArrive(Lane* lane, const MbarPlace& place, int tx_bytes, Location at) {
  if (lane->preemptive) Preempt(lane);
  Mbarrier& barrier = FindMbarrier(lane, place, at);
  if (barrier.pending == 0) {
    FailF(lane, at,
          "mbarrier at shared offset %u: an arrival beyond its count of %d while %lld bytes of the "
          "phase are still to come",
          barrier.offset, barrier.count, static_cast<long long>(barrier.tx));
  }
  if (barrier.tx + tx_bytes > kMostTxBytes) {
    FailF(lane, at, "mbarrier at shared offset %u: a phase expects at most %d bytes",
          barrier.offset, kMostTxBytes);
  }
  HandOver(lane);
  Release(&barrier.token[barrier.phase & 1]);
  barrier.dependency |= lane->dependency_met;
  barrier.tx += tx_bytes;
  --barrier.pending;
  Settle(*place.block, barrier, lane, at);
  if (lane->preemptive) Preempt(lane);
}

namespace {

int32_t& LastSeen(const Lane* lane, Mbarrier& barrier) {
  if (barrier.seen.empty()) {
    const Unseen unseen;
    barrier.seen.assign(lane->thread_count, kNeverSeen);
  }
  return barrier.seen[lane->tid];
}

}  // namespace

void MbarPassed(Lane* lane, const MbarPlace& place, Location at) {
  int32_t& last = LastSeen(lane, FindMbarrier(lane, place, at));
  last = last < 0 ? 0 : last + 1;
}

void MbarWait(Lane* lane, const MbarPlace& place, int parity, Location at) {
  if (lane->preemptive) Preempt(lane);
  Mbarrier& barrier = FindMbarrier(lane, place, at);
  if (parity != 0 && parity != 1) {
    FailF(lane, at, "mbarrier: a parity of %d; it is 0 or 1", parity);
  }
  int64_t seen = barrier.phase - 1;  // if that is the parity's phase, it has been completed
  if ((barrier.phase & 1) == parity) {
    seen = barrier.phase;
    barrier.waiting[lane->warp] |= 1u << lane->lane;
    ++barrier.waiter_count;
    Wait(lane, Operation::kMbarWait, static_cast<int>(barrier.offset), at);
  }
  Acquire(&barrier.token[parity]);
  lane->dependency_met |= barrier.dependency;
  int32_t& last = LastSeen(lane, barrier);
  if (seen < last) {
    FailF(lane, at,
          "mbarrier at shared offset %u: this lane takes phase %lld for one after phase %d, "
          "which it said has ended; who skips phases can take one parity for the other",
          barrier.offset, static_cast<long long>(seen), last);
  }
  if (last != kNeverSeen && seen > last + 1) {
    FailF(lane, at,
          "mbarrier at shared offset %u: this lane saw phase %d end and now phase %lld, without "
          "those between; who skips phases can take one parity for the other",
          barrier.offset, last, static_cast<long long>(seen));
  }
  last = static_cast<int32_t>(seen);
  if (lane->preemptive) Preempt(lane);
}

void DescribeMbarriers(const Block& block, std::string* text) {
  if (block.async == nullptr) return;
  for (const auto& barrier : block.async->barriers) {
    if (barrier->waiter_count == 0) continue;
    *text += "\n    mbarrier at shared offset " + std::to_string(barrier->offset) +
             " (initialised at " + barrier->init_at.file_name() + ":" +
             std::to_string(barrier->init_at.line()) +
             "): " + std::to_string(barrier->waiter_count) + " lanes wait for the end of phase " +
             std::to_string(barrier->phase) + ", which waits for " +
             std::to_string(barrier->pending) + " of " + std::to_string(barrier->count) +
             " arrivals and " + std::to_string(barrier->tx) + " bytes";
  }
}

}  // namespace weft::arch::cpu
