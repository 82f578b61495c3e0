// A picture through a Weft operator.
#pragma once

#include "absl/status/statusor.h"
#include "examples/picture_filter/filters.hpp"
#include "examples/picture_filter/picture_io.hpp"
#include "examples/support/backend.hpp"

namespace picture_filter {

// The filtered picture, of the same size. Beyond its border the picture goes on as at its border.
absl::StatusOr<Picture> Apply(const Filter& filter, const Picture& picture,
                              examples::Backend backend);

}  // namespace picture_filter
