// A family of what is no operator's policy.
// EXPECT: static assertion failed: weft: a family's policies are those of matrix products, with the
// types of gemm/policy/gemm_policy.hpp, or of convolutions
#include "weft/gemm/dispatch.hpp"

struct NoPolicy {
  using Element = float;
};
auto op = weft::gemm::Dispatch<weft::gemm::Family<NoPolicy>>::Create({});
