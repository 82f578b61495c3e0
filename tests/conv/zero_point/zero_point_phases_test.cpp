#include "tests/conv/zero_point/zero_point_phases_cases.hpp"  // on the CPU

#include <gmock/gmock.h>

namespace weft::conv {
namespace {

using testing::HasSubstr;

TEST(ZeroPointPhases, RefusesTablesOfAnother) {
  using Op = Deconvolution<Transposed<S8Conv4<ConvInteger>>>;
  const DeconvolutionProblem p = SquareDeconvolution(1, 4, 4, 4, 3, 1, 2);
  DeconvolutionProblem taller = p;
  taller.h = 5;
  const auto filter =
      PackDeconvolutionFilter<CxRSKx<4>>(p, std::vector<std::int8_t>(4 * 4 * 9, 1)).value();
  const auto table = MakeSourceCorrection(p, filter, 3).value();
  const auto other = MakeSourceCorrection(taller, filter, 3).value();
  const auto unsigned_zero = MakeSourceCorrection(p, filter, 200).value();
  const auto op = Op::Create(p);
  ASSERT_TRUE(op.ok()) << op.status();
  alignas(16) std::int8_t src[64] = {};
  alignas(16) std::int32_t dst[4 * 7 * 7] = {};
  Op::Arguments args{.src = src, .filter = filter.view(), .dst = dst};
  EXPECT_THAT(
      op->CheckArguments(args).message(),
      HasSubstr("conv: args.source_correction is missing; call conv::MakeSourceCorrection"));
  args.source_correction = other.view();
  EXPECT_THAT(op->CheckArguments(args).message(),
              HasSubstr("conv: args.source_correction was made for c=4 h=5 w=4 k=4 r=3 s=3 to p=9 "
                        "q=7 with padding 1,1, stride 2x2 and dilation 1x1, this operator has c=4 "
                        "h=4"));
  args.source_correction = unsigned_zero.view();
  EXPECT_THAT(
      op->CheckArguments(args).message(),
      HasSubstr("zero_point()=200 is no value of an int8 source; give one from -128 to 127"));
  args.source_correction = table.view();
  EXPECT_EQ(op->CheckArguments(args), absl::OkStatus());
  args.dst = const_cast<std::int32_t*>(table.data());
  EXPECT_THAT(op->CheckArguments(args).message(), HasSubstr("overlaps args.source_correction"));

  using Without = Deconvolution<Transposed<S8Conv4<Chain<ToAccumulator>>>>;
  EXPECT_THAT(
      Without::Create(p)
          ->CheckArguments(
              {.src = src, .filter = filter.view(), .dst = dst, .source_correction = table.view()})
          .message(),
      HasSubstr("no SourceZeroPoint stage; leave it empty"));
  EXPECT_EQ(MakeSourceCorrection(p, filter, 300).status().code(), absl::StatusCode::kOutOfRange);
  taller.r = 2;
  EXPECT_THAT(MakeSourceCorrection(taller, filter, 3).status().message(),
              HasSubstr("was packed for k=4 c=4 r=3 s=3"));
}

}  // namespace
}  // namespace weft::conv
