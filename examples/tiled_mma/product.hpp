// C = A B of int8 in a kernel of one's own, from tiled copies and a tiled mma: blocks of 64 x 64, any
// extents. A is m x k and B k x n; k runs along memory in both, in lines a multiple of 16 bytes.
#pragma once
#include "weft/gemm/tiled_copy.hpp"
#include "weft/gemm/tiled_mma.hpp"

struct ProductParams {
  const std::int8_t *a, *b;  // [m][pitch], [n][pitch]
  std::int32_t* c;           // [m][n]
  int m, n, k, pitch;
};

inline namespace WEFT_BACKEND {
struct ProductKernel {  // grid: m / 64, n / 64
  using Tile = weft::layouts::Ints<64, 64>;
  // Four warps, two by two; a thread has 4 adjacent columns of C, one access where n allows it.
  using Mma = weft::gemm::TiledMma<weft::gemm::MmaSm80Atom<std::int8_t>, Tile,
                                   weft::layouts::Ints<2, 2>, 4>;
  using LoadTile = weft::gemm::TileCopy<weft::gemm::CpAsync<16>, std::int8_t, Tile,
                                        weft::layouts::RowMajor, Mma::kThreads>;
  using Store = weft::gemm::TiledCopy<weft::gemm::RegistersToGlobal<4>, Mma::LayoutC>;

  using Params = ProductParams;
  struct SharedStorage {
    alignas(128) std::int8_t a[64 * 64], b[64 * 64];
  };
  static constexpr int kThreads = Mma::kThreads;
  static constexpr weft::arch::Requires kRequires = Mma::Atom::kRequires;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& s, weft::arch::Thread t) const {
    using namespace weft::layouts;
    const auto view = [](auto* data, int rows, int columns, int pitch) {
      return MakeTensorView(data, MakeLayout(MakeTuple(rows, columns), MakeTuple(pitch, Int<1>())));
    };
    const auto along_k = [&](auto matrix, int i) {  // (64, 64, k tile)
      return LocalTile(matrix, Tile(), MakeTuple(i, Underscore()));
    };
    const int i = t.block_x(), j = t.block_y();
    const auto a = along_k(view(p.a, p.m, p.k, p.pitch), i);
    const auto b = along_k(view(p.b, p.n, p.k, p.pitch), j);
    const auto where_a = along_k(CoordinateTensor(p.m, p.k), i);
    const auto where_b = along_k(CoordinateTensor(p.n, p.k), j);
    const auto shared_a = MakeTensorView(&s.a[0], Mma::SharedA<64>());
    const auto shared_b = MakeTensorView(&s.b[0], Mma::SharedB<64>());
    auto sums = Mma::MakeFragmentC();
    for (int k_tile = 0; k_tile * 64 < p.k; ++k_tile) {
      const auto at = [&](auto tiles) { return tiles(Underscore(), Underscore(), k_tile); };
      weft::gemm::Copy(t, LoadTile(), at(a), shared_a, at(where_a));
      weft::gemm::Copy(t, LoadTile(), at(b), shared_b, at(where_b));
      t.CpAsyncCommit();
      t.CpAsyncWait<0>();
      t.SyncThreads();
      Mma::Multiply(t, shared_a, shared_b, sums);
      t.SyncThreads();  // before the k tiles are written again
    }
    const auto c = LocalTile(view(p.c, p.m, p.n, p.n), Tile(), MakeTuple(i, j));
    const auto where_c = LocalTile(CoordinateTensor(p.m, p.n), Tile(), MakeTuple(i, j));
    weft::gemm::Copy(t, Store(), sums, c, where_c);
  }
};
}  // namespace WEFT_BACKEND
