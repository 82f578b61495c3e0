// The operators of epilogue_bench: a convolution over NCxHWx<32> with each of variants.def's
// epilogues, destinations and zero points, and those with filters of int8 and int4 and depthwise ones.
#pragma once

#include <cstdint>

#include "perf/bench/tiles.hpp"
#include "weft/conv/ready_made.hpp"

namespace weft::perf::variants {

namespace e = epilogues;

// A type of its own, since the library holds code for some of the others.
template <class Tile, class Epilogue, class Dst = NCxHWx<32>>
struct Conv : conv::S8Conv32<Epilogue, Dst, Tile> {};

// With<Epilogue, Dst>::Of<Tile>: the convolution with an epilogue and a destination.
template <class Epilogue, class Dst = NCxHWx<32>>
struct With {
  template <class Tile>
  using Of = Conv<Tile, Epilogue, Dst>;
};
template <class Tile>
using Relu = Conv<Tile, e::BiasRelu<>>;

// Epilogues: ReLU and one stage more, before the output; ReLU and outputs of another type; ReLU with zero points.
template <class Stage>
using ReluAnd = e::Chain<e::Scale, e::Bias<>, e::Relu, Stage, e::ClampTo<std::int8_t>>;
template <class Last>
using ReluTo = e::Chain<e::Scale, e::Bias<>, e::Relu, Last>;
template <class... Zeros>
using ReluLess = e::Chain<Zeros..., e::Scale, e::Bias<>, e::Relu, e::ClampTo<std::int8_t>>;

template <class Tile>
using QLinearUint8 = conv::UnsignedSource<Conv<Tile, e::QLinear<>>>;

// Functors of the source (conv/policy/source_functor.hpp).
struct LessZero {
  using Source = std::uint8_t;
  constexpr std::int8_t operator()(std::uint8_t x, int) const {
    return static_cast<std::int8_t>(x - 128);
  }
};
// Dequantises each channel with a scale of its own, adds an offset, and requantises.
struct Requantised {
  using Source = std::int8_t;
  const float* scale = nullptr;
  const float* offset = nullptr;
  constexpr std::int8_t operator()(std::int8_t x, int c) const {
    const float t = e::Fma(scale == nullptr ? 1.0f : scale[c], static_cast<float>(x),
                           offset == nullptr ? 0.0f : offset[c]);
    return e::ClampTo<std::int8_t>::Convert(t, e::StageInputs{});
  }
};
template <class Tile>
using SourceUint8 = conv::WithSource<Relu<Tile>, LessZero>;
template <class Tile>
using SourceRequant = conv::WithSource<Relu<Tile>, Requantised>;

// The fastest tiles of the measured layers.
using Tiles = TilesFrom<1, conv::Wgmma112x64, conv::Wgmma192x64, conv::Wgmma208x128,
                        conv::Wgmma96x128, conv::Wgmma64x128>;
// Those of them that outputs of 16 bits are measured over; and of operators that wgmma_sm90 does not serve: a
// SourceFunctor, 4-bit and 4-byte outputs.
using SixteenTiles = TilesFrom<1, conv::Wgmma112x64, conv::Wgmma192x64>;
using MmaTiles = TilesFrom<1, conv::Mma128x64, conv::Mma64x64Deep>;

// A depthwise convolution with ReLU, and with zero points, whose sums the kernel takes itself.
template <class Tile, class... Zeros>
struct DepthwiseWith : conv::S8Depthwise32<ReluLess<Zeros...>, NCxHWx<32>, Tile> {};
template <class Tile>
using DepthwiseRelu = DepthwiseWith<Tile>;
template <class Tile>
using DepthwiseSourceZero = DepthwiseWith<Tile, e::SourceZeroPoint>;
template <class Tile>
using DepthwiseBothZeros = DepthwiseWith<Tile, e::SourceZeroPoint, e::FilterZeroPoint>;
using DepthwiseTiles = TilesFrom<1, conv::Depthwise7x8, conv::Depthwise4x8>;

// For images of few pixels, whose filters are what there is to read: several warps to each k tile.
template <int m, int n, int k, int warp_n, int warp_k, int stages>
struct Sliced {
  static constexpr auto config = conv::MmaSm80Config({m, n, k}, {16, warp_n, warp_k}, stages);
};
template <class Tile>
using Int4Relu = conv::Int4Filter<Relu<Tile>>;
using Int4Tiles = TilesFrom<2, conv::Mma32x32Deep, Sliced<16, 32, 512, 32, 64, 6>,
                            conv::Mma64x64Deep, Sliced<16, 32, 256, 32, 256, 6>,
                            Sliced<16, 32, 256, 32, 64, 6>, Sliced<16, 32, 256, 32, 32, 6>,
                            Sliced<16, 64, 512, 32, 128, 4>, Sliced<32, 32, 512, 32, 128, 4>>;
// Int4 alone through wgmma_sm90: of int8, FewPixelTiles has what is quickest.
template <int m, int n, int k, int warp_m, int split>
struct WgmmaOfInt4 {
  static constexpr auto config =
      gemm::WithClusterSplitK(conv::WgmmaSm90Config({m, n, k}, {warp_m, 64, k}), split);
};
using Int4WgmmaTiles =
    TilesFrom<1, WgmmaOfInt4<64, 64, 128, 64, 4>, WgmmaOfInt4<32, 64, 128, 32, 1>,
              WgmmaOfInt4<32, 64, 256, 32, 4>, WgmmaOfInt4<64, 64, 128, 64, 8>,
              WgmmaOfInt4<64, 128, 128, 64, 1>, WgmmaOfInt4<128, 128, 128, 128, 1>>;
// Of int8 alone.
using FewPixelTiles =
    TilesFrom<1, conv::Wgmma32x64, conv::Wgmma32x64SplitK4, conv::Wgmma64x64SplitK4>;

// All that the program measures. ReLU over Tiles and SixteenTiles is the line "ReLU again".
using Operators = gemm::JoinFamilies<
#define BASIC(kind, name, List, ...) PoliciesOf<__VA_ARGS__, List>,
#include "perf/epilogue_bench/variants.def"
    PoliciesOf<Relu, MmaTiles>, PoliciesOf<DepthwiseRelu, DepthwiseTiles>,
    PoliciesOf<DepthwiseSourceZero, DepthwiseTiles>, PoliciesOf<DepthwiseBothZeros, DepthwiseTiles>,
    PoliciesOf<Relu, Int4Tiles>, PoliciesOf<Int4Relu, Int4Tiles>,
    PoliciesOf<Int4Relu, Int4WgmmaTiles>, PoliciesOf<Relu, FewPixelTiles>>;

}  // namespace weft::perf::variants
