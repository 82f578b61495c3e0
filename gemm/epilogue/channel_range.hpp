// The least and the greatest value of each output channel, which the epilogue stage ChannelRange
// records beside the outputs.
//
// A thread keeps the ranges of its channels over all its pixels of a tile. The lanes of a warp that
// share channels then fold theirs, so that a warp's tile updates global memory once for each end of
// a channel's range. Minimum and maximum do not depend on the order of the updates.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/epilogue/fold_lanes.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// A thread's running minimum and maximum of kChannels channels.
template <int kChannels>
struct KeptRange {
  static constexpr int kCount = kChannels;
  float least[kChannels], greatest[kChannels];

  WEFT_DEVICE void Clear() {
    WEFT_UNROLL
    for (int j = 0; j < kChannels; ++j) {
      least[j] = std::numeric_limits<float>::infinity();
      greatest[j] = -std::numeric_limits<float>::infinity();
    }
  }
  // A value that is not wanted becomes a NaN, which fmin and fmax pass over: there is no branch.
  WEFT_DEVICE void Take(int j, bool wanted, float x) {
    const float seen = wanted ? x : std::numeric_limits<float>::quiet_NaN();
    least[j] = std::fmin(least[j], seen);
    greatest[j] = std::fmax(greatest[j], seen);
  }
};
template <int kChannels>
struct Absent<KeptRange<kChannels>> {
  WEFT_DEVICE void Clear() {}
};

// Folds a warp's ranges into those in global memory; all lanes of the warp call it. kLanes: the
// bits of a lane's number that its channels do not depend on. ranges: an array, of a KeptRange for
// each group of channels. channel(g): the first channel of group g. end: one past the last channel.
// p: an OutputParams.
template <int kLanes, class Output, class Ranges, class ChannelOf>
WEFT_DEVICE void WriteRanges(arch::Thread t, const Output& p, const Ranges& ranges,
                             std::int32_t end, const ChannelOf& channel) {
  constexpr int kGroups = std::extent_v<Ranges>;
  constexpr int kChannels = std::remove_extent_t<Ranges>::kCount;
  // Each group has its least values, then its greatest ones negated: one fold by minimum does both.
  constexpr int kEnds = 2 * kChannels;
  float least[kGroups * kEnds];
  WEFT_UNROLL
  for (int i = 0; i < kGroups * kEnds; ++i) {
    const auto& range = ranges[i / kEnds];
    least[i] = i % kEnds < kChannels ? range.least[i % kChannels] : -range.greatest[i % kChannels];
  }
  const auto& range = p.epilogue.template Get<typename Output::Epilogue::RangeStage>();
  FoldLanes<kLanes>(
      t, least, 0, true, [](float x, float y) { return y < x ? y : x; },
      [&](int i, float x) {
        const std::int32_t k = channel(i / kEnds) + i % kChannels;
        if (k >= end) return;
        if (i % kEnds < kChannels) {
          t.LowerGlobal(range.low + k, x);
        } else {
          t.RaiseGlobal(range.high + k, -x);
        }
      });
}
// In an epilogue without a ChannelRange stage.
template <int kLanes, class Output, int kChannels, int kGroups, class ChannelOf>
WEFT_DEVICE void WriteRanges(arch::Thread, const Output&,
                             const Absent<KeptRange<kChannels>> (&)[kGroups], std::int32_t,
                             const ChannelOf&) {}

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
