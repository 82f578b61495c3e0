// What a user writes to define a block's product, and how its extents are divided among warps.
//
//     struct MyProduct : weft::gemm::BlockTypes<weft::Half, RowMajor, ColumnMajor> {
//       static constexpr weft::gemm::BlockConfig config{.shape = {64, 48, 64},
//                                                       .mainloop = weft::gemm::Mainloop::kMmaSm80,
//                                                       .threads = 128,
//                                                       .alignment = 16};
//     };
//
// or any struct with the members of BlockTypes and a config:
//
//     ElementA, ElementB                 Sum      mainloop         ElementC
//     std::int8_t, std::int8_t           int32    simt, mma_sm80   int32, float     (2)
//     std::uint8_t, std::int8_t          int32    simt, mma_sm80   int32, float     (1)
//     Half or Bfloat16, twice the same   float    mma_sm80         float, Half, Bfloat16  (2)
//     float, double or Complex, likewise same     simt, simt_async the same
//
// (1) BlockTypes<std::int8_t, ...> with `using ElementA = std::uint8_t;` beside the config.
// (2) wgmma_sm90 too, on sm_90a alone.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/isa/wgmma.hpp"
#include "weft/gemm/policy/gemm_policy.hpp"
#include "weft/gemm/tile/config.hpp"

namespace weft::gemm {

// An aggregate: every number is named where it is given.
struct BlockConfig {
  // A is m x k, B k x n and C m x n elements: m and n 1 to 1024, k 1 to 65536, no multiples of
  // anything. At most 128 sums of a thread (64 with kSimt, or of doubles), and A and B at most 227 KB.
  TileShape shape;
  Mainloop mainloop;        // kSimt, kSimtAsync, kMmaSm80 or kWgmmaSm90
  int threads = 0;          // of the user's block, or fewer; whole warps, or with kWgmmaSm90 whole
                            // warpgroups of 128. 0: as many as suggested
  int alignment = 0;        // to be given. Bytes: addresses and pitches in global memory are
                            // multiples of it; 16, 8, 4, or one element, which is slow
  bool whole_rows = false;  // a warp holds whole rows of C: products in a chain, reductions
};

namespace internal {

// What products of A's and B's elements are summed in; void for pairs that are not multiplied.
template <class OperandA, class OperandB>
using BlockSum = std::conditional_t<
    std::is_same_v<OperandA, OperandB>,
    std::conditional_t<kTensorFloat<OperandA>, void, typename SumOf<OperandA>::type>,
    std::conditional_t<std::is_same_v<OperandA, std::uint8_t> &&
                           std::is_same_v<OperandB, std::int8_t>,
                       std::int32_t, void>>;

}  // namespace internal

// The types of a product whose A and B are of one type, and C is of its sums'. The layouts are those
// of matrices in global memory: A is m x k, B k x n, C m x n.
template <class Element, class OrderA, class OrderB, class OrderC = layouts::RowMajor>
struct BlockTypes {
  using ElementA = Element;
  using ElementB = Element;
  using Sum = internal::BlockSum<Element, Element>;
  using ElementC = Sum;
  using LayoutA = OrderA;
  using LayoutB = OrderB;
  using LayoutC = OrderC;
};

namespace internal {

// A product's extents rounded up to what warps x (a warp's tile) make of them.
struct BlockTiles {
  TileShape block, warp, thread;  // thread: of simt, simt_async. k: of a k tile
  int warps = 0;                  // that multiply; 0: there is no such division
  int sums = 0;                   // of a thread
};

// K tiles of 128, 64 or 32 bytes of k (LineMajor): the longest that divide it.
constexpr int MmaKTileBytes(int k_bytes) {
  const int groups = CeilDiv(k_bytes, 32);
  return groups % 4 == 0 ? 128 : groups % 2 == 0 ? 64 : 32;
}

// Of at most `warps` warps those that leave each the least to do, and then the least to read.
constexpr BlockTiles MmaTiles(TileShape shape, int element_bytes, int warps, bool whole_rows) {
  BlockTiles best;
  int best_reads = 0;
  const int k = MmaKTileBytes(shape.k * element_bytes) / element_bytes;
  for (int wm = 1; wm <= warps; ++wm) {
    const int m = RoundUp(CeilDiv(shape.m, wm), 16);
    if (m * (wm - 1) >= shape.m) continue;  // a warp without work
    for (int wn = 1; wn <= (whole_rows ? 1 : warps / wm); ++wn) {
      const int n = RoundUp(CeilDiv(shape.n, wn), 16);
      if (n * (wn - 1) >= shape.n) continue;
      const int sums = m * n / 32, reads = m + n;
      if (best.warps > 0 && (sums > best.sums || (sums == best.sums && reads >= best_reads))) {
        continue;
      }
      best = {{m * wm, n * wn, k}, {m, n, k}, {}, wm * wn, sums};
      best_reads = reads;
    }
  }
  return best;
}

// Of at most `groups` warpgroups likewise, each with 64 rows or several times 64 (block_wgmma.hpp) and
// a legal N of wgmma; of bytes one that kRun = 4 divides. `warp` is a warp's part of its warpgroup's.
constexpr BlockTiles WgmmaTiles(TileShape shape, int element_bytes, int groups, bool whole_rows) {
  BlockTiles best;
  int best_reads = 0;
  const int k = MmaKTileBytes(shape.k * element_bytes) / element_bytes;
  for (int wm = 1; wm <= groups && 64 * (wm - 1) < shape.m; ++wm) {
    const int blocks = CeilDiv(CeilDiv(shape.m, 64), wm);
    for (int wn = 1; wn <= (whole_rows ? 1 : groups / wm); ++wn) {
      const int columns = CeilDiv(shape.n, wn);
      const int n = RoundUp(columns, element_bytes == 1 || columns > 32 ? 16 : 8);
      if (n * (wn - 1) >= shape.n || !arch::IsWgmmaN(n)) continue;
      const int sums = blocks * n / 2, reads = blocks * 64 + n;
      if (best.warps > 0 && (sums > best.sums || (sums == best.sums && reads >= best_reads))) {
        continue;
      }
      best = {{64 * blocks * wm, n * wn, k}, {16 * blocks, n, k}, {}, 4 * wm * wn, sums};
      best_reads = reads;
    }
  }
  return best;
}

// What the lanes of a mainloop may have.
struct LaneSums {
  int group;   // of k, that one instruction multiplies
  int vector;  // simt_async: sums of a vector, 16 bytes; 0: simt

