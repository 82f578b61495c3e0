// The simt mainloop with cp.async: fma of floats or doubles, operands brought into a ring of
// shared-memory buffers [k][m] and [k][n] (simt_async_tile.hpp).
//
// Each sum is one fma for every k, in ascending order, as in simt_mainloop.hpp.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/simt_async_geometry.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

template <class Geometry, class Element, class TileA, class TileB>
struct SimtAsyncMainloop {
  using G = Geometry;
  struct SharedStorage {
    alignas(16) Element a[G::kStages][G::kBlockK][TileA::kPitch];
    alignas(16) Element b[G::kStages][G::kBlockK][TileB::kPitch];
  };
  // acc[i][j]: vector i / kVector of the lane's columns m, element i % kVector of it; j likewise.
  using Accumulators = Element[G::kThreadM][G::kThreadN];

  // acc += A B over `slices` >= 1 slices, of whose first only `first` steps of k are the matrices'.
  // Ends without a barrier.
  //
  // While one step of k is multiplied, the operands of the next are loaded. The wait for a slice
  // stands before the last step of the slice before it, so that its first step is loaded in time
  // too. What is loaded past the last slice is not used.
  WEFT_DEVICE static void Run(arch::Thread t, SharedStorage& shared, TileA& tile_a, TileB& tile_b,
                              int slices, int first, Accumulators& acc) {
    static_assert(G::kBlockK % 2 == 0);  // the step's parity names its registers
    const std::uint32_t a0 = t.SharedAddress(shared.a), b0 = t.SharedAddress(shared.b);
    WEFT_UNROLL
    for (int stage = 0; stage < G::kStages - 1; ++stage) {
      const int steps = stage == 0 ? first : stage < slices ? G::kBlockK : 0;
      WEFT_UNROLL
      for (int i = 0; i < kCopies; ++i) {
        Copy(t, tile_a, tile_b, a0 + stage * kBytesA, b0 + stage * kBytesB, steps, i);
      }
      t.CpAsyncCommit();
      tile_a.Advance(steps);
      tile_b.Advance(steps);
    }
    t.template CpAsyncWait<G::kStages - 2>();
    t.SyncThreads();

    const int column_a = G::FirstM(t.warp(), t.lane()), column_b = G::FirstN(t.warp(), t.lane());
    int now = 0, free = G::kStages - 1;
    Operands operands[2];
    Load(t, shared.a[0][0] + column_a, shared.b[0][0] + column_b, operands[0]);
    WEFT_NO_UNROLL
    for (int slice = 0; slice < slices; ++slice) {
      const int steps = slice + G::kStages - 1 < slices ? G::kBlockK : 0;
      WEFT_UNROLL
      for (int k = 0; k < G::kBlockK; ++k) {
        if (k + 1 == G::kBlockK) {
          t.CpAsyncCommit();
          tile_a.Advance(G::kBlockK);
          tile_b.Advance(G::kBlockK);
          t.template CpAsyncWait<G::kStages - 2>();
          t.SyncThreads();
          now = now + 1 == G::kStages ? 0 : now + 1;
        }
        const int next = (k + 1) % G::kBlockK;
        Load(t, shared.a[now][next] + column_a, shared.b[now][next] + column_b,
             operands[(k + 1) % 2]);
        // To the buffer that was last read before the previous barrier.
        WEFT_UNROLL
        for (int i = 0; i < kCopies; ++i) {
          if (i * kGroups / kCopies * (G::kBlockK / kGroups) == k) {
            Copy(t, tile_a, tile_b, a0 + free * kBytesA, b0 + free * kBytesB, steps, i);
          }
        }
        t.FmaOuter(acc, operands[k % 2].a, operands[k % 2].b);
      }
      free = free + 1 == G::kStages ? 0 : free + 1;
    }
  }

 private:
  static constexpr int kBytesA = G::kBlockK * TileA::kPitch * static_cast<int>(sizeof(Element));
  static constexpr int kBytesB = G::kBlockK * TileB::kPitch * static_cast<int>(sizeof(Element));

  static constexpr int kCopies = TileA::kCopies + TileB::kCopies;
  static constexpr int kGroups = G::kBlockK / 4;  // that the copies are issued in

  WEFT_DEVICE static void Copy(arch::Thread t, TileA& tile_a, TileB& tile_b, std::uint32_t a,
                               std::uint32_t b, int steps, int i) {
    if (i < TileA::kCopies) {
      tile_a.Copy(t, a, steps, i);
    } else {
      tile_b.Copy(t, b, steps, i - TileA::kCopies);
    }
  }

  // A thread's share of one step of k.
  struct Operands {
    Element a[G::kThreadM], b[G::kThreadN];
  };
  struct alignas(16) Vector {
    Element element[G::kVector];
  };

  // a, b: the thread's first elements of the step.
  WEFT_DEVICE static void Load(arch::Thread t, const Element* a, const Element* b,
                               Operands& operands) {
    WEFT_UNROLL
    for (int v = 0; v < G::kVectorsM; ++v) {
      const Vector vector =
          t.LoadShared(reinterpret_cast<const Vector*>(a + v * G::kLanesM * G::kVector));
      WEFT_UNROLL
      for (int e = 0; e < G::kVector; ++e) operands.a[v * G::kVector + e] = vector.element[e];
    }
    WEFT_UNROLL
    for (int v = 0; v < G::kVectorsN; ++v) {
      const Vector vector =
          t.LoadShared(reinterpret_cast<const Vector*>(b + v * G::kLanesN * G::kVector));
      WEFT_UNROLL
      for (int e = 0; e < G::kVector; ++e) operands.b[v * G::kVector + e] = vector.element[e];
    }
  }
};

// Which outputs a thread of this mainloop holds (gemm/fragment_epilogue.hpp).
template <class G, class Element>
struct SimtAsyncMap {
  static constexpr int kPixels = G::kThreadM;
  static constexpr int kGroups = G::kVectorsN;
  static constexpr int kChannels = G::kVector;
  using Accumulators = Element[G::kThreadM][G::kThreadN];

  WEFT_DEVICE static int Pixel(arch::Thread t, int i) {
    return G::FirstM(t.warp(), t.lane()) + i / G::kVector * (G::kLanesM * G::kVector) +
           i % G::kVector;
  }
  WEFT_DEVICE static int Channel(arch::Thread t, int g) {
    return G::FirstN(t.warp(), t.lane()) + g * (G::kLanesN * G::kVector);
  }
  static constexpr Element Get(const Accumulators& acc, int i, int g, int j) {
    return acc[i][g * G::kVector + j];
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
