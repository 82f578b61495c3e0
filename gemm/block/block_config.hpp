// The description that a user writes to define a Block's product (block.hpp), and what is checked of it.
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
// (2) Also by wgmma_sm90, on sm_90a alone.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/block/block_tiles.hpp"
#include "weft/gemm/policy/gemm_policy.hpp"
#include "weft/gemm/tile/config.hpp"

namespace weft::gemm {

// An aggregate, to be written with designated initializers, so that every number has its name.
struct BlockConfig {
  // A has m x k, B k x n and C m x n elements. m and n are 1 to 1024 and k 1 to 65536; they need
  // not be multiples of anything. A thread holds at most 128 accumulators (64 with kSimt, or of
  // doubles), and A and B together take at most 227 KB of shared memory.
  TileShape shape;
  Mainloop mainloop;        // kSimt, kSimtAsync, kMmaSm80 or kWgmmaSm90
  int threads = 0;          // that multiply, at most those of the user's block: whole warps, or
                            // with kWgmmaSm90 whole warpgroups of 128. 0: SuggestedThreads
  int alignment = 0;        // must be given: addresses and pitches in global memory are multiples
                            // of so many bytes, 16, 8, 4, or one element, which is slow
  bool whole_rows = false;  // each warp holds whole rows of C, for chains and reductions
};

namespace internal {

// The accumulator type of products of A's and B's elements; void for pairs that are not supported.
template <class OperandA, class OperandB>
using BlockSum = std::conditional_t<
    std::is_same_v<OperandA, OperandB>,
    std::conditional_t<kTensorFloat<OperandA>, void, typename SumOf<OperandA>::type>,
    std::conditional_t<std::is_same_v<OperandA, std::uint8_t> &&
                           std::is_same_v<OperandB, std::int8_t>,
                       std::int32_t, void>>;

}  // namespace internal

// The types of a product whose A and B have one element type, and whose C has that of the
// accumulators. The layouts are those of the matrices A (m x k), B (k x n) and C (m x n) in global
// memory.
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

template <class ResultT, class Sum>
inline constexpr bool kBlockResult =
    std::is_same_v<ResultT, Sum> ||
    (std::is_same_v<ResultT, float> && !std::is_same_v<Sum, double>) ||
    (std::is_same_v<Sum, float> &&
     (std::is_same_v<ResultT, Half> || std::is_same_v<ResultT, Bfloat16>));

// What of a description is right, each with all before it: nothing behind a mistake can be checked.
template <class Description>
concept HasBlockTypes = requires {
  typename Description::ElementA;
  typename Description::ElementB;
  typename Description::ElementC;
  typename Description::Sum;
  typename Description::LayoutA;
  typename Description::LayoutB;
  typename Description::LayoutC;
};
template <class Description>
concept HasBlockConfig = HasBlockTypes<Description> && requires {
  requires std::is_same_v<std::remove_cvref_t<decltype(Description::config)>, BlockConfig>;
};
template <class Description>
concept HasBlockLayouts =
    HasBlockConfig<Description> && kIsMatrixLayout<typename Description::LayoutA> &&
    kIsMatrixLayout<typename Description::LayoutB> &&
    kIsMatrixLayout<typename Description::LayoutC>;

// Stands in the place of a description that is refused.
struct AnyBlock : BlockTypes<float, layouts::RowMajor, layouts::ColumnMajor> {
  static constexpr BlockConfig config{
      .shape = {32, 32, 32}, .mainloop = Mainloop::kSimt, .threads = 32, .alignment = 4};
};
// The same where its types are right, which the code that uses the block goes by.
template <class Description>
struct AnyBlockOfTypes : Description {
  static constexpr BlockConfig config{.shape = {16, 16, 32},
                                      .mainloop = sizeof(typename Description::ElementA) == 2
                                                      ? Mainloop::kMmaSm80
                                                      : Mainloop::kSimt,
                                      .threads = 32,
                                      .alignment = 16};
};

}  // namespace internal

