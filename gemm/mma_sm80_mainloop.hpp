// The mma_sm80 mainloop: tensor cores (m16n8k32 of int8, m16n8k16 of 16-bit floats), operands
// brought by cp.async into a ring of shared-memory buffers.
//
// It multiplies two operand tiles of packets (mma_geometry.hpp) and does not know where they come
// from. A tile starts the copies of its next k slice:
//
//     struct Tile {
//       // Row r, half h of packet p goes to shared + p * kRows * 32 + PacketOffset(r, h); what lies
//       // outside the operand must arrive as zeros. Moves on by one slice. Plain stores do as well:
//       // there is a barrier between a slice's Copy and its use.
//       WEFT_DEVICE void Copy(arch::Thread t, std::uint32_t shared);
//     };
#pragma once

#include <cstdint>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/mma_atoms.hpp"
#include "weft/gemm/mma_geometry.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// Atom: the instruction (mma_atoms.hpp).
template <class Geometry, class Atom = MmaS8>
struct MmaSm80Mainloop {
  using G = Geometry;
  static constexpr int kBytesA = G::kPackets * G::kBlockM * 32;
  static constexpr int kBytesB = G::kPackets * G::kBlockN * 32;
  struct SharedStorage {
    alignas(128) std::uint8_t a[G::kStages][kBytesA];
    alignas(128) std::uint8_t b[G::kStages][kBytesB];
  };
  using Accumulators = typename Atom::Sum[G::kFragmentsM][G::kFragmentsN][4];

  // acc += A B over `slices` >= 1 slices. Ends without a barrier.
  template <class TileA, class TileB>
  WEFT_DEVICE static void Run(arch::Thread t, SharedStorage& shared, TileA& tile_a, TileB& tile_b,
                              int slices, Accumulators& acc) {
    const std::uint32_t a0 = t.SharedAddress(shared.a), b0 = t.SharedAddress(shared.b);
    WEFT_UNROLL
    for (int stage = 0; stage < G::kStages - 1; ++stage) {
      if (stage < slices) {
        tile_a.Copy(t, a0 + stage * kBytesA);
        tile_b.Copy(t, b0 + stage * kBytesB);
      }
      t.CpAsyncCommit();
    }

    int read = 0, write = G::kStages - 1;
    WEFT_NO_UNROLL
    for (int slice = 0; slice < slices; ++slice) {
      t.template CpAsyncWait<G::kStages - 2>();
      t.SyncThreads();  // the slice has arrived for all threads, and buffer `write` is free
      if (slice + G::kStages - 1 < slices) {
        tile_a.Copy(t, a0 + write * kBytesA);
        tile_b.Copy(t, b0 + write * kBytesB);
      }
      t.CpAsyncCommit();
      Multiply(t, a0 + read * kBytesA, b0 + read * kBytesB, acc);
      read = read + 1 == G::kStages ? 0 : read + 1;
      write = write + 1 == G::kStages ? 0 : write + 1;
    }
  }

 private:
  WEFT_DEVICE static void Multiply(arch::Thread t, std::uint32_t a, std::uint32_t b,
                                   Accumulators& acc) {
    const int lane = t.lane();
    // ldmatrix.x4: lanes 8i to 8i + 7 name the rows of matrix i. For A those are (upper, lower
    // eight rows) x (first, second half of k); for B (first, second half of k) x (two instructions
    // in n).
    const std::uint32_t row_a =
        a + PacketOffset(G::WarpM(t.warp()) * G::kWarpM + lane % 16, lane / 16);
    const std::uint32_t row_b =
        b + PacketOffset(G::WarpN(t.warp()) * G::kWarpN + lane % 8 + lane / 16 * 8, lane / 8 % 2);
    WEFT_UNROLL
    for (int packet = 0; packet < G::kPackets; ++packet) {
      // Steps of 16 rows keep the swizzle's bit, so they are plain additions.
      std::uint32_t fragment_a[G::kFragmentsM][4];
      WEFT_UNROLL
      for (int i = 0; i < G::kFragmentsM; ++i) {
        t.LdMatrixX4(fragment_a[i], row_a + (packet * G::kBlockM + i * 16) * 32);
      }
      WEFT_UNROLL
      for (int j = 0; j < G::kFragmentsN; j += 2) {
        std::uint32_t fragment_b[4];
        t.LdMatrixX4(fragment_b, row_b + (packet * G::kBlockN + j * 8) * 32);
        const std::uint32_t first[2] = {fragment_b[0], fragment_b[1]};
        const std::uint32_t second[2] = {fragment_b[2], fragment_b[3]};
        WEFT_UNROLL
        for (int i = 0; i < G::kFragmentsM; ++i) {
          Atom::Add(t, acc[i][j], fragment_a[i], first);
          Atom::Add(t, acc[i][j + 1], fragment_a[i], second);
        }
      }
    }
  }
};

// Which outputs a thread holds (fragment_epilogue.hpp): rows lane / 4 + 8 i, and of each group of
// 32 channels the 8 adjacent ones that ChannelRow gives its column pairs.
template <class G, class Atom = MmaS8>
struct MmaMap {
  static constexpr int kPixels = 2 * G::kFragmentsM;
  static constexpr int kGroups = G::kWarpN / 32;
  static constexpr int kChannels = 8;
  using Accumulators = typename MmaSm80Mainloop<G, Atom>::Accumulators;

  WEFT_DEVICE static int Pixel(arch::Thread t, int i) {
    return G::WarpM(t.warp()) * G::kWarpM + t.lane() / 4 + 8 * i;
  }
  WEFT_DEVICE static int Channel(arch::Thread t, int g) {
    return G::WarpN(t.warp()) * G::kWarpN + g * 32 + t.lane() % 4 * 8;
  }
  static constexpr typename Atom::Sum Get(const Accumulators& acc, int i, int g, int j) {
    return acc[i / 2][g * 4 + j / 2][i % 2 * 2 + j % 2];
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
