#include "tests/conv/zero_point/zero_point_policies.hpp"
#include "tests/onnx/run_case.hpp"

namespace weft::onnx_test {

using namespace conv;  // NOLINT: policies

using WithFilter = QLinearWithFilter<std::int8_t>;
using Simt = TestPolicy<NCxHWx<4>, WithFilter>;
using IntegerWithFilter = UnsignedSource<TestPolicy<NCHW, ConvIntegerWithFilter>>;
struct Grouped : UnsignedSource<TestPolicy<NCHW, QLinearWithFilter<std::uint8_t>, SmallTile<1>>> {
  using Prologue = prologues::Grouped;
};

std::vector<Operator> CopiedOperators() {
  return {MakeOperator<ZeroSimt>("simt"), MakeOperator<Simt>("simt_filter"),
          MakeOperator<IntegerWithFilter>("simt_integer_filter"),
          MakeOperator<Grouped>("simt_grouped_filter")};
}

}  // namespace weft::onnx_test