// Instantiating this checks a description; where kOk is false, Block<Description> is a block of
// another one, so that the sentence is the only error; each mistake fails one static_assert with one sentence.
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
  static_assert(!internal::HasBlockTypes<Description> || internal::HasBlockConfig<Description>,
                "weft: a block's product needs `static constexpr weft::gemm::BlockConfig config`");
  static_assert(!internal::HasBlockConfig<Description> || internal::HasBlockLayouts<Description>,
                "weft: LayoutA, LayoutB and LayoutC of a block's product are "
                "weft::layouts::RowMajor or weft::layouts::ColumnMajor");
  static constexpr bool kOk = false;
};

template <class Description>
  requires(internal::HasBlockLayouts<Description>)
struct CheckedBlock<Description> {
  using ElementOfA = typename Description::ElementA;
  static constexpr BlockConfig config = Description::config;
  static constexpr bool kWgmma = config.mainloop == Mainloop::kWgmmaSm90;
  static constexpr bool kMma = kWgmma || config.mainloop == Mainloop::kMmaSm80;  // tensor cores
  static constexpr bool kAsync = config.mainloop == Mainloop::kSimtAsync;
  static constexpr bool kByteElements = sizeof(ElementOfA) == 1;
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
  static constexpr bool kTypes =
      std::is_same_v<typename Description::Sum, Expected> &&
      internal::kBlockResult<typename Description::ElementC, typename Description::Sum>;
  static constexpr bool kMainloop = kMma || kAsync || config.mainloop == Mainloop::kSimt;
  static_assert(kMainloop,
                "weft: config.mainloop of a block's product is kSimt, kSimtAsync, kMmaSm80 or "
                "kWgmmaSm90");
  static_assert(!kAsync || !kByteElements,
                "weft: bytes of a block's product take config.mainloop = kSimt, kMmaSm80 or, on "
                "sm_90a, kWgmmaSm90");
  static_assert(!kMainloop || kMma || !kSixteen,
                "weft: 16-bit floats of a block's product take config.mainloop = kMmaSm80, or on "
                "sm_90a kWgmmaSm90");
  static_assert(!kWgmma || !std::is_same_v<ElementOfA, std::uint8_t>,
                "weft: unsigned bytes of a block's product take config.mainloop = kSimt or "
                "kMmaSm80");
  static_assert(!kMma || kByteElements || kSixteen,
                "weft: float, double and weft::Complex of a block's product take config.mainloop = "
                "kSimt or kSimtAsync");
  static constexpr bool kTakesTypes = (kMma || !kSixteen) && (!kAsync || !kByteElements) &&
                                      (!kMma || kByteElements || kSixteen) &&
                                      (!kWgmma || !std::is_same_v<ElementOfA, std::uint8_t>);
  static constexpr bool kShape = internal::PositiveTile(config.shape) && config.shape.m <= 1024 &&
                                 config.shape.n <= 1024 && config.shape.k <= 65536;
  static_assert(kShape,
                "weft: config.shape of a block's product is 1 to 1024 in m and n, 1 to 65536 in k; "
                "take tiles of a larger one, and MultiplyGlobal for a longer k");
  static constexpr bool kWarps =
      config.threads >= 0 && config.threads <= 1024 && config.threads % 32 == 0;
  static_assert(kWarps,
                "weft: config.threads of a block's product is a multiple of 32 up to 1024, or 0 "
                "for the suggested number");
  static constexpr bool kWarpgroups = !kWgmma || config.threads % 128 == 0;
  static_assert(!kWarps || kWarpgroups,
                "weft: config.threads of a block's product by kWgmmaSm90 is a multiple of 128, a "
                "warpgroup, or 0 for the suggested number");
  static_assert(config.alignment == sizeof(ElementOfA) ||
                    ((config.alignment == 4 || config.alignment == 8 || config.alignment == 16) &&
                     config.alignment >= static_cast<int>(sizeof(ElementOfA))),
                "weft: config.alignment of a block's product is to be given: 16, 8 or 4 bytes, at "
                "least one element, or one element");
  static constexpr bool kOk = kTypes && kMainloop && kTakesTypes && kShape && kWarps && kWarpgroups;
};

