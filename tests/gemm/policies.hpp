// Policies that the GEMM tests share.
#pragma once

#include "weft/gemm/gemm.hpp"

namespace weft::gemm {

using epilogues::Bias;
using epilogues::Chain;
using epilogues::ClampTo;
using epilogues::Relu;
using epilogues::Residual;
using epilogues::RoundTo;
using epilogues::Scale;
using epilogues::ToFloat;
using epilogues::ToSums;
using layouts::ColumnMajor;
using layouts::RowMajor;

// Tiles as types: nvcc 13.0 cannot write class-type template arguments into its host code.
template <int src, int dst>
struct MmaProductTile {  // 2 x 1 warps, several fragments each way
  static constexpr auto config = MmaSm80Config({64, 32, 64}, {32, 32, 64}, 3, {src, dst});
};
template <int src, int dst>
struct MmaWideTile {  // more threads than rows, 4 stages
  static constexpr auto config = MmaSm80Config({32, 128, 128}, {16, 32, 128}, 4, {src, dst});
};
template <int src, int dst>
struct Tf32NarrowTile {
  static constexpr auto config = MmaSm80Config({64, 32, 16}, {32, 32, 16}, 3, {src, dst});
};
template <int src, int dst>
struct Tf32WideTile {
  static constexpr auto config = MmaSm80Config({32, 128, 64}, {16, 32, 64}, 4, {src, dst});
};
template <int src, int dst>
struct MmaSlicedTile {  // 2 x 4 warps, of the latter with a quarter of each k tile
  static constexpr auto config = MmaSm80Config({32, 32, 128}, {16, 32, 32}, 3, {src, dst});
};
template <int src, int dst>
struct HalfTile {
  static constexpr auto config = MmaSm80Config({64, 32, 32}, {32, 32, 32}, 3, {src, dst});
};
// For GPUs before sm_80: 2 x 1 warps, and 1 x 2 with two groups of k.
template <int src, int dst>
struct Sm75Tile {
  static constexpr auto config =
      WithSrcAlignment(MmaSm75Config({64, 32, 32}, {32, 32, 32}, dst), src);
};
template <int src, int dst>
struct Sm75WideTile {
  static constexpr auto config =
      WithSrcAlignment(MmaSm75Config({32, 64, 64}, {32, 32, 64}, dst), src);
};
template <int src, int dst>
struct Dp4aTile {
  static constexpr auto config = SimtConfig({32, 32, 32}, {32, 16, 32}, {4, 4, 4}, {src, dst});
};
template <int src, int dst>
struct FmaTile {
  static constexpr auto config = SimtConfig({64, 32, 8}, {32, 32, 8}, {8, 4, 1}, {src, dst});
};
template <int src, int dst>
struct SlicedFmaTile {  // 2 x 2 warps, of the latter with a half of each k tile
  static constexpr auto config = SimtConfig({64, 32, 16}, {32, 32, 8}, {8, 4, 1}, {src, dst});
};
// Through cp.async: 3 stages and 2 warps, and 4 with more columns than rows.
template <int src, int dst>
struct AsyncFmaTile {
  static constexpr auto config =
      SimtAsyncConfig({64, 32, 8}, {32, 32, 8}, {8, 4, 1}, 3, {src, dst});
};
template <int src, int dst>
struct AsyncWideTile {
  static constexpr auto config =
      SimtAsyncConfig({32, 128, 16}, {16, 64, 16}, {4, 8, 1}, 4, {src, dst});
};
template <int src, int dst>
struct AsyncSlicedTile {  // eight warps, each with an eighth of each k tile
  static constexpr auto config =
      SimtAsyncConfig({32, 16, 32}, {32, 16, 4}, {4, 4, 1}, 4, {src, dst});
};
struct AsyncLargeTile {
  static constexpr auto config = kSimtFloat128x256;
};
// The tile of kSimtFloat128x128.
struct LargeFmaTile {
  static constexpr auto config = kSimtFloat128x128;
};

template <int block_m, int block_n, int block_k, int warp_m, int warp_n, int dst,
          int blocks_per_sm = 1, int split = 1>
struct WgmmaTile {
  static constexpr auto config = WithClusterSplitK(
      WgmmaSm90Config({block_m, block_n, block_k}, {warp_m, warp_n, block_k}, blocks_per_sm, dst),
      split);
};
template <class TileT>
struct PingPong {
  static constexpr auto config = WithPingPong(TileT::config);
};

template <class ElementT, class A, class B, class C, class EpilogueT, class TileT>
struct TypedGemm {
  using Element = ElementT;
  using LayoutA = A;
  using LayoutB = B;
  using LayoutC = C;
  using Epilogue = EpilogueT;
  static constexpr auto config = TileT::config;
};

}  // namespace weft::gemm
