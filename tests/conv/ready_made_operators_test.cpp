// The ready-made families of depthwise convolutions, of deconvolutions by a source of uint8 and of
// CondConv, each through what chooses among it: the choice and what is said of it, what is refused, and of one of each
// kind the reference's results.
#include "weft/conv/ready_made_operators.hpp"

#include <gmock/gmock.h>

#include <string>

#include "tests/conv/condconv/condconv_checks.hpp"
#include "tests/conv/own_relu.hpp"
#include "tests/conv/zero_point/zero_point_cases.hpp"
#include "tests/conv/zero_point/zero_point_phases_checks.hpp"
#include "weft/conv/dispatch.hpp"

namespace weft::conv {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

Problem DepthwiseProblem(std::int64_t n, std::int64_t c, std::int64_t hw, std::int64_t rs,
                         std::int64_t stride) {
  Problem p = SquareProblem(n, c, hw, c, rs, rs / 2, stride);
  p.groups = c;
  return p;
}

// What is chosen, whose kernels are those of several shapes: of one family. The others' policies are those of
// depthwise_test and zero_point_depthwise_test.
TEST(ReadyMadeDepthwise, Int8) {
  using Op = Dispatch<S8Depthwise4Family<>>;
  const reference::ReluActivation relu;
  for (const std::int64_t hw : {11, 30}) {  // by the one tile for the CPU and by the other
    for (const std::int64_t rs : {2, 3, 5, 7}) {
      ExpectMatchesReference<S8Depthwise4<>, Op>(DepthwiseProblem(1, 40, hw, rs, 1 + rs % 2), relu);
    }
  }
}

// Output rows of a thread of the chosen tile, and threads side by side along the channels.
template <class Op>
std::pair<int, int> Choice(const Problem& p) {
  const TileDescription config = Op::Create(p, GpuFacts())->config();
  return {config.thread.m / DepthwiseConfig::kColumns, config.threadblock.n / 4};
}

// Tables of docs/performance.md name the same tiles for these layers of MobileNet-V2. Of
// OwnRelu, since the choice is among the policies with GPU code where some have any.
TEST(ReadyMadeDepthwise, ChoosesAsMeasured) {
  using Nc4 = Dispatch<S8Depthwise4Family<OwnRelu>>;
  using Nc32 = Dispatch<S8Depthwise32Family<OwnRelu>>;
  using Nhwc = Dispatch<S8DepthwiseNhwcFamily<OwnRelu>>;
  EXPECT_EQ(Choice<Nc4>(DepthwiseProblem(64, 96, 112, 3, 2)), std::pair(7, 1));
  EXPECT_EQ(Choice<Nc4>(DepthwiseProblem(16, 960, 7, 3, 1)), std::pair(2, 1));
  EXPECT_EQ(Choice<Nc32>(DepthwiseProblem(64, 144, 56, 3, 1)), std::pair(7, 8));
  EXPECT_EQ(Choice<Nc32>(DepthwiseProblem(16, 576, 14, 3, 2)), std::pair(2, 8));
  EXPECT_EQ(Choice<Nhwc>(DepthwiseProblem(64, 192, 28, 3, 1)), std::pair(7, 16));
}

TEST(ReadyMadeDepthwise, SaysWhy) {
  const auto op = Dispatch<S8Depthwise32Family<OwnRelu>>::Create(
      DepthwiseProblem(64, 144, 56, 3, 1), GpuFacts());
  EXPECT_THAT(
      op->Describe(),
      MatchesRegex(
          "depthwise, thread of 4 channels by 7x4 pixels, 3x3 filters, stride 1, .*; "
          "chosen of [0-9]+ tiles for a GPU of 132 multiprocessors: predicted [0-9.]+ us, .*, "
          "memory bound; next depthwise 256x32x4, .*"));
}

TEST(ReadyMadeDepthwise, RefusesAsOnePolicy) {
  Problem p = DepthwiseProblem(1, 8, 6, 3, 1);
  p.groups = 1;
  for (const absl::Status& s : {Dispatch<S8Depthwise32Family<>>::Create(p, GpuFacts()).status(),
                                Dispatch<U8Depthwise4Family<>>::Create(p, CpuFacts{2}).status()}) {
    EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(s.message()), HasSubstr("conv: groups=1 is not c=8, and the prologue "
                                                    "Depthwise has a filter for each channel"));
  }
  EXPECT_THAT(std::string(Dispatch<S8DepthwiseNhwcFamily<>>::Create(DepthwiseProblem(1, 6, 6, 3, 1),
                                                                    GpuFacts())
                              .status()
                              .message()),
              HasSubstr("conv: k=6 is not a multiple of 4, the channels of one 4-byte store"));
  const auto op = Dispatch<U8Depthwise32Family<>>::Create(DepthwiseProblem(1, 8, 6, 3, 1));
  EXPECT_THAT(std::string(op->CheckArguments({}).message()), HasSubstr("conv: args.src is null"));
}

