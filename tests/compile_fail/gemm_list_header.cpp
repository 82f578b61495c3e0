// A list is no single product, whose Create and Run it would be given.
// EXPECT: static assertion failed: weft: Dispatch takes no Listed policies
// MAX_ERRORS: 11
#include "tests/compile_fail/gemm_base.hpp"
#include "weft/gemm/dispatch.hpp"

struct Mine : GemmBase {
  static constexpr auto config = weft::gemm::kMma64x64;
};
using Op = weft::gemm::Dispatch<weft::gemm::ListedFamily<weft::gemm::Family<Mine>>>;

auto op = Op::Create({}, weft::gemm::CpuFacts{1});
