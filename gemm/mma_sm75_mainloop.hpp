// The mma_sm75 mainloop: int8 tensor cores (m8n8k16). Each slice travels global memory ->
// registers -> one of two shared-memory buffers while the other buffer is multiplied.
//
// It multiplies two operand tiles of packets (mma_geometry.hpp) and does not know where they come
// from. A tile brings its next k slice in two steps:
//
//     struct Tile {
//       struct Fragment;                                           // registers in flight
//       // Global memory -> registers; what lies outside the operand is zeros. Moves on by a slice.
//       WEFT_DEVICE void Load(arch::Thread t, Fragment& f);
//       // Row r, half h of packet p goes to shared + p * kRows * 32 + PacketOffset(r, h).
//       WEFT_DEVICE void Store(arch::Thread t, const Fragment& f, std::uint8_t* shared) const;
//     };
#pragma once

#include <cstdint>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/arch/fragments.hpp"
#include "weft/gemm/mma_geometry.hpp"

namespace weft::gemm {

// As MmaGeometry, for fragments of 8 rows.
template <class Owner>
struct MmaSm75Geometry : MmaGeometry<Owner> {
  using Base = MmaGeometry<Owner>;
  static constexpr int kFragmentsM = Base::kWarpM / 8;
  static constexpr int kFragmentsN = Base::kWarpN / 8;

  // Stores of 16 channels, for which pairs of lanes exchange halves.
  static constexpr bool kWideStores =
      Owner::config.alignment.dst == 16 * sizeof(typename Owner::Epilogue::Output);

