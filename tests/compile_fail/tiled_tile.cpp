// Two warps along m, 16 rows to an instruction.
// EXPECT: static assertion failed: weft: TiledMma<Atom, Tile, Groups>: the tile must be a multiple of
// \(groups x the atom's extents\) in m and in n
#include "tests/compile_fail/tiled_base.hpp"

TiledBase<Ints<48, 64>> bad;
