// Matrix products whose tile is chosen for the problem, so that a program can start with one line:
//
//     using Op = weft::gemm::Dispatch<weft::gemm::S8GemmFamily<weft::epilogues::BiasRelu<>>>;
//
// They run on the CPU as they are and on the GPU after weft_add_gemm_family() of CMake.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/family.hpp"

namespace weft::gemm {

namespace internal {

// Bytes of one store to a C of layout C, as wide as `most` allows.
template <class Output, class LayoutCT>
constexpr int StoreBytes(int most) {
  constexpr int kOne = sizeof(Output);
  return std::is_same_v<LayoutCT, layouts::ColumnMajor> || most < kOne ? kOne
         : most < 16                                                   ? most
                                                                       : 16;
}

}  // namespace internal

// Tiles for any element type: k counts bytes. Loads of 16 bytes and the widest stores (of tf32 and doubles
// two elements), or of 4 bytes (8 of doubles) and of one element (kNarrow) for matrices that these do not fit.
// warp_k: of k, less where warps share a slice.
template <int m, int n, int k, int warp_m, int warp_n, int stages, bool kNarrow = false,
          int warp_k = k>
struct MmaTileOf {
  template <class Element, class Output, class LayoutCT>
  static constexpr auto Config() {
    constexpr int kBytes = sizeof(Element);
    constexpr int kRun = kBytes >= 4 ? 2 : warp_n == 16 ? 4 : 8;
    constexpr int kMost = kNarrow ? 0 : kRun * static_cast<int>(sizeof(Output));
    constexpr int kLeast = kBytes > 4 ? kBytes : 4;
    return MmaSm80Config(
        {m, n, k / kBytes}, {warp_m, warp_n, warp_k / kBytes}, stages,
        Alignment{kNarrow ? kLeast : 16, internal::StoreBytes<Output, LayoutCT>(kMost)});
  }
};
// For GPUs before sm_80.
template <int m, int n, int k, int warp_m, int warp_n, bool kNarrow = false>
struct Sm75TileOf {
  template <class Element, class Output, class LayoutCT>
  static constexpr auto Config() {
    constexpr int kDepth = k / static_cast<int>(sizeof(Element));
    constexpr int kMost = kNarrow ? 0 : 8 * static_cast<int>(sizeof(Output));
    return WithSrcAlignment(MmaSm75Config({m, n, kDepth}, {warp_m, warp_n, kDepth},
                                          internal::StoreBytes<Output, LayoutCT>(kMost)),
                            kNarrow ? 4 : 16);
  }
};
template <int m, int n, int k, int warp_m, int warp_n, int blocks_per_sm = 1, int split = 1,
          bool kNarrow = false>
struct WgmmaTileOf {
  template <class Element, class Output, class LayoutCT>
  static constexpr auto Config() {
    constexpr int kDepth = k / static_cast<int>(sizeof(Element));
    return WithSplit(WgmmaSm90Config({m, n, kDepth}, {warp_m, warp_n, kDepth}, blocks_per_sm,
                                     internal::StoreBytes<Output, LayoutCT>(kNarrow ? 0 : 16)),
                     split);
  }
};
// Two warpgroups that take tiles of m x n in turn.
template <int m, int n, int k>
struct TurnsTileOf {
  template <class Element, class Output, class LayoutCT>
  static constexpr auto Config() {
    return InTurns(WgmmaTileOf<m, n, k, m, n>::template Config<Element, Output, LayoutCT>());
  }
};
// Of fma; kMost: bytes of the widest store, of a thread's sums side by side. One stage that is copied
// while another is multiplied (simt, narrow), or a ring of them (simt_async). warp_k as above.
template <int m, int n, int k, int warp_m, int warp_n, int thread_m, int thread_n, int stages = 2,
          int warp_k = k>
struct FmaTileOf {
  template <class Element, class Output, class LayoutCT>
  static constexpr auto Config() {
    constexpr TileShape kBlock = {m, n, k}, kWarp = {warp_m, warp_n, warp_k};
    constexpr TileShape kThread = {thread_m, thread_n, 1};
    if constexpr (stages == 2) {
      return SimtConfig(kBlock, kWarp, kThread, Alignment{sizeof(Element), sizeof(Output)});
    } else {
      constexpr int kMost =
          16 / static_cast<int>(sizeof(Element)) * static_cast<int>(sizeof(Output));
      return SimtAsyncConfig(kBlock, kWarp, kThread, stages,
                             Alignment{16, internal::StoreBytes<Output, LayoutCT>(kMost)});
    }
  }
};
// For few rows, or few columns: eight warps share each slice, of half a kilobyte of k.
using SlicedRowsTile = MmaTileOf<16, 32, 512, 16, 32, 4, false, 64>;
using SlicedColumnsTile = MmaTileOf<32, 16, 512, 32, 16, 4, false, 64>;
// Likewise of fma: k elements to a slice.
template <int k>
using SlicedRowsFmaTile = FmaTileOf<16, 32, k, 16, 32, 4, 4, 4, k / 8>;
template <int k>
using SlicedColumnsFmaTile = FmaTileOf<32, 16, k, 32, 16, 4, 4, 4, k / 8>;

// Of dp4a, for GPUs before sm_80, narrow too.
struct Dp4aTileOf64x64 {
  template <class Element, class Output, class LayoutCT>
  static constexpr auto Config() {
    return SimtConfig({64, 64, 32}, {32, 32, 32}, {4, 8, 4}, Alignment{4, sizeof(Output)});
  }
};

// A product of one of these tiles.
template <class ElementT, class EpilogueT, class TileT, class LayoutAT = layouts::RowMajor,
          class LayoutBT = layouts::ColumnMajor, class LayoutCT = layouts::RowMajor>
struct TiledGemm {
  using Element = ElementT;
  using LayoutA = LayoutAT;
  using LayoutB = LayoutBT;
  using LayoutC = LayoutCT;
  using Epilogue = EpilogueT;
  static constexpr auto config =
      TileT::template Config<ElementT, typename EpilogueT::Output, LayoutCT>();
};

// The same with load functors, or NoLoad.
template <class PolicyT, class LoadAT, class LoadBT>
struct LoadedGemm : PolicyT {
  using LoadA = LoadAT;
  using LoadB = LoadBT;
};

// The same with sums that are halves.
template <class PolicyT>
struct HalfSumGemm : PolicyT {
  using Sum = Half;
};

namespace internal {

template <class ElementT, class Epilogue, class LayoutAT, class LayoutBT, class LayoutCT>
struct GemmFamilies {
  template <class... Tiles>
  using Of = Family<TiledGemm<ElementT, Epilogue, Tiles, LayoutAT, LayoutBT, LayoutCT>...>;
  static constexpr bool kLines =
      std::is_same_v<LayoutAT, layouts::RowMajor> && std::is_same_v<LayoutBT, layouts::ColumnMajor>;

