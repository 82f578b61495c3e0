// A family where a policy of a product is expected.
// EXPECT: static assertion failed: weft: Gemm takes one policy; weft::gemm::Dispatch<Family> chooses
// among those of a family
#include "weft/gemm/gemm.hpp"
#include "weft/gemm/ready_made.hpp"

auto op = weft::gemm::Gemm<weft::gemm::S8GemmFamily<>>::Create({});
