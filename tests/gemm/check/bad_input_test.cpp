// Each kind of bad input of a matrix product gives a Status that names the field, its value and
// what would be accepted, before anything is launched.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "weft/gemm/gemm.hpp"

namespace weft::gemm {

using epilogues::Bias;
using epilogues::Chain;
using epilogues::ClampTo;
using epilogues::Residual;
using epilogues::Scale;
using epilogues::ToAccumulator;
using epilogues::ToFloat;
using layouts::ColumnMajor;
using layouts::RowMajor;
using testing::HasSubstr;

template <int src_alignment, int dst_alignment>
struct BadInputTile {
  static constexpr auto config =
      SimtConfig({32, 32, 32}, {32, 16, 32}, {4, 4, 4}, {src_alignment, dst_alignment});
};
struct BadInputMma {
  static constexpr auto config = kMma128x128;
};
template <class EpilogueT, class TileT, class A = RowMajor>
struct BadInputPolicy {
  using Element = std::int8_t;
  using LayoutA = A;
  using LayoutB = ColumnMajor;
  using LayoutC = RowMajor;
  using Epilogue = EpilogueT;
  static constexpr auto config = TileT::config;
};
struct ComplexPolicy {
  using Element = Complex<float>;
  using LayoutA = RowMajor;
  using LayoutB = ColumnMajor;
  using LayoutC = RowMajor;
  using Epilogue = Chain<Scale, epilogues::ToSums<Complex<float>>>;
  static constexpr auto config = SimtConfig({64, 64, 8}, {32, 32, 8}, {8, 4, 1}, Alignment{8, 8});
};
namespace {

using SumsPolicy = BadInputPolicy<Chain<ToAccumulator>, BadInputTile<4, 4>>;
using SumsOp = Gemm<SumsPolicy>;
struct UnsignedPolicy : SumsPolicy {
  using Element = std::uint8_t;
};

std::string Message(const GemmProblem& p) {
  return std::string(SumsOp::Create(p).status().message());
}

TEST(GemmBadInput, Extents) {
  EXPECT_EQ(Message({.m = -1, .n = 1, .k = 4}), "gemm: m=-1 is negative; give 0 or more");
  EXPECT_THAT(Message({.m = 8, .n = 8, .k = 131072}), HasSubstr("at most 131071 are accepted"));
  using Unsigned = Gemm<UnsignedPolicy>;
  EXPECT_THAT(Unsigned::Create({.m = 8, .n = 8, .k = 65796}).status().message(),
              HasSubstr("k=65796 products of two bytes can overflow the int32 accumulator; at most "
                        "65793 are accepted"));
  EXPECT_THAT(Message({.m = std::int64_t{1} << 40, .n = 8, .k = 8}),
              HasSubstr("split the product"));
  using Narrow = Gemm<BadInputPolicy<Chain<ToAccumulator>, BadInputTile<4, 16>>>;
  EXPECT_EQ(Narrow::Create({.m = 8, .n = 6, .k = 8}).status().message(),
            "gemm: n=6 is not a multiple of 4, the elements of one 16-byte store; pad C or lower "
            "config.alignment.dst with WithDstAlignment");
}

// The field that the caller gave is blamed, not one that was filled in.
TEST(GemmBadInput, Pitches) {
  EXPECT_EQ(Message({.m = 8, .n = 8, .k = 5}),
            "gemm: k=5 is not a multiple of 4, the elements of one access; pad the matrix's lines "
            "(lda=8) or lower config.alignment with WithSrcAlignment");
  EXPECT_EQ(Message({.m = 8, .n = 8, .k = 5, .lda = 8}),
            "gemm: k=5 is not a multiple of 4, the elements of one access; pad the matrix's lines "
            "(ldb=8) or lower config.alignment with WithSrcAlignment");
  EXPECT_EQ(Message({.m = 8, .n = 8, .k = 5, .lda = 10}),
            "gemm: lda=10 is not a multiple of 4, the elements of one access; pad the matrix's "
            "lines or lower config.alignment with WithSrcAlignment");
  EXPECT_TRUE(SumsOp::Create({.m = 8, .n = 8, .k = 5, .lda = 8, .ldb = 8}).ok());
  EXPECT_EQ(Message({.m = 8, .n = 8, .k = 8, .ldb = 4}),
            "gemm: ldb=4 is less than k=8, the elements that it steps over");
  using Transposed = Gemm<BadInputPolicy<Chain<ToAccumulator>, BadInputTile<4, 4>, ColumnMajor>>;
  EXPECT_THAT(std::string(Transposed::Create({.m = 6, .n = 8, .k = 8}).status().message()),
              HasSubstr("gemm: m=6 is not a multiple of 4"));
}

TEST(GemmBadInput, PitchesBeyondSixtyFourBits) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  const absl::Status lda = SumsOp::Create({.m = 8, .n = 8, .k = 8, .lda = kHuge}).status();
  EXPECT_EQ(lda.code(), absl::StatusCode::kOutOfRange);
  // A tile may reach 1024 lines past the last one.
  EXPECT_THAT(std::string(lda.message()),
              HasSubstr(absl::StrCat("gemm: lda=", kHuge, " exceeds ", kMax / (8 + 1024), ": 8 ")));
  EXPECT_THAT(Message({.m = 1, .n = 1, .k = 8, .ldb = kMax - 63}), HasSubstr("gemm: ldb="));
  EXPECT_THAT(Message({.m = 8, .n = 8, .k = 8, .ldc = kMax - 63}), HasSubstr("gemm: ldc="));
  EXPECT_TRUE(SumsOp::Create({.m = 8, .n = 8, .k = 8, .lda = std::int64_t{1} << 50}).ok());
}

// Without elements of C there is nothing to do, whatever the arguments; a C of sums of nothing is the epilogue
// of 0, and A and B may be null.
TEST(GemmBadInput, EmptyExtents) {
  for (const GemmProblem& p : {GemmProblem{.m = 0, .n = 4, .k = 4},
                               {.m = 4, .n = 0, .k = 4},
                               {.m = 4, .n = 4, .k = 4, .batch = 0},
                               {.m = 0, .n = 0, .k = 0}}) {
    const auto op = SumsOp::Create(p);
    ASSERT_TRUE(op.ok()) << op.status();
    EXPECT_TRUE(op->RunOnCpu({}).ok());
    EXPECT_TRUE(op->Run({}, nullptr).ok());
    EXPECT_EQ(op->Describe(), "nothing to do: C has no elements");
  }
  const auto op = SumsOp::Create({.m = 3, .n = 4, .k = 0});
  ASSERT_TRUE(op.ok()) << op.status();
  std::vector<std::int32_t> c(12, 7);
  EXPECT_TRUE(op->RunOnCpu({.c = c}).ok());
  EXPECT_EQ(c, std::vector<std::int32_t>(12, 0));
  EXPECT_THAT(std::string(op->RunOnCpu({}).message()), HasSubstr("args.c is null"));
}

// Spans and vectors say how many elements there are.
TEST(GemmBadInput, TooFewElements) {
  const auto op = SumsOp::Create({.m = 3, .n = 4, .k = 4, .lda = 8, .batch = 2});
  ASSERT_TRUE(op.ok()) << op.status();
  const std::vector<std::int8_t> a(44), b(32);
  std::vector<std::int32_t> c(24);
  EXPECT_TRUE(op->CheckArguments({.a = a, .b = b, .c = c}).ok());
  const auto refusal = [&](const SumsOp::Arguments& args) {
    return std::string(op->CheckArguments(args).message());
  };
  EXPECT_EQ(
      refusal({.a = absl::MakeConstSpan(a).first(43), .b = b, .c = c}),
      "gemm: args.a has 43 elements of 1 bytes, and the operator reads or writes 44 of them; give "
      "the whole tensor, with what fills its layout's blocks");
  EXPECT_THAT(refusal({.a = a, .b = b, .c = absl::MakeSpan(c).first(23)}),
              HasSubstr("args.c has 23 elements of 4 bytes, and the operator reads or writes 24"));
}

// Strides of a batch of one are not looked at.
TEST(GemmBadInput, StridesOfOneProduct) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t any : {kMax, -kMax, std::int64_t{-2}}) {
    const auto op =
        SumsOp::Create({.m = 4, .n = 4, .k = 4, .stride_a = any, .stride_b = any, .stride_c = any});
    ASSERT_TRUE(op.ok()) << op.status();
    alignas(16) std::int8_t a[32] = {};
    alignas(16) std::int32_t c[16];
    EXPECT_TRUE(op->RunOnCpu({.a = a, .b = a + 16, .c = c}).ok());
  }
}

