// Columns lie together in memory, and the copy takes 16 bytes of a row.
// EXPECT: static assertion failed: weft: Copy: the elements of one access must be neighbours in memory
#include "tests/compile_fail/tiled_base.hpp"

using LoadTile =
    weft::gemm::TileCopy<weft::gemm::CpAsync<16>, std::int8_t, Ints<64, 64>, RowMajor, 128>;

void Use(weft::arch::Thread t, const std::int8_t* a, std::int8_t* shared) {
  weft::gemm::Copy(t, LoadTile(), MakeTensorView(a, MakeLayout(Ints<64, 64>())),
                   MakeTensorView(shared, TiledBase<>::SharedA<64>()));
}
