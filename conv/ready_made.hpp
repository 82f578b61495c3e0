// Policies for common operators, so that a program can start with one line:
//
//     using Op = weft::conv::Convolution<weft::conv::S8Conv4<weft::epilogues::BiasHSwish<>>>;
//
// or, where the tile is to be chosen for the problem:
//
//     using Op = weft::conv::Dispatch<weft::conv::S8Conv4SmallFamily<weft::epilogues::BiasHSwish<>>>;
//
// Each runs on the CPU as it is. On the GPU it runs in a program whose CMakeLists.txt names it in
// weft_add_operators(), or a family in weft_add_family(). The library weft::ready_made, which a
// program links beside weft::weft, holds the GPU code of those that conv/operators.cmake lists.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/conv/policy/family.hpp"
#include "weft/conv/policy/policy.hpp"
#include "weft/conv/problem/deconvolution_problem.hpp"
#include "weft/conv/problem/problem.hpp"
#include "weft/conv/tile_families.hpp"

namespace weft::conv {

namespace internal {

// Bytes that `channels` outputs take in memory in Dst.
template <class Epilogue, class Dst>
constexpr int BytesOf(int channels) {
  return channels * static_cast<int>(weft::internal::kElementBits<Dst, typename Epilogue::Output>) /
         8;
}

// Bytes of one store of channels that are adjacent in Dst: `most`, or all of them if they are
// fewer.
template <class Epilogue, class Dst>
constexpr int StoreBytes(int most) {
  constexpr int kRun = BytesOf<Epilogue, Dst>(Dst::kChannelRun);
  return kRun == 0 || kRun > most ? most : kRun;
}
// The same for wgmma_sm90, which stages outputs in shared memory and stores up to 16 bytes.
template <class Epilogue, class Dst>
inline constexpr int kStagedStore = StoreBytes<Epilogue, Dst>(16);

// `config` with the stores that TileT can make: up to 16 bytes with a wgmma_sm90 tile, else those
// of the tile, no wider than Dst allows.
template <class TileT, class Epilogue, class Dst>
constexpr auto WithStagedStore() {
  constexpr int kMost = kIsWgmma<TileT> ? 16
                        : kIsInt4<Dst>  ? 2  // bytes of the 4 channels that every thread has
                                        : TileT::config.alignment.dst;
  return WithDstAlignment(TileT::config, StoreBytes<Epilogue, Dst>(kMost));
}

}  // namespace internal

// int8 convolution over NCxHWx<4> by dp4a, for any GPU from sm_75; with a WgmmaFirst tile by the
// tensor cores of Hopper. Dst is any layout; where it is NHWC, K is a multiple of a store: 4 bytes,
// with a WgmmaFirst tile 16.
template <class EpilogueT = epilogues::BiasRelu<>, class Dst = NCxHWx<4>, class TileT = Tile64x64>
struct S8Conv4 {
  using Element = std::int8_t;
  using SrcLayout = NCxHWx<4>;
  using FilterLayout = CxRSKx<4>;
  using DstLayout = Dst;
  using Prologue = prologues::SharedFilter;
  using Epilogue = EpilogueT;
  [[gnu::visibility("hidden")]] static constexpr auto config =
      WithSrcAlignment(internal::WithStagedStore<TileT, EpilogueT, Dst>(), 4);
};

// int8 convolution over NCxHWx<32> by tensor cores, for any GPU from sm_80 (from sm_75 with a
// MmaSm75Tile, Hopper alone with a Wgmma tile). Dst is as above; the store is as wide as Dst
// allows, for NHWC 4 bytes, or 16 with a Wgmma tile.
template <class EpilogueT = epilogues::BiasRelu<>, class Dst = NCxHWx<32>, class TileT = Mma128x64>
struct S8Conv32 {
  using Element = std::int8_t;
  using SrcLayout = NCxHWx<32>;
  using FilterLayout = CxRSKx<32>;
  using DstLayout = Dst;
  using Prologue = prologues::SharedFilter;
  using Epilogue = EpilogueT;
  static constexpr int kWidest = Dst::kChannelRun == 0 || TileT::config.warp.n == 16 ? 4 : 8;
  static constexpr int kMostBytes = kIsWgmma<TileT> ? 16 : kIsInt4<Dst> ? kWidest / 2 : kWidest;
  [[gnu::visibility("hidden")]] static constexpr auto config =
      WithDstAlignment(TileT::config, internal::StoreBytes<EpilogueT, Dst>(kMostBytes));
};

// int8 convolution over NHWC with a KRSC filter by tensor cores, for any GPU from sm_80, or Hopper
// with a Wgmma tile. C is a multiple of kSrcBytes, the width of a load (16, 8 or 4; 16 with a Wgmma
// tile). Dst is as above; where it is NHWC, K is a multiple of kDstChannels, the channels of one
// store of at most 16 bytes (8, 4 or 1; 16 with a Wgmma tile).
template <class EpilogueT = epilogues::BiasRelu<>, class Dst = NHWC, class TileT = Mma128x64,
          int kSrcBytes = 16, int kDstChannels = kIsWgmma<TileT> ? 16 : 8>
struct S8ConvNhwc {
  using Element = std::int8_t;
  using SrcLayout = NHWC;
  using FilterLayout = KRSC;
  using DstLayout = Dst;
  using Prologue = prologues::SharedFilter;
  using Epilogue = EpilogueT;
  static constexpr int kBytes = internal::BytesOf<EpilogueT, Dst>(kDstChannels);
  [[gnu::visibility("hidden")]] static constexpr auto config = WithSrcAlignment(
      WithDstAlignment(TileT::config,
                       internal::StoreBytes<EpilogueT, Dst>(kBytes < 16 ? kBytes : 16)),
      kSrcBytes);
};

namespace internal {

template <class Src, class EpilogueT, class Dst, class TileT>
struct S8Depthwise {
  using Element = std::int8_t;
  using SrcLayout = Src;
  using FilterLayout = KRSx4x4;
  using DstLayout = Dst;
  using Prologue = prologues::Depthwise;
  using Epilogue = EpilogueT;
  // A thread has 4 adjacent channels to store.
  [[gnu::visibility("hidden")]] static constexpr auto config = WithDstAlignment(
      TileT::config,
      StoreBytes<EpilogueT, Dst>(4 * static_cast<int>(sizeof(typename EpilogueT::Output))));
};

}  // namespace internal

// int8 depthwise convolution, for any GPU from sm_75: problem.groups = C, K is a multiple of C, and
// the filter comes from PackDepthwiseFilter. Over NHWC, C is a multiple of 4. Dst is any layout
// that takes Epilogue's output type; where it is NHWC, K is a multiple of 4.
template <class EpilogueT = epilogues::BiasRelu<>, class Dst = NCxHWx<4>,
          class TileT = Depthwise7x1>
struct S8Depthwise4 : internal::S8Depthwise<NCxHWx<4>, EpilogueT, Dst, TileT> {};
template <class EpilogueT = epilogues::BiasRelu<>, class Dst = NCxHWx<32>,
          class TileT = Depthwise7x8>
struct S8Depthwise32 : internal::S8Depthwise<NCxHWx<32>, EpilogueT, Dst, TileT> {};
template <class EpilogueT = epilogues::BiasRelu<>, class Dst = NHWC, class TileT = Depthwise7x8>
struct S8DepthwiseNhwc : internal::S8Depthwise<NHWC, EpilogueT, Dst, TileT> {};

namespace internal {

// The family of With<EpilogueT, Dst, tile> for each tile of a list.
template <template <class EpilogueT, class Dst, class FamilyTileT> class With, class EpilogueT,
          class Dst, class List>
struct PoliciesOf;
template <template <class EpilogueT, class Dst, class FamilyTileT> class With, class EpilogueT,
          class Dst, class... FamilyTiles>
struct PoliciesOf<With, EpilogueT, Dst, TileList<FamilyTiles...>> {
  using type = Family<With<EpilogueT, Dst, FamilyTiles>...>;
};
template <template <class EpilogueT, class Dst, class FamilyTileT> class With, class EpilogueT,
          class Dst, unsigned kFamily, unsigned kSmall = tile_families::kNoFamily>
using OfAnyGpu = typename PoliciesOf<With, EpilogueT, Dst, TilesOf<kFamily, false, kSmall>>::type;

// kFamily, where outputs have at most kMost bytes and a wgmma_sm90 kernel stores 16 bytes of a pixel
// at once, as it was measured. Elsewhere no family: the model would be wrong about its tiles.
template <class Epilogue, class Dst, unsigned kFamily, int kMost>
inline constexpr unsigned kWhereStored =
    sizeof(typename Epilogue::Output) <= kMost && !kIsInt4<Dst> && kStagedStore<Epilogue, Dst> == 16
        ? kFamily
        : tile_families::kNoFamily;
// The wgmma_sm90 tiles of a family.
template <template <class EpilogueT, class Dst, class FamilyTileT> class With, class EpilogueT,
          class Dst, unsigned kFamily, unsigned kSmall = tile_families::kNoFamily>
using OfHopper = typename PoliciesOf<With, EpilogueT, Dst, TilesOf<kFamily, true, kSmall>>::type;

template <class EpilogueT, class Dst, class FamilyTileT>
using Nc4Of = S8Conv4<EpilogueT, Dst, typename FamilyTileT::Tile>;
template <class EpilogueT, class Dst, class FamilyTileT>
using Nc32Of = S8Conv32<EpilogueT, Dst, typename FamilyTileT::Tile>;
template <class EpilogueT, class Dst, class FamilyTileT>
using NhwcOf = S8ConvNhwc<EpilogueT, Dst, typename FamilyTileT::Tile,
                          FamilyTileT::kSrc == 0 ? 16 : FamilyTileT::kSrc,
                          FamilyTileT::kDst != 0                 ? FamilyTileT::kDst
                          : kIsWgmma<typename FamilyTileT::Tile> ? 16
                                                                 : 8>;

// Stores of 4 channels and of 1 are needed for NHWC alone: blocked layouts pad K.
template <class Dst>
inline constexpr unsigned kNarrowNhwc =
    Dst::kChannelRun == 0 ? tile_families::kNhwcAnyK : tile_families::kNhwcToBlocks;
template <class Epilogue, class Dst>
inline constexpr unsigned kNhwcOfEight =
    Dst::kChannelRun == 0 ? kWhereStored<Epilogue, Dst, tile_families::kNhwcOfEight, 1>
                          : tile_families::kNoFamily;
template <class Epilogue, class Dst>
inline constexpr unsigned kNhwcToWide =
    kNhwcOfEight<Epilogue, Dst> == tile_families::kNoFamily
        ? kWhereStored<Epilogue, Dst, tile_families::kNhwcSmallToWide, 2>
        : tile_families::kNoFamily;

// The families of a source format: whole, or of the rows that are in kSmall too.
template <class Epilogue, class Dst, unsigned kSmall = tile_families::kNoFamily>
using Nc4Family = gemm::JoinFamilies<
    OfAnyGpu<Nc4Of, Epilogue, Dst, tile_families::kNc4, kSmall>,
    OfHopper<Nc4Of, Epilogue, Dst, kWhereStored<Epilogue, Dst, tile_families::kFirstLayer, 1>,
             kSmall>>;
template <class Epilogue, class Dst, unsigned kSmall = tile_families::kNoFamily>
using Nc32Family = gemm::JoinFamilies<
    OfAnyGpu<Nc32Of, Epilogue, Dst, tile_families::kNc32, kSmall>,
    OfHopper<Nc32Of, Epilogue, Dst, kWhereStored<Epilogue, Dst, tile_families::kNc32, 2>, kSmall>>;
template <class Epilogue, class Dst, unsigned kSmall = tile_families::kNoFamily>
using NhwcFamily = gemm::JoinFamilies<
    OfAnyGpu<NhwcOf, Epilogue, Dst, kNarrowNhwc<Dst>, kSmall>,
    OfAnyGpu<NhwcOf, Epilogue, Dst, tile_families::kNhwc, kSmall>,
    OfHopper<NhwcOf, Epilogue, Dst, kWhereStored<Epilogue, Dst, tile_families::kNhwc, 2>, kSmall>,
    OfHopper<NhwcOf, Epilogue, Dst, kNhwcOfEight<Epilogue, Dst>, kSmall>>;

}  // namespace internal

// What Dispatch chooses from: policies with the tiles that the table of tiles (gemm/tile/tiles.def)
// gives a family. Tile64x64 and Mma128x64 come first, since the first policy of a family says what
// is wrong with a problem that all refuse. GPUs other than Hopper, and problems that TMA cannot
// load, pass over the wgmma_sm90 tiles, which write bytes and 16-bit floats to NHWC and to
// NCxHWx<32> and wider.
//
// The small families have at most 8 tiles, and accept the same problems on the same GPUs as the
// whole ones below, which take several times as long to compile and are a few percent faster
// (docs/tiles.md). Over NHWC, C is any multiple of 4 and K any number.
template <class Epilogue = epilogues::BiasRelu<>, class Dst = NCxHWx<4>>
using S8Conv4SmallFamily = internal::Nc4Family<Epilogue, Dst, tile_families::kNc4Small>;
template <class Epilogue = epilogues::BiasRelu<>, class Dst = NCxHWx<32>>
using S8Conv32SmallFamily = internal::Nc32Family<Epilogue, Dst, tile_families::kNc32Small>;
template <class Epilogue = epilogues::BiasRelu<>, class Dst = NHWC>
using S8ConvNhwcSmallFamily = gemm::JoinFamilies<
    internal::NhwcFamily<Epilogue, Dst, tile_families::kNhwcSmall>,
    internal::OfHopper<internal::NhwcOf, Epilogue, Dst, internal::kNhwcToWide<Epilogue, Dst>>>;

// The whole families: each tile was the best on some layer of perf/layers/ in one of the formats.
template <class Epilogue = epilogues::BiasRelu<>, class Dst = NCxHWx<4>>
using S8Conv4Family = internal::Nc4Family<Epilogue, Dst>;
template <class Epilogue = epilogues::BiasRelu<>, class Dst = NCxHWx<32>>
using S8Conv32Family = internal::Nc32Family<Epilogue, Dst>;

// For any C that is a multiple of 4, and any K. Dispatch takes the widest loads and stores that C
// and K allow, unless a narrower tile is quicker, and Describe says what padding would make
// possible. The first policy has the narrowest loads and stores, so that its errors say what no
// policy accepts.
template <class Epilogue = epilogues::BiasRelu<>, class Dst = NHWC>
using S8ConvNhwcFamily = internal::NhwcFamily<Epilogue, Dst>;

// Policy PolicyT with a source of uint8; its filter stays int8.
template <class PolicyT>
struct UnsignedSource : PolicyT {
  using Element = std::uint8_t;
};

// Policy PolicyT with a SourceFunctor (conv/policy/source_functor.hpp), which converts its source.
template <class PolicyT, class SourceFunctorT>
struct WithSource : PolicyT {
  using SourceFunctor = SourceFunctorT;
};

// The operators above with sources of uint8, and with ONNX's epilogue unless another is given: see
// docs/quantization.md.
template <class Epilogue = epilogues::QLinear<>, class Dst = NCxHWx<4>, class TileT = Tile64x64>
using U8Conv4 = UnsignedSource<S8Conv4<Epilogue, Dst, TileT>>;
template <class Epilogue = epilogues::QLinear<>, class Dst = NCxHWx<32>, class TileT = Mma128x64>
using U8Conv32 = UnsignedSource<S8Conv32<Epilogue, Dst, TileT>>;
template <class Epilogue = epilogues::QLinear<>, class Dst = NHWC, class TileT = Mma128x64>
using U8ConvNhwc = UnsignedSource<S8ConvNhwc<Epilogue, Dst, TileT>>;

template <class Epilogue = epilogues::QLinear<>, class Dst = NCxHWx<4>>
using U8Conv4SmallFamily = EachWith<UnsignedSource, S8Conv4SmallFamily<Epilogue, Dst>>;
template <class Epilogue = epilogues::QLinear<>, class Dst = NCxHWx<32>>
using U8Conv32SmallFamily = EachWith<UnsignedSource, S8Conv32SmallFamily<Epilogue, Dst>>;
template <class Epilogue = epilogues::QLinear<>, class Dst = NHWC>
using U8ConvNhwcSmallFamily = EachWith<UnsignedSource, S8ConvNhwcSmallFamily<Epilogue, Dst>>;
template <class Epilogue = epilogues::QLinear<>, class Dst = NCxHWx<4>>
using U8Conv4Family = EachWith<UnsignedSource, S8Conv4Family<Epilogue, Dst>>;
template <class Epilogue = epilogues::QLinear<>, class Dst = NCxHWx<32>>
using U8Conv32Family = EachWith<UnsignedSource, S8Conv32Family<Epilogue, Dst>>;
template <class Epilogue = epilogues::QLinear<>, class Dst = NHWC>
using U8ConvNhwcFamily = EachWith<UnsignedSource, S8ConvNhwcFamily<Epilogue, Dst>>;

// Policy PolicyT with a filter of int4, two values to a byte, as
// weft::PackFilter<PolicyT::FilterLayout> packs it. wgmma_sm90 takes such filters over NCxHWx<32>
// only.
template <class PolicyT>
struct Int4Filter : PolicyT {
  using FilterLayout = PackedInt4<typename PolicyT::FilterLayout>;
};

// Policy PolicyT with a source of 4 bits a value, a PairedInt4 of its SrcLayout: values are -8 to
// 7, or 0 to 15 with an UnsignedSource. Any mainloop but wgmma_sm90 takes it; over NHWC, C is a
// multiple of twice the bytes of a load.
template <class PolicyT>
struct Int4Source : PolicyT {
  using SrcLayout = PairedInt4<typename PolicyT::SrcLayout>;
  [[gnu::visibility("hidden")]] static constexpr auto config = WithSrcAlignment(
      PolicyT::config, PolicyT::SrcLayout::kInterleave == 4 ? 2 : PolicyT::config.alignment.src);
};

namespace internal {

template <template <class> class With, class FamilyT>
struct Int4Family;
template <template <class> class With, class... Policies>
struct Int4Family<With, Family<Policies...>> {
  using type = gemm::JoinFamilies<
      std::conditional_t<kIsWgmma<Policies>, Family<>, Family<With<Policies>>>...>;
};
// The same without wgmma_sm90 tiles.
template <template <class> class With, class FamilyT>
using EachInt4 = typename Int4Family<With, FamilyT>::type;

// Source and filter are of int4; the source's channels come in blocks of 64. PolicyT is a policy
// over NCxHWx<32>.
template <class PolicyT>
struct Int4Conv64 : Int4Filter<PolicyT> {
  using SrcLayout = PairedInt4<NCxHWx<64>>;
};
// The same with the tensor-core instructions that multiply 4-bit values.
template <class PolicyT>
struct Int4Mma64 : Int4Conv64<PolicyT> {
  using FilterLayout = PackedInt4<CxRSKx<64>>;
};

}  // namespace internal

// The families above, of int8 and uint8 sources, with filters or sources of int4; they leave out
// wgmma_sm90 tiles. Single policies are for instance Int4Filter<U8Conv32<>>, families
// Int4FilterFamily<S8Conv32Family<>>.
template <class Functor>
using Int4FilterFamily = internal::EachInt4<Int4Filter, Functor>;
template <class Functor>
using Int4SourceFamily = internal::EachInt4<Int4Source, Functor>;

// Networks of 4 bits: source, filter and, unless another Dst is given, output are of 4 bits, in
// blocks of 64 channels. The values of U4Conv64 are 0 to 15, so that the clamp is a ReLU as well.
struct S4Bias : epilogues::Chain<epilogues::Scale, epilogues::Bias<>,
                                 epilogues::ClampTo<std::int8_t, -8, 7>> {};
struct U4BiasRelu : epilogues::Chain<epilogues::Scale, epilogues::Bias<>,
                                     epilogues::ClampTo<std::uint8_t, 0, 15>> {};
template <class Epilogue = S4Bias, class Dst = PairedInt4<NCxHWx<64>>, class TileT = Mma128x64>
using S4Conv64 = internal::Int4Conv64<S8Conv32<Epilogue, Dst, TileT>>;
template <class Epilogue = U4BiasRelu, class Dst = PairedInt4<NCxHWx<64>>, class TileT = Mma128x64>
using U4Conv64 = internal::Int4Conv64<U8Conv32<Epilogue, Dst, TileT>>;
template <class Epilogue = S4Bias, class Dst = PairedInt4<NCxHWx<64>>>
using S4Conv64Family = internal::EachInt4<internal::Int4Conv64, S8Conv32Family<Epilogue, Dst>>;
template <class Epilogue = U4BiasRelu, class Dst = PairedInt4<NCxHWx<64>>>
using U4Conv64Family = internal::EachInt4<internal::Int4Conv64, U8Conv32Family<Epilogue, Dst>>;

// The same by the 4-bit tensor-core instructions of sm_75 to sm_89, which multiply the values as
// they are, at twice the rate of int8's. Hopper has none, and takes two instructions on bytes for
// each. The filter has another format, CxRSKx<64>.
template <class Epilogue = S4Bias, class Dst = PairedInt4<NCxHWx<64>>, class TileT = Mma128x64>
using S4Mma64 = internal::Int4Mma64<S8Conv32<Epilogue, Dst, TileT>>;
template <class Epilogue = U4BiasRelu, class Dst = PairedInt4<NCxHWx<64>>, class TileT = Mma128x64>
using U4Mma64 = internal::Int4Mma64<U8Conv32<Epilogue, Dst, TileT>>;
template <class Epilogue = S4Bias, class Dst = PairedInt4<NCxHWx<64>>>
using S4Mma64Family = internal::EachInt4<internal::Int4Mma64, S8Conv32Family<Epilogue, Dst>>;
template <class Epilogue = U4BiasRelu, class Dst = PairedInt4<NCxHWx<64>>>
using U4Mma64Family = internal::EachInt4<internal::Int4Mma64, U8Conv32Family<Epilogue, Dst>>;

// Makes args.window_sums, which a FilterZeroPoint stage of policy PolicyT reads: for each output
// pixel and group the sum of the source values that meet the filter, each less the source's zero
// point, [n][groups][p][q]. It is the convolution of WindowSumsProblem with a filter whose values
// are all 1.
template <class PolicyT>
struct WindowSums : PolicyT {
  using DstLayout = NCHW;
  using Epilogue = epilogues::ConvInteger;
  [[gnu::visibility("hidden")]] static constexpr auto config = WithDstAlignment(PolicyT::config, 4);
};
constexpr Problem WindowSumsProblem(Problem problem) {
  problem.k = problem.groups;
  return problem;
}
constexpr DeconvolutionProblem WindowSumsProblem(DeconvolutionProblem problem) {
  problem.k = 1;
  return problem;
}

// Policy PolicyT for a Deconvolution (deconvolution.hpp); below, the operators above as such
// policies.
template <class PolicyT>
struct Transposed : PolicyT {
  using Prologue = prologues::PerPhase;
};

template <class Epilogue = epilogues::BiasRelu<>, class Dst = NCxHWx<4>, class TileT = Tile64x64>
using S8Deconv4 = Transposed<S8Conv4<Epilogue, Dst, TileT>>;
template <class Epilogue = epilogues::BiasRelu<>, class Dst = NCxHWx<32>, class TileT = Mma128x64>
using S8Deconv32 = Transposed<S8Conv32<Epilogue, Dst, TileT>>;
template <class Epilogue = epilogues::BiasRelu<>, class Dst = NHWC, class TileT = Mma128x64>
using S8DeconvNhwc = Transposed<S8ConvNhwc<Epilogue, Dst, TileT>>;

template <class Epilogue = epilogues::BiasRelu<>, class Dst = NCxHWx<4>>
using S8Deconv4Family = EachWith<Transposed, S8Conv4Family<Epilogue, Dst>>;
template <class Epilogue = epilogues::BiasRelu<>, class Dst = NCxHWx<32>>
using S8Deconv32Family = EachWith<Transposed, S8Conv32Family<Epilogue, Dst>>;
template <class Epilogue = epilogues::BiasRelu<>, class Dst = NHWC>
using S8DeconvNhwcFamily = EachWith<Transposed, S8ConvNhwcFamily<Epilogue, Dst>>;

}  // namespace weft::conv