TEST(GemmBadInput, OldDevices) {
  arch::DeviceLimits turing;
  turing.compute_capability = 75;
  turing.shared_memory_per_block = 64 * 1024;
  using MmaOp = Gemm<BadInputPolicy<Chain<Scale, ClampTo<std::int8_t>>, BadInputMma>>;
  const GemmProblem problem = {.m = 128, .n = 128, .k = 128};
  const absl::Status s = MmaOp::Create(problem, turing).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(s.message(),
            "gemm: config.mainloop needs compute capability 8.0, this GPU has 7.5; run on the CPU "
            "or choose an older mainloop");
  turing.compute_capability = 80;
  turing.shared_memory_per_block = 16 * 1024;
  EXPECT_EQ(MmaOp::Create(problem, turing).status().code(), absl::StatusCode::kResourceExhausted);
  turing.shared_memory_per_block = 163 * 1024;
  EXPECT_TRUE(MmaOp::Create(problem, turing).ok());
}

template <class Op>
void Expect(const Op& op, const typename Op::Arguments& args, const char* message) {
  for (const absl::Status& s :
       {op.CheckArguments(args), op.RunOnCpu(args), op.Run(args, nullptr)}) {
    EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument) << s;
    EXPECT_THAT(std::string(s.message()), HasSubstr(message));
  }
}

