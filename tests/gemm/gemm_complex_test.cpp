#include "tests/gemm/gemm_complex_cases.hpp"  // on the CPU, and what needs no kernel

namespace weft::gemm {
namespace {

TEST(ComplexGemmFamily, Names) {
  EXPECT_EQ(Dispatch<ComplexGemmFamily<Complex<float>>>::FamilyName(),
            "c32_row_x_column_to_c32_row");
  EXPECT_EQ(Dispatch<ComplexGemmFamily<Complex<double>>>::FamilyName(),
            "c64_row_x_column_to_c64_row");
}

}  // namespace
}  // namespace weft::gemm