// How Description's product is divided among `threads` threads; warps is 0 if these are too few.
template <class Description>
constexpr internal::BlockTiles BlockTilesOf(int threads) {
  constexpr int kElementBytes = sizeof(typename Description::ElementA);
  return CheckedBlock<Description>::kWgmma
             ? internal::WgmmaTiles(Description::config.shape, kElementBytes, threads / 128,
                                    Description::config.whole_rows)
         : CheckedBlock<Description>::kMma
             ? internal::MmaTiles(Description::config.shape, kElementBytes, threads / 32,
                                  Description::config.whole_rows)
             : internal::SimtTiles(Description::config.shape,
                                   {kElementBytes == 1 ? 4 : 1,
                                    CheckedBlock<Description>::kAsync ? 16 / kElementBytes : 0},
                                   threads / 32, Description::config.whole_rows);
}

// The number of threads, 32 to 256, that Description's product gets by default: the fewest with
// which each has at most 32 accumulators. With kSimtAsync, where more accumulators save loads from
// shared memory, a thread may have 96 registers of them, and the number of threads with the least
// padding is taken. If no number satisfies that, the one with the fewest accumulators per thread
// is.
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

// How the product is divided among its threads; kOk is false as of CheckedBlock.
template <class Description>
struct CheckedBlockTiles {
  static constexpr bool kOk = false;
};
template <class Description>
  requires(CheckedBlock<Description>::kOk)
struct CheckedBlockTiles<Description> {
  static constexpr int kThreads = Description::config.threads > 0 ? Description::config.threads
                                                                  : SuggestedThreads<Description>();
  static constexpr internal::BlockTiles kTiles = BlockTilesOf<Description>(kThreads);
  static constexpr bool kOk = kTiles.warps > 0 && kTiles.sums <= 128;
  static_assert(kOk,
                "weft: config.shape of a block's product is too large for config.threads: each "
                "thread holds at most 128 sums (64 with kSimt, or of doubles); give it more "
                "threads, or less of "
                "the product");
};

namespace internal {

// What stands in the place of a description that is refused.
template <class Description>
struct InPlaceOf {
  using type = AnyBlock;
};
template <class Description>
  requires(HasBlockLayouts<Description> && CheckedBlock<Description>::kTypes)
struct InPlaceOf<Description> {
  using type = AnyBlockOfTypes<Description>;
};

}  // namespace internal

// The policy that Description's mainloop is instantiated with.
template <class Description>
struct BlockPolicy {
  static_assert(CheckedBlockTiles<Description>::kOk);
  using Element = typename Description::ElementA;
  struct Epilogue {
    using Output = typename Description::Sum;
    static constexpr bool kHasResidual = false;
  };
  static constexpr int kThreads = CheckedBlockTiles<Description>::kThreads;
  static constexpr internal::BlockTiles kTiles = CheckedBlockTiles<Description>::kTiles;
  // kRun adjacent accumulators of a thread make one word of a chained product's operand A
  // (block_chain.hpp).
  static constexpr int kRun = sizeof(Element) == 1 ? 4 : 2;
  static constexpr auto config = [] {
    constexpr Alignment kAlignment{
        Description::config.alignment < 4 ? 4 : Description::config.alignment,
        static_cast<int>(sizeof(typename Description::Sum))};
    if constexpr (CheckedBlock<Description>::kMma) {  // also wgmma, whose warps have a tile each
      return MmaSm80Config(kTiles.block, kTiles.warp, 3, kAlignment);
    } else if constexpr (CheckedBlock<Description>::kAsync) {
      return SimtAsyncConfig(kTiles.block, kTiles.warp, kTiles.thread, 3, kAlignment);
    } else {
      return SimtConfig(kTiles.block, kTiles.warp, kTiles.thread, kAlignment);
    }
  }();
};

}  // namespace weft::gemm
