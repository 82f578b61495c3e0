#include "tests/conv/zero_point/zero_point_policies.hpp"
#include "tests/onnx/run_case.hpp"

namespace weft::onnx_test {

using namespace conv;  // NOLINT: policies

using Signed = WithEpilogue<QLinear<std::int8_t>, NCxHWx<4>, 4>;
using WithFilter = UnsignedSource<WithEpilogue<QLinearWithFilter<std::uint8_t>>>;

std::vector<Operator> WgmmaOperators() {
  return {MakeOperator<ZeroWgmma>("wgmma"), MakeOperator<Signed>("wgmma_signed"),
          MakeOperator<WithFilter>("wgmma_filter")};
}

}  // namespace weft::onnx_test