TEST(ReadyMadeDeconv, Uint8) {
  const DeconvolutionProblem p = SquareDeconvolution(2, 33, 5, 37, 3, 1, 2, 1);
  EXPECT_TRUE(Deconvolution<U8Deconv4Family<>>::Create(p).ok());
  using Nc32 = Deconvolution<U8Deconv32Family<>>;
  ExpectDeconvolvedExactly<U8Deconv32<>, Nc32>(p, 42, GpuFacts());
  ExpectDeconvolvedExactly<U8Deconv32<>, Nc32>(p, 43, CpuFacts{2});
  EXPECT_THAT(
      Nc32::Create(p, GpuFacts())->Describe(),
      MatchesRegex("4 phases of .*; the last: wgmma_sm90 .*; chosen of [0-9]+ tiles for a GPU .*"));
}

TEST(ReadyMadeDeconv, RefusesAsOnePolicy) {
  DeconvolutionProblem p = SquareDeconvolution(1, 8, 5, 8, 3, 1, 2);
  p.stride_h = 0;
  EXPECT_EQ(Deconvolution<U8Deconv32Family<>>::Create(p).status(),
            Deconvolution<U8Deconv32<>>::Create(p).status());
}

TEST(ReadyMadeCondConv, Int8) {
  EXPECT_TRUE(CondConv<S8CondConv4Family<>>::Create(SquareProblem(3, 9, 5, 12, 3, 1, 1), 2).ok());
  const Problem p = SquareProblem(2, 40, 6, 70, 3, 1, 1);
  ExpectMixed<S8CondConv32Family<>, S8CondConv32<>>(p, {.experts = 3}, GpuFacts());
  ExpectMixed<S8CondConv32Family<>, S8CondConv32<>>(p, {.experts = 4}, CpuFacts{2});
  using To32 = S8CondConv4Family<epilogues::BiasRelu<>, NCxHWx<32>>;
  const Problem first = SquareProblem(2, 3, 20, 70, 7, 3, 2);
  EXPECT_THAT(CondConv<To32>::Create(first, 2, GpuFacts())->Describe(), HasSubstr("; then "));
  EXPECT_THAT(CondConv<S8CondConv32Family<>>::Create(p, 4, GpuFacts())->Describe(),
              MatchesRegex("4 experts mixed by .*; then wgmma_sm90 .*; chosen of [0-9]+ tiles for "
                           "a GPU of 132 multiprocessors: .*"));
}

TEST(ReadyMadeCondConv, RefusesAsOnePolicy) {
  const Problem p = SquareProblem(2, 8, 6, 8, 3, 1, 1);
  EXPECT_THAT(std::string(CondConv<S8CondConv32Family<>>::Create(p, 33).status().message()),
              HasSubstr("conv: experts=33 is not 1 to 32"));
  Problem grouped = p;
  grouped.groups = 2;
  EXPECT_EQ(CondConv<S8CondConv32Family<>>::Create(grouped, 2).status(),
            CondConv<S8CondConv32<>>::Create(grouped, 2).status());
}

// Those whose kernels other tests run: the policies are those of such operators.
template <class... P>
constexpr bool IsChecked(Family<P...>*) {
  return CheckedFamily<P...>::kValid;
}
static_assert(IsChecked(static_cast<S8Depthwise32Family<>*>(nullptr)));
static_assert(IsChecked(static_cast<S8DepthwiseNhwcFamily<>*>(nullptr)));
static_assert(IsChecked(static_cast<U8Depthwise4Family<>*>(nullptr)));
static_assert(IsChecked(static_cast<U8Depthwise32Family<>*>(nullptr)));
static_assert(IsChecked(static_cast<U8DepthwiseNhwcFamily<>*>(nullptr)));
static_assert(IsChecked(static_cast<U8Deconv4Family<>*>(nullptr)));
static_assert(IsChecked(static_cast<U8DeconvNhwcFamily<>*>(nullptr)));
static_assert(IsChecked(static_cast<S8CondConvNhwcFamily<>*>(nullptr)));

}  // namespace
}  // namespace weft::conv
