// Each kind of bad input gives a Status that names the field, its value and what would be accepted,
// before anything is launched.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/conv/policy/policies.hpp"
#include "weft/conv/convolution.hpp"

namespace weft::conv {
namespace {

using testing::HasSubstr;

using Nc4 = TestPolicy<NCxHWx<4>, epilogues::BiasRelu<>>;
using Op = Convolution<Nc4>;

Problem Good() {
  return SquareProblem(1, 8, 6, 8, 3, 1, 1);
}

struct BadProblem {
  std::function<void(Problem&)> change;
  absl::StatusCode code;
  const char* message;
};

TEST(BadInput, Problems) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  constexpr auto kRange = absl::StatusCode::kOutOfRange;
  const std::vector<BadProblem> cases = {
      {[](Problem& p) { p.n = -1; }, kInvalid, "conv: n=-1 is negative; give 0 or more"},
      {[](Problem& p) { p.h = -3; }, kInvalid, "conv: h=-3 is negative; give 0 or more"},
      {[](Problem& p) { p.w = 0, p.pad_left = 2; }, kInvalid,
       "conv: w=0, and the padding has room for p=6 times q=1 outputs"},
      {[](Problem& p) { p.c = 0; }, kInvalid, "conv: c=0 is not positive; give 1 or more"},
      {[](Problem& p) { p.k = -1; }, kInvalid, "conv: k=-1 is negative"},
      {[](Problem& p) { p.mode = Mode(7); }, kInvalid,
       "conv: mode=7 is no conv::Mode; give kCrossCorrelation or kConvolution"},
      {[](Problem& p) { p.r = 0; }, kInvalid, "conv: r=0 is not positive"},
      {[](Problem& p) { p.s = 0; }, kInvalid, "conv: s=0 is not positive"},
      {[](Problem& p) { p.stride_h = 0; }, kInvalid, "conv: stride_h=0 is not positive"},
      {[](Problem& p) { p.stride_w = -2; }, kInvalid, "conv: stride_w=-2 is not positive"},
      {[](Problem& p) { p.dilation_h = 0; }, kInvalid, "conv: dilation_h=0 is not positive"},
      {[](Problem& p) { p.dilation_w = 0; }, kInvalid, "conv: dilation_w=0 is not positive"},
      {[](Problem& p) { p.pad_top = -1; }, kInvalid,
       "conv: pad_top=-1 is negative; give 0 or more"},
      {[](Problem& p) { p.pad_right = -1; }, kInvalid, "conv: pad_right=-1 is negative"},
      {[](Problem& p) { p.r = 9; }, kInvalid,
       "conv: r=9 with dilation_h=1 spans 9 rows, more than h+pad_top+pad_bottom=8; use a smaller "
       "filter or dilation, or more padding"},
      {[](Problem& p) { p.dilation_w = 4; }, kInvalid,
       "conv: s=3 with dilation_w=4 spans 9 columns, more than w+pad_left+pad_right=8"},
      {[](Problem& p) { p.c = 131072 / 9 + 1; }, kInvalid,
       "conv: c*r*s=131076 products of two int8 values can overflow the int32 accumulator; at most "
       "131071 are accepted, so split the channels over several convolutions"},
      {[](Problem& p) { p.n = std::int64_t{1} << 40; }, kRange,
       "conv: n=1099511627776 exceeds 1073741824; no extent may be larger"},
      {[](Problem& p) { p.pad_left = std::int64_t{1} << 62; }, kRange,
       "conv: pad_left=4611686018427387904 exceeds 1073741824; no padding may be larger"},
      {[](Problem& p) { p.pad_left = std::numeric_limits<std::int64_t>::max(); }, kRange,
       "conv: pad_left=9223372036854775807 exceeds 1073741824; no padding may be larger"},
      {[](Problem& p) { p.n = std::int64_t{1} << 28; }, kRange,
       "conv: n*p*q=9663676416 exceeds 2147482623; split the batch"},
      {[](Problem& p) { p.h = p.w = 1 << 15, p.c = 64; }, kRange,
       "conv: units from the first to the last source value under a filter="},
      {[](Problem& p) {
         p.n = p.k = std::int64_t{1} << 26, p.h = p.w = p.r = p.s = 1,
         p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = 0;
       },
       kRange, "conv: blocks=17592186044416 exceeds 2147483647; split the batch"},
      {[](Problem& p) { p.n = p.k = std::int64_t{1} << 30, p.h = p.w = 1; }, kRange,
       "conv: n*k*p*q=1152921504606846976 exceeds 9007199254740991; split the batch"},
  };
  for (const BadProblem& bad : cases) {
    Problem p = Good();
    bad.change(p);
    const absl::StatusOr<Op> op = Op::Create(p);
    ASSERT_FALSE(op.ok()) << bad.message;
    EXPECT_EQ(op.status().code(), bad.code) << op.status();
    EXPECT_THAT(std::string(op.status().message()), HasSubstr(bad.message));
  }
  EXPECT_TRUE(Op::Create(Good()).ok());
}

// The largest sums that cannot overflow are accepted.
TEST(BadInput, AccumulatorLimitIsExact) {
  EXPECT_TRUE(Op::Create(SquareProblem(1, 131071, 1, 1, 1, 0, 1)).ok());
  EXPECT_FALSE(Op::Create(SquareProblem(1, 131072, 1, 1, 1, 0, 1)).ok());
}

// Tensors above 2^31 elements are fine where no index of the kernel overflows.
TEST(BadInput, LargeTensorsAreAccepted) {
  const Problem p = SquareProblem(256, 256, 224, 256, 3, 1, 1);
  ASSERT_GT(p.n * p.c * p.h * p.w, std::int64_t{1} << 31);
  EXPECT_TRUE(Op::Create(p).ok());
}

TEST(BadInput, ChannelsThatDoNotFitTheLayout) {
  using Nhwc = TestPolicy<NHWC, epilogues::BiasRelu<>>;
  Problem p = Good();
  p.k = 10;
  const auto op = Convolution<Nhwc>::Create(p);
  ASSERT_FALSE(op.ok());
  EXPECT_EQ(op.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(op.status().message(),
            "conv: k=10 is not a multiple of 4, the channels of one 4-byte store to NHWC; pad K, "
            "lower config.alignment.dst, or use DstLayout NCxHWx<4>, which pads by itself");
}

class BadArguments : public testing::Test {
 protected:
  BadArguments()
      : op_(*Op::Create(Good())),
        filter_(*PackFilter<CxRSKx<4>, KCRS, std::int8_t>(Good().filter(),
                                                          std::vector<std::int8_t>(8 * 8 * 9))) {
    good_ = {.src = memory_, .filter = filter_.view(), .bias = bias_, .dst = memory_ + 1024};
  }

  void Expect(const Op::Arguments& args, const std::string& message) {
    for (const absl::Status& s :
         {op_.CheckArguments(args), op_.RunOnCpu(args), op_.Run(args, nullptr)}) {
      EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument) << s;
      EXPECT_THAT(std::string(s.message()), HasSubstr(message));
    }
  }

  Op op_;
  PackedFilterBuffer<CxRSKx<4>> filter_;
  alignas(64) std::int8_t memory_[2048] = {};
  float bias_[8] = {};
  Op::Arguments good_;
};

TEST_F(BadArguments, GoodOnesRun) {
  EXPECT_TRUE(op_.RunOnCpu(good_).ok());
}

TEST_F(BadArguments, NullPointers) {
  Op::Arguments args = good_;
  args.src = nullptr;
  Expect(args, "conv: args.src is null; give the tensor's address");
  args = good_;
  args.dst = nullptr;
  Expect(args, "conv: args.dst is null");
  args = good_;
  args.bias = nullptr;
  Expect(args, "conv: args.bias is null");
}

TEST_F(BadArguments, MisalignedPointers) {
  Op::Arguments args = good_;
  args.src = memory_ + 2;
  Expect(args, "is not 4-byte aligned; allocate it with that alignment");
  args = good_;
  args.dst = memory_ + 1025;
  Expect(args, "conv: args.dst=");
  args = good_;
  args.filter = filter_.At(memory_ + 8);
  Expect(args, "is not 16-byte aligned");
}

TEST_F(BadArguments, UnpackedFilter) {
  Op::Arguments args = good_;
  args.filter = {};
  Expect(args, "conv: args.filter is not packed; call weft::PackFilter");
}

TEST_F(BadArguments, FilterOfAnotherProblem) {
  const auto other = *PackFilter<CxRSKx<4>, KCRS, std::int8_t>(FilterExtents{8, 8, 1, 1},
                                                               std::vector<std::int8_t>(64));
  Op::Arguments args = good_;
  args.filter = other.view();
  Expect(args,
         "conv: args.filter was packed for k=8 c=8 r=1 s=1, this operator has k=8 c=8 r=3 s=3");
}

TEST_F(BadArguments, ArgumentsWithoutAStage) {
  Op::Arguments args = good_;
  args.residual = memory_;
  Expect(args, "conv: args.residual is set but the policy's Epilogue has no Residual stage");
  args = good_;
  args.alpha = 0.5f;
  args.channel_alpha = bias_;
  Expect(args, "conv: args.alpha=0.5 and args.channel_alpha are both set; give one of them");
}

TEST_F(BadArguments, OverlappingTensors) {
  Op::Arguments args = good_;
  args.dst = memory_ + 64;
  Expect(args, "conv: args.dst overlaps args.src");
  args = good_;
  args.bias = reinterpret_cast<const float*>(memory_ + 1024 + 256);
  Expect(args, "conv: args.dst overlaps args.bias");
  args = good_;
  args.filter = filter_.At(memory_ + 512);
  Expect(args, "conv: args.dst overlaps args.filter; blocks would read what others have written");
  args = good_;
  args.channel_alpha = reinterpret_cast<const float*>(memory_ + 1024 - 16);
  Expect(args, "conv: args.dst overlaps args.channel_alpha");
}

// In place is right where each thread reads what it writes, and only there.
TEST_F(BadArguments, OverlappingResidual) {
  using epilogues::Chain, epilogues::ClampTo, epilogues::Residual, epilogues::Scale;
  const auto status = [&](auto policy, std::ptrdiff_t from_dst) {
    using AnyOp = Convolution<decltype(policy)>;
    const AnyOp op = *AnyOp::Create(Good());
    using Element = typename AnyOp::ResidualElement;
    return op.RunOnCpu({.src = memory_,
                        .filter = filter_.view(),
                        .residual = reinterpret_cast<const Element*>(memory_ + 1024 + from_dst),
                        .dst = reinterpret_cast<typename AnyOp::Output*>(memory_ + 1024)});
  };
  using Out = ClampTo<std::int8_t>;
  const TestPolicy<NCxHWx<4>, Chain<Residual<>, Scale, Out>> same = {};
  EXPECT_TRUE(status(same, 0).ok());
  EXPECT_TRUE(status(same, 288).ok());  // 8 channels of 36 pixels: right behind dst
  for (const int offset : {-284, 4, 284}) {
    EXPECT_THAT(std::string(status(same, offset).message()),
                HasSubstr("conv: args.dst overlaps args.residual"));
  }
  const TestPolicy<NCxHWx<4>, Chain<Residual<std::int8_t, NCxHWx<4>>, Scale, Out>> named = {};
  EXPECT_TRUE(status(named, 0).ok());
  const TestPolicy<NCxHWx<4>, Chain<Residual<std::int8_t, NHWC>, Scale, Out>> other = {};
  EXPECT_FALSE(status(other, 0).ok());
  const TestPolicy<NCxHWx<4>, Chain<Residual<float>, Scale, Out>> wider = {};
  EXPECT_FALSE(status(wider, 0).ok());
}

// Without outputs there is nothing to do, whatever the arguments.
TEST_F(BadArguments, NoneOfNoOutputs) {
  const auto changed = [](std::int64_t Problem::* extent, std::int64_t value) {
    Problem p = Good();
    p.*extent = value;
    return Op::Create(p);
  };
  for (const auto& op :
       {changed(&Problem::n, 0), changed(&Problem::k, 0), changed(&Problem::h, 0)}) {
    ASSERT_TRUE(op.ok()) << op.status();
    EXPECT_EQ(op->dst_size(), 0);
    EXPECT_EQ(op->Describe(), "nothing to do: dst has no elements");
    EXPECT_TRUE(op->RunOnCpu({}).ok());
    EXPECT_TRUE(op->Run({}, nullptr).ok());
  }
}

// Spans and vectors say how many elements there are: half a source, three of eight biases.
TEST_F(BadArguments, TooFewElements) {
  const std::vector<std::int8_t> half(8 * 18);
  const std::vector<float> three(3), eight(8);
  Op::Arguments args = good_;
  args.bias = eight;
  EXPECT_TRUE(op_.CheckArguments(args).ok());
  args.bias = three;
  Expect(args,
         "conv: args.bias has 3 elements of 4 bytes, and the operator reads or writes 8 of them");
  args = good_;
  args.src = half;
  Expect(args, "conv: args.src has 144 elements of 1 bytes, and the operator reads or writes 288");
  args = good_;
  args.channel_alpha = absl::MakeConstSpan(three);
  Expect(args, "conv: args.channel_alpha has 3 elements");
}

TEST_F(BadArguments, Numbers) {
  Op::Arguments outside = good_;
  outside.zero_point = 300.0f;
  Expect(outside,
         "conv: args.zero_point=300 is outside -128 to 127, the values of an output of its type");
  outside = good_;
  outside.alpha = -std::numeric_limits<float>::infinity();
  Expect(outside, "conv: args.alpha is infinite; give a finite number");
  const std::pair<float Op::Arguments::*, const char*> numbers[] = {
      {&Op::Arguments::alpha, "alpha is NaN; give a finite number"},
      {&Op::Arguments::beta, "beta is NaN"},
      {&Op::Arguments::gamma, "gamma is NaN"},
      {&Op::Arguments::zero_point, "zero_point is NaN"}};
  for (const auto& [number, sentence] : numbers) {
    Op::Arguments args = good_;
    args.*number = std::numeric_limits<float>::quiet_NaN();
    Expect(args, absl::StrCat("conv: args.", sentence));
  }
  Op::Arguments args = good_;
  args.gamma = 2.0f;
  Expect(args,
         "conv: args.gamma=2 is set but the policy's Epilogue has no Residual stage; leave it 1");
}

TEST_F(BadArguments, NumbersWithoutAStage) {
  using epilogues::Chain, epilogues::Scale, epilogues::SumBias, epilogues::ToFloat;
  using AnyOp = Convolution<TestPolicy<NCHW, Chain<SumBias, Scale, ToFloat>>>;
  const AnyOp op = *AnyOp::Create(Good());
  float dst[8 * 36];
  const std::int32_t bias[8] = {};
  AnyOp::Arguments args{.src = memory_, .filter = filter_.view(), .bias = bias, .dst = dst};
  EXPECT_TRUE(op.RunOnCpu(args).ok());
  args.beta = 0.5f;
  EXPECT_THAT(std::string(op.CheckArguments(args).message()),
              HasSubstr("conv: args.beta=0.5 is set but the policy's Epilogue has no Bias stage"));
  args.beta = 1.0f;
  args.zero_point = 3.0f;
  EXPECT_THAT(std::string(op.CheckArguments(args).message()),
              HasSubstr("args.zero_point=3 is set but the policy's Epilogue has no ClampTo stage; "
                        "leave it 0"));
}

TEST_F(BadArguments, MisalignedOutputNamesTheHelper) {
  using Wide = Convolution<TestPolicy<NHWC, epilogues::BiasRelu<>>>;
  const Wide op = *Wide::Create(Good());
  const absl::Status s = op.CheckArguments(
      {.src = memory_, .filter = filter_.view(), .bias = bias_, .dst = memory_ + 1026});
  EXPECT_THAT(std::string(s.message()),
              HasSubstr("is not 4-byte aligned; allocate it with that alignment, or build the "
                        "operator with WithDstAlignment(config, 2)"));
}

TEST_F(BadArguments, StagesThatAreNotThere) {
  using Bare = Convolution<TestPolicy<NCHW, epilogues::Chain<epilogues::ToAccumulator>>>;
  const Bare op = *Bare::Create(Good());
  alignas(64) std::int32_t dst[8 * 36];
  Bare::Arguments args{.src = memory_, .filter = filter_.view(), .dst = dst};
  EXPECT_TRUE(op.RunOnCpu(args).ok());
  args.bias = bias_;
  EXPECT_THAT(std::string(op.RunOnCpu(args).message()),
              HasSubstr("conv: args.bias is set but the policy's Epilogue has no Bias stage"));
  args.bias = nullptr;
  args.channel_alpha = bias_;
  EXPECT_THAT(std::string(op.RunOnCpu(args).message()),
              HasSubstr("conv: args.channel_alpha is set but the policy's Epilogue has no Scale"));
}

TEST(BadInput, GpuTooOld) {
  arch::DeviceLimits maxwell;
  maxwell.compute_capability = 52;
  maxwell.shared_memory_per_block = 48 * 1024;
  const auto op = Op::Create(Good(), maxwell);
  EXPECT_EQ(op.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(op.status().message(),
            "conv: config.mainloop needs compute capability 7.5, this GPU has 5.2; run on the CPU "
            "or choose an older mainloop");
}

// The instructions of sm_90a exist on 9.0 alone.
TEST(BadInput, GpuTooNew) {
  gemm::TileFacts hopper_only;
  hopper_only.hardware = {.min = 90, .exact = true};
  arch::DeviceLimits device;
  device.compute_capability = 90;
  EXPECT_TRUE(gemm::CheckDevice("conv", hopper_only, device).ok());
  device.compute_capability = 100;
  EXPECT_EQ(gemm::CheckDevice("conv", hopper_only, device).message(),
            "conv: config.mainloop needs compute capability 9.0 and no other, this GPU has 10.0; "
            "run on the CPU or choose an older mainloop");
  hopper_only.hardware.exact = false;
  EXPECT_TRUE(gemm::CheckDevice("conv", hopper_only, device).ok());
}

TEST(BadInput, TooMuchSharedMemory) {
  using Huge = TestPolicy<NCxHWx<4>, epilogues::BiasRelu<>, Tile<128, 128, 256, 64, 32, 8, 8>>;
  arch::DeviceLimits turing;
  turing.compute_capability = 75;
  turing.shared_memory_per_block = 64 * 1024;
  const auto op = Convolution<Huge>::Create(Good(), turing);
  EXPECT_EQ(op.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(op.status().message(),
            "conv: config.threadblock needs 131072 bytes of shared memory, one block of this GPU "
            "has 65536; use a smaller threadblock tile or fewer stages");
  turing.shared_memory_per_block = 227 * 1024;
  EXPECT_TRUE(Convolution<Huge>::Create(Good(), turing).ok());
}

// This program is linked without GPU code for the policy.
TEST_F(BadArguments, RunWithoutGpuCode) {
  const absl::Status s = op_.Run(good_, nullptr);
  EXPECT_EQ(s.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(s.message()), HasSubstr("holds no GPU code for the policy"));
}

TEST(Describe, SaysWhatWillRun) {
  EXPECT_EQ(Op::Create(Good())->Describe(),
            "simt 32x32x32 warp 32x16 thread 4x4, im2col, 2 x 1 blocks of 64 threads, 4096 bytes "
            "shared, NCxHWx<4> -> NCxHWx<4>");
  EXPECT_THAT(Op::Create(SquareProblem(1, 8, 6, 8, 1, 0, 2))->Describe(), HasSubstr("pointwise"));
}

}  // namespace
}  // namespace weft::conv
