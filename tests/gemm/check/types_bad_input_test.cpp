// The same of single types, layouts and forms: what accesses need of leading dimensions and addresses, and what batches,
// groups and lists may not be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "tests/gemm/table/policies.hpp"
#include "weft/gemm/gemm_list.hpp"

namespace weft::gemm {
namespace {

using testing::HasSubstr;

using table::Of, table::RCR, table::RRR, table::CRR, table::Sums, table::ToHalf;

template <class P>
std::string Refusal(const GemmProblem& p) {
  return std::string(Gemm<P>::Create(p).status().message());
}
TEST(GemmBadInput, Halves) {
  using P = Of<Half, CRR, Sums, HalfTile<16, 4>>;
  const auto message = [](const GemmProblem& p) {
    return std::string(Gemm<P>::Create(p).status().message());
  };
  EXPECT_EQ(message({.m = 12, .n = 8, .k = 7}),
            "gemm: m=12 is not a multiple of 8, the elements of one access; pad the matrix's lines "
            "(lda=16) or lower config.alignment with WithSrcAlignment");
  EXPECT_EQ(message({.m = 16, .n = 8, .k = 7, .ldb = 4}),
            "gemm: ldb=4 is less than n=8, the elements that it steps over");
  EXPECT_THAT(message({.m = 16, .n = 8, .k = 1 << 30}), HasSubstr("split the product"));
  const auto op = Gemm<P>::Create({.m = 8, .n = 8, .k = 1});
  ASSERT_TRUE(op.ok()) << op.status();
  alignas(16) Half a[64] = {};
  alignas(16) float c[64];
  alignas(16) std::int8_t residual[64] = {};
  const typename Gemm<P>::Arguments args = {.a = a, .b = a, .residual = residual, .c = c};
  EXPECT_THAT(std::string(op->CheckArguments(args).message()), HasSubstr("args.residual is set"));
  EXPECT_THAT(std::string(op->CheckArguments({.a = a + 1, .b = a, .c = c}).message()),
              HasSubstr("is not 16-byte aligned"));
}

TEST(GemmBadInput, LoadFunctors) {
  using P = table::UpcastB<Int4, Of<Half, RRR, Sums, HalfTile<16, 4>>>;
  const auto message = [](const GemmProblem& p) {
    return std::string(Gemm<P>::Create(p).status().message());
  };
  EXPECT_EQ(message({.m = 4, .n = 12, .k = 16}),
            "gemm: n=12 is not a multiple of 8, the elements of one access; pad the matrix's lines "
            "(ldb=16)");
  EXPECT_EQ(message({.m = 4, .n = 8, .k = 12}),
            "gemm: k=12 is not a multiple of 8, the elements of one access; pad the matrix's lines "
            "(lda=16) or lower config.alignment with WithSrcAlignment");
  EXPECT_EQ(message({.m = 4, .n = 8, .k = 16, .batch = 2, .stride_b = 12}),
            "gemm: stride_b=12 is not a multiple of 8, the elements of one access; move the "
            "matrices apart");
  const auto op = Gemm<P>::Create({.m = 8, .n = 8, .k = 8});
  ASSERT_TRUE(op.ok()) << op.status();
  alignas(16) Half a[64] = {};
  alignas(16) std::uint8_t b[64] = {};
  alignas(16) float c[64];
  EXPECT_THAT(std::string(op->CheckArguments({.a = a, .b = b + 1, .c = c}).message()),
              HasSubstr("is not 4-byte aligned"));
  EXPECT_THAT(std::string(op->CheckArguments({.a = a, .b = nullptr, .c = c}).message()),
              HasSubstr("args.b is null"));
  // An operand of 4 bits has half as many bytes.
  auto* const memory = reinterpret_cast<std::uint8_t*>(c);
  EXPECT_THAT(std::string(op->CheckArguments({.a = a, .b = memory + 4, .c = c}).message()),
              HasSubstr("args.c overlaps args.b"));
}

TEST(GemmBadInput, Doubles) {
  using P = Of<double, RCR, Sums, table::DoubleTile<16, 16>>;
  const auto message = [](const GemmProblem& p) {
    return std::string(Gemm<P>::Create(p).status().message());
  };
  EXPECT_EQ(message({.m = 8, .n = 8, .k = 7}),
            "gemm: k=7 is not a multiple of 2, the elements of one access; pad the matrix's lines "
            "(lda=8) or lower config.alignment with WithSrcAlignment");
  const auto op = Gemm<P>::Create({.m = 8, .n = 8, .k = 8});
  ASSERT_TRUE(op.ok()) << op.status();
  alignas(16) double a[66] = {}, c[64];
  EXPECT_THAT(std::string(op->CheckArguments({.a = a + 1, .b = a, .c = c}).message()),
              HasSubstr("is not 16-byte aligned"));
}

TEST(GemmBadInput, Complex) {
  using E = Complex<float>;
  using P = Of<E, RCR, table::Update, AsyncFmaTile<16, 16>>;
  const auto op = Gemm<P>::Create({.m = 4, .n = 4, .k = 4});
  ASSERT_TRUE(op.ok()) << op.status();
  alignas(16) E a[17] = {}, c[16];
  typename Gemm<P>::Arguments args;
  args.a = a + 1, args.b = a, args.c = c, args.residual = c;
  EXPECT_THAT(std::string(op->CheckArguments(args).message()), HasSubstr("is not 16-byte aligned"));
  args.a = a, args.alpha.im = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(std::string(op->CheckArguments(args).message()), HasSubstr("args.alpha is NaN"));
  using OnlySums = Of<E, RCR, Sums, FmaTile<8, 8>>;
  const auto sums = Gemm<OnlySums>::Create({.m = 4, .n = 4, .k = 4});
  ASSERT_TRUE(sums.ok()) << sums.status();
  EXPECT_THAT(std::string(sums->CheckArguments({.a = a, .b = a, .c = c, .alpha = 2.0f}).message()),
              HasSubstr("args.alpha=2 is set"));
}

TEST(GemmBadInput, WgmmaOfInt8) {
  using P = Of<std::int8_t, RCR, Sums, WgmmaTile<64, 64, 128, 64, 64, 4>>;
  EXPECT_THAT(std::string(Gemm<P>::Create({.m = 8, .n = 8, .k = 20}).status().message()),
              HasSubstr("k=20 is not a multiple of 16"));
  const auto op = Gemm<P>::Create({.m = 8, .n = 8, .k = 16});
  ASSERT_TRUE(op.ok()) << op.status();
  alignas(16) std::int8_t a[128] = {};
  alignas(16) std::int32_t c[64];
  EXPECT_THAT(std::string(op->CheckArguments({.a = a + 4, .b = a, .c = c}).message()),
              HasSubstr("is not 16-byte aligned; allocate it with that alignment"));
}

TEST(GemmBadInput, WgmmaOfInt4) {
  using P = table::UpcastB<Int4, Of<Half, RCR, Sums, WgmmaTile<64, 64, 64, 64, 64, 4>>>;
  EXPECT_THAT(std::string(Gemm<P>::Create({.m = 8, .n = 8, .k = 48}).status().message()),
              HasSubstr("k=48 is not a multiple of 32"));
  const auto op = Gemm<P>::Create({.m = 8, .n = 8, .k = 32});
  ASSERT_TRUE(op.ok()) << op.status();
  alignas(16) Half a[256] = {};
  alignas(16) std::uint8_t b[144] = {};
  alignas(16) float c[64];
  EXPECT_THAT(std::string(op->CheckArguments({.a = a, .b = b + 8, .c = c}).message()),
              HasSubstr("is not 16-byte aligned"));
}

TEST(GemmBadInput, WgmmaOfFloats) {
  using P = Of<Float8E4m3, RCR, Sums, WgmmaTile<64, 64, 128, 64, 64, 4>>;
  EXPECT_THAT(std::string(Gemm<P>::Create({.m = 8, .n = 8, .k = 20}).status().message()),
              HasSubstr("k=20 is not a multiple of 16"));
  const auto op = Gemm<P>::Create({.m = 8, .n = 8, .k = 16});
  ASSERT_TRUE(op.ok()) << op.status();
  alignas(16) Float8E4m3 a[128] = {};
  alignas(16) float c[64];
  EXPECT_THAT(std::string(op->CheckArguments({.a = a + 4, .b = a, .c = c}).message()),
              HasSubstr("is not 16-byte aligned; allocate it with that alignment"));
  using Q = Of<Tf32, RCR, Sums, WgmmaTile<64, 64, 32, 64, 64, 4>>;
  EXPECT_THAT(std::string(Gemm<Q>::Create({.m = 8, .n = 8, .k = 6}).status().message()),
              HasSubstr("k=6 is not a multiple of 4"));
}

TEST(GemmBadInput, Batches) {
  using P = Of<std::int8_t, CRR, Sums, MmaProductTile<4, 4>>;  // 4-byte loads
  EXPECT_EQ(Refusal<P>({.m = 8, .n = 8, .k = 8, .batch = -1}),
            "gemm: batch=-1 is negative; give 0 or more");
  EXPECT_EQ(
      Refusal<P>({.m = 8, .n = 8, .k = 8, .batch = 2, .stride_a = 6}),
      "gemm: stride_a=6 is not a multiple of 4, the elements of one access; move the matrices "
      "apart or lower config.alignment with WithSrcAlignment");
  EXPECT_EQ(
      Refusal<P>({.m = 8, .n = 8, .k = 8, .batch = 2, .stride_b = -64}),
      "gemm: stride_b=-64 is negative; give the elements from one product's matrix to the next "
      "one's, or GemmProblem::kPacked");
  EXPECT_EQ(Refusal<P>({.m = 8, .n = 8, .k = 8, .batch = 3, .stride_c = 16}),
            "gemm: stride_c=16 lets the C of a product reach into the next one's; give 64 or more, "
            "or at least n=8 and an ldc of at least 40 for blocks of one larger matrix");
  EXPECT_EQ(Refusal<P>({.m = 8, .n = 8, .k = 8, .ldc = 40, .batch = 3, .stride_c = 16}), "");
  EXPECT_THAT(Refusal<P>({.m = 8, .n = 8, .k = 8, .batch = 3, .stride_c = std::int64_t{1} << 60}),
              HasSubstr("the reach of a 64-bit offset; split the batch"));
  using Wgmma = Of<Half, table::RRC, Sums, WgmmaTile<64, 128, 64, 64, 64, 4>>;
  EXPECT_THAT(
      Refusal<Wgmma>({.m = 8, .n = 8, .k = 8, .batch = 3, .stride_b = std::int64_t{1} << 40}),
      HasSubstr("exceeds 549755813880, the reach of TMA"));
  EXPECT_THAT(Refusal<P>({.m = 8, .n = 1 << 20, .k = 8, .batch = 1 << 20, .own_bias = true}),
              HasSubstr("the most biases of own_bias; split the batch"));
  EXPECT_THAT(Refusal<P>({.m = 1 << 15, .n = 1 << 20, .k = 8, .batch = 1 << 15}),
              HasSubstr("gemm: blocks="));
  EXPECT_EQ(
      Refusal<P>({.m = 1 << 20, .n = 8, .k = 8, .batch = 1 << 20}),
      "gemm: stride_c=8388608 times batch=1048576 are more than 2147482623 times ldc=8; split "
      "the batch");

  // C is compared with all that a batch reads.
  const auto op = Gemm<P>::Create({.m = 8, .n = 8, .k = 8, .batch = 4});
  ASSERT_TRUE(op.ok()) << op.status();
  EXPECT_THAT(op->Describe(), HasSubstr("batch of 4 x 1 x 1 blocks"));
  alignas(16) std::int8_t operands[2 * 4 * 64 + 4 * 256] = {};
  std::int8_t* const end = operands + 4 * 64;
  const auto status = [&](const Gemm<P>& g, std::int8_t* c) {
    return g.CheckArguments({.a = operands, .b = end, .c = reinterpret_cast<std::int32_t*>(c)});
  };
  EXPECT_TRUE(status(*op, end + 4 * 64).ok());
  EXPECT_THAT(std::string(status(*op, end + 4 * 64 - 4).message()),
              HasSubstr("args.c overlaps args.b"));
  const auto shared = Gemm<P>::Create({.m = 8, .n = 8, .k = 8, .batch = 4, .stride_b = 0});
  EXPECT_TRUE(status(*shared, end + 64).ok());
  EXPECT_FALSE(status(*shared, end + 60).ok());
  std::int32_t group_offsets[4] = {};
  std::int32_t c[4 * 64];
  EXPECT_THAT(std::string(op->CheckArguments(
                                {.a = operands, .b = end, .c = c, .group_offsets = group_offsets})
                              .message()),
              HasSubstr("args.group_offsets is set but the policy is no weft::gemm::Grouped<P>"));
}

TEST(GemmBadInput, Groups) {
  using P = Grouped<Of<Half, RRR, ToHalf, HalfTile<16, 4>>>;
  EXPECT_EQ(
      Refusal<P>({.m = 8, .n = 8, .k = 8, .batch = 2, .stride_a = 64}),
      "gemm: stride_a=64 is given, but the products of Grouped share the rows of one A and of "
      "one C; leave it kPacked");
  EXPECT_THAT(Refusal<P>({.m = 8, .n = 8, .k = 8, .batch = 1 << 30}),
              HasSubstr("rows of tiles; split the product"));
  const auto op = Gemm<P>::Create({.m = 8, .n = 8, .k = 8, .batch = 3});
  ASSERT_TRUE(op.ok()) << op.status();
  EXPECT_THAT(op->Describe(), HasSubstr("3 groups of 1 x 1 blocks"));
  alignas(16) Half a[64] = {}, b[3 * 64] = {}, c[64] = {};
  float bias[8] = {};
  typename Gemm<P>::Arguments args = {.a = a, .b = b, .bias = bias, .c = c};
  EXPECT_THAT(std::string(op->CheckArguments(args).message()),
              HasSubstr("gemm: args.group_offsets is null; give the address of one number for each "
                        "of problem.batch groups, the row behind its last one"));
  EXPECT_TRUE(op->CheckGroupOffsets({0, 5, 5}).ok());
  EXPECT_EQ(op->CheckGroupOffsets({0, 5}).message(),
            "gemm: group_offsets are 2, but batch=3 groups; give one number for each");
  const auto refusal = [&](std::int32_t first, std::int32_t second, std::int32_t third) {
    const std::int32_t group_offsets[] = {first, second, third};
    args.group_offsets = group_offsets;
    return std::string(op->RunOnCpu(args).message());
  };
  EXPECT_EQ(refusal(0, 5, 8), "");
  EXPECT_EQ(refusal(3, 2, 8),
            "gemm: args.group_offsets[1]=2 is less than 3, where the group begins; give group "
            "offsets that "
            "follow one another");
  EXPECT_EQ(refusal(-1, 2, 8),
            "gemm: args.group_offsets[0]=-1 is less than 0, where the group begins; give group "
            "offsets that "
            "follow one another");
  EXPECT_EQ(refusal(3, 4, 9), "gemm: args.group_offsets[2]=9 exceeds m=8, the rows there are");
}

TEST(GemmBadInput, Lists) {
  using Op = Gemm<Listed<Of<Half, RRR, ToHalf, HalfTile<16, 4>>>>;
  const auto refusal = [](std::vector<GemmProblem> problems) {
    return std::string(Op::Create(problems).status().message());
  };
  const GemmProblem good = {.m = 8, .n = 8, .k = 8};
  EXPECT_EQ(refusal({}), "gemm: problems is empty; give one product or more");
  EXPECT_EQ(refusal({good, {.m = -1, .n = 8, .k = 8}}),
            "gemm: problem 1 of the list: m=-1 is negative; give 0 or more");
  EXPECT_EQ(refusal({good, good, {.m = 0, .n = -1, .k = 8}}),
            "gemm: problem 2 of the list: n=-1 is negative; give 0 or more");
  EXPECT_EQ(refusal({{.m = 8, .n = 8, .k = 8, .batch = 2}}),
            "gemm: problem 0 of the list: batch=2 is not 1; give each product a place in the list");
  const GemmProblem large = {.m = 1 << 28, .n = 1 << 13, .k = 8};
  EXPECT_THAT(refusal({large, large, large, large, large, large, large, large}),
              HasSubstr("up to here exceed 2147483647; use a larger threadblock tile or "
                        "split the list"));

  const auto op = Op::Create({good, good});
  ASSERT_TRUE(op.ok()) << op.status();
  EXPECT_THAT(op->Describe(), HasSubstr("list of 2 products, 2 tiles; the first: mma_sm80"));
  alignas(64) Half a[64] = {}, b[64] = {}, c[128] = {};
  float bias[8] = {};
  const typename Op::Arguments first = {.a = a, .b = b, .bias = bias, .c = c};
  typename Op::Arguments second = {.a = a, .b = b, .bias = bias, .c = c + 64};
  const auto wrong = [&] { return std::string(op->CheckArguments({first, second}).message()); };
  EXPECT_EQ(wrong(), "");
  second.b = nullptr;
  EXPECT_EQ(wrong(), "gemm: problem 1 of the list: args.b is null; give the tensor's address");
  second.b = c;
  EXPECT_EQ(wrong(),
            "gemm: args[0].c overlaps args[1].b; products of a list run at the same time, so give "
            "c memory of its own");
  second.b = b, second.c = c + 56;
  EXPECT_THAT(wrong(), HasSubstr("].c overlaps args["));
  EXPECT_EQ(
      op->CheckArguments({first}).message(),
      "gemm: args has 1 elements, but the list 2 products; give one for each, in the order of "
      "Create");
  EXPECT_EQ(op->Run(nullptr, nullptr).message(),
            "gemm: table is null; give the address of a copy of Table()'s in the GPU's memory");
  const void* const odd = reinterpret_cast<const std::uint8_t*>(a) + 4;
  EXPECT_THAT(std::string(op->Run(static_cast<const Op::Product*>(odd), nullptr).message()),
              HasSubstr("-byte aligned; allocate it with that alignment"));
}

}  // namespace
}  // namespace weft::gemm