  // SimtMainloop's m are 2, 4, 8, its n 4, 8; simt_async's up to 4 vectors, in 128 registers.
  constexpr bool Has(int m, int n) const {
    if (vector > 0) {
      return m % vector == 0 && n % vector == 0 && m <= 4 * vector && n <= 4 * vector &&
             m * n * 4 <= 128 * vector;
    }
    return (m == 2 || m == 4 || m == 8) && (n == 4 || n == 8);
  }
  constexpr int KTileGroups(int groups) const {
    return vector > 0 ? (RoundUp(groups, 8) % 16 == 0 ? 16 : 8)
                      : (RoundUp(groups, 4) % 8 == 0 ? 8 : 4);
  }
  // simt: whether so many threads load a k tile of `rows` rows.
  constexpr bool MayLoad(int threads, int rows, int groups) const {
    return vector > 0 || rows % threads == 0 ||
           (threads % rows == 0 && groups * rows % threads == 0);
  }
};

// The same of lanes, each with m x n sums: first the fewest sums, then the least that is padding, then
// the least to read.
constexpr BlockTiles SimtTiles(TileShape shape, LaneSums lane, int warps, bool whole_rows) {
  BlockTiles best;
  int best_area = 0, best_reads = 0;
  const int groups = lane.KTileGroups(CeilDiv(shape.k, lane.group));
  for (int lanes_m = 1; lanes_m <= 32; lanes_m *= 2) {
    for (int m = 2; m <= 16; m += 2) {
      for (int n = 2; n <= 16; n += 2) {
        if (!lane.Has(m, n)) continue;
        const TileShape warp{lanes_m * m, 32 / lanes_m * n, groups * lane.group};
        const int wm = CeilDiv(shape.m, warp.m), wn = CeilDiv(shape.n, warp.n);
        if (wm * wn > warps || (whole_rows && wn > 1)) continue;
        const int block_m = wm * warp.m, threads = wm * wn * 32;
        if (!lane.MayLoad(threads, block_m, groups)) continue;
        const int sums = m * n, area = block_m * wn * warp.n;
        const int reads = (m + n) * 1024 + warp.m + warp.n;  // of lanes, then of warps
        const bool better = best.warps == 0 || sums < best.sums ||
                            (sums == best.sums && area < best_area) ||
                            (sums == best.sums && area == best_area && reads < best_reads);
        if (!better) continue;
        best = {{block_m, wn * warp.n, warp.k}, warp, {m, n, lane.group}, wm * wn, sums};
        best_area = area, best_reads = reads;
      }
    }
  }
  return best;
}

template <class ResultT, class Sum>
inline constexpr bool kBlockResult =
    std::is_same_v<ResultT, Sum> ||
    (std::is_same_v<ResultT, float> && !std::is_same_v<Sum, double>) ||
    (std::is_same_v<Sum, float> &&
     (std::is_same_v<ResultT, Half> || std::is_same_v<ResultT, Bfloat16>));

}  // namespace internal

// Instantiating this checks a descriptor; each failure is one sentence.
template <class Description>
struct CheckedBlock {
  static_assert(
      requires {
        typename Description::ElementA;
        typename Description::ElementB;
        typename Description::ElementC;
        typename Description::Sum;
      }, "weft: a block's product names its types ElementA, ElementB, ElementC and Sum");
  static_assert(
      requires {
        typename Description::LayoutA;
        typename Description::LayoutB;
        typename Description::LayoutC;
      },
      "weft: a block's product names LayoutA, LayoutB and LayoutC, each weft::layouts::RowMajor or "
      "weft::layouts::ColumnMajor");
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(Description::config)>, BlockConfig>,
                "weft: a block's product needs `static constexpr weft::gemm::BlockConfig config`");
  static_assert(internal::kIsMatrixLayout<typename Description::LayoutA> &&
                    internal::kIsMatrixLayout<typename Description::LayoutB> &&
                    internal::kIsMatrixLayout<typename Description::LayoutC>,
                "weft: LayoutA, LayoutB and LayoutC of a block's product are "
                "weft::layouts::RowMajor or weft::layouts::ColumnMajor");
  using ElementOfA = typename Description::ElementA;
  static constexpr BlockConfig config = Description::config;
  static constexpr bool kWgmma = config.mainloop == Mainloop::kWgmmaSm90;
  static constexpr bool kMma = kWgmma || config.mainloop == Mainloop::kMmaSm80;  // tensor cores
  static constexpr bool kAsync = config.mainloop == Mainloop::kSimtAsync;
  static constexpr bool kBytes = sizeof(ElementOfA) == 1;
  static constexpr bool kSixteen =
      std::is_same_v<ElementOfA, Half> || std::is_same_v<ElementOfA, Bfloat16>;
  using Expected = internal::BlockSum<ElementOfA, typename Description::ElementB>;
  static_assert(!std::is_void_v<Expected>,
                "weft: a block multiplies ElementA and ElementB of one type, std::int8_t, "
                "weft::Half, weft::Bfloat16, float, double or weft::Complex, or std::uint8_t by "
                "std::int8_t");
  static_assert(std::is_void_v<Expected> || std::is_same_v<typename Description::Sum, Expected>,
                "weft: Sum of a block's product is std::int32_t for bytes, float for 16-bit "
                "floats, and the elements' own type for float, double and weft::Complex");
  static_assert(internal::kBlockResult<typename Description::ElementC, typename Description::Sum>,
                "weft: ElementC of a block's product is Sum, or float for bytes, or weft::Half or "
                "weft::Bfloat16 for 16-bit floats and float");
  static_assert(kMma || kAsync || config.mainloop == Mainloop::kSimt,
                "weft: config.mainloop of a block's product is kSimt, kSimtAsync, kMmaSm80 or "
                "kWgmmaSm90");
  static_assert(!kAsync || !kBytes,
                "weft: bytes of a block's product take config.mainloop = kSimt, kMmaSm80 or, on "
                "sm_90a, kWgmmaSm90");
  static_assert(kMma || !kSixteen,
                "weft: 16-bit floats of a block's product take config.mainloop = kMmaSm80, or on "
                "sm_90a kWgmmaSm90");
  static_assert(!kWgmma || !std::is_same_v<ElementOfA, std::uint8_t>,
                "weft: unsigned bytes of a block's product take config.mainloop = kSimt or "
                "kMmaSm80");
  static_assert(!kMma || kBytes || kSixteen,
                "weft: float, double and weft::Complex of a block's product take config.mainloop = "
                "kSimt or kSimtAsync");
  static_assert(internal::PositiveTile(config.shape) && config.shape.m <= 1024 &&
                    config.shape.n <= 1024 && config.shape.k <= 65536,
                "weft: config.shape of a block's product is 1 to 1024 in m and n, 1 to 65536 in k; "
                "take tiles of a larger one, and MultiplyGlobal for a longer k");
  static_assert(config.threads >= 0 && config.threads <= 1024 && config.threads % 32 == 0,
                "weft: config.threads of a block's product is a multiple of 32 up to 1024, or 0 "
                "for the suggested number");
  static_assert(!kWgmma || config.threads % 128 == 0,
                "weft: config.threads of a block's product by kWgmmaSm90 is a multiple of 128, a "
                "warpgroup, or 0 for the suggested number");
  static_assert(config.alignment == sizeof(ElementOfA) ||
                    ((config.alignment == 4 || config.alignment == 8 || config.alignment == 16) &&
                     config.alignment >= static_cast<int>(sizeof(ElementOfA))),
                "weft: config.alignment of a block's product is to be given: 16, 8 or 4 bytes, at "
                "least one element, or one element");
  static constexpr bool kOk = true;
};

