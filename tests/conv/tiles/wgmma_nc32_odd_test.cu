// The tiles of wgmma_sm90 over NCxHWx<32> and NCxHWx<4> on the GPU, of odd lines of the tables.
#include "tests/conv/tiles/rows.hpp"

namespace weft::conv::tiles {
namespace {

struct Here {
  static constexpr bool Has(Part part, [[maybe_unused]] int row) {
    return part == Part::kWgmmaNc32 && row % 2 == 1;
  }
};
[[maybe_unused]] const bool kAdded = AddRows<Here>();

}  // namespace
}  // namespace weft::conv::tiles

#include "weft/conv/instantiate.cuh"