  // Registers that a thread needs without spilling, found by compiling (ptxas reports; a spill
  // fails the build), and the blocks that then fit on a multiprocessor.
  static constexpr int kAccumulators = kFragmentsM * kFragmentsN * 2;
  static constexpr int kStagedRegisters =
      Base::kPackets * 8 * (Base::kBlockM + Base::kBlockN) / Base::kThreads;
  static constexpr int kHeld = kAccumulators + kStagedRegisters + (kWideStores ? 24 : 0);
  static constexpr int kRegisters = kHeld <= 48 ? 96 : kHeld < 80 ? 128 : kHeld <= 112 ? 168 : 232;
  static constexpr int kMinBlocksPerSm =
      65536 / (kRegisters * Base::kThreads) < 1 ? 1 : 65536 / (kRegisters * Base::kThreads);
};

namespace internal {

// What the mainloop below takes for granted of arch/fragments.hpp.
constexpr bool MmaSm75FragmentsAsAssumed() {
  for (int lane = 0; lane < 32; ++lane) {
    const arch::FragmentPlace loaded = arch::kLdMatrixFragment.place[lane][0];
    const arch::FragmentPlace a = arch::kMmaM8N8K16S8A.place[lane][0];
    const arch::FragmentPlace b = arch::kMmaM8N8K16S8B.place[lane][0];
    if (a.row != loaded.row || a.word != loaded.word) return false;
    if (b.row != loaded.row || b.word != loaded.word) return false;
    for (int e = 0; e < 2; ++e) {
      const arch::FragmentPlace c = arch::kMmaM8N8K16S8C.place[lane][e];
      if (c.row != lane / 4 || c.word != lane % 4 * 2 + e) return false;
    }
  }
  return true;
}
static_assert(MmaSm75FragmentsAsAssumed());

}  // namespace internal

inline namespace WEFT_BACKEND {

template <class Geometry>
struct MmaSm75Mainloop {
  using G = Geometry;
  static constexpr int kBytesA = G::kPackets * G::kBlockM * 32;
  static constexpr int kBytesB = G::kPackets * G::kBlockN * 32;
  struct SharedStorage {
    alignas(128) std::uint8_t a[2][kBytesA];
    alignas(128) std::uint8_t b[2][kBytesB];
  };
  using Accumulators = std::int32_t[G::kFragmentsM][G::kFragmentsN][2];

  // acc += A B over `slices` >= 1 slices. Ends without a barrier.
  template <class TileA, class TileB>
  WEFT_DEVICE static void Run(arch::Thread t, SharedStorage& shared, TileA& tile_a, TileB& tile_b,
                              int slices, Accumulators& acc) {
    typename TileA::Fragment fragment_a{};  // g++ does not see that Load writes all of it
    typename TileB::Fragment fragment_b{};
    tile_a.Load(t, fragment_a);
    tile_b.Load(t, fragment_b);
    tile_a.Store(t, fragment_a, shared.a[0]);
    tile_b.Store(t, fragment_b, shared.b[0]);
    t.SyncThreads();

    const std::uint32_t a0 = t.SharedAddress(shared.a), b0 = t.SharedAddress(shared.b);
    WEFT_NO_UNROLL
    for (int slice = 0; slice < slices; ++slice) {
      const bool more = slice + 1 < slices;
      const int now = slice & 1;
      if (more) {
        tile_a.Load(t, fragment_a);
        tile_b.Load(t, fragment_b);
      }
      Multiply(t, a0 + now * kBytesA, b0 + now * kBytesB, acc);
      if (more) {
        // The other buffer was last read before the previous barrier.
        tile_a.Store(t, fragment_a, shared.a[now ^ 1]);
        tile_b.Store(t, fragment_b, shared.b[now ^ 1]);
        t.SyncThreads();
      }
    }
  }

 private:
  WEFT_DEVICE static void Multiply(arch::Thread t, std::uint32_t a, std::uint32_t b,
                                   Accumulators& acc) {
    // Each lane names one row of 32, or with kFragmentsM = 2 one of 16: a matrix for each eight
    // rows of one half of a packet. Both operands alike. Exchanging the halves is exchanging bit 4.
    const int lane_a = kRowsA == 32 ? t.lane() : t.lane() % 16;
    const std::uint32_t row_a = a + PacketOffset(G::WarpM(t.warp()) * G::kWarpM + lane_a, 0);
    const std::uint32_t row_b = b + PacketOffset(G::WarpN(t.warp()) * G::kWarpN + t.lane(), 0);
    WEFT_UNROLL
    for (int step = 0; step < 2 * G::kPackets; ++step) {
      const int packet = step / 2, half = step % 2;
      std::uint32_t fragment_a[G::kFragmentsM];
      LoadA(t, (row_a ^ half * 16) + packet * G::kBlockM * 32, fragment_a);
      WEFT_UNROLL
      for (int j = 0; j < G::kFragmentsN; j += 4) {
        std::uint32_t fragment_b[4];
        t.LdMatrixX4(fragment_b, (row_b ^ half * 16) + (packet * G::kBlockN + j * 8) * 32);
        WEFT_UNROLL
        for (int i = 0; i < G::kFragmentsM; ++i) {
          WEFT_UNROLL
          for (int e = 0; e < 4; ++e) {
            t.MmaM8N8K16S8(acc[i][j + e], fragment_a[i], fragment_b[e], acc[i][j + e]);
          }
        }
      }
    }
  }

  static constexpr int kRowsA = G::kFragmentsM % 4 == 0 ? 32 : 16;  // brought by one ldmatrix

  // Steps of 16 rows keep the swizzle's bit, so they are plain additions.
  WEFT_DEVICE static void LoadA(arch::Thread t, std::uint32_t address,
                                std::uint32_t (&fragment)[G::kFragmentsM]) {
    WEFT_UNROLL
    for (int i = 0; i < G::kFragmentsM; i += kRowsA / 8) {
      std::uint32_t r[kRowsA / 8];
      if constexpr (kRowsA == 32) {
        t.LdMatrixX4(r, address + i * 8 * 32);
      } else {
        t.LdMatrixX2(r, address + i * 8 * 32);
      }
      WEFT_UNROLL
      for (int e = 0; e < kRowsA / 8; ++e) fragment[i + e] = r[e];
    }
  }
};

// Which outputs a thread holds (fragment_epilogue.hpp): rows lane / 4 + 8 i, and of each group of
// 32 channels the 8 adjacent ones that ChannelRow gives its column pairs.
template <class G>
struct MmaSm75Map {
  static constexpr int kPixels = G::kFragmentsM;
  static constexpr int kGroups = G::kWarpN / 32;
  static constexpr int kChannels = 8;
  using Accumulators = typename MmaSm75Mainloop<G>::Accumulators;

  // To be called once, before the others.
  WEFT_DEVICE static void Arrange(arch::Thread, Accumulators&) {}

  WEFT_DEVICE static int Pixel(arch::Thread t, int i) {
    return G::WarpM(t.warp()) * G::kWarpM + t.lane() / 4 + 8 * i;
  }
  WEFT_DEVICE static int Channel(arch::Thread t, int g) {
    return G::WarpN(t.warp()) * G::kWarpN + g * 32 + t.lane() % 4 * 8;
  }
  static constexpr std::int32_t Get(const Accumulators& acc, int i, int g, int j) {
    return acc[i][g * 4 + j / 2][j % 2];
  }
};

// For 16-byte stores of int8: lanes 2i and 2i + 1, which hold the two halves of 16 adjacent
// channels of the same pixels, exchange half of what they hold. Then the even one has all 16
// channels of rows lane / 4 + 16 i, the odd one those of the rows 8 further down.
template <class G>
struct MmaSm75WideMap {
  static constexpr int kPixels = G::kFragmentsM / 2;
  static constexpr int kGroups = G::kWarpN / 32;
  static constexpr int kChannels = 16;
  using Accumulators = typename MmaSm75Mainloop<G>::Accumulators;

  // To be called once, before the others: acc[2i] becomes the lower, acc[2i + 1] the upper half.
  WEFT_DEVICE static void Arrange(arch::Thread t, Accumulators& acc) {
    const bool odd = t.lane() % 2 != 0;
    WEFT_UNROLL
    for (int i = 0; i < G::kFragmentsM; i += 2) {
      WEFT_UNROLL
      for (int j = 0; j < G::kFragmentsN; ++j) {
        WEFT_UNROLL
        for (int e = 0; e < 2; ++e) {
          const std::int32_t got = t.ShflXor(odd ? acc[i][j][e] : acc[i + 1][j][e], 1);
          acc[i][j][e] = odd ? got : acc[i][j][e];
          acc[i + 1][j][e] = odd ? acc[i + 1][j][e] : got;
        }
      }
    }
  }

  WEFT_DEVICE static int Pixel(arch::Thread t, int i) {
    return G::WarpM(t.warp()) * G::kWarpM + t.lane() / 4 + t.lane() % 2 * 8 + 16 * i;
  }
  WEFT_DEVICE static int Channel(arch::Thread t, int g) {
    return G::WarpN(t.warp()) * G::kWarpN + g * 32 + t.lane() % 4 / 2 * 16;
  }
  static constexpr std::int32_t Get(const Accumulators& acc, int i, int g, int j) {
    return acc[2 * i + j / 8][g * 4 + j % 8 / 2][j % 2];
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
