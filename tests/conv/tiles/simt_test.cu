// The tiles of simt on the GPU.
#include "tests/conv/tiles/rows.hpp"

namespace weft::conv::tiles {
namespace {

struct Here {
  static constexpr bool Has(Part part, [[maybe_unused]] int row) { return part == Part::kSimt; }
};
[[maybe_unused]] const bool kAdded = AddRows<Here>();

}  // namespace
}  // namespace weft::conv::tiles

#include "weft/conv/instantiate.cuh"
