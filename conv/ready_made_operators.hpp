// Policies and families of operators other than plain convolutions, each of which a program starts
// with one line (and the header of conv/ behind it):
//
//     using Op = weft::conv::Dispatch<weft::conv::S8Depthwise32Family<>>;    // dispatch.hpp
//     using Op = weft::conv::Deconvolution<weft::conv::U8Deconv32Family<>>;  // deconvolution.hpp
//     using Op = weft::conv::CondConv<weft::conv::S8CondConv32Family<>>;     // condconv.hpp
//     using Op = weft::conv::Dispatch<weft::conv::S8DepthwisePointwise32Family<>>;
//                                                             // depthwise_pointwise.hpp
//
// Those of convolutions, and S8Depthwise... and S8Deconv..., are in conv/ready_made.hpp, which this
// header includes. docs/custom_operators.md lists all names. weft_add_operators() and
// weft_add_family() compile them for the GPU.
#pragma once

#include "weft/conv/ready_made.hpp"

namespace weft::conv {

// The depthwise operators of ready_made.hpp with sources of uint8, and with ONNX's epilogue unless
// another is given.
template <class Epilogue = epilogues::QLinear<>, class Dst = NCxHWx<4>, class TileT = Depthwise7x1>
using U8Depthwise4 = UnsignedSource<S8Depthwise4<Epilogue, Dst, TileT>>;
template <class Epilogue = epilogues::QLinear<>, class Dst = NCxHWx<32>, class TileT = Depthwise7x8>
using U8Depthwise32 = UnsignedSource<S8Depthwise32<Epilogue, Dst, TileT>>;
template <class Epilogue = epilogues::QLinear<>, class Dst = NHWC, class TileT = Depthwise7x8>
using U8DepthwiseNhwc = UnsignedSource<S8DepthwiseNhwc<Epilogue, Dst, TileT>>;

namespace internal {

template <class EpilogueT, class Dst, class FamilyTileT>
using Depthwise4Of = S8Depthwise4<EpilogueT, Dst, typename FamilyTileT::Tile>;
template <class EpilogueT, class Dst, class FamilyTileT>
using Depthwise32Of = S8Depthwise32<EpilogueT, Dst, typename FamilyTileT::Tile>;
template <class EpilogueT, class Dst, class FamilyTileT>
using DepthwiseNhwcOf = S8DepthwiseNhwc<EpilogueT, Dst, typename FamilyTileT::Tile>;

}  // namespace internal

// What Dispatch chooses from: the tiles that were the best on some layer of perf/layers/ in one of
// the formats. Blocks of 64 threads, which were ahead by less than 2 %, are left out.
template <class Epilogue = epilogues::BiasRelu<>, class Dst = NCxHWx<4>>
using S8Depthwise4Family =
    internal::OfAnyGpu<internal::Depthwise4Of, Epilogue, Dst, tile_families::kDepthwiseNc4>;
template <class Epilogue = epilogues::BiasRelu<>, class Dst = NCxHWx<32>>
using S8Depthwise32Family =
    internal::OfAnyGpu<internal::Depthwise32Of, Epilogue, Dst, tile_families::kDepthwiseNc32>;
template <class Epilogue = epilogues::BiasRelu<>, class Dst = NHWC>
using S8DepthwiseNhwcFamily =
    internal::OfAnyGpu<internal::DepthwiseNhwcOf, Epilogue, Dst, tile_families::kDepthwiseNhwc>;

template <class Epilogue = epilogues::QLinear<>, class Dst = NCxHWx<4>>
using U8Depthwise4Family = EachWith<UnsignedSource, S8Depthwise4Family<Epilogue, Dst>>;
template <class Epilogue = epilogues::QLinear<>, class Dst = NCxHWx<32>>
using U8Depthwise32Family = EachWith<UnsignedSource, S8Depthwise32Family<Epilogue, Dst>>;
template <class Epilogue = epilogues::QLinear<>, class Dst = NHWC>
using U8DepthwiseNhwcFamily = EachWith<UnsignedSource, S8DepthwiseNhwcFamily<Epilogue, Dst>>;

// The Deconvolution policies of ready_made.hpp with sources of uint8, and with ONNX's epilogue
// unless another is given.
template <class Epilogue = epilogues::QLinear<>, class Dst = NCxHWx<4>, class TileT = Tile64x64>
using U8Deconv4 = Transposed<U8Conv4<Epilogue, Dst, TileT>>;
template <class Epilogue = epilogues::QLinear<>, class Dst = NCxHWx<32>, class TileT = Mma128x64>
using U8Deconv32 = Transposed<U8Conv32<Epilogue, Dst, TileT>>;
template <class Epilogue = epilogues::QLinear<>, class Dst = NHWC, class TileT = Mma128x64>
using U8DeconvNhwc = Transposed<U8ConvNhwc<Epilogue, Dst, TileT>>;

template <class Epilogue = epilogues::QLinear<>, class Dst = NCxHWx<4>>
using U8Deconv4Family = EachWith<Transposed, U8Conv4Family<Epilogue, Dst>>;
template <class Epilogue = epilogues::QLinear<>, class Dst = NCxHWx<32>>
using U8Deconv32Family = EachWith<Transposed, U8Conv32Family<Epilogue, Dst>>;
template <class Epilogue = epilogues::QLinear<>, class Dst = NHWC>
using U8DeconvNhwcFamily = EachWith<Transposed, U8ConvNhwcFamily<Epilogue, Dst>>;

// Policy PolicyT for a CondConv; below, the operators of ready_made.hpp as such policies.
template <class PolicyT>
struct Conditional : PolicyT {
  using Prologue = prologues::PerSample;
};

template <class Epilogue = epilogues::BiasRelu<>, class Dst = NCxHWx<4>, class TileT = Tile64x64>
using S8CondConv4 = Conditional<S8Conv4<Epilogue, Dst, TileT>>;
template <class Epilogue = epilogues::BiasRelu<>, class Dst = NCxHWx<32>, class TileT = Mma128x64>
using S8CondConv32 = Conditional<S8Conv32<Epilogue, Dst, TileT>>;
template <class Epilogue = epilogues::BiasRelu<>, class Dst = NHWC, class TileT = Mma128x64>
using S8CondConvNhwc = Conditional<S8ConvNhwc<Epilogue, Dst, TileT>>;

template <class Epilogue = epilogues::BiasRelu<>, class Dst = NCxHWx<4>>
using S8CondConv4Family = EachWith<Conditional, S8Conv4Family<Epilogue, Dst>>;
template <class Epilogue = epilogues::BiasRelu<>, class Dst = NCxHWx<32>>
using S8CondConv32Family = EachWith<Conditional, S8Conv32Family<Epilogue, Dst>>;
template <class Epilogue = epilogues::BiasRelu<>, class Dst = NHWC>
using S8CondConvNhwcFamily = EachWith<Conditional, S8ConvNhwcFamily<Epilogue, Dst>>;

namespace internal {

// The epilogues of the depthwise convolution and of the 1x1 convolution.
template <class FirstT, class SecondT>
struct TwoEpilogues {
  using First = FirstT;
  using Second = SecondT;
};

template <class Epilogues, class Src, class Dst, class TileT>
struct S8DepthwisePointwise {
  using Element = std::int8_t;
  using SrcLayout = Src;
  using DstLayout = Dst;
  using DepthwiseEpilogue = typename Epilogues::First;
  using Epilogue = typename Epilogues::Second;
  // The adjacent output channels that a thread has: 4 of its warp's 16, or 8 of 32 and more.
  static constexpr int kChannels = TileT::config.warp_n == 16 ? 4 : 8;
  static constexpr int kMostBytes = kChannels * static_cast<int>(sizeof(typename Epilogue::Output));
  [[gnu::visibility("hidden")]] static constexpr auto config =
      WithDstAlignment(TileT::config, StoreBytes<Epilogue, Dst>(kMostBytes < 16 ? kMostBytes : 16));
};

}  // namespace internal

// A depthwise convolution of int8 and the 1x1 convolution behind it, as one DepthwisePointwise, for
// any GPU from sm_80. First is the epilogue of the depthwise convolution, Second that of the 1x1
// convolution. Over NHWC, C is a multiple of 4. Dst is any layout; where it is NHWC, the output
// channels are a multiple of 4 (of 8 with a tile whose warps have 32 or more of them).
template <class First = epilogues::BiasRelu<>, class Second = epilogues::BiasIdentity<>,
          class Dst = NCxHWx<4>, class TileT = Fused7x3x16>
struct S8DepthwisePointwise4
    : internal::S8DepthwisePointwise<internal::TwoEpilogues<First, Second>, NCxHWx<4>, Dst, TileT> {
};
template <class First = epilogues::BiasRelu<>, class Second = epilogues::BiasIdentity<>,
          class Dst = NCxHWx<32>, class TileT = Fused7x3x16>
struct S8DepthwisePointwise32
    : internal::S8DepthwisePointwise<internal::TwoEpilogues<First, Second>, NCxHWx<32>, Dst,
                                     TileT> {};
template <class First = epilogues::BiasRelu<>, class Second = epilogues::BiasIdentity<>,
          class Dst = NHWC, class TileT = Fused7x3x16>
struct S8DepthwisePointwiseNhwc
    : internal::S8DepthwisePointwise<internal::TwoEpilogues<First, Second>, NHWC, Dst, TileT> {};

namespace internal {

template <class Epilogues, class Dst, class FamilyTileT>
using Fused4Of = S8DepthwisePointwise4<typename Epilogues::First, typename Epilogues::Second, Dst,
                                       typename FamilyTileT::Tile>;
template <class Epilogues, class Dst, class FamilyTileT>
using Fused32Of = S8DepthwisePointwise32<typename Epilogues::First, typename Epilogues::Second, Dst,
                                         typename FamilyTileT::Tile>;
template <class Epilogues, class Dst, class FamilyTileT>
using FusedNhwcOf = S8DepthwisePointwiseNhwc<typename Epilogues::First, typename Epilogues::Second,
                                             Dst, typename FamilyTileT::Tile>;

}  // namespace internal

// What Dispatch chooses from: the tiles that were the best on some layer of fused_bench, which
// measured NCxHWx<32> alone.
template <class First = epilogues::BiasRelu<>, class Second = epilogues::BiasIdentity<>,
          class Dst = NCxHWx<4>>
using S8DepthwisePointwise4Family =
    internal::OfAnyGpu<internal::Fused4Of, internal::TwoEpilogues<First, Second>, Dst,
                       tile_families::kDepthwisePointwise>;
template <class First = epilogues::BiasRelu<>, class Second = epilogues::BiasIdentity<>,
          class Dst = NCxHWx<32>>
using S8DepthwisePointwise32Family =
    internal::OfAnyGpu<internal::Fused32Of, internal::TwoEpilogues<First, Second>, Dst,
                       tile_families::kDepthwisePointwise>;
template <class First = epilogues::BiasRelu<>, class Second = epilogues::BiasIdentity<>,
          class Dst = NHWC>
using S8DepthwisePointwiseNhwcFamily =
    internal::OfAnyGpu<internal::FusedNhwcOf, internal::TwoEpilogues<First, Second>, Dst,
                       tile_families::kDepthwisePointwise>;

}  // namespace weft::conv
