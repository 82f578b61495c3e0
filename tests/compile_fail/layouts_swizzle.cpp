// Source and target bits overlap.
// EXPECT: static assertion failed: layouts: Swizzle<bits, base, shift>: \|shift\| must be at least
// bits
#include "weft/layouts/algebra/swizzle.hpp"

using namespace weft::layouts;

auto bad = Swizzle<3, 0, 2>{}(5);
