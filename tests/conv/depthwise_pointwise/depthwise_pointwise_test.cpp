// On the CPU, under the executor's schedules too, and what is refused.
#include <gmock/gmock.h>

#include <string>

#include "tests/conv/depthwise_pointwise/depthwise_pointwise_cases.hpp"

namespace weft::conv {
namespace {

using testing::HasSubstr;
using Op = DepthwisePointwise<Fused32>;

TEST(Fused, Schedules) {
  for (const arch::Schedule schedule : {arch::Schedule::kForward, arch::Schedule::kReverse,
                                        arch::Schedule::kPriority, arch::Schedule::kRandom}) {
    FusedOptions options;
    options.run.cpu.schedule = schedule;
    options.run.cpu.workers = 2;
    ExpectFused<Fused32>(SquareProblem(2, 100, 9, 110, 3, 1, 1), options);
    ExpectFused<FusedNhwc>(SquareProblem(2, 100, 5, 40, 5, 2, 2), options);
    ExpectFused<FusedNarrow32>(SquareProblem(2, 200, 5, 40, 3, 1, 1), options);
    ExpectFused<FusedNarrow64>(SquareProblem(2, 100, 5, 140, 5, 2, 2), options);
  }
}

// What a warp writes, and what tensor cores then read at once, lies in different banks.
TEST(Fused, HasNoBankConflicts) {
  arch::CpuStats stats;
  FusedOptions options;
  options.run.cpu.workers = 1;
  options.run.stats = &stats;
  for (const std::int64_t stride : {1, 2}) {
    ExpectFused<Fused32>(SquareProblem(1, 96, 12, 40, 3, 1, stride), options);
    EXPECT_GT(stats.ldmatrix_phases, 0);
    EXPECT_EQ(stats.ldmatrix_wavefronts, stats.ldmatrix_phases);
    EXPECT_GT(stats.shared_phases, 0);
    EXPECT_EQ(stats.shared_wavefronts, stats.shared_phases);
  }
}

// 40 input channels, 8 rows and columns.
Problem Good() {
  return AsFirstHalf<Fused32>(SquareProblem(1, 40, 8, 1, 3, 1, 1), 1);
}

std::string Refused(const Problem& p, std::int64_t k, absl::StatusCode code) {
  const absl::Status status = Op::Create(p, k).status();
  EXPECT_EQ(status.code(), code) << status;
  return std::string(status.message());
}

TEST(Fused, RefusesProblems) {
  using absl::StatusCode;
  Problem p = Good();
  p.groups = 8;
  EXPECT_THAT(Refused(p, 16, StatusCode::kInvalidArgument), HasSubstr("groups=8 is not c=40"));
  EXPECT_THAT(Refused(Good(), -1, StatusCode::kInvalidArgument), HasSubstr("k=-1"));
  p = Good();
  p.stride_w = 2;
  EXPECT_THAT(Refused(p, 16, StatusCode::kUnimplemented),
              HasSubstr("conv: r=3 s=3 stride 1x2 is not 3x3 or 5x5 with stride 1 or 2"));
  p = Good();
  p.dilation_h = 2;
  EXPECT_THAT(Refused(p, 16, StatusCode::kUnimplemented), HasSubstr("stride 1x1 dilated is not"));
  p = Good();
  p.mode = Mode::kConvolution;
  EXPECT_THAT(Refused(p, 16, StatusCode::kUnimplemented), HasSubstr("stride 1x1 flipped is not"));
  p = Good();
  p.k = p.c = p.groups = 4096;
  EXPECT_THAT(Refused(p, 16, StatusCode::kResourceExhausted),
              HasSubstr("conv: k=4096 channels of the 64 pixels of a block are 262144 bytes, more "
                        "than the 232448 of shared memory"));
}

TEST(Fused, RefusesDevices) {
  const arch::DeviceLimits old{.compute_capability = 75, .shared_memory_per_block = 65536};
  EXPECT_EQ(Op::Create(Good(), 16, old).status().code(), absl::StatusCode::kFailedPrecondition);
  Problem wide = Good();
  wide.k = wide.c = wide.groups = 1920;
  const arch::DeviceLimits small{.compute_capability = 86, .shared_memory_per_block = 101376};
  EXPECT_THAT(std::string(Op::Create(wide, 16, small).status().message()),
              HasSubstr("needs 122880 bytes of shared memory"));
  const arch::DeviceLimits large{.compute_capability = 80, .shared_memory_per_block = 166912};
  EXPECT_TRUE(Op::Create(wide, 16, large).ok());
}

// Arguments that run, to get one thing wrong.
struct Arguments {
  Arguments() {
    args.src = src, args.dst = dst, args.residual = residual, args.bias = bias;
    args.depthwise.filter = taps.view();
    args.depthwise.bias = bias;
    args.filter = filter.view();
  }

