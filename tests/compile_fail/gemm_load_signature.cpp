// A functor that makes another type than is multiplied.
// EXPECT: static assertion failed: weft: LoadA and LoadB of a GEMM have `using Source = std::int8_t`
#include "tests/compile_fail/gemm_base.hpp"

struct Mine : GemmBase {
  using Element = weft::Half;
  struct LoadB {
    using Source = std::int8_t;
    constexpr float operator()(std::int8_t x) const { return x; }
  };
  static constexpr auto config = weft::gemm::kMmaHalf128x128;
};

auto op = weft::gemm::Gemm<Mine>::Create({});
