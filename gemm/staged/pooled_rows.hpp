// A MaxPool over the output rows that a thread has, in registers (pooled_store.hpp): words for stmatrix of the
// greatest outputs of its two channels and two columns. Where an output never decreases, or never increases, with its
// sum (Chain::kKeepsOrder), the greatest or least sums are found and these alone converted (PooledSums); any other
// epilogue's outputs are converted one by one (PooledBytes).
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/epilogue/byte_maxima.hpp"
#include "weft/gemm/staged/staged_pair.hpp"
#include "weft/gemm/staged/staged_tile.hpp"
#include "weft/gemm/staged/staged_zero_points.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// What both know of a warpgroup's tile. TileT: a StagedTile.
template <class TileT, class Shared, class Tile>
struct PooledTile {
  using Map = typename TileT::Map;
  const Shared& shared;
  const typename TileT::Output& p;
  const Tile& tile;
  std::int32_t first_m;
  std::int32_t top;  // the output row that is the warpgroup's first
  bool whole;        // all its output rows are inside the image
  const typename TileT::Math::Channels (&channels)[Map::kGroups];
  const typename Map::Accumulators& acc;
  BorderPixels<TileT::kRows> border;

  WEFT_DEVICE bool Inside(int row) const {
    return static_cast<std::uint32_t>(top + row) < static_cast<std::uint32_t>(p.rows.p);
  }
  // The bytes of outputs of two channels of column block x, and of pixels i and i + 1 of accumulators.
  template <bool kShift>
  WEFT_DEVICE std::uint32_t Pack(arch::Thread t, int i, int x, bool edge,
                                 const typename Map::Accumulators& accumulators) const {
    typename TileT::Math::Range ranges[Map::kGroups];
    std::uint32_t half[2] = {};
    return StagedPair<TileT>::template Pack<kShift>(t, shared, p, tile, first_m, i, x, edge,
                                                    channels, 0, accumulators, ranges, half);
  }
};

// The two have the same interface: Above is the row above the warpgroup's first for each column block, and Words makes
// the words of pooled rows `first` and so on, of which each is two output rows and with kSize = 3 the one above these.
template <class TileT, int kSize>
struct PooledBytes {
  using Maxima = ByteMaxima<typename TileT::Element>;
  struct Above {
    std::uint32_t word = Maxima::kNone;
  };

  template <class Channels>
  WEFT_DEVICE explicit PooledBytes(arch::Thread, const Channels&) {}

  template <bool kShift, int kCount, class Pooled>
  WEFT_DEVICE void Words(arch::Thread t, const Pooled& in, int first, int x, Above& above,
                         std::uint32_t (&words)[kCount]) const {
    std::uint32_t rows[2 * kCount];
    WEFT_UNROLL
    for (int j = 0; j < 2 * kCount; ++j) {
      const int row = 2 * first + j;
      rows[j] = Maxima::FromBytes(
          in.template Pack<kShift>(t, 2 * row, x, in.border.AnyOfEight(row), in.acc));
    }
    if (!in.whole) {
      WEFT_UNROLL
      for (int j = 0; j < 2 * kCount; ++j) {
        if (!in.Inside(2 * first + j)) rows[j] = Maxima::kNone;
      }
    }
    WEFT_UNROLL
    for (int j = 0; j < kCount; ++j) {
      Maxima greatest(rows[2 * j]);
      greatest.Take(t, rows[2 * j + 1]);
      if constexpr (kSize == 3) greatest.Take(t, j == 0 ? above.word : rows[2 * j - 1]);
      words[j] = greatest.Word();
    }
    above.word = rows[2 * kCount - 1];
  }
};

template <class TileT, int kSize>
struct PooledSums {
  using Maxima = ByteMaxima<typename TileT::Element>;
  using Map = typename TileT::Map;
  using Sum = typename Map::Sum;
  static constexpr Sum kNone = (std::numeric_limits<Sum>::min)();
  // Of two pixels, and of two channels of each. Where outputs decrease with sums, the least sums are wanted.
  struct Above {
    Sum sums[4] = {kNone, kNone, kNone, kNone};
  };

  // Whether the outputs of the thread's channels decrease with their sums; `any`: those of any thread of the warp.
  bool falls[Map::kGroups], any = false;

  template <class Channels>
  WEFT_DEVICE PooledSums(arch::Thread t, const Channels& channels) {
    WEFT_UNROLL
    for (int g = 0; g < Map::kGroups; ++g) {
      falls[g] = channels[g].alpha[0] < 0.0f;
      any = any || falls[g];
    }
    any = t.Ballot(any) != 0;
  }

  template <bool kShift, int kCount, class Pooled>
  WEFT_DEVICE void Words(arch::Thread t, const Pooled& in, int first, int x, Above& above,
                         std::uint32_t (&words)[kCount]) const {
    Sum rows[2 * kCount][4];
    WEFT_UNROLL
    for (int j = 0; j < 2 * kCount; ++j) {
      const int row = 2 * first + j;
      WEFT_UNROLL
      for (int v = 0; v < 4; ++v) rows[j][v] = Map::Get(in.acc, 2 * row + v / 2, 2 * x + v % 2, 0);
      StagedCorrectionsOf<TileT>::AddEdges(t, in.shared, in.p, 2 * row, x,
                                           in.border.AnyOfEight(row), in.channels, rows[j]);
    }
    // In an order in which the greatest sums are wanted of all channels.
    if (any) {
      WEFT_UNROLL
      for (int j = 0; j < 2 * kCount; ++j) Turn(x, rows[j]);
    }
    if (!in.whole) {
      WEFT_UNROLL
      for (int j = 0; j < 2 * kCount; ++j) {
        WEFT_UNROLL
        for (int v = 0; v < 4; ++v) rows[j][v] = in.Inside(2 * first + j) ? rows[j][v] : kNone;
      }
    }
    Sum pooled[kCount][4];
    WEFT_UNROLL
    for (int j = 0; j < kCount; ++j) {
      WEFT_UNROLL
      for (int v = 0; v < 4; ++v) {
        Sum greatest = Greater(rows[2 * j][v], rows[2 * j + 1][v]);
        if constexpr (kSize == 3) {
          greatest = Greater(greatest, j == 0 ? above.sums[v] : rows[2 * j - 1][v]);
        }
        pooled[j][v] = greatest;
      }
    }
    WEFT_UNROLL
    for (int v = 0; v < 4; ++v) above.sums[v] = rows[2 * kCount - 1][v];
    typename Map::Accumulators accumulators;
    WEFT_UNROLL
    for (int j = 0; j < kCount; ++j) {
      if (any) Turn(x, pooled[j]);
      WEFT_UNROLL
      for (int v = 0; v < 4; ++v) accumulators[x][4 * j + v % 2 * 2 + v / 2] = pooled[j][v];
      words[j] = Maxima::FromBytes(in.template Pack<kShift>(t, 2 * j, x, false, accumulators));
    }
  }

 private:
  WEFT_DEVICE static Sum Greater(Sum a, Sum b) { return a > b ? a : b; }
  // Turns the order of the sums of channels whose outputs decrease with them, and back.
  WEFT_DEVICE void Turn(int x, Sum (&sums)[4]) const {
    WEFT_UNROLL
    for (int v = 0; v < 4; ++v) sums[v] = falls[2 * x + v % 2] ? ~sums[v] : sums[v];
  }
};

template <class TileT, int kSize>
using PooledRows = std::conditional_t<TileT::Epilogue::kKeepsOrder, PooledSums<TileT, kSize>,
                                      PooledBytes<TileT, kSize>>;

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