// How Description's product is divided among the threads; warps is 0 if so few cannot.
template <class Description>
constexpr internal::BlockTiles BlockTilesOf(int threads) {
  constexpr int kBytes = sizeof(typename Description::ElementA);
  return CheckedBlock<Description>::kWgmma
             ? internal::WgmmaTiles(Description::config.shape, kBytes, threads / 128,
                                    Description::config.whole_rows)
         : CheckedBlock<Description>::kMma
             ? internal::MmaTiles(Description::config.shape, kBytes, threads / 32,
                                  Description::config.whole_rows)
             : internal::SimtTiles(
                   Description::config.shape,
                   {kBytes == 1 ? 4 : 1, CheckedBlock<Description>::kAsync ? 16 / kBytes : 0},
                   threads / 32, Description::config.whole_rows);
}

// Threads for Description's product: the fewest with which each has at most 32 sums; with kSimtAsync, whose
// reads of shared memory are what many sums save, 96 registers of them, and of those numbers of
// threads the one with the least padding. If there are none up to 256, those with the fewest sums.
template <class Description>
constexpr int SuggestedThreads() {
  constexpr bool kAsync = CheckedBlock<Description>::kAsync;
  constexpr int kMostSums =
      kAsync ? 96 * 4 / static_cast<int>(sizeof(typename Description::Sum)) : 32;
  constexpr int kTooMany = 1 << 24;  // more than any area
  int best = 32, best_cost = 2 * kTooMany;
  for (int threads = 32; threads <= 256; threads += 32) {
    const internal::BlockTiles tiles = BlockTilesOf<Description>(threads);
    if (tiles.warps == 0) continue;
    const int cost = tiles.sums > kMostSums ? kTooMany + tiles.sums
                     : kAsync               ? tiles.block.m * tiles.block.n
                                            : 0;
    if (cost < best_cost) best = threads, best_cost = cost;
  }
  return best;
}

