// The mma_sm80 mainloop: tensor cores (m16n8k32 of int8, m16n8k16 of 16-bit floats), operands
// brought by cp.async into a ring of shared-memory buffers.
//
// It multiplies two operand tiles of packets (mma_geometry.hpp) and does not know where they come
// from. A tile starts the copies of its next k slice:
//
//     struct Tile {
//       WEFT_DEVICE void Copy(arch::Thread t, std::uint32_t shared);
//     };
//
// Packets go to the places that Layout gives them (PacketMajor or LineMajor); what lies outside the
// operand must arrive as zeros. Copy moves on by one slice. Plain stores do as well: there is a
// barrier between a slice's Copy and its use.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/mma_atoms.hpp"
#include "weft/gemm/mma_geometry.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// Atom: the instruction (mma_atoms.hpp). Layout: of the operands in shared memory.
template <class Geometry, class Atom = MmaS8, template <int, int> class Layout = PacketMajor>
struct MmaSm80Mainloop {
  using G = Geometry;
  using LayoutA = Layout<G::kBlockM, G::kPackets>;
  using LayoutB = Layout<G::kBlockN, G::kPackets>;
  static constexpr int kBytesA = G::kPackets * G::kBlockM * 32;
  static constexpr int kBytesB = G::kPackets * G::kBlockN * 32;
  struct SharedStorage {
    alignas(128) std::uint8_t a[G::kStages][kBytesA];
    alignas(128) std::uint8_t b[G::kStages][kBytesB];
  };
  // Whether operand B's fragments too are loaded one packet ahead. Threads with few accumulators
  // share the multiprocessor with enough others to hide that latency, and lack the registers.
  static constexpr bool kPrefetchB = G::kAccumulators > 64;
  using Accumulators = typename Atom::Sum[G::kFragmentsM][G::kFragmentsN][4];

  // acc += A B over `slices` >= 1 slices. Ends without a barrier.
  //
  // While the tensor cores multiply the fragments of one packet, the warp loads those of the next
  // and starts the copies of a slice kStages - 1 ahead. The wait for a slice stands before the last
  // packet of the slice before it, so that its first fragments are loaded in time too. Copies past
  // the last slice bring zeros that nobody reads.
  template <class TileA, class TileB>
  WEFT_DEVICE static void Run(arch::Thread t, SharedStorage& shared, TileA& tile_a, TileB& tile_b,
                              int slices, Accumulators& acc) {
    const std::uint32_t a0 = t.SharedAddress(shared.a), b0 = t.SharedAddress(shared.b);
    const Reader reader(t, a0, b0);
    WEFT_UNROLL
    for (int stage = 0; stage < G::kStages - 1; ++stage) {
      tile_a.Copy(t, a0 + stage * kBytesA);
      tile_b.Copy(t, b0 + stage * kBytesB);
      t.CpAsyncCommit();
    }
    t.template CpAsyncWait<G::kStages - 2>();
    t.SyncThreads();
    Fragments f;
    std::uint32_t next_b[G::kFragmentsN / 2][4];
    reader.Load(t, f);

    int read = 0, write = G::kStages - 1;
    WEFT_NO_UNROLL
    for (int slice = 0; slice < slices; ++slice) {
      const auto step = [&](auto index) {
        constexpr int packet = index();
        constexpr int kLast = G::kPackets - 1;
        if (!kPrefetchB) reader.LoadB(t, read, packet, f.b);
        if constexpr (packet == kLast) {
          // Buffer `write` is free: the last barrier came after its last read.
          if constexpr (packet == 0) CopyBoth(t, tile_a, tile_b, a0, b0, write);
          t.CpAsyncCommit();
          t.template CpAsyncWait<G::kStages - 2>();
          t.SyncThreads();  // the next slice has arrived for all threads
          read = read + 1 == G::kStages ? 0 : read + 1;
        }
        const int next_packet = packet == kLast ? 0 : packet + 1;
        if (kPrefetchB) reader.LoadB(t, read, next_packet, next_b);
        // A row of fragments is replaced by the next packet's as soon as it has been used.
        WEFT_UNROLL
        for (int i = 0; i < G::kFragmentsM; ++i) {
          MultiplyRow(t, f, i, acc);
          reader.LoadA(t, read, next_packet, i, f.a[i]);
          if constexpr (packet == 0 && kLast > 0) {
            if (i == 0) tile_a.Copy(t, a0 + write * kBytesA);
            if (i == G::kFragmentsM / 2) tile_b.Copy(t, b0 + write * kBytesB);
          }
        }
        if (kPrefetchB) {
          WEFT_UNROLL
          for (int j = 0; j < G::kFragmentsN / 2; ++j) {
            WEFT_UNROLL
            for (int e = 0; e < 4; ++e) f.b[j][e] = next_b[j][e];
          }
        }
      };
      Unrolled(step, std::make_integer_sequence<int, G::kPackets>());
      write = write + 1 == G::kStages ? 0 : write + 1;
    }
    t.template CpAsyncWait<0>();
  }

