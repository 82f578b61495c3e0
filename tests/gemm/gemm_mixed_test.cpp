#include "tests/gemm/gemm_mixed_cases.hpp"  // on the CPU, and what needs no kernel

namespace weft::gemm {
namespace {

// Every integer, exactly; a value outside of a type's range is none of its.
template <class Element, class From, int kLow, int kHigh>
void ExpectUpcast() {
  for (int x = kLow; x <= kHigh; ++x) {
    using Load = Upcast<Element, From>;
    const auto value = static_cast<typename Load::Value>(x);
    EXPECT_EQ(Load{}(value), Element::FromFloat(static_cast<float>(x))) << x;
  }
}
TEST(Upcast, IsExact) {
  ExpectUpcast<Half, std::int8_t, -128, 127>();
  ExpectUpcast<Half, std::uint8_t, 0, 255>();
  ExpectUpcast<Half, Int4, -8, 7>();
  ExpectUpcast<Bfloat16, std::int8_t, -128, 127>();
  ExpectUpcast<Bfloat16, std::uint8_t, 0, 255>();
  ExpectUpcast<Bfloat16, Int4, -8, 7>();
}

TEST(GemmMixedBadInput, Lines) {
  using P =
      MixedPolicy<Half, RowMajor, RowMajor, RowMajor, NoLoad, Upcast<Half, Int4>, HalfTile<16, 4>>;
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
  EXPECT_THAT(std::string(op->RunOnCpu({.a = a, .b = b + 1, .c = c}).message()),
              testing::HasSubstr("is not 4-byte aligned"));
  EXPECT_THAT(std::string(op->RunOnCpu({.a = a, .b = nullptr, .c = c}).message()),
              testing::HasSubstr("args.b is null"));
  // An operand of 4 bits has half as many bytes.
  auto* const memory = reinterpret_cast<std::uint8_t*>(c);
  EXPECT_THAT(std::string(op->RunOnCpu({.a = a, .b = memory + 4, .c = c}).message()),
              testing::HasSubstr("args.c overlaps args.b"));
}

TEST(MixedGemmFamily, NamesAndChooses) {
  using Op = Dispatch<MixedGemmFamily<Half, Int4>>;
  EXPECT_EQ(Op::FamilyName(), "f16_row_x_column_b4_to_f16_row_bias");
  using Other = Dispatch<MixedGemmFamily<std::int8_t, Bfloat16>>;
  EXPECT_EQ(Other::FamilyName(), "bf16_row_x_column_a8_to_f16_row_bias");
}

}  // namespace
}  // namespace weft::gemm