// What a mainloop takes for a policy.
template <class Description>
struct BlockPolicy {
  static_assert(CheckedBlock<Description>::kOk);
  using Element = typename Description::ElementA;
  struct Epilogue {
    using Output = typename Description::Sum;
    static constexpr bool kHasResidual = false;
  };
  static constexpr int kThreads = Description::config.threads > 0 ? Description::config.threads
                                                                  : SuggestedThreads<Description>();
  static constexpr internal::BlockTiles kTiles = BlockTilesOf<Description>(kThreads);
  static_assert(kTiles.warps > 0 && kTiles.sums <= 128,
                "weft: config.shape of a block's product is too large for config.threads: each "
                "thread holds at most 128 sums (64 with kSimt, or of doubles); give it more "
                "threads, or less of "
                "the product");
  // A thread holds one word of the next product's operand A side by side (block_chain.hpp).
  static constexpr int kRun = sizeof(Element) == 1 ? 4 : 2;
  static constexpr auto config = [] {
    constexpr Alignment kAlignment{
        Description::config.alignment < 4 ? 4 : Description::config.alignment,
        static_cast<int>(sizeof(typename Description::Sum))};
    if constexpr (CheckedBlock<Description>::kMma) {  // warps of a warpgroup have a tile each, too
      return MmaSm80Config(kTiles.block, kTiles.warp, 3, kAlignment);
    } else if constexpr (CheckedBlock<Description>::kAsync) {
      return SimtAsyncConfig(kTiles.block, kTiles.warp, kTiles.thread, 3, kAlignment);
    } else {
      return SimtConfig(kTiles.block, kTiles.warp, kTiles.thread, kAlignment);
    }
  }();
};

}  // namespace weft::gemm
