// A block without columns.
// EXPECT: static assertion failed: weft: LocalBlock<h, w> takes the rows and columns of a block, 1 or more
#include "weft/prologues/prologues.hpp"

weft::prologues::LocalBlock<2, 0> block;