  using Any = MmaTileOf<64, 64, 64, 32, 32, 4, true>;
  using Sm75 = Sm75TileOf<128, 64, 64, 64, 32>;
  using Narrow = std::conditional_t<
      kByte<ElementT>, Of<Dp4aTileOf64x64, Any, Sm75>,
      std::conditional_t<std::is_same_v<ElementT, Half>,
                         Of<Sm75TileOf<64, 64, 64, 32, 32, true>, Any, Sm75>, Of<Any>>>;
  // Transposing loads leave too few registers for 64 x 64 sums to a warp; tf32 is not transposed.
  using Large = Of<MmaTileOf<256, 128, 128, 64, 64, 3>, MmaTileOf<128, 256, 128, 64, 64, 3>>;
  using Mma = Of<MmaTileOf<128, 128, 64, 64, 32, 3>, MmaTileOf<128, 64, 64, 64, 32, 4>,
                 MmaTileOf<64, 64, 64, 32, 32, 4>>;
  using Sliced = Of<SlicedRowsTile, SlicedColumnsTile>;
  using Wgmma =
      Of<WgmmaTileOf<128, 256, 128, 128, 128>, WgmmaTileOf<256, 128, 128, 256, 64>,
         WgmmaTileOf<128, 128, 128, 128, 64>, WgmmaTileOf<64, 128, 128, 64, 64>,
         WgmmaTileOf<64, 64, 128, 64, 64, 2>, WgmmaTileOf<64, 64, 128, 64, 64, 2, 2>,
         WgmmaTileOf<64, 64, 128, 64, 64, 1, 4>, WgmmaTileOf<32, 64, 256, 32, 64, 2>,
         WgmmaTileOf<32, 64, 256, 32, 64, 2, 2>, WgmmaTileOf<32, 64, 256, 32, 64, 1, 4>,
         TurnsTileOf<128, 128, 128>, TurnsTileOf<160, 128, 128>, TurnsTileOf<176, 128, 128>>;
  // Tf32 in other orders, turned in slices of 128 bytes.
  using Turned = Of<WgmmaTileOf<128, 256, 128, 128, 128>, WgmmaTileOf<256, 128, 128, 256, 64>,
                    WgmmaTileOf<128, 128, 128, 128, 64>, WgmmaTileOf<64, 128, 128, 64, 64>,
                    WgmmaTileOf<64, 64, 128, 64, 64, 2>, WgmmaTileOf<64, 64, 128, 64, 64, 1, 4>,
                    TurnsTileOf<128, 128, 128>, TurnsTileOf<160, 128, 128>>;
  // And bytes, of which a box has 128 rows.
  using TurnedBytes =
      Of<WgmmaTileOf<128, 256, 128, 128, 128>, WgmmaTileOf<256, 128, 128, 256, 64>,
         WgmmaTileOf<128, 128, 128, 128, 64>, WgmmaTileOf<128, 64, 128, 128, 64, 1, 4>,
         WgmmaTileOf<32, 128, 128, 32, 64, 2>, WgmmaTileOf<32, 128, 128, 32, 64, 2, 2>,
         WgmmaTileOf<32, 128, 128, 32, 64, 1, 4>, TurnsTileOf<128, 128, 128>>;
  static constexpr bool kLarge = kLines || std::is_same_v<ElementT, Tf32>;
  static constexpr bool kWgmma = kLines || kFloat16<ElementT>,
                        kSliced = kLines || !kFloat16<ElementT>;
  using All = JoinFamilies<
      Narrow, std::conditional_t<kLarge, Large, Family<>>, Mma,
      std::conditional_t<kWgmma, Wgmma, std::conditional_t<kLarge, Turned, TurnedBytes>>,
      std::conditional_t<kSliced, Sliced, Family<>>>;
};

template <class Epilogue, class LayoutAT, class LayoutBT, class LayoutCT>
struct HalfSumFamily {
  template <class... Tiles>
  using Of = Family<HalfSumGemm<TiledGemm<Half, Epilogue, Tiles, LayoutAT, LayoutBT, LayoutCT>>...>;
  using All = Of<MmaTileOf<64, 64, 64, 32, 32, 4, true>, MmaTileOf<128, 128, 64, 64, 32, 3>,
                 MmaTileOf<128, 64, 64, 64, 32, 4>, MmaTileOf<64, 64, 64, 32, 32, 4>,
                 WgmmaTileOf<128, 256, 128, 128, 128>, WgmmaTileOf<64, 128, 128, 64, 64>,
                 WgmmaTileOf<64, 64, 128, 64, 64, 1, 4>, WgmmaTileOf<32, 64, 256, 32, 64, 2>,
                 WgmmaTileOf<32, 64, 256, 32, 64, 1, 4>, TurnsTileOf<128, 128, 128>,
                 TurnsTileOf<160, 128, 128>>;
};

// Of complex numbers: by fma, those of double from sm_80 on by tensor cores; accesses of one element first.
template <class ElementT, class Epilogue, class LayoutAT, class LayoutBT, class LayoutCT>
struct ComplexFamily {
  template <class... Tiles>
  using Of = Family<TiledGemm<ElementT, Epilogue, Tiles, LayoutAT, LayoutBT, LayoutCT>...>;
  using Float = Of<FmaTileOf<64, 64, 8, 32, 32, 8, 4>, FmaTileOf<128, 128, 16, 64, 32, 8, 8, 3>,
                   FmaTileOf<64, 64, 16, 32, 32, 8, 4, 4>, FmaTileOf<32, 32, 16, 16, 32, 4, 4, 4>,
                   SlicedRowsFmaTile<32>, SlicedColumnsFmaTile<32>>;
  using Double = Of<FmaTileOf<64, 32, 8, 32, 16, 4, 4>, MmaTileOf<128, 64, 128, 32, 32, 4>,
                    MmaTileOf<64, 64, 128, 32, 32, 3>, MmaTileOf<32, 32, 128, 16, 32, 4>,
                    SlicedRowsFmaTile<32>, SlicedColumnsFmaTile<32>>;
  // Not beside a residual (mma_sm80.hpp).
  using Sliced = std::conditional_t<Epilogue::kHasResidual, Family<>,
                                    Of<MmaTileOf<16, 32, 512, 16, 32, 4, false, 128>,
                                       MmaTileOf<32, 16, 512, 32, 16, 4, false, 128>>>;
  using All = std::conditional_t<std::is_same_v<ElementT, Complex<float>>, Float,
                                 JoinFamilies<Double, Sliced>>;
};

// Of an operand of 16-bit floats and one that becomes them.
template <class ElementA, class ElementB, class Epilogue, class LayoutAT, class LayoutBT,
          class LayoutCT>
struct MixedFamily {
  static_assert(kFloat16<ElementA> != kFloat16<ElementB>,
                "weft: MixedGemmFamily<A, B> takes weft::Half or weft::Bfloat16 and one narrower "
                "type; two of the same are HalfGemmFamily");
  static constexpr bool kNarrowA = kFloat16<ElementB>;
  using Element = std::conditional_t<kNarrowA, ElementB, ElementA>;
  using FromA = std::conditional_t<kNarrowA, Widen<Element, ElementA>, NoLoad>;
  using FromB = std::conditional_t<kNarrowA, NoLoad, Widen<Element, ElementB>>;
  template <class... Tiles>
  using Of = Family<LoadedGemm<TiledGemm<Element, Epilogue, Tiles, LayoutAT, LayoutBT, LayoutCT>,
                               FromA, FromB>...>;
  // The best where A is the one that changes, and up to a third slower than 128 x 64 where B is.
  using Square = std::conditional_t<kNarrowA, Of<MmaTileOf<128, 128, 64, 64, 32, 3>>, Family<>>;
  // Where B's columns pass through registers on their way to the tensor cores, and where A is widened in shared
  // memory.
  static constexpr bool kWidensB = kWidensInRegisters<FromB>, kWidensA = kWidensInRegisters<FromA>;
  using HopperA = std::conditional_t<
      kWidensA,
      Of<WgmmaTileOf<128, 192, 128, 128, 64>, WgmmaTileOf<128, 256, 128, 128, 128>,
         WgmmaTileOf<256, 128, 128, 256, 64>, WgmmaTileOf<128, 128, 128, 128, 64>,
         WgmmaTileOf<64, 64, 128, 64, 64, 2>, WgmmaTileOf<64, 64, 128, 64, 64, 2, 2>,
         WgmmaTileOf<64, 64, 128, 64, 64, 1, 4>, TurnsTileOf<128, 128, 128>>,
      Family<>>;
  using Hopper = std::conditional_t<
      kWidensB,
      Of<WgmmaTileOf<128, 128, 128, 128, 64>, WgmmaTileOf<256, 128, 128, 256, 64>,
         TurnsTileOf<128, 128, 128>, WgmmaTileOf<32, 64, 256, 32, 64, 2>,
         WgmmaTileOf<32, 64, 256, 32, 64, 2, 2>, WgmmaTileOf<32, 64, 256, 32, 64, 2, 4>,
         WgmmaTileOf<32, 64, 256, 32, 64, 1, 4>>,
      HopperA>;
  using All =
      JoinFamilies<Of<MmaTileOf<64, 64, 64, 32, 32, 4, true>, MmaTileOf<128, 64, 64, 64, 32, 4>,
                      MmaTileOf<64, 64, 64, 32, 32, 4>, SlicedRowsTile, SlicedColumnsTile>,
                   Square, Hopper>;
};

template <class Epilogue, class LayoutAT, class LayoutBT, class LayoutCT>
struct FloatFamily {
  template <class... Tiles>
  using Of = Family<TiledGemm<float, Epilogue, Tiles, LayoutAT, LayoutBT, LayoutCT>...>;
  using All =
      Of<FmaTileOf<64, 64, 8, 32, 32, 8, 4>, FmaTileOf<128, 256, 16, 64, 64, 8, 16, 4>,
         FmaTileOf<128, 128, 16, 64, 32, 8, 8, 3>, FmaTileOf<64, 64, 16, 32, 32, 8, 4, 4>,
         FmaTileOf<32, 32, 32, 16, 32, 4, 4, 4>, SlicedRowsFmaTile<64>, SlicedColumnsFmaTile<64>>;
};

// Of double: by fma for GPUs before sm_80, then by tensor cores, 8-byte accesses first.
template <class Epilogue, class LayoutAT, class LayoutBT, class LayoutCT>
struct DoubleFamily {
  template <class... Tiles>
  using Of = Family<TiledGemm<double, Epilogue, Tiles, LayoutAT, LayoutBT, LayoutCT>...>;
  using All = Of<FmaTileOf<64, 64, 8, 32, 32, 8, 4>, MmaTileOf<64, 64, 128, 32, 32, 3, true>,
                 MmaTileOf<128, 128, 128, 64, 32, 4>, MmaTileOf<128, 64, 128, 64, 32, 3>,
                 MmaTileOf<64, 64, 128, 32, 32, 3>, MmaTileOf<32, 32, 128, 16, 32, 4>,
                 SlicedRowsTile, SlicedColumnsTile>;
};

}  // namespace internal

// What Dispatch chooses from. The first policy takes any lda, ldb and n that 4-byte loads fit, so
// that its errors say what no policy accepts; the others want lines of whole 16 bytes, and of a
// row-major C whole stores.
//
// int8, any GPU from sm_75 (docs/tiles.md has the number of policies of each family). Epilogue may end in ClampTo<std::int8_t>, ToFloat, ToSums<std::int32_t>, as all that gemm/gemm_policy.hpp says.
template <class Epilogue = epilogues::BiasRelu<>, class LayoutAT = layouts::RowMajor,
          class LayoutBT = layouts::ColumnMajor, class LayoutCT = layouts::RowMajor>
using S8GemmFamily =
    typename internal::GemmFamilies<std::int8_t, Epilogue, LayoutAT, LayoutBT, LayoutCT>::All;

// The same of uint8 A and int8 B.
template <class Epilogue = epilogues::BiasRelu<>, class LayoutAT = layouts::RowMajor,
          class LayoutBT = layouts::ColumnMajor, class LayoutCT = layouts::RowMajor>
using U8GemmFamily =
    typename internal::GemmFamilies<std::uint8_t, Epilogue, LayoutAT, LayoutBT, LayoutCT>::All;

// 16-bit floats, sums in float, any GPU from sm_75 (halves) or sm_80. Epilogue may end in RoundTo<Half>, RoundTo<Bfloat16>, ToFloat, ToSums<float>, ...
template <class Epilogue =
              epilogues::Chain<epilogues::Scale, epilogues::Bias<>, epilogues::RoundTo<Half>>,
          class LayoutAT = layouts::RowMajor, class LayoutBT = layouts::ColumnMajor,
          class LayoutCT = layouts::RowMajor>
using HalfGemmFamily =
    typename internal::GemmFamilies<Half, Epilogue, LayoutAT, LayoutBT, LayoutCT>::All;

template <class Epilogue =
              epilogues::Chain<epilogues::Scale, epilogues::Bias<>, epilogues::RoundTo<Bfloat16>>,
          class LayoutAT = layouts::RowMajor, class LayoutBT = layouts::ColumnMajor,
          class LayoutCT = layouts::RowMajor>
using Bfloat16GemmFamily =
    typename internal::GemmFamilies<Bfloat16, Epilogue, LayoutAT, LayoutBT, LayoutCT>::All;

// Halves with sums that are halves too, which some GPUs multiply at twice the rate: |sums| up to 65504, of
// 11 significant bits, so for short k or numbers that sum up to little. Any GPU from sm_80; the policies for
// Hopper keep floats (gemm/config.hpp).
template <class Epilogue =
              epilogues::Chain<epilogues::Scale, epilogues::Bias<>, epilogues::RoundTo<Half>>,
          class LayoutAT = layouts::RowMajor, class LayoutBT = layouts::ColumnMajor,
          class LayoutCT = layouts::RowMajor>
using HalfSumGemmFamily =
    typename internal::HalfSumFamily<Epilogue, LayoutAT, LayoutBT, LayoutCT>::All;

// Products of 16-bit floats of which one operand is in memory std::int8_t, std::uint8_t, Int4, Float8E4m3
// or Float8E5m2 (gemm/load_functor.hpp): MixedGemmFamily<Half, Int4> multiplies halves A by int4 B,
// MixedGemmFamily<std::int8_t, Bfloat16> int8 A by bfloat16 B. Sums in float, any GPU from sm_80; of
// std::int8_t or Int4 the last ones are Hopper's, for lda and ldb of whole 16 bytes. Scales of columns are the epilogue's.
template <class ElementA, class ElementB,
          class Epilogue =
              epilogues::Chain<epilogues::Scale, epilogues::Bias<>, epilogues::RoundTo<Half>>,
          class LayoutAT = layouts::RowMajor, class LayoutBT = layouts::ColumnMajor,
          class LayoutCT = layouts::RowMajor>
using MixedGemmFamily =
    typename internal::MixedFamily<ElementA, ElementB, Epilogue, LayoutAT, LayoutBT, LayoutCT>::All;

// float, sums by one fma for each k, for any GPU from sm_75 (the first) or sm_80. Epilogue as
// above.
template <class Epilogue =
              epilogues::Chain<epilogues::Scale, epilogues::Bias<>, epilogues::ToFloat>,
          class LayoutAT = layouts::RowMajor, class LayoutBT = layouts::ColumnMajor,
          class LayoutCT = layouts::RowMajor>
using FloatGemmFamily = typename internal::FloatFamily<Epilogue, LayoutAT, LayoutBT, LayoutCT>::All;

// double: one policy of fma for any GPU from sm_75, those of tensor cores from sm_80. Epilogue is
// Chain<[Residual<double>,] [Scale,] ToSums<double>>.
template <class Epilogue = epilogues::Chain<epilogues::ToSums<double>>,
          class LayoutAT = layouts::RowMajor, class LayoutBT = layouts::ColumnMajor,
          class LayoutCT = layouts::RowMajor>
using DoubleGemmFamily =
    typename internal::DoubleFamily<Epilogue, LayoutAT, LayoutBT, LayoutCT>::All;

// Complex<float> or Complex<double>: the first policy, of fma, for any GPU from sm_75, the others from
// sm_80, of double by tensor cores but for two sliced ones. The first takes any lda, ldb and ldc. Epilogue is
// Chain<[Residual<ElementT>,] [Scale,] ToSums<ElementT>>, alpha and gamma are ElementTs.
template <class ElementT, class Epilogue = epilogues::Chain<epilogues::ToSums<ElementT>>,
          class LayoutAT = layouts::RowMajor, class LayoutBT = layouts::ColumnMajor,
          class LayoutCT = layouts::RowMajor>
using ComplexGemmFamily =
    typename internal::ComplexFamily<ElementT, Epilogue, LayoutAT, LayoutBT, LayoutCT>::All;

// 8-bit floats, any GPU from sm_89; sums have about 14 significant bits (arch/wgmma.hpp). Epilogue as
// above.
template <class Epilogue =
              epilogues::Chain<epilogues::Scale, epilogues::Bias<>, epilogues::RoundTo<Half>>,
          class LayoutAT = layouts::RowMajor, class LayoutBT = layouts::ColumnMajor,
          class LayoutCT = layouts::RowMajor>
using E4m3GemmFamily =
    typename internal::GemmFamilies<Float8E4m3, Epilogue, LayoutAT, LayoutBT, LayoutCT>::All;
template <class Epilogue =
              epilogues::Chain<epilogues::Scale, epilogues::Bias<>, epilogues::RoundTo<Half>>,
          class LayoutAT = layouts::RowMajor, class LayoutBT = layouts::ColumnMajor,
          class LayoutCT = layouts::RowMajor>
using E5m2GemmFamily =
    typename internal::GemmFamilies<Float8E5m2, Epilogue, LayoutAT, LayoutBT, LayoutCT>::All;

// Floats, of which the upper 19 bits are read, any GPU from sm_80.
template <class Epilogue =
              epilogues::Chain<epilogues::Scale, epilogues::Bias<>, epilogues::ToFloat>,
          class LayoutAT = layouts::RowMajor, class LayoutBT = layouts::ColumnMajor,
          class LayoutCT = layouts::RowMajor>
using Tf32GemmFamily =
    typename internal::GemmFamilies<Tf32, Epilogue, LayoutAT, LayoutBT, LayoutCT>::All;

}  // namespace weft::gemm
