// A correct product of a block; the cases of this folder derive from it and get one thing wrong.
#pragma once

#include "weft/gemm/block.hpp"

using weft::layouts::ColumnMajor, weft::layouts::RowMajor;

struct BlockBase : weft::gemm::BlockTypes<weft::Half, RowMajor, ColumnMajor> {
  static constexpr weft::gemm::BlockConfig config{.shape = {64, 64, 64},
                                                  .mainloop = weft::gemm::Mainloop::kMmaSm80,
                                                  .threads = 128,
                                                  .alignment = 16};
};
// The config of a product so large.
constexpr weft::gemm::BlockConfig WithShape(weft::gemm::TileShape shape, int threads) {
  weft::gemm::BlockConfig config = BlockBase::config;
  config.shape = shape, config.threads = threads;
  return config;
}
