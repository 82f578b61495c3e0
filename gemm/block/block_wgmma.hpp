// The mainloop of a Block's product by wgmma (block.hpp). Operands lie in shared memory, where
// threads have stored them by any means, or operand A is in registers (RS).
//
// A stage holds rows of 32, 64 or 128 bytes of k. Their swizzle is that of ldmatrix in
// mma_shared.hpp, which equals that of wgmma descriptors for rows of that length, and the
// accumulators of a warp are arranged as those of mma.m16n8. So operands, accumulators and chains
// are the same as with mma_sm80, except that wgmma swizzles absolute addresses, which constrains a
// stage's alignment.
//
// wgmma reads through the async proxy, which does not see what threads have stored until a proxy
// fence. Here the reader executes it, after the barrier that hands the stage over (Begin), so that
// a writer needs none.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/isa/kernel.hpp"
#include "weft/gemm/arch/isa/wgmma.hpp"
#include "weft/gemm/mainloop/pipeline.hpp"
#include "weft/gemm/mma/mma_shared.hpp"
#include "weft/gemm/mma/mma_tile.hpp"
#include "weft/gemm/tile/accumulators.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {

template <int kRows, int kGroups>
struct WgmmaKMajor : LineMajor<kRows, kGroups> {
  static constexpr int kPitch = kGroups * 32, kAlignment = 8 * kPitch;
  static constexpr arch::WgmmaLayout kDescriptor{
      .swizzle = static_cast<arch::SwizzleSpan>(kPitch), .leading = 16, .stride = 8 * kPitch};
};

