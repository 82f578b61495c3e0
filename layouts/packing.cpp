#include "weft/layouts/packing.hpp"

namespace weft::internal {
namespace {

absl::Status NotPositive(const char* field, std::int64_t value) {
  return absl::InvalidArgumentError(
      absl::StrCat("layouts: extents.", field, "=", value, " is not positive; give 1 or more"));
}

}  // namespace

absl::Status CheckExtents(const TensorExtents& e) {
  if (e.n < 1) return NotPositive("n", e.n);
  if (e.c < 1) return NotPositive("c", e.c);
  if (e.h < 1) return NotPositive("h", e.h);
  if (e.w < 1) return NotPositive("w", e.w);
  return absl::OkStatus();
}

absl::Status CheckExtents(const FilterExtents& e) {
  if (e.k < 1) return NotPositive("k", e.k);
  if (e.c < 1) return NotPositive("c", e.c);
  if (e.r < 1) return NotPositive("r", e.r);
  if (e.s < 1) return NotPositive("s", e.s);
  return absl::OkStatus();
}

}  // namespace weft::internal
