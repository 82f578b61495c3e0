#include "tests/conv/zero_point/zero_point_policies.hpp"
#include "tests/onnx/run_case.hpp"

namespace weft::onnx_test {

using namespace conv;  // NOLINT: policies

using Sm75 = Nc32Policy<NCxHWx<32>, QLinear<std::int8_t>, MmaSm75Tile<32, 32, 64, 16, 32>>;
using Sm80 = UnsignedSource<Nc32Policy<NCHW, QLinear<>, MmaSm80Tile<64, 32, 64, 32, 32, 3, 1>>>;
using Sm80Integer =
    UnsignedSource<Nc32Policy<NCHW, ConvInteger, MmaSm80Tile<64, 32, 64, 32, 32, 3, 4>>>;

std::vector<Operator> TensorCoreOperators() {
  return {MakeOperator<Sm75>("mma_sm75"), MakeOperator<Sm80>("mma_sm80"),
          MakeOperator<Sm80Integer>("mma_sm80_integer"),
          MakeOperator<ZeroFilterSm80>("mma_sm80_filter")};
}

}  // namespace weft::onnx_test
