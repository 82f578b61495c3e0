// Names of families of products, and what their dispatch chooses.
#include <gtest/gtest.h>

#include "weft/gemm/dispatch.hpp"
#include "weft/gemm/ready_made.hpp"

namespace weft::gemm {
namespace {

TEST(HalfSumGemmFamily, HasANameOfItsOwn) {
  EXPECT_EQ(Dispatch<HalfSumGemmFamily<>>::FamilyName(), "f16_row_x_column_in_f16_to_f16_row_bias");
}

TEST(MixedGemmFamily, NamesAndChooses) {
  using Op = Dispatch<MixedGemmFamily<Half, Int4>>;
  EXPECT_EQ(Op::FamilyName(), "f16_row_x_column_b4_to_f16_row_bias");
  using Other = Dispatch<MixedGemmFamily<std::int8_t, Bfloat16>>;
  EXPECT_EQ(Other::FamilyName(), "bf16_row_x_column_a8_to_f16_row_bias");
}

TEST(ComplexGemmFamily, Names) {
  EXPECT_EQ(Dispatch<ComplexGemmFamily<Complex<float>>>::FamilyName(),
            "c32_row_x_column_to_c32_row");
  EXPECT_EQ(Dispatch<ComplexGemmFamily<Complex<double>>>::FamilyName(),
            "c64_row_x_column_to_c64_row");
}

// Of double tensor cores, of float the ring of stages, but for odd lines.
TEST(ComplexGemmFamily, Chooses) {
  using Floats = Dispatch<ComplexGemmFamily<Complex<float>>>;
  using Doubles = Dispatch<ComplexGemmFamily<Complex<double>>>;
  const GemmProblem large = {.m = 4096, .n = 4096, .k = 4096};
  EXPECT_EQ(Doubles::Create(large, GpuFacts())->config().mainloop, Mainloop::kMmaSm80);
  const Floats floats = *Floats::Create(large, GpuFacts());
  EXPECT_EQ(floats.config().threadblock.m * floats.config().threadblock.n, 128 * 128)
      << floats.Describe();
  const GemmProblem odd = {.m = 33, .n = 33, .k = 33};
  EXPECT_EQ(Floats::Create(odd, GpuFacts())->config().mainloop, Mainloop::kSimt);
}

}  // namespace
}  // namespace weft::gemm
