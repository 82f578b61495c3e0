// EXPECT: #error "Weft needs C\+\+20: compile with -std=c\+\+20
// MAX_ERRORS: 2
#include "weft/conv/convolution.hpp"
