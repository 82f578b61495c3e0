// The operators of instances.txt.
#pragma once

#include <cstdint>

#include "weft/conv/ready_made.hpp"
#include "weft/epilogues/chain.hpp"
#include "weft/gemm/ready_made.hpp"
#include "weft/layouts/element/float16.hpp"

namespace weft::perf::instances {

template <class Element, class Sum, class Tile>
using Product = gemm::TiledGemm<Element, epilogues::Chain<epilogues::ToSums<Sum>>, Tile>;

struct S8Wgmma : Product<std::int8_t, std::int32_t, gemm::product_tiles::Wgmma128x128> {};
struct HalfWgmma : Product<Half, float, gemm::product_tiles::Wgmma128x128> {};
struct PingPongWgmma : Product<Half, float, gemm::product_tiles::PingPong128x128> {};
struct S8Mma : Product<std::int8_t, std::int32_t, gemm::product_tiles::Mma128x128> {};
struct HalfMma : Product<Half, float, gemm::product_tiles::Mma128x128> {};
struct FloatAsync : Product<float, float, gemm::product_tiles::AsyncFma128x128> {};
struct FloatAsyncLarge : Product<float, float, gemm::product_tiles::AsyncFma128x256> {};
struct DoubleMma : Product<double, double, gemm::product_tiles::WideMma128x128> {};
struct S8Dp4a : Product<std::int8_t, std::int32_t, gemm::product_tiles::Dp4a64x64> {};

struct SquaredRelu {
  float scale = 0.1f;
  constexpr float operator()(float x) const {
    return x > 0.0f ? epilogues::Mul(scale, epilogues::Mul(x, x)) : 0.0f;
  }
};
using Squared = epilogues::Chain<epilogues::Scale, epilogues::Bias<>, SquaredRelu,
                                 epilogues::ClampTo<std::int8_t>>;

struct ConvWgmma : conv::S8Conv32<epilogues::BiasRelu<>, NCxHWx<32>, conv::Wgmma128x128> {};
struct ConvWgmmaNhwc : conv::S8ConvNhwc<epilogues::BiasRelu<>, NHWC, conv::Wgmma128x128> {};
struct ConvWgmmaSquared : conv::S8Conv32<Squared, NCxHWx<32>, conv::Wgmma128x128> {};
struct ConvMma : conv::S8Conv32<> {};
struct ConvMmaNhwc : conv::S8ConvNhwc<> {};
struct ConvDp4a : conv::S8Conv4<epilogues::BiasHSwish<>> {};

}  // namespace weft::perf::instances
