// The mma_sm75 mainloop: tensor cores (m8n8k16 of int8, m8n8k32 of int4, m16n8k8 of halves) over
// two stages that are filled through registers; for any GPU from sm_75. The layout of a stage is in
// mma_shared.hpp.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/isa/kernel.hpp"
#include "weft/gemm/mainloop/pipeline.hpp"
#include "weft/gemm/mma/mma_shared.hpp"
#include "weft/gemm/mma/mma_tile.hpp"
#include "weft/gemm/tile/accumulators.hpp"
#include "weft/gemm/tile/share.hpp"

namespace weft::gemm {

inline namespace WEFT_BACKEND {

// Operands: MmaOperands, or a type that inherits it, with a K-major A and B and without kInt4B.
template <class PolicyT, class Operands = MmaOperands,
          class AtomT =
              std::conditional_t<Operands::kPairs, MmaSm75PairAtom<typename PolicyT::Element>,
                                 MmaSm75Atom<typename PolicyT::Element>>>
struct MmaSm75Mainloop : FragmentTile<PolicyT, Operands, AtomT::kM> {
  using Atom = AtomT;
  using Tile = FragmentTile<PolicyT, Operands, Atom::kM>;
  static constexpr bool kMatrix = Operands::kMatrix;
  static_assert(Operands::kKMajorA && Operands::kKMajorB && !Operands::kInt4B);
  using Pipeline = gemm::DoubleBuffer<MmaSm75Mainloop>;
  static constexpr bool kHasScratch = true;  // of no bytes; Finish exchanges accumulators
  static constexpr arch::Requires kRequires = {.min = 75};

  static_assert(
      Tile::kWarpM % 16 == 0 && Tile::kWarpN % 32 == 0 &&
          Tile::kBlockK * Tile::kElementBytes % 32 == 0,
      "weft: config.warp of the mma_sm75 mainloop must be a multiple of 16 in m (pixels) and of 32 "
      "in n (channels), and threadblock.k a multiple of 32 int8 or 16 halves");
  static_assert(2 * (Tile::kBytesA + Tile::kBytesB) <= 64 * 1024,
                "weft: config.threadblock of the mma_sm75 mainloop needs more than 64 KB of shared "
                "memory, the most an sm_75 GPU gives one block");

  // Whether a thread stores 16 channels at a time, for which pairs of lanes exchange halves of
  // their accumulators (Finish).
  static constexpr bool kWideStores =
      Atom::kM == 8 && 8 * PolicyT::config.alignment.dst == 16 * Tile::kOutputBits;

  static_assert(
      kWideStores || Tile::kOutputBits % PolicyT::config.alignment.dst == 0,
      "weft: config.alignment.dst of the mma_sm75 mainloop is wider than the 8 output "
      "channels that one thread holds side by side (of bytes, two exchange theirs for 16)");

  // Registers of a thread with which the kernel does not spill; found by compiling.
  static constexpr int Registers(int) {
    constexpr int kInRegisters =
        Tile::kFragmentsM * Tile::kFragmentsN * (Atom::kM / 4) +
        Tile::kGroups * 8 * (Tile::kBlockM + Tile::kBlockN) / Tile::kThreads +
        (kWideStores ? 24 : 0);
    if (PolicyT::config.registers > 0) return PolicyT::config.registers;
    if (kMatrix) return kInRegisters <= 48 ? 112 : kInRegisters <= 96 ? 168 : 232;
    return kInRegisters <= 48 ? 96 : kInRegisters < 80 ? 128 : kInRegisters <= 96 ? 168 : 232;
  }

  // Which warp and lane multiply what. Rows of B lie in shared memory in the order in which the
  // instructions take them.
  using Tiled =
      MmaTile<Atom, Ints<Tile::kBlockM, Tile::kBlockN>, Ints<Tile::kWarpsM, Tile::kWarpsN>, 8>;
  using Sum = typename Tiled::Sum;
  // acc[i * kFragmentsN + j] is the fragment of row kM i and column 8 j of the warp's tile.
  using Accumulators = typename Tiled::Sums;
  static_assert(CheckedThreadRegisters<int(sizeof(Accumulators) / 4),
                                       Tile::kFragmentsM * Tiled::kRegistersA + Tiled::kRegistersB,
                                       Tile::kThreads>::kOk);

  // The accumulator map after Finish, with wide stores. Lanes 2i and 2i + 1, which held the halves
  // of 16 adjacent channels of the same pixels, have exchanged half of what they held: the even one
  // now has all 16 channels of rows lane / 4 + 16 i, the odd one those of the rows 8 further down.
  struct WideLayouts {
    static constexpr int kFn2 = 2 * Tile::kFragmentsN;  // registers of eight rows
    using Accumulators = MmaSm75Mainloop::Accumulators;
    using Threads = Ints<2, 2, 8, Tile::kWarpsM, Tile::kWarpsN>;
    using ThreadRow = LayoutOf<Threads, Ints<8, 0, 1, Tile::kWarpM, 0>>;
    using ThreadColumn = LayoutOf<Threads, Ints<0, 16, 0, 0, Tile::kWarpN>>;
    using ValueRow = LayoutOf<Ints<Tile::kFragmentsM / 2>, Ints<16>>;
    using ValueColumn = LayoutOf<Ints<16, Tile::kWarpN / 32>, Ints<1, 32>>;
    using Register =
        LayoutOf<Nest<Ints<Tile::kFragmentsM / 2>, Nest<Ints<2, 4, 2>, Ints<Tile::kWarpN / 32>>>,
                 Nest<Ints<2 * kFn2>, Nest<Ints<1, 2, kFn2>, Ints<8>>>>;
  };
  using Map = std::conditional_t<kWideStores, LayoutMap<WideLayouts>, typename Tiled::Map>;

  // How the block's threads share an operand's loads and where a stage has each piece: KMajor for
  // pieces of kBytes along k of a row, Transposed for an operand that is transposed on its way,
  // whose threads know their rows of memory.
  using ColumnsOfB = std::conditional_t<kMatrix, ChannelsOfB<8>, SharedRowsOfB<8>>;
  template <class Rows, int kBytes>
  using KMajor = MmaKMajor<MmaSm75Mainloop, Rows, kBytes>;
  template <class Rows>
  struct Transposed : MmaPlace<MmaSm75Mainloop, Rows, 8>,
                      Share<Tile, Rows, Pieces<4, 4 / Tile::kElementBytes, Tile::kGroups>> {};

  // An operand in blocks of int4 (int4_blocks.hpp), each of one row of a k group.
  template <class Rows, bool>
  struct Int4Blocks : Share<Tile, Rows, Pieces<1, 1, Tile::kGroups>> {
    static constexpr int kBytes = 32, kCells = 2;
    static constexpr int Offset(int row, int, int outer, int cell) {
      return Tile::LayoutB::Offset(row, outer, cell);
    }
  };

  struct Scratch {};

  template <template <class> class Places, class Layout>
  using ReaderOf =
      LdMatrixReader<Places<typename Layout::Unswizzled>,
                     Stored<std::uint8_t, typename Layout::Swizzle, Layout::kAlignment>>;
  using ReaderA = ReaderOf<Tiled::template PlacesA, typename Tile::LayoutA>;
  using ReaderB = ReaderOf<Tiled::template PlacesB, typename Tile::LayoutB>;

  // acc += A B of one stage.
  WEFT_DEVICE static void Multiply(arch::Thread t, const std::uint8_t* stage_a,
                                   const std::uint8_t* stage_b, Accumulators& acc) {
    const ReaderA reader_a(t, t.SharedAddress(stage_a));
    const ReaderB reader_b(t, t.SharedAddress(stage_b));
    WEFT_UNROLL
    for (int step = 0; step < ReaderA::kSteps; ++step) {  // a step is half a k group
      std::uint32_t fragment_a[Tile::kFragmentsM][Tiled::kRegistersA];
      reader_a.Load(t, 0, step, 0, fragment_a);
      WEFT_UNROLL
      for (int j = 0; j < Tile::kFragmentsN; j += 4) {
        std::uint32_t fragment_b[4][1];
        reader_b.Load(t, 0, step, j, fragment_b);
        WEFT_UNROLL
        for (int i = 0; i < Tile::kFragmentsM; ++i) {
          WEFT_UNROLL
          for (int e = 0; e < 4; ++e) {
            Tiled::Atom::Multiply(t, acc[i * Tile::kFragmentsN + j + e], fragment_a[i],
                                  fragment_b[e]);
          }
        }
      }
    }
  }

  // The exchange for wide stores: of each two fragments of eight rows, the first one becomes the
  // lower half of the channels, the second one the upper half.
  WEFT_DEVICE static bool Finish(arch::Thread t, Scratch&, Accumulators& acc) {
    if constexpr (kWideStores) {
      const bool odd = t.lane() % 2 != 0;
      WEFT_UNROLL
      for (int f = 0; f < Tile::kFragmentsM * Tile::kFragmentsN; ++f) {
        if (f / Tile::kFragmentsN % 2 != 0) continue;
        Sum(&lower)[2] = acc[f];
        Sum(&upper)[2] = acc[f + Tile::kFragmentsN];
        WEFT_UNROLL
        for (int e = 0; e < 2; ++e) {
          const Sum got = t.ShflXor(odd ? lower[e] : upper[e], 1);
          lower[e] = odd ? got : lower[e];
          upper[e] = odd ? upper[e] : got;
        }
      }
    }
    return true;
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
