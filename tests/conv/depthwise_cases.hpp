// Depthwise convolutions against the reference: source layouts, destinations, epilogues and the
// kernels of kDepthwiseShapes, on small and ragged problems.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include "tests/conv/harness.hpp"
#include "weft/conv/policy.hpp"

namespace weft::conv {
namespace {

// Configs as types: nvcc 13.0 cannot write class-type template arguments into its host code.
template <int rows, int lanes, int threads, int dst_alignment>
struct DepthwiseTest {
  static constexpr auto config = DepthwiseConfig(rows, lanes, threads, dst_alignment);
};

template <class Src, class Dst, class EpilogueT, class ConfigT>
struct DepthwisePolicy {
  using Element = std::int8_t;
  using SrcLayout = Src;
  using FilterLayout = KRSx4x4;
  using DstLayout = Dst;
  using Prologue = prologues::Depthwise;
  using Epilogue = EpilogueT;
  static constexpr auto config = ConfigT::config;
};

using epilogues::Chain;
using epilogues::ClampTo;
using epilogues::Scale;

// Its output depends on the place: a coordinate that is wrong shows.
struct AddPlace {
  constexpr float operator()(float x, const epilogues::OutputCoord& at) const {
    const auto place = static_cast<float>(at.n * 3 + at.k % 5 + at.p * 7 + at.q * 11);
    return epilogues::Add(x, place);
  }
};

// What ReLU is in the reference, but for AddPlace, which the reference has no word for: there the
// activation is none, and the test compares floats less the place.
using ToSame4 = DepthwisePolicy<NCxHWx<4>, NCxHWx<4>, epilogues::BiasRelu<>,
                                DepthwiseTest<4, 1, 128, 4>>;
using ToSame32 = DepthwisePolicy<NCxHWx<32>, NCxHWx<32>, epilogues::ResidualBiasRelu<>,
                                 DepthwiseTest<2, 8, 64, 4>>;
using ToSameNhwc =
    DepthwisePolicy<NHWC, NHWC,
                    Chain<epilogues::SumBias, Scale, epilogues::Relu, ClampTo<std::uint8_t>>,
                    DepthwiseTest<3, 4, 96, 4>>;
using Nc4ToNhwc = DepthwisePolicy<NCxHWx<4>, NHWC, epilogues::BiasRelu<std::int32_t>,
                                  DepthwiseTest<1, 2, 32, 1>>;
using NhwcToNc4 = DepthwisePolicy<NHWC, NCxHWx<4>, epilogues::ResidualBiasRelu<>,
                                  DepthwiseTest<8, 8, 64, 4>>;
using Nc32ToFloat =
    DepthwisePolicy<NCxHWx<32>, NCxHWx<32>,
                    Chain<Scale, epilogues::Bias<>, epilogues::Relu, epilogues::ToFloat>,
                    DepthwiseTest<4, 8, 128, 16>>;
using Nc4ToPlanar =
    DepthwisePolicy<NCxHWx<4>, NCHW, Chain<Scale, epilogues::Relu, epilogues::ToFloat>,
                    DepthwiseTest<4, 1, 64, 4>>;

// `p` with one input channel a group, and `multiplier` output channels for each.
template <class P>
Problem AsDepthwise(Problem p, std::int64_t multiplier) {
  if (std::is_same_v<typename P::SrcLayout, NHWC>) p.c = RoundUp(p.c, 4);
  p.groups = p.c;
  p.k = p.c * multiplier;
  return p;
}

template <class P>
class Depthwise : public testing::Test {
 public:
  static void Expect(const Problem& p, std::int64_t multiplier, std::uint32_t seed = 1) {
    RunOptions options = {.seed = seed};
    if (std::is_same_v<typename P::Epilogue::Output, std::uint8_t>) options.zero_point = 3.0f;
    if (P::Epilogue::kHasResidual) options.gamma = 0.5f;
    ExpectMatchesReference<P>(AsDepthwise<P>(p, multiplier), reference::ReluActivation{}, options);
  }
};

using DepthwisePolicies = testing::Types<ToSame4, ToSame32, ToSameNhwc, Nc4ToNhwc, NhwcToNc4,
                                         Nc32ToFloat, Nc4ToPlanar>;
TYPED_TEST_SUITE(Depthwise, DepthwisePolicies);

// Each kernel, over images that are no multiple of a thread's pixels.
TYPED_TEST(Depthwise, Shapes) {
  for (const std::int64_t rs : {1, 2, 3, 4, 5, 7, 9}) {
    for (const std::int64_t stride : {1, 2, 3}) {
      Problem p = SquareProblem(2, 10 + rs, 9, 1, rs, rs / 2, stride);
      p.w = 7 + rs;
      TestFixture::Expect(p, 1);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TYPED_TEST(Depthwise, Corners) {
  TestFixture::Expect(SquareProblem(1, 1, 1, 1, 1, 0, 1), 1);
  TestFixture::Expect(SquareProblem(3, 33, 1, 1, 3, 1, 1), 1);
  TestFixture::Expect(SquareProblem(1, 5, 3, 1, 3, 4, 1), 1);   // whole outputs see no input
  TestFixture::Expect(SquareProblem(1, 40, 8, 1, 3, 1, 1), 1);  // runs of 4 pixels of NCxHWx<4>
  TestFixture::Expect(SquareProblem(1, 3, 6, 1, 3, 1, 1), 1);   // runs of 2
  Problem uneven = SquareProblem(2, 6, 9, 1, 3, 0, 2);
  uneven.w = 12, uneven.pad_top = 2, uneven.pad_right = 1;
  TestFixture::Expect(uneven, 1);
  Problem strides = SquareProblem(2, 6, 9, 1, 3, 1, 1);
  strides.stride_w = 2, strides.s = 5;
  TestFixture::Expect(strides, 1);
  Problem dilated = SquareProblem(1, 9, 13, 1, 3, 3, 2);
  dilated.dilation_h = 2, dilated.dilation_w = 3;
  TestFixture::Expect(dilated, 1);
  Problem line;  // whose dilation along the column moves nothing
  line.n = 2, line.c = 7, line.w = 20, line.s = 6, line.dilation_h = 1 << 30;
  TestFixture::Expect(line, 1);
  for (const std::int64_t rs : {3, 5, 7, 4}) {
    Problem flipped = SquareProblem(2, 6, 10, 1, rs, rs / 2, rs == 5 ? 2 : 1);
    flipped.mode = Mode::kConvolution;
    TestFixture::Expect(flipped, 1);
  }
}

// The channels of a word of outputs see those of one word of the source.
TYPED_TEST(Depthwise, Multipliers) {
  for (const std::int64_t multiplier : {2, 3, 4, 5, 8}) {
    TestFixture::Expect(SquareProblem(1, 13, 6, 1, 3, 1, 1), multiplier);
    TestFixture::Expect(SquareProblem(1, 6, 9, 1, 3, 1, 2), multiplier);
    TestFixture::Expect(SquareProblem(1, 5, 9, 1, 5, 2, 2), multiplier);
    TestFixture::Expect(SquareProblem(1, 9, 5, 1, 2, 1, 1), multiplier);
    if (testing::Test::HasFailure()) return;
  }
}

TYPED_TEST(Depthwise, Random) {
  std::mt19937 engine(7);
  for (int i = 0; i < 40; ++i) {
    Problem p = RandomProblem(engine);
    if (i % 2 == 0) {  // one of the kernels' own shapes
      p.r = p.s = i % 4 == 0 ? 3 : 5;
      p.stride_w = p.stride_h, p.dilation_h = p.dilation_w = 1;
      p.h += p.r, p.w += p.s;
    }
    if (engine() % 3 == 0) p.c += 30;
    TestFixture::Expect(p, engine() % 3 == 0 ? 1 + engine() % 4 : 1,
                        static_cast<std::uint32_t>(engine()));
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace weft::conv
