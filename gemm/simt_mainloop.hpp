// The simt mainloop: int8 dot products by dp4a, operands staged through registers into two
// shared-memory buffers.
//
// It multiplies two operand tiles and does not know whether they come from matrices or from a
// convolution. An operand tile brings the next k slice of A (or of B) into shared memory in two
// steps, so that the trip through global memory overlaps the arithmetic:
//
//     struct Tile {
//       struct Fragment;                                             // registers in flight
//       WEFT_DEVICE void Load(arch::Thread t, Fragment& f);          // global -> registers;
//       advance WEFT_DEVICE void Store(arch::Thread t, const Fragment& f,    // registers -> shared
//                              std::uint32_t (*shared)[columns]) const;
//     };
//
// Packets beyond the end of k, m or n must be loaded as zeros.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/simt_shared_layout.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// kCount packets (a power of two, at most 4), read or written as one access.
template <int kCount>
struct alignas(4 * kCount) PacketVector {
  std::uint32_t packet[kCount];
};

template <class Geometry>
struct SimtMainloop {
  using G = Geometry;
  struct SharedStorage {
    alignas(16) std::uint32_t a[2][G::kPackets][G::kBlockM];
    alignas(16) std::uint32_t b[2][G::kPackets][G::kBlockN];
  };
  // acc[i][j]: column m = lane_m + kLanesM * i, column n = lane_n * kThreadN + j of the warp tile.
  using Accumulators = std::int32_t[G::kThreadM][G::kThreadN];

  // acc += A B over `slices` >= 1 slices of kBlockK. Ends with every thread past its last read of
  // `shared` but without a barrier.
  template <class TileA, class TileB>
  WEFT_DEVICE static void Run(arch::Thread t, SharedStorage& shared, TileA& tile_a, TileB& tile_b,
                              int slices, Accumulators& acc) {
    typename TileA::Fragment fragment_a;
    typename TileB::Fragment fragment_b;
    tile_a.Load(t, fragment_a);
    tile_b.Load(t, fragment_b);
    tile_a.Store(t, fragment_a, shared.a[0]);
    tile_b.Store(t, fragment_b, shared.b[0]);
    t.SyncThreads();

    WEFT_NO_UNROLL
    for (int slice = 0; slice < slices; ++slice) {
      const bool more = slice + 1 < slices;
      const int now = slice & 1;
      if (more) {
        tile_a.Load(t, fragment_a);
        tile_b.Load(t, fragment_b);
      }
      Multiply(t, shared.a[now], shared.b[now], acc);
      if (more) {
        // The other buffer was last read before the previous barrier.
        tile_a.Store(t, fragment_a, shared.a[now ^ 1]);
        tile_b.Store(t, fragment_b, shared.b[now ^ 1]);
        t.SyncThreads();
      }
    }
  }

 private:
  WEFT_DEVICE static void Multiply(arch::Thread t,
                                   const std::uint32_t (&a)[G::kPackets][G::kBlockM],
                                   const std::uint32_t (&b)[G::kPackets][G::kBlockN],
                                   Accumulators& acc) {
    const int warp_m = t.warp() % G::kWarpsM, warp_n = t.warp() / G::kWarpsM;
    const int lane_m = t.lane() % G::kLanesM, lane_n = t.lane() / G::kLanesM;
    const int column_a = SharedColumnsA<G>::First(warp_m, lane_m);
    const int column_b = warp_n * G::kWarpN + lane_n * G::kThreadN;
    WEFT_UNROLL
    for (int k = 0; k < G::kPackets; ++k) {
      std::uint32_t row_a[G::kThreadM], row_b[G::kThreadN];
      WEFT_UNROLL
      for (int i = 0; i < G::kThreadM; i += G::kVectorM) {
        using Vector = PacketVector<G::kVectorM>;
        const Vector v =
            t.LoadShared(reinterpret_cast<const Vector*>(&a[k][column_a + i * G::kLanesM]));
        WEFT_UNROLL
        for (int e = 0; e < G::kVectorM; ++e) row_a[i + e] = v.packet[e];
      }
      WEFT_UNROLL
      for (int j = 0; j < G::kThreadN; j += 4) {
        const auto v = t.LoadShared(reinterpret_cast<const PacketVector<4>*>(&b[k][column_b + j]));
        WEFT_UNROLL
        for (int e = 0; e < 4; ++e) row_b[j + e] = v.packet[e];
      }
      t.template Dp4aOuter<G::kThreadM, G::kThreadN>(acc, row_a, row_b);
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
