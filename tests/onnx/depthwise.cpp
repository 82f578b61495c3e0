#include "tests/conv/zero_point/zero_point_policies.hpp"
#include "tests/onnx/run_case.hpp"

namespace weft::onnx_test {

using namespace conv;  // NOLINT: policies

using Nc4 = UnsignedSource<S8Depthwise4<QLinearWithFilter<std::uint8_t>>>;
using Nc32 = S8Depthwise32<QLinearWithFilter<std::int8_t>>;
using Nhwc = UnsignedSource<S8DepthwiseNhwc<ConvIntegerWithFilter, NCHW>>;
using WithoutFilter = UnsignedSource<S8Depthwise32<QLinear<>>>;

std::vector<Operator> DepthwiseOperators() {
  return {MakeOperator<WithoutFilter>("depthwise"), MakeOperator<Nc4>("depthwise_nc4_filter"),
          MakeOperator<Nc32>("depthwise_nc32_filter"),
          MakeOperator<Nhwc>("depthwise_nhwc_integer_filter")};
}

}  // namespace weft::onnx_test
