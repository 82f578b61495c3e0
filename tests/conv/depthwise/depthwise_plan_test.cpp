// What depthwise operators plan, say of themselves and refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/conv/harness.hpp"
#include "weft/conv/dispatch.hpp"
#include "weft/conv/ready_made.hpp"

namespace weft::conv {
namespace {

using testing::HasSubstr;
using Op = Convolution<S8Depthwise32<>>;

Problem Good() {
  Problem p = SquareProblem(2, 40, 14, 40, 3, 1, 1);
  p.groups = p.c;
  return p;
}

std::string Message(const Problem& p, absl::StatusCode code = absl::StatusCode::kInvalidArgument) {
  const auto op = Op::Create(p);
  EXPECT_EQ(op.status().code(), code) << op.status();
  return std::string(op.status().message());
}

TEST(DepthwisePlan, Describes) {
  EXPECT_EQ(Op::Create(Good())->Describe(),
            "depthwise, thread of 4 channels by 7x4 pixels, 3x3 filters, stride 1, 1 x 2 blocks of "
            "128 threads, 32 channels to a block, NCxHWx<32> -> NCxHWx<32>");
  Problem dilated = Good();
  dilated.dilation_h = 2;
  EXPECT_THAT(Op::Create(dilated)->Describe(), HasSubstr("1x4 pixels, any filter"));
  EXPECT_EQ(PolicyName(S8Depthwise32<>::config), "depthwise_448x32x4_w112x32x4_t28x4_a4_d4");
}

// What is read and written, and the part of the threads' outputs that there are.
TEST(DepthwisePlan, Counts) {
  const gemm::PlanCounts counts = Op::Create(Good())->counts();
  EXPECT_EQ(counts.bytes, 2.0 * 64 * 14 * 14 * 2 + 64 * 9 + 8 * 40);
  EXPECT_EQ(counts.useful, 2.0 * 14 * 14 * 40 / (2.0 * 128 * 7 * 4 * 4));
}

TEST(DepthwisePlan, IsChosenFromAFamily) {
  using Tiles =
      Family<S8Depthwise32<>, S8Depthwise32<epilogues::BiasRelu<>, NCxHWx<32>, Depthwise4x8>>;
  Problem p = SquareProblem(64, 96, 112, 96, 3, 1, 1);
  p.groups = p.c;
  const auto op = Dispatch<Tiles>::Create(p, GpuFacts());
  ASSERT_TRUE(op.ok()) << op.status();
  EXPECT_THAT(op->Describe(), HasSubstr("memory bound"));
}

TEST(DepthwiseBadInput, Problems) {
  Problem p = Good();
  p.groups = 1;
  EXPECT_EQ(Message(p),
            "conv: groups=1 is not c=40, and the prologue Depthwise has a filter for each channel; "
            "set groups to c, or use prologues::SharedFilter");
  p.groups = 20;
  EXPECT_THAT(Message(p), HasSubstr("conv: groups=20 is not c=40"));
  EXPECT_THAT(Message(p), HasSubstr("or use prologues::Grouped"));
  p = Good();
  p.k = 60;
  EXPECT_THAT(Message(p), HasSubstr("conv: k=60 is not a multiple of groups=40"));
  p = Good();
  p.n = 1, p.h = 1 << 15, p.w = 1 << 16;
  EXPECT_THAT(Message(p, absl::StatusCode::kOutOfRange), HasSubstr("conv: n*p*q"));
  p.h = 1, p.w = (1 << 30) - 2, p.r = 1, p.pad_top = p.pad_bottom = 0;
  EXPECT_THAT(Message(p, absl::StatusCode::kOutOfRange),
              HasSubstr("conv: pixels of one output image with a thread's more"));
  p = Good();
  p.c = p.groups = p.k = 6;
  EXPECT_THAT(
      std::string(Convolution<S8DepthwiseNhwc<>>::Create(p).status().message()),
      HasSubstr("conv: k=6 is not a multiple of 4, the channels of one 4-byte store to NHWC"));
  using ToFour = Convolution<S8DepthwiseNhwc<epilogues::BiasRelu<>, NCxHWx<4>>>;
  EXPECT_THAT(std::string(ToFour::Create(p).status().message()),
              HasSubstr("conv: c=6 is not a multiple of 4, the channels of the narrowest load"));
}

TEST(DepthwiseBadInput, Filters) {
  const Problem p = Good();
  const auto op = Op::Create(p);
  ASSERT_TRUE(op.ok()) << op.status();
  const auto message = [&](const Op::Filter& filter) {
    alignas(64) static std::int8_t src[2 * 64 * 196], dst[2 * 64 * 196];
    static const float bias[40] = {};
    const absl::Status status =
        op->RunOnCpu({.src = src, .filter = filter, .bias = bias, .dst = dst});
    return std::string(status.message());
  };
  const std::vector<std::int8_t> taps(40 * 9);
  const auto good = PackDepthwiseFilter({40, 1, 3, 3}, taps);
  EXPECT_EQ(message(good->view()), "");
  const auto other = PackDepthwiseFilter({36, 1, 3, 3}, std::vector<std::int8_t>(36 * 9));
  EXPECT_THAT(message(other->view()),
              HasSubstr("conv: args.filter was packed for k=36 c=1 r=3 s=3, this operator has k=40 "
                        "c=1 r=3 s=3"));
  const auto two = PackFilters<prologues::Depthwise, KRSx4x4>({40, 1, 3, 3}, 2,
                                                              std::vector<std::int8_t>(80 * 9));
  EXPECT_THAT(message(two->view()),
              HasSubstr("conv: args.filter holds 2 filters, the prologue Depthwise needs 1"));
  EXPECT_THAT(message({}), HasSubstr("is not packed"));
  EXPECT_THAT(std::string(PackDepthwiseFilter({40, 3, 3, 3}, taps).status().message()),
              HasSubstr("layouts: extents.c=3 of a depthwise filter is not 1"));
  EXPECT_THAT(std::string(PackDepthwiseFilter({40, 1, 3, 1}, taps).status().message()),
              HasSubstr("layouts: source.size()=360 is not 120"));
}

// Strides, dilations and images at the limits: no index overflows.
TEST(DepthwiseBadInput, LargestNumbersAreFine) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  Problem p;
  p.h = 5, p.w = 6, p.c = p.groups = p.k = 4;
  p.stride_h = p.stride_w = kMost;
  ExpectMatchesReference<S8Depthwise4<>>(p, reference::ReluActivation{});
  p.stride_h = p.stride_w = 1;
  p.r = p.s = 2, p.dilation_h = p.dilation_w = kMost - 16;
  p.pad_top = p.pad_left = kMost - 20;
  ExpectMatchesReference<S8Depthwise4<>>(p, reference::ReluActivation{});
}

}  // namespace
}  // namespace weft::conv
