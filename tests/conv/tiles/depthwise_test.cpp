// Tiles of depthwise convolutions and of DepthwisePointwise on the CPU.
#include "tests/conv/tiles/depthwise_rows.hpp"

namespace weft::conv::tiles {
namespace {

[[maybe_unused]] const bool kAdded = AddDepthwiseRows();

}  // namespace
}  // namespace weft::conv::tiles
