// The tiles of mma_sm80 over NHWC on the GPU.
#include "tests/conv/tiles/rows.hpp"

namespace weft::conv::tiles {
namespace {

struct Here {
  static constexpr bool Has(Part part, [[maybe_unused]] int row) { return part == Part::kMmaNhwc; }
};
[[maybe_unused]] const bool kAdded = AddRows<Here>();

}  // namespace
}  // namespace weft::conv::tiles

#include "weft/conv/instantiate.cuh"
