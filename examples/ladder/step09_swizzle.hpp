// Step 9: the 16-byte chunks of a row change places with the row's number, so that those of eight
// rows that ldmatrix reads together lie in different banks, and no byte is spent on gaps.
#pragma once
#include "examples/ladder/step08_tensor_cores.hpp"

namespace ladder {
inline namespace WEFT_BACKEND {

// Rows are of 64 bytes, two to a line of all 32 banks: bits 7 and 8 of the offset, the number of
// the line, are xored to bits 4 and 5, that of the chunk in the row.
struct Swizzled : MmaKernel<weft::layouts::Swizzle<2, 4, 3>> {
  static constexpr const char* kName = "swizzle";
};

}  // namespace WEFT_BACKEND
}  // namespace ladder
