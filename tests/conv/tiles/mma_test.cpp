// Tiles of mma_sm80 and mma_sm75 on the CPU, each by the kernel that takes every problem: the blocks of the others are the
// same, and a GPU has them all.
#define WEFT_ONE_KERNEL 1
#include "tests/conv/tiles/rows.hpp"

namespace weft::conv::tiles {
namespace {

struct Here {
  static constexpr bool Has(Part part, [[maybe_unused]] int row) {
    return part == Part::kMmaNc32 || part == Part::kMmaNhwc;
  }
};
[[maybe_unused]] const bool kAdded = AddRows<Here>();

}  // namespace
}  // namespace weft::conv::tiles
