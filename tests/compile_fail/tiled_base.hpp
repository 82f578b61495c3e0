// A correct tiled product; the cases of this folder get one thing of it wrong.
#pragma once

#include "weft/gemm/tiled_copy.hpp"
#include "weft/gemm/tiled_mma.hpp"

using weft::layouts::Ints, weft::layouts::MakeLayout, weft::layouts::MakeTensorView,
    weft::layouts::MakeTuple, weft::layouts::RowMajor;

template <class Tile = Ints<64, 64>>
using TiledBase = weft::gemm::TiledMma<weft::gemm::MmaSm80Atom<std::int8_t>, Tile, Ints<2, 2>>;
