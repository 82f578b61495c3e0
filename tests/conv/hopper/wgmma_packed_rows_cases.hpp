// Convolutions through the warpgroup products of sm_90a whose tiles hold two output rows.
#pragma once

#include "tests/conv/harness.hpp"
#include "tests/conv/kernel/prologue_cases.hpp"
#include "tests/conv/policy/wgmma_policies.hpp"
#include "weft/conv/ready_made_tiles.hpp"

namespace weft::conv {

// Where an output is, as a number that a byte holds.
struct PlaceModulo {
  constexpr float operator()(float, const epilogues::OutputCoord& at) const {
    return static_cast<float>((at.n * 53 + at.k * 5 + at.p * 17 + at.q) % 127);
  }
};

namespace {

using epilogues::BiasRelu;
using epilogues::Chain;
using epilogues::ClampTo;
using epilogues::Scale;
using epilogues::ToFloat;

// Runs P, whose activation is PlaceModulo.
template <class P>
void ExpectPlaces() {
  Problem p = SquareProblem(2, 32, 7, 32, 3, 1, 1);
  p.w = 6;
  const auto op = Convolution<P>::Create(p);
  ASSERT_TRUE(op.ok()) << op.status();
  using Output = typename P::Epilogue::Output;
  const OperatorMemory<std::int8_t> src(std::vector<std::int8_t>(op->src_size()));
  const auto packed = PackFilter<typename P::FilterLayout, KCRS, std::int8_t>(
                          p.filter(), std::vector<std::int8_t>(KCRS::Size(p.filter())))
                          .value();
  const OperatorMemory<std::int8_t> filter({packed.data(), packed.data() + packed.size()});
  const OperatorMemory<Output> dst(std::vector<Output>(op->dst_size()));
  typename Convolution<P>::Arguments args;
  args.src = src.get(), args.filter = packed.At(filter.get()), args.dst = dst.get();
  const absl::Status status = RunHere(*op, args, {});
  ASSERT_TRUE(status.ok()) << status;
  const std::vector<Output> result = dst.Read();
  for (std::int64_t i = 0; i < p.n * p.k * p.p() * p.q(); ++i) {
    const std::int64_t q = i % p.q(), row = i / p.q() % p.p(), k = i / (p.q() * p.p()) % p.k;
    const std::int64_t n = i / (p.q() * p.p() * p.k);
    ASSERT_EQ(result[P::DstLayout::Offset(p.dst(), n, k, row, q)],
              static_cast<Output>((n * 53 + k * 5 + row * 17 + q) % 127))
        << n << " " << k << " " << row << " " << q;
  }
}

// More tiles than blocks; one and two warpgroups, blocks of a cluster; as many steps as a k tile
// can have.
TEST(WgmmaPackedRows, Tiles) {
  const reference::ReluActivation relu;
  const auto run = [&]<class TileT>() {
    using P = WgmmaPolicy<NCxHWx<32>, BiasRelu<>, TileT>;
    ExpectMatchesReference<P>(SquareProblem(3, 96, 13, 32, 3, 1, 1), relu);
    Problem wide = SquareProblem(2, 64, 5, 32, 3, 1, 1);
    wide.w = 160;
    ExpectMatchesReference<P>(wide, relu);
    ExpectMatchesReference<P>(
        SquareProblem(1, 32, 17, 20, TileT::config.blocks_per_sm == 1 ? 7 : 4, 3, 1), relu);
  };
  run.template operator()<Wgmma160x64PackedRows>();
  run.template operator()<Wgmma256x64PackedRows>();
  run.template operator()<Wgmma64x64PackedRows>();
  run.template operator()<PackedRows<WgmmaTile<256, 64, 128, 64, 64>>>();
  run.template operator()<PackedRows<SplitK<WgmmaTile<64, 64, 64, 32, 64>, 2>>>();
}

// Strides that the filter's height is no multiple of, and dilations that divide them.
TEST(WgmmaPackedRows, StridesAndDilations) {
  using P = WgmmaPolicy<NCxHWx<32>, BiasRelu<>, PackedRows<WgmmaTile<32, 64, 64, 32, 64>>>;
  const reference::ReluActivation relu;
  for (const Mode mode : {Mode::kCrossCorrelation, Mode::kConvolution}) {
    Problem p = SquareProblem(2, 64, 22, 30, 5, 2, 3);
    p.mode = mode, p.s = 2, p.stride_w = 1, p.dilation_w = 2;
    ExpectMatchesReference<P>(p, relu);
    p.stride_h = 4, p.dilation_h = 2;
    ExpectMatchesReference<P>(p, relu);
    p.stride_h = 2, p.r = 3;
    ExpectMatchesReference<P>(p, relu);
    p.stride_h = 4, p.dilation_h = 1, p.r = 7;
    ExpectMatchesReference<P>(p, relu);
  }
}

// Activations that look at where they are: every output's place, as a number.
TEST(WgmmaPackedRows, Coordinates) {
  using Staged = Chain<Scale, PlaceModulo, ClampTo<std::int8_t>>;
  using Direct = Chain<Scale, PlaceModulo, ToFloat>;
  ExpectPlaces<WgmmaPolicy<NCxHWx<32>, Staged, PackedRows32>>();
  ExpectPlaces<WgmmaPolicy<NHWC, Direct, PackedRows<WgmmaTile<64, 64, 64, 32, 64, 1, 4>>>>();
}

// Filters that differ from image to image, or from group to group.
template <class P>
class WgmmaPackedRowsPrologues : public testing::Test {};
using PackedRowsPrologues =
    testing::Types<WgmmaPrologue<prologues::PerSample, NCxHWx<32>, PackedRows32>,
                   WgmmaPrologue<prologues::Grouped, NCxHWx<32>, PackedRows32>,
                   WgmmaPrologue<FromBank, NHWC, PackedRows<WgmmaTile<32, 64, 64, 32, 64, 2, 4>>>,
                   WgmmaNhwcPrologue<prologues::Grouped, NHWC, PackedRows32>,
                   WgmmaNhwcPrologue<prologues::PerSample, NCxHWx<4>,
                                     PackedRows<WgmmaTile<32, 64, 64, 32, 64, 2, 4>>>>;
TYPED_TEST_SUITE(WgmmaPackedRowsPrologues, PackedRowsPrologues);

TYPED_TEST(WgmmaPackedRowsPrologues, Filters) {
  constexpr prologues::Depends kDepends = TypeParam::Prologue::kDepends;
  for (const std::int64_t stride : {1, 2}) {
    Problem p = SquareProblem(3, 48, 9, 16, 3, 1, stride);
    p.stride_w = 1;
    if (kDepends.group) p.groups = 3, p.c *= 2, p.k *= 3;
    ExpectMatchesReference<TypeParam>(p, reference::ReluActivation{});
    p.mode = Mode::kConvolution;
    ExpectMatchesReference<TypeParam>(p, reference::ReluActivation{});
  }
}

}  // namespace
}  // namespace weft::conv
