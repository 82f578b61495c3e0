// EXPECT: #error "Weft computes to the bit: compile without -ffast-math, -Ofast, the flags that they imply, and -mfpmath=387"
// MAX_ERRORS: 2
#include "weft/conv/convolution.hpp"