TEST(GemmBadInput, Addresses) {
  const SumsOp op = *SumsOp::Create({.m = 4, .n = 4, .k = 4});
  alignas(16) std::int8_t a[32] = {};
  alignas(16) std::int32_t c[16];
  EXPECT_TRUE(op.RunOnCpu({.a = a, .b = a + 16, .c = c}).ok());
  EXPECT_TRUE(op.RunOnCpu({.a = a, .b = a, .c = c}).ok());  // two operands may be one matrix
  Expect(op, {.a = a, .b = a}, "gemm: args.c is null; give the tensor's address");
  Expect(op, {.a = a + 1, .b = a, .c = c}, "is not 4-byte aligned; allocate it");
  auto* moved = reinterpret_cast<std::int32_t*>(a + 2);
  Expect(op, {.a = a, .b = a, .c = moved}, "gemm: args.c=");
  using Wide = Gemm<BadInputPolicy<Chain<ToAccumulator>, BadInputTile<16, 16>>>;
  const Wide wide = *Wide::Create({.m = 4, .n = 4, .k = 16});
  alignas(16) std::int8_t operand[80] = {};
  Expect(wide, {.a = operand + 4, .b = operand, .c = c},
         "is not 16-byte aligned; allocate it with that alignment, or build the operator with "
         "WithSrcAlignment(config, 4)");
  Expect(wide, {.a = operand, .b = operand, .c = c + 2},
         "or build the operator with WithDstAlignment(config, 8)");
}