 private:
  // step(0), step(1), ...: the compiler gives a loop of many packets up before it has dropped the
  // copies from all of them but one.
  template <class Step, int... kIndices>
  WEFT_DEVICE static void Unrolled(const Step& step, std::integer_sequence<int, kIndices...>) {
    (step(std::integral_constant<int, kIndices>()), ...);
  }

  struct Fragments {
    std::uint32_t a[G::kFragmentsM][4];
    std::uint32_t b[G::kFragmentsN / 2][4];  // of two instructions each
  };

  // ldmatrix.x4: lanes 8i to 8i + 7 name the rows of matrix i. For A those are (upper, lower eight
  // rows) x (first, second half of k); for B (first, second half of k) x (two instructions in n).
  class Reader {
   public:
    WEFT_DEVICE Reader(arch::Thread t, std::uint32_t a0, std::uint32_t b0) {
      const int lane = t.lane();
      a_ = a0 + LayoutA::Offset(G::WarpM(t.warp()) * G::kWarpM + lane % 16, 0, lane / 16);
      b_ = b0 + LayoutB::Offset(G::WarpN(t.warp()) * G::kWarpN + lane % 8 + lane / 16 * 8, 0,
                                lane / 8 % 2);
    }

    // Packet 0 of stage 0.
    WEFT_DEVICE void Load(arch::Thread t, Fragments& f) const {
      WEFT_UNROLL
      for (int i = 0; i < G::kFragmentsM; ++i) LoadA(t, 0, 0, i, f.a[i]);
      LoadB(t, 0, 0, f.b);
    }

    // Buffers are 128-byte aligned, so that the stage may be added first.
    WEFT_DEVICE void LoadA(arch::Thread t, int stage, int packet, int i,
                           std::uint32_t (&a)[4]) const {
      t.LdMatrixX4(a, LayoutA::Fragment(a_ + stage * kBytesA, packet, i * 16));
    }
    WEFT_DEVICE void LoadB(arch::Thread t, int stage, int packet,
                           std::uint32_t (&b)[G::kFragmentsN / 2][4]) const {
      WEFT_UNROLL
      for (int j = 0; j < G::kFragmentsN / 2; ++j) {
        t.LdMatrixX4(b[j], LayoutB::Fragment(b_ + stage * kBytesB, packet, j * 16));
      }
    }

   private:
    std::uint32_t a_, b_;
  };

  template <class TileA, class TileB>
  WEFT_DEVICE static void CopyBoth(arch::Thread t, TileA& tile_a, TileB& tile_b, std::uint32_t a0,
                                   std::uint32_t b0, int stage) {
    tile_a.Copy(t, a0 + stage * kBytesA);
    tile_b.Copy(t, b0 + stage * kBytesB);
  }

  WEFT_DEVICE static void MultiplyRow(arch::Thread t, const Fragments& f, int i,
                                      Accumulators& acc) {
    WEFT_UNROLL
    for (int j = 0; j < G::kFragmentsN / 2; ++j) {
      const std::uint32_t first[2] = {f.b[j][0], f.b[j][1]};
      const std::uint32_t second[2] = {f.b[j][2], f.b[j][3]};
      Atom::Add(t, acc[i][2 * j], f.a[i], first);
      Atom::Add(t, acc[i][2 * j + 1], f.a[i], second);
    }
  }
};

// Which outputs a thread holds (fragment_epilogue.hpp): rows lane / 4 + 8 i, and of each group of
// 4 kRun channels the kRun adjacent ones that ChannelRow<kRun> gives its column pairs.
template <class G, class Atom = MmaS8, int kRun = 8>
struct MmaMap {
  static constexpr int kPixels = 2 * G::kFragmentsM;
  static constexpr int kGroups = G::kWarpN / (4 * kRun);
  static constexpr int kChannels = kRun;
  using Accumulators = typename MmaSm80Mainloop<G, Atom>::Accumulators;

  WEFT_DEVICE static int Pixel(arch::Thread t, int i) {
    return G::WarpM(t.warp()) * G::kWarpM + t.lane() / 4 + 8 * i;
  }
  WEFT_DEVICE static int Channel(arch::Thread t, int g) {
    return G::WarpN(t.warp()) * G::kWarpN + g * 4 * kRun + t.lane() % 4 * kRun;
  }
  static constexpr typename Atom::Sum Get(const Accumulators& acc, int i, int g, int j) {
    return acc[i / 2][(g * kRun + j) / 2][i % 2 * 2 + j % 2];
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
