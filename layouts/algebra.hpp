// All operations on layouts. See layouts/README.md for a tour.
#pragma once

#include "weft/layouts/coalesce.hpp"
#include "weft/layouts/complement.hpp"
#include "weft/layouts/composition.hpp"
#include "weft/layouts/divide.hpp"
#include "weft/layouts/inverse.hpp"
#include "weft/layouts/layout.hpp"
#include "weft/layouts/product.hpp"
#include "weft/layouts/swizzle.hpp"