inline namespace WEFT_BACKEND {

// PolicyT is a BlockPolicy. Each warpgroup multiplies kBlocks times 64 rows by kN columns.
template <class PolicyT>
struct BlockWgmmaMainloop : FragmentTile<PolicyT, MmaMatrices, 16> {
  using Tile = FragmentTile<PolicyT, MmaMatrices, 16>;
  using Element = typename PolicyT::Element;
  using Pipeline = CpAsyncRing<BlockWgmmaMainloop>;
  static constexpr arch::Requires kRequires = {.min = 90, .exact = true};
  static constexpr int kRun = PolicyT::kRun;  // adjacent columns of a thread
  static constexpr int kN = Tile::kWarpN, kBlocks = Tile::kFragmentsM;
  static constexpr int kGroupsM = Tile::kWarpsM / 4;  // warpgroups along m, on the same columns
  static_assert(Tile::kWarpsM % 4 == 0 && arch::IsWgmmaN(kN));

  using LayoutA = WgmmaKMajor<Tile::kBlockM, Tile::kGroups>;
  using LayoutB = WgmmaKMajor<Tile::kBlockN, Tile::kGroups>;
  static constexpr int kStageAlignment = LayoutA::kAlignment;
  static constexpr int kSteps = 1, kCopyPoints = 2, kStagesRead = 2;  // of CpAsyncRing
  static constexpr int kStages =
      4 * (Tile::kBytesA + Tile::kBytesB) <= arch::kMaxSharedBytes ? 4 : 3;

  // Which accumulators a thread has: within 64 rows of a warpgroup those of mma.m16n8, with B's
  // rows in shared memory in the same order. A warpgroup's next 64 rows come after the first 64 of
  // all warpgroups.
  using Tiled = MmaTile<MmaSm80Atom<Element>, Ints<16 * Tile::kWarpsM, Tile::kBlockN>,
                        Ints<Tile::kWarpsM, Tile::kWarpsN>, kRun>;
  using Sum = typename Tiled::Sum;
  struct MapLayouts : Tiled::MapLayouts {
    using Accumulators = Sum[kBlocks][kN / 2];
    using ValueRow = LayoutOf<Ints<2, kBlocks>, Ints<8, 16 * Tile::kWarpsM>>;
    using RowRegister = LayoutOf<Ints<2, kBlocks>, Ints<2, kN / 2>>;
    using Register =
        decltype(layouts::MakeLayout(RowRegister(), typename Tiled::MapLayouts::ColumnRegister()));
  };
  using Map = LayoutMap<MapLayouts>;
  using Accumulators = typename MapLayouts::Accumulators;

  // The shapes in which operands are loaded, as in mma_sm80.hpp.
  using ColumnsOfB = ChannelsOfB<kRun>;
  template <class Rows, int kBytes, class By = BlockWgmmaMainloop>
  using KMajor = MmaKMajor<By, Rows, kBytes>;
  template <class Rows, class By = Tile>
  struct Transposed : MmaPlace<BlockWgmmaMainloop, Rows, 8>,
                      Share<By, Rows, Pieces<4, 4 / Tile::kElementBytes, Tile::kGroups>> {};

  // acc += A B of stages that lie side by side, which threads have stored before a barrier.
  WEFT_DEVICE static void MultiplyStages(arch::Thread t, const std::uint8_t* stages_a,
                                         const std::uint8_t* stages_b, int stages,
                                         Accumulators& acc) {
    const std::uint32_t a = t.SharedAddress(stages_a), b = t.SharedAddress(stages_b);
    Begin(t, acc);
    for (int s = 0; s < stages; ++s) {
      Multiply(t, a + static_cast<std::uint32_t>(s * Tile::kBytesA),
               b + static_cast<std::uint32_t>(s * Tile::kBytesB), acc);
    }
    End(t, acc);
  }
  // The same with operand A of a warp's rows in registers (RS), arranged as in mma_sm80. They must
  // be complete before Begin and unchanged until after End; KeepInPlace in both places tells the compiler
  // so.
  using FragmentsA = std::uint32_t[Tile::kGroups][Tile::kFragmentsM][4];
  template <int kStagesOfA>
  WEFT_DEVICE static void MultiplyStages(arch::Thread t, const FragmentsA (&stages_a)[kStagesOfA],
                                         const std::uint8_t* stages_b, Accumulators& acc) {
    const std::uint32_t b = t.SharedAddress(stages_b);
    KeepInPlace(t, stages_a);
    Begin(t, acc);
    WEFT_UNROLL
    for (int s = 0; s < kStagesOfA; ++s) {
      Multiply(t, stages_a[s], b + static_cast<std::uint32_t>(s * Tile::kBytesB), acc);
    }
    End(t, acc);
    KeepInPlace(t, stages_a);
  }

  // What CpAsyncRing (pipeline.hpp) drives: a k tile's products run while the next one's start.
  class Fragments : public RingFragments {
   public:
    template <class Stages>
    WEFT_DEVICE Fragments(arch::Thread t, const Stages& shared)
        : a_(t.SharedAddress(shared.a)), b_(t.SharedAddress(shared.b)) {}

    template <int kStep>
    WEFT_DEVICE void Before(arch::Thread t, int stage, Accumulators& acc) {
      Begin(t, acc);
      Multiply(t, a_ + stage * Tile::kBytesA, b_ + stage * Tile::kBytesB, acc);
      t.WgmmaCommit();
    }
    WEFT_DEVICE void WaitForFree(arch::Thread t) { t.template WgmmaWait<1>(); }
    WEFT_DEVICE void Last(arch::Thread t, Accumulators& acc) {
      t.template WgmmaWait<0>();
      KeepInPlace(t, acc);
    }

   private:
    std::uint32_t a_, b_;
  };

  // acc += products takes three steps: Begin, once the operands are stored and a barrier has
  // passed; a Multiply for each stage, which only starts the instructions; End, which waits for
  // them. Between Begin and End nobody may touch acc or the operands.
  WEFT_DEVICE static void Begin(arch::Thread t, Accumulators& acc) {
    t.FenceProxyAsync();
    KeepInPlace(t, acc);
    t.WgmmaFence();
  }
  WEFT_DEVICE static void Multiply(arch::Thread t, std::uint32_t a, std::uint32_t b,
                                   Accumulators& acc) {
    const int group = Group(t);
    const std::uint64_t of_a =
        arch::WgmmaDescriptor(a + group % kGroupsM * (64 * LayoutA::kPitch), LayoutA::kDescriptor);
    const std::uint64_t of_b = DescriptorOfB(b, group);
    WEFT_UNROLL
    for (int step = 0; step < Tile::kGroups; ++step) {
      WEFT_UNROLL
      for (int x = 0; x < kBlocks; ++x) {
        Product(t, acc[x], of_a + (x * kGroupsM * 64 * LayoutA::kPitch + step * 32) / 16,
                of_b + step * 32 / 16);
      }
    }
  }
  WEFT_DEVICE static void Multiply(arch::Thread t, const FragmentsA& a, std::uint32_t b,
                                   Accumulators& acc) {
    const std::uint64_t of_b = DescriptorOfB(b, Group(t));
    WEFT_UNROLL
    for (int step = 0; step < Tile::kGroups; ++step) {
      WEFT_UNROLL
      for (int x = 0; x < kBlocks; ++x) Product(t, acc[x], a[step][x], of_b + step * 32 / 16);
    }
  }
  template <int kStagesOfA>
  WEFT_DEVICE static void KeepInPlace(arch::Thread t, const FragmentsA (&a)[kStagesOfA]) {
    WEFT_UNROLL
    for (int s = 0; s < kStagesOfA; ++s) {
      WEFT_UNROLL
      for (int step = 0; step < Tile::kGroups; ++step) {
        WEFT_UNROLL
        for (int x = 0; x < kBlocks; ++x) t.KeepInPlace(a[s][step][x]);
      }
    }
  }
  WEFT_DEVICE static void End(arch::Thread t, Accumulators& acc) {
    t.WgmmaCommit();
    t.template WgmmaWait<0>();
    KeepInPlace(t, acc);
  }
  WEFT_DEVICE static void KeepInPlace(arch::Thread t, Accumulators& acc) {
    WEFT_UNROLL
    for (int x = 0; x < kBlocks; ++x) t.KeepInPlace(acc[x]);
  }

 private:
  WEFT_DEVICE static int Group(arch::Thread t) {
    if constexpr (Tile::kThreads == 128) {
      return 0;
    } else {
      return t.WarpUniform(t.warp() / 4);  // descriptors must be uniform in the warp
    }
  }
  WEFT_DEVICE static std::uint64_t DescriptorOfB(std::uint32_t b, int group) {
    return arch::WgmmaDescriptor(b + group / kGroupsM * (kN * LayoutB::kPitch),
                                 LayoutB::kDescriptor);
  }
  // `a` is a descriptor, or fragments in registers.
  template <class OperandA>
  WEFT_DEVICE static void Product(arch::Thread t, Sum (&acc)[kN / 2], const OperandA& a,
                                  std::uint64_t b) {
    if constexpr (std::is_same_v<Element, std::int8_t>) {
      t.template WgmmaS8<kN>(acc, a, b);
    } else if constexpr (std::is_same_v<Element, Half>) {
      t.template WgmmaF16<kN>(acc, a, b);
    } else {
      static_assert(std::is_same_v<Element, Bfloat16>);
      t.template WgmmaBf16<kN>(acc, a, b);
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