  std::string Message() const {
    const absl::Status status = op.RunOnCpu(args);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_EQ(op.Run(args, nullptr).message(), status.message());
    return std::string(status.message());
  }

  Op op = Op::Create(Good(), 16).value();
  PackedFilterBuffer<KRSx4x4, std::int8_t, prologues::Depthwise> taps =
      PackDepthwiseFilter({40, 1, 3, 3}, std::vector<std::int8_t>(40 * 9)).value();
  PackedFilterBuffer<CxRSKx<32>> filter =
      PackFilter<CxRSKx<32>>({16, 40, 1, 1}, std::vector<std::int8_t>(16 * 40)).value();
  alignas(64) std::int8_t src[64 * 64] = {}, dst[32 * 64] = {}, residual[32 * 64] = {};
  float bias[40] = {};
  Op::Arguments args;
};

TEST(Fused, GoodArgumentsRun) {
  Arguments good;
  const absl::Status status = good.op.RunOnCpu(good.args);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(good.op.src_size(), 64 * 64);
  EXPECT_EQ(good.op.dst_size(), 32 * 64);
  good.args.residual = good.dst;
  EXPECT_TRUE(good.op.RunOnCpu(good.args).ok());
}

TEST(Fused, RefusesArguments) {
  Arguments bad;
  bad.args.depthwise.filter = {};
  EXPECT_THAT(bad.Message(), HasSubstr("conv: depthwise: args.depthwise.filter is not packed"));
  const auto other = PackDepthwiseFilter({32, 1, 3, 3}, std::vector<std::int8_t>(32 * 9)).value();
  bad.args.depthwise.filter = other.view();
  EXPECT_THAT(bad.Message(), HasSubstr("packed for k=32 c=1 r=3 s=3, this operator has k=40 c=1"));
  bad.args.depthwise.filter = bad.taps.view();
  bad.args.filter = {};
  EXPECT_THAT(bad.Message(), HasSubstr("conv: args.filter is not packed"));
  const auto wide =
      PackFilter<CxRSKx<32>>({16, 48, 1, 1}, std::vector<std::int8_t>(16 * 48)).value();
  bad.args.filter = wide.view();
  EXPECT_THAT(bad.Message(), HasSubstr("packed for k=16 c=48 r=1 s=1, this operator has k=16"));
  bad.args.filter = bad.filter.view();
  bad.args.depthwise.bias = nullptr;
  EXPECT_THAT(bad.Message(), HasSubstr("conv: depthwise: args.bias is null"));
  bad.args.depthwise.bias = bad.bias;
  bad.args.depthwise.alpha = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(bad.Message(), HasSubstr("conv: depthwise: args.alpha is NaN"));
  bad.args.depthwise.alpha = 1.0f;
  bad.args.dst = bad.src;
  EXPECT_THAT(bad.Message(), HasSubstr("args.dst overlaps args.src"));
  bad.args.dst = bad.dst;
  bad.args.residual = bad.dst + 8;
  EXPECT_THAT(bad.Message(), HasSubstr("args.dst overlaps args.residual"));
  bad.args.residual = bad.residual;
  bad.args.dst = bad.dst + 4;
  EXPECT_THAT(bad.Message(), HasSubstr("is not 8-byte aligned"));
}

TEST(Fused, Describes) {
  EXPECT_EQ(Op::Create(Good(), 16)->Describe(),
            "depthwise 3x3 stride 1 of 40 channels, thread of 4 channels by 4x4 pixels, then 1x1 "
            "to 16 channels, warp of 64x32; 1 blocks of 96 threads, 4096 bytes shared, "
            "NCxHWx<32> -> NCxHWx<32>; below 14x14 outputs two kernels are quicker (the halves)");
}

}  // namespace
}  // namespace weft::conv
