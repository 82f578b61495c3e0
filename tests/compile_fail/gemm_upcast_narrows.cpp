// uint8 as int8, which has no 200.
// EXPECT: static assertion failed: weft: Upcast<Element, From> makes a Half or Bfloat16 of From
// MAX_ERRORS: 3
#include "tests/compile_fail/gemm_base.hpp"

struct Mine : GemmBase {
  using LoadB = weft::gemm::Upcast<std::int8_t, std::uint8_t>;
};

auto op = weft::gemm::Gemm<Mine>::Create({});