TEST(GemmBadInput, Overlap) {
  using P = BadInputPolicy<Chain<Residual<std::int8_t>, Scale, Bias<>, ClampTo<std::int8_t>>,
                           BadInputTile<4, 4>>;
  using Op = Gemm<P>;
  const Op op = *Op::Create({.m = 8, .n = 8, .k = 8});
  alignas(16) std::int8_t m[256] = {};
  alignas(16) std::int8_t out[64] = {};
  float bias[8] = {};
  const Op::Arguments good = {.a = m, .b = m + 64, .bias = bias, .residual = m + 128, .c = out};
  EXPECT_TRUE(op.RunOnCpu(good).ok());
  Op::Arguments args = good;
  args.c = m;
  Expect(op, args, "gemm: args.c overlaps args.a; blocks would read what others have written");
  args.c = m + 96;
  Expect(op, args, "gemm: args.c overlaps args.b");
  args.c = m + 132;
  Expect(op, args,
         "gemm: args.c overlaps args.residual; blocks would read what others have "
         "written, so give c memory of its own, or its very address");
  args.c = m + 128;
  EXPECT_TRUE(op.RunOnCpu(args).ok());
  args = good;
  args.bias = reinterpret_cast<const float*>(out + 32);
  Expect(op, args, "gemm: args.c overlaps args.bias");
  args = good;
  args.channel_alpha = reinterpret_cast<const float*>(out);
  Expect(op, args, "gemm: args.c overlaps args.channel_alpha");
}

// A residual of wider elements than C's cannot be C itself.
TEST(GemmBadInput, OverlapOfAnotherType) {
  using Op =
      Gemm<BadInputPolicy<Chain<Residual<float>, Scale, ClampTo<std::int8_t>>, BadInputTile<4, 4>>>;
  const Op op = *Op::Create({.m = 8, .n = 8, .k = 8});
  alignas(16) std::int8_t m[64] = {};
  float residual[64] = {};
  Expect(op, {.a = m, .b = m, .residual = residual, .c = reinterpret_cast<std::int8_t*>(residual)},
         "gemm: args.c overlaps args.residual");
}

// Blocks of columns of one larger matrix share its range of addresses but no element.
TEST(GemmBadInput, ColumnsOfOneMatrixDoNotOverlap) {
  using Op = Gemm<BadInputPolicy<Chain<Scale, ClampTo<std::int8_t>>, BadInputTile<4, 4>>>;
  const Op op = *Op::Create({.m = 8, .n = 8, .k = 8, .lda = 32, .ldb = 32, .ldc = 32});
  alignas(16) std::int8_t m[8 * 32 + 16] = {};
  const auto status = [&](int a, int b, int c) {
    return op.CheckArguments({.a = m + a, .b = m + b, .c = m + c});
  };
  EXPECT_TRUE(status(0, 8, 16).ok());
  EXPECT_TRUE(status(8, 16, 0).ok());
  EXPECT_TRUE(status(24, 16, 8).ok());
  EXPECT_FALSE(status(0, 8, 12).ok());
  EXPECT_FALSE(status(0, 8, 4).ok());
  EXPECT_FALSE(status(0, 24, 28).ok());  // c's lines run into b's next ones
  EXPECT_FALSE(status(0, 8, 32 + 4).ok());
  const Op dense = *Op::Create({.m = 8, .n = 8, .k = 8, .lda = 32});
  EXPECT_FALSE(dense.CheckArguments({.a = m, .b = m + 8 * 32 - 64, .c = m + 8}).ok());
}

