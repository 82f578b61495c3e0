// Who divides slices knows how many there are.
// EXPECT: static assertion failed: weft: config.stream is false in a Grouped or Listed GEMM: only the device, or the list, knows how many slices there are
#include "tests/compile_fail/gemm_base.hpp"

struct Mine : GemmBase {
  static constexpr auto config = weft::gemm::WithStream(weft::gemm::kWgmma64x64);
};

auto op = weft::gemm::Gemm<weft::gemm::Grouped<Mine>>::Create({});
