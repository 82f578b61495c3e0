// The floats of 8 and 16 bits, for programs: Half, Bfloat16, Float8E4m3 and Float8E5m2.
#pragma once

#include "weft/layouts/element/float8.hpp"
