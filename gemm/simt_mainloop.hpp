// The simt mainloop: int8 dot products by dp4a, or floats and doubles by fma, operands staged
// through registers into two shared-memory buffers.
//
// It multiplies two operand tiles and does not know whether they come from matrices or from a
// convolution. An operand tile brings the next k slice of A (or of B) into shared memory in two
// steps, so that the trip through global memory overlaps the arithmetic:
//
//     struct Tile {
//       struct Fragment;                                             // registers in flight
//       // global -> registers; moves on by one slice
//       WEFT_DEVICE void Load(arch::Thread t, Fragment& f);
//       // registers -> shared
//       WEFT_DEVICE void Store(arch::Thread t, const Fragment& f,
//                              Packet (*shared)[columns]) const;
//     };
//
// Packets beyond the end of k, m or n must be loaded as zeros.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/simt_atoms.hpp"
#include "weft/gemm/simt_shared_layout.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// kCount packets (a power of two, at most 16 bytes), read or written as one access.
template <int kCount, class Packet = std::uint32_t>
struct alignas(sizeof(Packet) * kCount) PacketVector {
  Packet packet[kCount];
};

template <class Geometry, class Atom = Dp4aAtom>
struct SimtMainloop {
  using G = Geometry;
  using Packet = typename Atom::Packet;
  using Sum = typename Atom::Sum;
  struct Slices {
    alignas(16) Packet a[2][G::kPackets][G::kBlockM];
    alignas(16) Packet b[2][G::kPackets][G::kBlockN];
  };
  // Sums of the warps with WarpK > 0, on their way to those with WarpK = 0.
  struct Partials {
    Sum sum[G::kWarpsK > 1 ? G::kWarpsK - 1 : 1][G::kThreadM * G::kThreadN][G::kGroupThreads];
  };
  struct WithPartials {
    union {
      Slices slices;
      Partials partials;
    };
  };
  struct WithoutPartials {
    Slices slices;
  };
  using SharedStorage = std::conditional_t<(G::kWarpsK > 1), WithPartials, WithoutPartials>;
  // acc[i][j]: column m = lane_m + kLanesM * i, column n = lane_n * kThreadN + j of the warp tile.
  using Accumulators = Sum[G::kThreadM][G::kThreadN];

  // acc += A B over `slices` >= 1 slices of kBlockK. Returns whether acc holds this thread's share
  // of the result: all threads do, but where warps share a tile only the first of them.
  template <class TileA, class TileB>
  WEFT_DEVICE static bool Run(arch::Thread t, SharedStorage& storage, TileA& tile_a, TileB& tile_b,
                              int slices, Accumulators& acc) {
    Slices& shared = storage.slices;
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
    if constexpr (G::kWarpsK == 1) {
      return true;
    } else {
      return Reduce(t, storage.partials, acc);
    }
  }

 private:
  // Adds up the sums of the warps that share a tile.
  WEFT_DEVICE static bool Reduce(arch::Thread t, Partials& partials, Accumulators& acc) {
    const int part = G::WarpK(t.warp()), thread = t.tid() % G::kGroupThreads;
    t.SyncThreads();  // the slices are no longer read
    if (part > 0) {
      WEFT_UNROLL
      for (int e = 0; e < G::kThreadM * G::kThreadN; ++e) {
        t.StoreShared(&partials.sum[part - 1][e][thread], acc[e / G::kThreadN][e % G::kThreadN]);
      }
    }
    t.SyncThreads();
    if (part > 0) return false;
    WEFT_UNROLL
    for (int other = 0; other < G::kWarpsK - 1; ++other) {
      WEFT_UNROLL
      for (int e = 0; e < G::kThreadM * G::kThreadN; ++e) {
        acc[e / G::kThreadN][e % G::kThreadN] += t.LoadShared(&partials.sum[other][e][thread]);
      }
    }
    return true;
  }

  WEFT_DEVICE static void Multiply(arch::Thread t, const Packet (&a)[G::kPackets][G::kBlockM],
                                   const Packet (&b)[G::kPackets][G::kBlockN], Accumulators& acc) {
    const int warp_m = G::WarpM(t.warp()), warp_n = G::WarpN(t.warp());
    const int first = G::WarpK(t.warp()) * G::kWarpPackets;
    const int lane_m = G::LaneM(t.lane()), lane_n = G::LaneN(t.lane());
    const int column_a = SharedColumnsA<G>::First(warp_m, lane_m);
    const int column_b = warp_n * G::kWarpN + lane_n * G::kThreadN;
    WEFT_UNROLL
    for (int k = 0; k < G::kWarpPackets; ++k) {
      Packet row_a[G::kThreadM], row_b[G::kThreadN];
      WEFT_UNROLL
      for (int i = 0; i < G::kThreadM; i += G::kVectorM) {
        using Vector = PacketVector<G::kVectorM, Packet>;
        const Vector v =
            t.LoadShared(reinterpret_cast<const Vector*>(&a[first + k][column_a + i * G::kLanesM]));
        WEFT_UNROLL
        for (int e = 0; e < G::kVectorM; ++e) row_a[i + e] = v.packet[e];
      }
      WEFT_UNROLL
      for (int j = 0; j < G::kThreadN; j += G::kVectorN) {
        using Vector = PacketVector<G::kVectorN, Packet>;
        const Vector v = t.LoadShared(reinterpret_cast<const Vector*>(&b[first + k][column_b + j]));
        WEFT_UNROLL
        for (int e = 0; e < G::kVectorN; ++e) row_b[j + e] = v.packet[e];
      }
      Atom::template Add<G::kThreadM, G::kThreadN>(t, acc, row_a, row_b);
    }
  }
};

// Which outputs a thread of the simt mainloop holds (gemm/fragment_epilogue.hpp).
template <class G, class Atom = Dp4aAtom>
struct SimtMap {
  static constexpr int kPixels = G::kThreadM;
  static constexpr int kGroups = 1;
  static constexpr int kChannels = G::kThreadN;
  using Accumulators = typename SimtMainloop<G, Atom>::Accumulators;

  WEFT_DEVICE static int Pixel(arch::Thread t, int i) {
    return G::WarpM(t.warp()) * G::kWarpM + G::LaneM(t.lane()) + G::kLanesM * i;
  }
  WEFT_DEVICE static int Channel(arch::Thread t, int) {
    return G::WarpN(t.warp()) * G::kWarpN + G::LaneN(t.lane()) * G::kThreadN;
  }
  static constexpr typename Atom::Sum Get(const Accumulators& acc, int i, int, int j) {
    return acc[i][j];
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
