// With one kernel of each operator: what is tested follows the products.
#define WEFT_ONE_KERNEL 1
#include "tests/gemm/gemm_half_sum_cases.hpp"  // on the CPU, and what needs no kernel

namespace weft::gemm {
namespace {

TEST(HalfSumGemmFamily, HasANameOfItsOwn) {
  EXPECT_EQ(Dispatch<HalfSumGemmFamily<>>::FamilyName(), "f16_row_x_column_in_f16_to_f16_row_bias");
}

}  // namespace
}  // namespace weft::gemm
