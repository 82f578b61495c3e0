// Depthwise convolutions against the reference: source layouts, destinations, epilogues and the
// kernels of kDepthwiseShapes, on small and ragged problems.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include "tests/conv/harness.hpp"
#include "tests/kinds.hpp"
#include "weft/conv/policy.hpp"

namespace weft::conv {

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

// Adds `weight` times the output's coordinates, as a number that is exact in a float.
struct AddPlace {
  float weight = 0.0f;
  constexpr float operator()(float x, const epilogues::OutputCoord& at) const {
    const auto place = static_cast<float>(((at.n * 64 + at.k) * 16 + at.p) * 16 + at.q);
    return epilogues::Fma(weight, place, x);
  }
};

using epilogues::Chain;
using epilogues::ClampTo;
using epilogues::Scale;

using ToSame4 =
    DepthwisePolicy<NCxHWx<4>, NCxHWx<4>, epilogues::BiasRelu<>, DepthwiseTest<4, 1, 128, 4>>;
using ToSame32 = DepthwisePolicy<NCxHWx<32>, NCxHWx<32>, epilogues::ResidualBiasRelu<>,
                                 DepthwiseTest<2, 8, 64, 4>>;
using ToSameNhwc =
    DepthwisePolicy<NHWC, NHWC,
                    Chain<epilogues::SumBias, Scale, epilogues::Relu, ClampTo<std::uint8_t>>,
                    DepthwiseTest<3, 4, 96, 4>>;
using Nc4ToNhwc =
    DepthwisePolicy<NCxHWx<4>, NHWC, epilogues::BiasRelu<std::int32_t>, DepthwiseTest<1, 2, 32, 1>>;
using NhwcToNc4 =
    DepthwisePolicy<NHWC, NCxHWx<4>, epilogues::ResidualBiasRelu<>, DepthwiseTest<8, 8, 64, 4>>;
using Nc32ToFloat =
    DepthwisePolicy<NCxHWx<32>, NCxHWx<32>,
                    Chain<Scale, epilogues::Bias<>, epilogues::Relu, epilogues::ToFloat>,
                    DepthwiseTest<4, 8, 128, 16>>;
using Nc4ToPlanar = DepthwisePolicy<NCxHWx<4>, NCHW, Chain<Scale, AddPlace, epilogues::ToFloat>,
                                    DepthwiseTest<4, 1, 64, 4>>;

// `p` with one input channel a group, and `multiplier` output channels for each.
template <class P>
Problem AsDepthwise(Problem p, std::int64_t multiplier) {
  if (std::is_same_v<typename P::SrcLayout, NHWC>) p.c = RoundUp(p.c, 4);
  p.groups = p.c;
  p.k = p.c * multiplier;
  return p;
}

namespace {

template <class P>
class Depthwise : public testing::Test {
 public:
  static void Expect(const Problem& p, std::int64_t multiplier, std::uint32_t seed = 1) {
    RunOptions options = {.seed = seed};
    if (std::is_same_v<typename P::Epilogue::Output, std::uint8_t>) options.zero_point = 3.0f;
    if (P::Epilogue::kHasResidual) options.gamma = 0.5f;
    using Activation = std::conditional_t<std::is_same_v<P, Nc4ToPlanar>, reference::NoActivation,
                                          reference::ReluActivation>;
    ExpectMatchesReference<P>(AsDepthwise<P>(p, multiplier), Activation{}, options);
  }
};

#if WEFT_ONE_OF_EACH_KIND
using DepthwisePolicies = testing::Types<ToSame32, ToSameNhwc, Nc4ToPlanar>;
#elif defined(WEFT_CUDA_BACKEND)  // each compiles for long, and the CPU runs the same code
using DepthwisePolicies = testing::Types<ToSame4, ToSame32, ToSameNhwc, Nc4ToPlanar>;
#else
using DepthwisePolicies =
    testing::Types<ToSame4, ToSame32, ToSameNhwc, Nc4ToNhwc, NhwcToNc4, Nc32ToFloat, Nc4ToPlanar>;
#endif
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

#if !WEFT_ONE_OF_EACH_KIND
// The sums themselves, which other epilogues of the same kernels read as floats.
TEST(DepthwiseEpilogue, ExactAccumulators) {
  using P =
      DepthwisePolicy<NHWC, NHWC, Chain<epilogues::ToAccumulator>, DepthwiseTest<4, 8, 64, 16>>;
  for (const std::int64_t rs : {3, 4, 7}) {
    const Problem p = SquareProblem(2, 12, 9, 1, rs, 2, 1);
    ExpectMatchesReference<P>(AsDepthwise<P>(p, 2), reference::NoActivation{});
  }
}
#endif

// The largest sums, of either sign.
TEST(DepthwiseEpilogue, LargestSums) {
  using P = Nc4ToPlanar;
  const Problem p = AsDepthwise<P>(SquareProblem(1, 4, 7, 1, 7, 0, 1), 1);
  const auto op = Convolution<P>::Create(p);
  ASSERT_TRUE(op.ok()) << op.status();
  const OperatorMemory<std::int8_t> src(std::vector<std::int8_t>(op->src_size(), -128));
  std::vector<std::int8_t> taps(4 * 49, -128);
  std::fill(taps.begin() + 49, taps.begin() + 98, 127);
  const auto filter = PackDepthwiseFilter(op->filter_extents(), taps).value();
  const OperatorMemory<std::int8_t> packed({filter.data(), filter.data() + filter.size()});
  const OperatorMemory<float> dst(std::vector<float>(4));
  const absl::Status status =
      RunHere(*op, {.src = src.get(), .filter = filter.At(packed.get()), .dst = dst.get()});
  ASSERT_TRUE(status.ok()) << status;
  const float most = 49 * 128 * 128, least = -49 * 128 * 127;
  EXPECT_EQ(dst.Read(), (std::vector<float>{most, least, most, most}));
}

// A filter of zeros leaves the coordinates.
TEST(DepthwiseEpilogue, Coordinates) {
  const Problem p = AsDepthwise<Nc4ToPlanar>(SquareProblem(3, 9, 11, 1, 3, 1, 1), 2);
  const auto op = Convolution<Nc4ToPlanar>::Create(p);
  ASSERT_TRUE(op.ok()) << op.status();
  const OperatorMemory<std::int8_t> src(std::vector<std::int8_t>(op->src_size(), 1));
  const auto filter =
      PackDepthwiseFilter(op->filter_extents(), std::vector<std::int8_t>(p.k * 9)).value();
  const OperatorMemory<std::int8_t> packed({filter.data(), filter.data() + filter.size()});
  const OperatorMemory<float> dst(std::vector<float>(op->dst_size(), -1.0f));
  Nc4ToPlanar::Epilogue epilogue;
  epilogue.Get<AddPlace>().weight = 1.0f;
  const absl::Status status = RunHere(*op, {.src = src.get(),
                                            .filter = filter.At(packed.get()),
                                            .dst = dst.get(),
                                            .epilogue = epilogue});
  ASSERT_TRUE(status.ok()) << status;
  std::vector<float> want;
  for (int n = 0; n < p.n; ++n) {
    for (int k = 0; k < p.k; ++k) {
      for (int row = 0; row < p.p(); ++row) {
        for (int column = 0; column < p.q(); ++column) {
          want.push_back(static_cast<float>(((n * 64 + k) * 16 + row) * 16 + column));
        }
      }
    }
  }
  EXPECT_EQ(dst.Read(), want);
}

// Bytes to NCxHWx<4> at an address that takes no vector of pixels.
TEST(DepthwiseEpilogue, PixelsAtAnyWord) {
  const Problem p = AsDepthwise<ToSame4>(SquareProblem(1, 4, 8, 1, 3, 1, 1), 1);
  const auto op = Convolution<ToSame4>::Create(p);
  ASSERT_TRUE(op.ok()) << op.status();
  const OperatorMemory<std::int8_t> src(std::vector<std::int8_t>(op->src_size(), 1));
  const auto filter =
      PackDepthwiseFilter(op->filter_extents(), std::vector<std::int8_t>(p.k * 9, 1)).value();
  const OperatorMemory<std::int8_t> packed({filter.data(), filter.data() + filter.size()});
  const OperatorMemory<float> bias(std::vector<float>(4, 0.0f));
  for (const int offset : {4, 8}) {
    const OperatorMemory<std::int8_t> dst(std::vector<std::int8_t>(op->dst_size() + offset, 7));
    const absl::Status status = RunHere(*op, {.src = src.get(),
                                              .filter = filter.At(packed.get()),
                                              .bias = bias.get(),
                                              .dst = dst.get() + offset});
    ASSERT_TRUE(status.ok()) << status;
    const std::vector<std::int8_t> got = dst.Read();
    for (int pixel = 0; pixel < 64; ++pixel) {
      const bool edge_h = pixel / 8 % 7 == 0, edge_w = pixel % 8 % 7 == 0;
      EXPECT_EQ(got[offset + 4 * pixel], (edge_h ? 2 : 3) * (edge_w ? 2 : 3)) << pixel;
    }
    EXPECT_EQ(got[offset - 1], 7);
  }
}

}  // namespace
}  // namespace weft::conv
