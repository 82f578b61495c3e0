// Elements of A that change on their way where TMA loads them.
// EXPECT: static assertion failed: weft: a GEMM with LoadA or LoadB takes an MmaSm80Config
#include "tests/compile_fail/gemm_base.hpp"

struct Mine : GemmBase {
  using Element = weft::Half;
  using LoadA = weft::gemm::Upcast<weft::Half, std::uint8_t>;
  static constexpr auto config = weft::gemm::kWgmma64x64;
};

auto op = weft::gemm::Gemm<Mine>::Create({});
