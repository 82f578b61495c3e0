#include "weft/network/plan/arena.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace weft::network {
namespace {

// The steps between which a tensor must keep its memory, and what it shares it with.
struct Life {
  int first = -1, last = -1;  // -1: no step needs it
  std::int64_t bytes = 0, offset = -1;
  int holder = -1;  // the tensor in whose memory it lies; -1: it has its own
};

bool Overlap(const Life& a, const Life& b) {
  return a.first <= b.last && b.first <= a.last;
}

std::vector<Life> LivesOf(const Plan& plan) {
  std::vector<Life> lives(plan.tensors.size());
  for (std::size_t i = 0; i < lives.size(); ++i) {
    lives[i].bytes = RoundUp(plan.tensors[i].type.bytes(), kArenaAlignment);
  }
  for (int step = 0; step < static_cast<int>(plan.steps.size()); ++step) {
    const Step& s = plan.steps[static_cast<std::size_t>(step)];
    for (const int tensor : {s.src, s.other, s.dst}) {
      if (tensor < 0) continue;
      const int within = plan.tensors[static_cast<std::size_t>(tensor)].within;
      Life& life = lives[static_cast<std::size_t>(within >= 0 ? within : tensor)];
      if (life.first < 0) life.first = step;
      life.last = step;
    }
  }
  return lives;
}

bool InArena(const Plan& plan, int tensor) {
  return plan.tensors[static_cast<std::size_t>(tensor)].where == PlacedTensor::Where::kArena;
}

// Convolutions may write where their residual lies, whose last reader they are: outputs as large as that, which no slice of
// a concat's result is.
void ShareResiduals(const Plan& plan, std::vector<Life>* lives) {
  for (int step = 0; step < static_cast<int>(plan.steps.size()); ++step) {
    const Step& s = plan.steps[static_cast<std::size_t>(step)];
    if (!std::holds_alternative<ConvolutionStep>(s.what) || s.other < 0 || s.other == s.src)
      continue;
    if (!InArena(plan, s.other) || !InArena(plan, s.dst)) continue;
    Life& other = (*lives)[static_cast<std::size_t>(s.other)];
    Life& dst = (*lives)[static_cast<std::size_t>(s.dst)];
    const auto bytes = [&](int tensor) {
      return plan.tensors[static_cast<std::size_t>(tensor)].type.bytes();
    };
    if (other.last != step || bytes(s.other) != bytes(s.dst)) continue;
    const int holder = other.holder >= 0 ? other.holder : s.other;
    Life& whole = (*lives)[static_cast<std::size_t>(holder)];
    dst.holder = holder;
    whole.last = std::max(whole.last, dst.last);
  }
}

}  // namespace

void PlaceInArena(Plan* plan) {
  std::vector<Life> lives = LivesOf(*plan);
  ShareResiduals(*plan, &lives);
  std::vector<int> order(lives.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return lives[static_cast<std::size_t>(a)].bytes > lives[static_cast<std::size_t>(b)].bytes;
  });
  plan->arena_bytes = 0;
  std::vector<int> placed;
  for (const int tensor : order) {
    Life& life = lives[static_cast<std::size_t>(tensor)];
    if (!InArena(*plan, tensor) || life.first < 0 || life.holder >= 0) continue;
    std::vector<std::pair<std::int64_t, std::int64_t>> taken;  // from, to
    for (const int other : placed) {
      const Life& there = lives[static_cast<std::size_t>(other)];
      if (Overlap(life, there)) taken.emplace_back(there.offset, there.offset + there.bytes);
    }
    std::sort(taken.begin(), taken.end());
    std::int64_t at = 0;
    for (const auto& [from, to] : taken) {
      if (from - at >= life.bytes) break;
      at = std::max(at, to);
    }
    life.offset = at;
    plan->arena_bytes = std::max(plan->arena_bytes, at + life.bytes);
    placed.push_back(tensor);
  }
  for (std::size_t i = 0; i < lives.size(); ++i) {
    const int holder = lives[i].holder;
    plan->tensors[i].offset =
        std::max<std::int64_t>(0, lives[holder >= 0 ? static_cast<std::size_t>(holder) : i].offset);
  }
  for (PlacedTensor& slice : plan->tensors) {
    if (slice.within < 0) continue;
    const PlacedTensor& whole = plan->tensors[static_cast<std::size_t>(slice.within)];
    slice.offset = whole.offset + VisitFormat(whole.type.format, [&]<class Layout>() {
                     return Layout::ChannelOffset(whole.type.extents, slice.first_channel);
                   });
  }
}

}  // namespace weft::network
