// Tiles of wgmma_sm90 on the CPU.
#include "tests/conv/tiles/rows.hpp"

namespace weft::conv::tiles {
namespace {

struct Here {
  static constexpr bool Has(Part part, [[maybe_unused]] int row) {
    return part == Part::kWgmmaNc32 || part == Part::kWgmmaNhwc;
  }
};
[[maybe_unused]] const bool kAdded = AddRows<Here>();

}  // namespace
}  // namespace weft::conv::tiles
