// All operations on layouts. See layouts/README.md for a tour.
#pragma once

#include "weft/layouts/algebra/coalesce.hpp"
#include "weft/layouts/algebra/complement.hpp"
#include "weft/layouts/algebra/composition.hpp"
#include "weft/layouts/algebra/divide.hpp"
#include "weft/layouts/algebra/inverse.hpp"
#include "weft/layouts/algebra/layout.hpp"
#include "weft/layouts/algebra/product.hpp"
#include "weft/layouts/algebra/swizzle.hpp"