TEST(GemmBadInput, Numbers) {
  using Op = Gemm<BadInputPolicy<Chain<Scale, Bias<>, ClampTo<std::int8_t>>, BadInputTile<4, 4>>>;
  const Op op = *Op::Create({.m = 8, .n = 8, .k = 8});
  alignas(16) std::int8_t m[64] = {};
  alignas(16) std::int8_t c[64];
  float values[9] = {};
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const Op::Arguments good = {.a = m, .b = m, .bias = values, .c = c};
  Op::Arguments args = good;
  args.alpha = kNan;
  Expect(op, args, "gemm: args.alpha is NaN; give a finite number");
  args = good;
  args.alpha = 2.0f;
  args.channel_alpha = values;
  Expect(op, args, "gemm: args.alpha=2 and args.channel_alpha are both set; give one of them");
  args = good;
  args.channel_alpha = reinterpret_cast<const float*>(reinterpret_cast<char*>(values) + 2);
  Expect(op, args, "gemm: args.channel_alpha=");
  args = good;
  args.gamma = 0.5f;
  Expect(op, args,
         "gemm: args.gamma=0.5 is set but the policy's Epilogue has no Residual stage; leave it 1");
  args = good;
  args.output_scale = 0.05f;
  Expect(op, args,
         "gemm: args.output_scale=0.05 is set but the policy's Epilogue has no OutputScale stage; "
         "leave it 0");
  using Scaled = Gemm<BadInputPolicy<epilogues::BiasSilu<>, BadInputTile<4, 4>>>;
  const Scaled scaled = *Scaled::Create({.m = 8, .n = 8, .k = 8});
  Scaled::Arguments steps = {.a = m, .b = m, .bias = values, .c = c, .output_scale = 0.05f};
  EXPECT_TRUE(scaled.CheckArguments(steps).ok());
  for (const float wrong : {0.0f, -0.05f, std::numeric_limits<float>::infinity(), 1e-40f}) {
    steps.output_scale = wrong;
    EXPECT_THAT(std::string(scaled.CheckArguments(steps).message()),
                HasSubstr(absl::StrCat("gemm: args.output_scale=", wrong,
                                       " is not a finite number above 0, but the policy's Epilogue "
                                       "has an OutputScale stage; give the scale of the")));
  }
  using Residual = epilogues::ResidualWithZeroPoint<>;
  using WithResidual = Gemm<
      BadInputPolicy<Chain<Residual, Scale, Bias<>, ClampTo<std::int8_t>>, BadInputTile<4, 4>>>;
  const WithResidual with = *WithResidual::Create({.m = 8, .n = 8, .k = 8});
  WithResidual::Arguments of = {.a = m, .b = m, .bias = values, .residual = m, .c = c};
  EXPECT_TRUE(with.CheckArguments(of).ok());
  of.epilogue.Get<Residual>().zero_point = kNan;
  Expect(with, of, "gemm: args.epilogue's residual zero_point is NaN; give a finite number");
  alignas(16) std::int32_t sums[64];
  const SumsOp plain = *SumsOp::Create({.m = 8, .n = 8, .k = 8});
  Expect(plain, {.a = m, .b = m, .c = sums, .channel_alpha = values},
         "gemm: args.channel_alpha is set but the policy's Epilogue has no Scale stage");
}

// Of bytes zero points are integers of their type; what ends in no bytes has none.
TEST(GemmBadInput, ZeroPoints) {
  alignas(16) std::int8_t m[64] = {};
  alignas(16) std::int8_t c[64];
  float values[9] = {};
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  using OnSteps = epilogues::OnSteps<epilogues::HSwish>;
  using Steps = Gemm<BadInputPolicy<epilogues::BiasHSwishOnSteps<>, BadInputTile<4, 4>>>;
  const Steps steps = *Steps::Create({.m = 8, .n = 8, .k = 8});
  Steps::Arguments args = {.a = m, .b = m, .bias = values, .c = c, .output_scale = 0.05f};
  for (const float right : {-128.0f, -1.0f, 0.0f, 127.0f}) {
    args.epilogue.Get<OnSteps>().zero_point = right;
    EXPECT_TRUE(steps.CheckArguments(args).ok()) << right;
  }
  for (const float wrong : {-129.0f, -0.5f, 0.25f, 128.0f, 3e9f, kNan, -HUGE_VALF}) {
    args.epilogue.Get<OnSteps>().zero_point = wrong;
    Expect(steps, args,
           "gemm: args.epilogue's zero_point of OnSteps is no value of its type; give an integer "
           "in that range");
  }
  using ComplexNumbers = Gemm<ComplexPolicy>;
  const ComplexNumbers complex = *ComplexNumbers::Create({.m = 2, .n = 2, .k = 2});
  alignas(16) Complex<float> x[4] = {}, y[4];
  ComplexNumbers::Arguments numbers = {.a = x, .b = x, .c = y};
  EXPECT_TRUE(complex.CheckArguments(numbers).ok());
  numbers.zero_point = 1.0f;
  Expect(complex, numbers,
         "gemm: args.zero_point=1 is set but the policy's Epilogue has no ClampTo stage; leave it "
         "0");
  numbers.zero_point = kNan;
  Expect(complex, numbers, "gemm: args.zero_point is NaN; give a finite number");
}

}  // namespace
}  // namespace weft::gemm
