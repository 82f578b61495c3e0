// The wgmma_sm90 mainloop, for sm_90a: wgmma of int8, of floats of 8 and 16 bits and of tf32,
// directed by a plan that the host has made.
//
// Columns of the product (filters of a convolution) are the instruction's operand A, 64 to an
// instruction, and rows (positions) its operand B: the number of rows of a tile is then a multiple
// of 8 or 16 instead of 64, and a thread needs the scales and biases of only two columns in 64.
//
// What a stage holds, and in which layout, is the plan's business: it gives a descriptor for each
// operand and, for each step of 32 bytes of k, where in the stage its operands begin. A step may
// begin anywhere, so that shifted views of one patch of the source serve all taps of a filter.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/arch/isa/wgmma.hpp"
#include "weft/gemm/hopper/gather_ring.hpp"
#include "weft/gemm/hopper/mbar_ring.hpp"
#include "weft/gemm/hopper/register_fragments.hpp"
#include "weft/gemm/hopper/resident_ring.hpp"
#include "weft/gemm/staged/staged_chunk.hpp"
#include "weft/gemm/tile/accumulators.hpp"
#include "weft/gemm/tile/channel_order.hpp"
#include "weft/gemm/tile/config.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {

// All addresses and offsets are in units of 16 bytes, as in matrix descriptors.
struct WgmmaPlan {
  static constexpr int kMostSteps = 64;

  std::uint64_t a = 0, b = 0;        // descriptors of the operands, for address 0
  std::uint32_t group_rows[4] = {};  // where the rows of each warpgroup of a tile begin
  std::uint32_t b_block = 0;         // from 64 columns to the next 64
  std::int32_t steps = 0;            // steps of a k tile
  std::int32_t last_steps = 0;       // of the last k tile
  // Where each step's rows, and its columns, begin in the stage. Where descriptor `a` leaves that
  // open, bits 16 and up say how far the second 16 bytes of k lie from the first.
  std::uint32_t step_a[kMostSteps] = {}, step_b[kMostSteps] = {};

  // Places the warpgroups' rows at intervals of `step`.
  constexpr void SpreadGroups(std::uint32_t step) {
    for (std::uint32_t i = 0; i < 4; ++i) group_rows[i] = i * step;
  }
};

// What a WgmmaSm90Mainloop is made for, beside a policy. A Spec inherits these defaults and
// declares again what differs; it also states kType, the arch::WgmmaType of the elements (of kS8U8
// the rows are the unsigned ones).
struct WgmmaSpec {
  // Whether rows, and whether columns, are MN-major; of 16-bit elements only.
  static constexpr bool kRowsMnMajor = false, kColumnsMnMajor = false;
  // kPermuted where filters arrive as lines of four channels (CxRSKx<32>, 128 bytes): the 128-byte
  // swizzle also exchanges the channels of a line.
  static constexpr ColumnOrder kOrder = ColumnOrder::kPlain;
  static constexpr bool kResident = false;  // the pipeline is a ResidentRing
  static constexpr bool kGathers = false;   // the pipeline is a GatherRing
  // A tile's columns may be channels of several output rows (config.packed_rows): column c then is
  // channel c % (64 / packed_rows) of row c / (64 / packed_rows).
  static constexpr bool kMayPackRows = false;
  // If not void, the stage has the columns in a narrower type, and the products are RS: each warp
  // makes the fragments in registers (register_fragments.hpp).
  using RegisterFragments = void;
  // As in MainloopTraits: 1 to 3 transform warps rewrite what TMA has loaded before it is
  // multiplied (MbarRing::Transform).
  static constexpr bool kTransforms = MainloopTraits::kTransforms;
  static constexpr int kTransformWarps = MainloopTraits::kTransformWarps;
  static constexpr int kTransformRegisters = MainloopTraits::kTransformRegisters;
};

inline namespace WEFT_BACKEND {

// Warpgroup g of a tile multiplies warp.m rows by warp.n columns; groups go along the columns
// first. A lane's accumulator acc[x][4j + 2h + e] is row 8j + 2 (lane % 4) + e and column 64x + 16w
// + 8h + lane / 4, w being the warp's number in its warpgroup.
//
// Spec inherits WgmmaSpec (above).
template <class PolicyT, class Spec>
class WgmmaSm90Mainloop : public MainloopTraits {
 public:
  static constexpr bool kResident = Spec::kResident, kGathers = Spec::kGathers;

 private:
  static constexpr arch::WgmmaType kType = Spec::kType;
  static constexpr bool kS8 = arch::IsBytes(kType);
  static constexpr bool kRegisterFragments = !std::is_void_v<typename Spec::RegisterFragments>;
  static_assert(!kRegisterFragments || !(kResident || Spec::kColumnsMnMajor));
  static_assert(!arch::IsWgmmaKMajorOnly(kType) || !(Spec::kRowsMnMajor || Spec::kColumnsMnMajor),
                "weft: wgmma_sm90 reads operands across k of 16-bit floats only");
  static constexpr int kElementBytes = arch::WgmmaElementBytes(kType);
  static constexpr auto kConfig = PolicyT::config;
  static constexpr TileShape kTile = kConfig.threadblock, kWarp = kConfig.warp;
  static_assert(arch::IsWgmmaN(kWarp.m) && kWarp.n % 64 == 0 && kWarp.n > 0,
                "weft: config.warp of wgmma_sm90 is a warpgroup's share: m is 8 to 32 by 8 or a "
                "multiple of 16 up to 256, n a multiple of 64");
  static_assert(kTile.m % kWarp.m == 0 && kTile.n % kWarp.n == 0 &&
                    kTile.m <= (kResident ? 1024 : 256) && kTile.n <= 256,
                "weft: config.threadblock of wgmma_sm90 is a multiple of config.warp, at most "
                "256 x 256");
  static_assert(kTile.k * kElementBytes % 32 == 0 && kTile.k > 0 &&
                    kTile.k * kElementBytes <= 32 * WgmmaPlan::kMostSteps,
                "weft: config.threadblock.k of wgmma_sm90 is a multiple of 32 bytes, at most 2048");
  static_assert(
      kWarp.k == kTile.k,
      "weft: config.warp.k of wgmma_sm90 is config.threadblock.k: warpgroups share a k tile");
  static_assert(kConfig.blocks_per_sm == 1 || kConfig.blocks_per_sm == 2,
                "weft: config.blocks_per_sm of wgmma_sm90 is 1 or 2");

 public:
  static constexpr bool kTransforms = Spec::kTransforms;
  static constexpr int kTransformWarps = Spec::kTransformWarps,
                       kTransformRegisters = Spec::kTransformRegisters;
  static constexpr int kClusterSplit =
      kConfig.cluster_split_k;  // blocks of a cluster that share a tile's k tiles
  static_assert(
      (kClusterSplit == 1 || kClusterSplit == 2 || kClusterSplit == 4 || kClusterSplit == 8) &&
          kWarp.m % (8 * kClusterSplit) == 0,
      "weft: config.cluster_split_k of wgmma_sm90 is 1, 2, 4 or 8, and config.warp.m a multiple of "
      "8 times as many, of which each block of a cluster stores its part");
  static_assert(
      kClusterSplit == 1 || !kResident,
      "weft: config.cluster_split_k of wgmma_sm90 over NCxHWx<4> is 1: a tile has one k tile");
  static constexpr int kPackedRows =
      kConfig.packed_rows;  // rows of the output in a row of the product
  static_assert(
      kPackedRows == 1 || Spec::kMayPackRows,
      "weft: config.packed_rows of wgmma_sm90 is 1, but in convolutions over NCxHWx<32> and NHWC "
      "by filters of int8");
  static_assert(
      kPackedRows == 1 || (kPackedRows == 2 && kTile.n == 64),
      "weft: config.packed_rows of wgmma_sm90 is 1 or 2, and with 2 config.threadblock.n is 64, "
      "which are 32 channels of two output rows");
  static constexpr int kN = kWarp.m, kBlocks = kWarp.n / 64;
  static constexpr int kOwnN =
      kN / kClusterSplit;  // rows of a warpgroup that are a block's to store
  static constexpr int kConsumerGroups =
      kConfig.ping_pong ? 2 : 1;  // groups of consumer warpgroups: 2 are ping-pong
  static_assert((kConsumerGroups == 1 || kConsumerGroups == 2) &&
                    (kConsumerGroups == 1 || kClusterSplit == 1),
                "weft: config.ping_pong of wgmma_sm90 is false, or config.cluster_split_k is 1");
  static constexpr int kGroupsN = kTile.n / kWarp.n;
  static constexpr int kTileGroups = kTile.m / kWarp.m * kGroupsN;  // that share a tile
  static constexpr int kGroups = kConsumerGroups * kTileGroups;
  static_assert(kGroups <= 4, "weft: a block of wgmma_sm90 has at most 4 warpgroups that multiply");
  static constexpr ColumnOrder kOrder = Spec::kOrder;
  static_assert(!Spec::kRowsMnMajor || kTile.m == kWarp.m || kWarp.m % 64 == 0,
                "weft: where A is MN-major, config.warp.m of wgmma_sm90 is a "
                "multiple of 64, or all of config.threadblock.m");
  static constexpr int kThreads = 128 * kGroups;  // consumer threads
  static constexpr int kBlockM = kTile.m, kBlockN = kTile.n;
  static constexpr arch::Requires kRequires{.min = 90, .exact = true};
  using Pipeline = std::conditional_t<
      kResident, ResidentRing<WgmmaSm90Mainloop>,
      std::conditional_t<kGathers, GatherRing<WgmmaSm90Mainloop>, MbarRing<WgmmaSm90Mainloop>>>;
  using Sum = std::conditional_t<kS8, std::int32_t, float>;
  using Accumulators = Sum[kBlocks][kN / 2];
  using OwnSums = Sum[kBlocks][kOwnN / 2];

  // Registers of a thread: kStartRegisters of all threads at the start; kRegisters of the consumers
  // once they have taken what the producers give up (setmaxnreg).
  static constexpr int kStartRegisters = [] {
    const int even =
        65536 / (kConfig.blocks_per_sm * (kThreads + Pipeline::kProducerThreads)) / 8 * 8;
    return even > 248 ? 248 : even;
  }();
  static constexpr int kProducerRegisters =
      (kClusterSplit == 1 ? Pipeline::ProducerRegisters(kStartRegisters) : 32) +
      (kTransforms ? kTransformRegisters : 0);
  static constexpr int kRegisters = [] {
    const int share = (kStartRegisters * (kGroups + 1) - kProducerRegisters) / kGroups / 8 * 8;
    const int own = share < kStartRegisters ? kStartRegisters : share > 240 ? 240 : share;
    return kConfig.registers > 0 && kConfig.registers < own ? kConfig.registers : own;
  }();
  static_assert(kRegisters % 8 == 0,
                "weft: config.registers of wgmma_sm90 is a multiple of 8, as setmaxnreg takes it");
  // What ptxas 13.0 needs beside the accumulators. It also lays the accumulators of one instruction
  // out within the registers of the start.
  static constexpr int kFragmentRegisters = kRegisterFragments ? 16 * kBlocks : 0;
  static_assert(kBlocks * kN / 2 + (kResident ? 48 : 56) + kFragmentRegisters <= kRegisters &&
                    kN / 2 + 24 < kStartRegisters,
                "weft: the sums of a warpgroup of this config of wgmma_sm90 leave its threads too "
                "few registers; make config.warp smaller, take fewer warpgroups, or blocks_per_sm "
                "1");

  // Shared memory: a multiprocessor has 228 KB, of which the start of each block takes 1, the
  // ring's barriers 1, and the transform warps' list 1. The epilogue stages a tile of bytes and the
  // places of its rows; a block of a cluster receives accumulators (ClusterSplitKSums); a
  // GatherRing has two tables of rows.
  static constexpr int kPlaceBytes = 8 +
                                     (PolicyT::Epilogue::kSourceZeroPoint && !kTransforms ? 8
                                      : PolicyT::Epilogue::kFilterZeroPoint               ? 4
                                                                                          : 0) +
                                     (PolicyT::Epilogue::kHasSums ? 4 : 0);
  static constexpr bool kBytes = sizeof(typename PolicyT::Epilogue::Output) == 1;
  static constexpr bool kHalves = kStagesHalves<PolicyT, kOrder>;
  static constexpr int kStagedBytes =
      (kBytes ? kConsumerGroups * (kTile.m / kClusterSplit * kTile.n) : 0) +
      (kBytes || kHalves ? kPlaceBytes * kPackedRows * kGroups * kOwnN : 0) +
      (kHalves || kStagesCopy<PolicyT, kOrder> ? kGroups * kStagedHalfBytes : 0);
  static constexpr int kReceivedBytes = kClusterSplit == 1
                                            ? 0
                                            : kTile.m / kClusterSplit * (kClusterSplit - 1) *
                                                      kTile.n * static_cast<int>(sizeof(Sum)) +
                                                  kThreads / 2;
  static constexpr int kStageBytes =
      (228 / kConfig.blocks_per_sm - 2) * 1024 - CeilDiv(kStagedBytes, 1024) * 1024 -
      CeilDiv(kReceivedBytes, 1024) * 1024 - (kTransforms ? 1024 : 0) -
      (kGathers ? CeilDiv(32 * kTile.m, 1024) * 1024 : 0);

  struct Map {
    using Sum = WgmmaSm90Mainloop::Sum;
    using Accumulators = WgmmaSm90Mainloop::OwnSums;
    static constexpr int kPixels = kOwnN / 4, kGroups = 2 * kBlocks, kChannels = 1;
    static constexpr int kSharingLanes = 3;  // the bits of a lane's number that Channel ignores
    WEFT_DEVICE static int Group(arch::Thread t) { return t.warp() / 4; }
    WEFT_DEVICE static int GroupOfTile(arch::Thread t) { return Group(t) % kTileGroups; }
    // Pixels are numbered as the output's rows are: kPackedRows of them to a row of the product.
    WEFT_DEVICE static int FirstPixel(arch::Thread t) {
      const int first = GroupOfTile(t) / kGroupsN * kN;
      if constexpr (kClusterSplit == 1) {
        return kPackedRows * first;
      } else {
        return kPackedRows * (first + t.cluster_rank() * kOwnN);
      }
    }
    // Row: which of a warpgroup's rows has pixel i. PackedRow: which of that row's kPackedRows
    // pixels this thread holds.
    WEFT_DEVICE static int Row(arch::Thread t, int i) {
      return i / 2 * 8 + t.lane() % 4 * 2 + i % 2;
    }
    WEFT_DEVICE static int PackedRow(arch::Thread t) {
      if constexpr (kPackedRows == 1) {
        return 0;
      } else {
        return t.warp() % 4 * kPackedRows / 4;
      }
    }
    WEFT_DEVICE static int FirstChannel(arch::Thread t) { return Group(t) % kGroupsN * kWarp.n; }
    WEFT_DEVICE static int Pixel(arch::Thread t, int i) {
      return FirstPixel(t) + kPackedRows * Row(t, i) + PackedRow(t);
    }
    WEFT_DEVICE static int Channel(arch::Thread t, int g) {
      const int warp = t.warp() % (4 / kPackedRows);  // of those that hold the same pixels
      const int first = FirstChannel(t) + g / 2 * 64 + warp * 16, eight = g % 2, i = t.lane() / 4;
      if constexpr (kOrder == ColumnOrder::kPaired) {
        return first + 2 * i + eight;
      } else if constexpr (kOrder == ColumnOrder::kPermuted) {
        return first + 8 * eight + (i ^ (2 * warp + eight) % 4);
      } else {
        return first + 8 * eight + i;
      }
    }
    WEFT_DEVICE static Sum Get(const Accumulators& acc, int i, int g, int) {
      return acc[g / 2][i / 2 * 4 + g % 2 * 2 + i % 2];
    }
  };

  WEFT_DEVICE WgmmaSm90Mainloop(arch::Thread t, const WgmmaPlan& plan) : plan_(plan) {
    const int group = t.WarpUniform(t.warp() / 4) % kTileGroups;
    a_ = Low(plan.a) + plan.group_rows[group / kGroupsN];
    b_ = Low(plan.b) + static_cast<std::uint32_t>(group % kGroupsN * kBlocks) * plan.b_block;
  }

  WEFT_DEVICE static KTileRange KTilesOf(arch::Thread t, int k_tiles) {
    if constexpr (kClusterSplit == 1) {
      return {0, k_tiles, k_tiles};
    } else {
      const int rank = t.cluster_rank();
      return {rank * k_tiles / kClusterSplit, (rank + 1) * k_tiles / kClusterSplit, k_tiles};
    }
  }

  // The accumulators of a block of a cluster that has no k tile: zeros.
  WEFT_DEVICE static void Clear(Accumulators& acc) {
    WEFT_UNROLL
    for (int x = 0; x < kBlocks; ++x) {
      WEFT_UNROLL
      for (int i = 0; i < kN / 2; ++i) acc[x][i] = Sum{0};
    }
  }

  // Starts acc += A B of the k tile at the shared addresses a and b (acc = A B for the first one).
  // started(): called when all products of earlier k tiles are complete and some of this one's are
  // in flight.
  //
  // Four steps at a time are a wgmma group, and each step that is left is one. A group is committed
  // where its last product is: if it ends elsewhere, behind a loop say, ptxas ends it by a product
  // of its own and closes one with every round of the loop, and the wait for the previous k tile
  // becomes one for this k tile (docs/log/wgmma.md).
  template <class Started>
  WEFT_DEVICE void Multiply(arch::Thread t, std::uint32_t a, std::uint32_t b, int k_tile,
                            const KTileRange& k_tiles, Accumulators& acc,
                            const Started& started) const {
    const std::uint32_t rows = a_ + (a >> 4), columns = b_ + (b >> 4);
    const int steps = k_tile + 1 < k_tiles.all ? plan_.steps : plan_.last_steps;
    const bool accumulate = k_tile > k_tiles.begin;
    Keep(t, acc);
    if constexpr (kRegisterFragments) {
      const std::uint32_t own = Spec::RegisterFragments::Own(t);
      MultiplyFragments(t, steps, rows, (columns << 4) + own, accumulate, acc, started);
      return;
    }
    int i = 0;
    if (steps >= kGroupSteps) {
      Steps<kGroupSteps>(t, 0, rows, columns, accumulate, acc);
      i = kGroupSteps;
    } else {
      Steps<1>(t, 0, rows, columns, accumulate, acc);
      i = 1;
    }
    t.template WgmmaWait<1>();
    started();
    WEFT_NO_UNROLL
    for (; i + kGroupSteps <= steps; i += kGroupSteps) {
      Steps<kGroupSteps>(t, i, rows, columns, true, acc);
    }
    WEFT_NO_UNROLL
    for (; i < steps; ++i) Steps<1>(t, i, rows, columns, true, acc);
  }

  WEFT_DEVICE static void Keep(arch::Thread t, Accumulators& acc) {
    WEFT_UNROLL
    for (int x = 0; x < kBlocks; ++x) t.KeepInPlace(acc[x]);
  }

 private:
  static constexpr int kGroupSteps = 4;

  // Issues a group: steps i to i + kCount - 1. Each group has its own fence: without one in the
  // basic block of its first product ptxas inserts it and says so (C7519).
  template <int kCount>
  WEFT_DEVICE void Steps(arch::Thread t, int i, std::uint32_t rows, std::uint32_t columns,
                         bool accumulate, Accumulators& acc) const {
    t.WgmmaFence();
    WEFT_UNROLL
    for (int j = 0; j < kCount; ++j) Step(t, i + j, rows, columns, accumulate || j > 0, acc);
    t.WgmmaCommit();
  }
  WEFT_DEVICE void Step(arch::Thread t, int i, std::uint32_t rows, std::uint32_t columns,
                        bool accumulate, Accumulators& acc) const {
    const std::uint32_t step_a = plan_.step_a[i], step_b = plan_.step_b[i];
    WEFT_UNROLL
    for (int x = 0; x < kBlocks; ++x) {
      Product(t, acc[x], Descriptor(plan_.b, columns + step_b + x * plan_.b_block),
              Descriptor(plan_.a, rows + step_a), accumulate);
    }
  }

  // RS products. wgmma reads registers until its group has been waited for. So groups alternate
  // between two sets of registers: one is filled while the group of the other is in flight. A k
  // tile begins with set 0 and ends with set 1, so that the next one can do the same.
  //
  // A group is waited for right behind the start of the next, not where its registers are needed
  // again: ptxas 13.0 otherwise takes the filling for part of the pipeline and serialises all
  // products (C7513).
  static constexpr int kFragmentSteps = 2;  // steps of a group, at most
  using Fragments = std::uint32_t[kFragmentSteps][kBlocks][4];
  struct FragmentSets {
    Fragments set[2];
  };
  struct NoFragments {};

  // columns: the shared address of this lane's first element (Own).
  template <class Started>
  WEFT_DEVICE void MultiplyFragments(arch::Thread t, int steps, std::uint32_t rows,
                                     std::uint32_t columns, bool accumulate, Accumulators& acc,
                                     const Started& started) const {
    constexpr int kPair = 2 * kFragmentSteps;
    const auto nothing = [] {};
    int i = 0;
    if (steps >= kPair) {
      FragmentPair<kFragmentSteps>(t, 0, rows, columns, accumulate, acc, started);
      i = kPair;
    } else if (steps >= 2) {
      FragmentPair<1>(t, 0, rows, columns, accumulate, acc, started);
      i = 2;
    } else {
      LastFragments(t, 0, rows, columns, accumulate, acc, started);
      return;
    }
    WEFT_NO_UNROLL
    for (; i + kPair <= steps; i += kPair) {
      FragmentPair<kFragmentSteps>(t, i, rows, columns, true, acc, nothing);
    }
    if (i + 2 <= steps) {
      FragmentPair<1>(t, i, rows, columns, true, acc, nothing);
      i += 2;
    }
    if (i < steps) LastFragments(t, i, rows, columns, true, acc, nothing);
  }
  template <int kCount, class Started>
  WEFT_DEVICE void FragmentPair(arch::Thread t, int i, std::uint32_t rows, std::uint32_t columns,
                                bool accumulate, Accumulators& acc, const Started& started) const {
    FragmentSteps<kCount, 0>(t, i, rows, columns, accumulate, acc, started);
    FragmentSteps<kCount, 1>(t, i + kCount, rows, columns, true, acc, [] {});
  }
  // A single step that is left. It uses set 1, as the group before it does, and so waits for that.
  template <class Started>
  WEFT_DEVICE void LastFragments(arch::Thread t, int i, std::uint32_t rows, std::uint32_t columns,
                                 bool accumulate, Accumulators& acc, const Started& started) const {
    t.template WgmmaWait<0>();
    FragmentSteps<1, 1>(t, i, rows, columns, accumulate, acc, started);
  }
  // Issues a group from set kSet, which no product in flight reads; waited(): called when all
  // earlier groups are complete.
  template <int kCount, int kSet, class Waited>
  WEFT_DEVICE void FragmentSteps(arch::Thread t, int i, std::uint32_t rows, std::uint32_t columns,
                                 bool accumulate, Accumulators& acc, const Waited& waited) const {
    Fragments& fragment = fragments_.set[kSet];
    WEFT_UNROLL
    for (int j = 0; j < kCount; ++j) {
      WEFT_UNROLL
      for (int x = 0; x < kBlocks; ++x) {
        Spec::RegisterFragments::LoadFragments(t, columns, plan_, i + j, x, fragment[j][x]);
      }
    }
    WEFT_UNROLL
    for (int j = 0; j < kCount; ++j) {
      WEFT_UNROLL
      for (int x = 0; x < kBlocks; ++x) t.KeepInPlace(fragment[j][x]);  // complete before the fence
    }
    t.WgmmaFence();
    WEFT_UNROLL
    for (int j = 0; j < kCount; ++j) {
      const std::uint64_t of_rows = Descriptor(plan_.a, rows + plan_.step_a[i + j]);
      WEFT_UNROLL
      for (int x = 0; x < kBlocks; ++x) {
        Product(t, acc[x], fragment[j][x], of_rows, accumulate || j > 0);
      }
    }
    t.WgmmaCommit();
    t.template WgmmaWait<1>();
    WEFT_UNROLL
    for (int j = 0; j < kFragmentSteps; ++j) {
      WEFT_UNROLL
      for (int x = 0; x < kBlocks; ++x)
        t.KeepInPlace(fragments_.set[1 - kSet][j][x]);  // not reused before here
    }
    waited();
  }

  // Start addresses lie in a descriptor's lower half, and no sum of them leaves it. Only the halves
  // are added, and the plan has rows and columns apart: with sums of 64 bits and pairs it was
  // ptxas's luck whether two instructions or nine came between products (docs/log/wgmma.md).
  WEFT_DEVICE static std::uint32_t Low(std::uint64_t descriptor) {
    return static_cast<std::uint32_t>(descriptor);
  }
  WEFT_DEVICE static std::uint64_t Descriptor(std::uint64_t of, std::uint32_t low) {
    return std::uint64_t{static_cast<std::uint32_t>(of >> 32)} << 32 | low;
  }

  // columns: a descriptor (SS), or the fragment in registers (RS).
  template <class Columns>
  WEFT_DEVICE static void Product(arch::Thread t, Sum (&acc)[kN / 2], const Columns& columns,
                                  std::uint64_t rows, bool accumulate) {
    if constexpr (kType == arch::WgmmaType::kS8) {
      t.template WgmmaS8<kN>(acc, columns, rows, accumulate);
    } else if constexpr (kType == arch::WgmmaType::kS8U8) {
      t.template WgmmaS8U8<kN>(acc, columns, rows, accumulate);
    } else if constexpr (kRegisterFragments && kType == arch::WgmmaType::kF16) {
      t.template WgmmaF16<kN, Spec::kRowsMnMajor>(acc, columns, rows, accumulate);
    } else if constexpr (kRegisterFragments && kType == arch::WgmmaType::kBf16) {
      t.template WgmmaBf16<kN, Spec::kRowsMnMajor>(acc, columns, rows, accumulate);
    } else if constexpr (kType == arch::WgmmaType::kF16) {
      t.template WgmmaF16<kN, Spec::kColumnsMnMajor, Spec::kRowsMnMajor>(acc, columns, rows,
                                                                         accumulate);
    } else if constexpr (kType == arch::WgmmaType::kE4m3) {
      t.template WgmmaE4m3<kN>(acc, columns, rows, accumulate);
    } else if constexpr (kType == arch::WgmmaType::kE5m2) {
      t.template WgmmaE5m2<kN>(acc, columns, rows, accumulate);
    } else if constexpr (kType == arch::WgmmaType::kTf32) {
      t.template WgmmaTf32<kN>(acc, columns, rows, accumulate);
    } else {
      static_assert(kType == arch::WgmmaType::kBf16);
      t.template WgmmaBf16<kN, Spec::kColumnsMnMajor, Spec::kRowsMnMajor>(acc, columns, rows,
                                                                          accumulate);
    }
  }

  const WgmmaPlan& plan_;
  std::uint32_t a_, b_;  // lower halves of the warpgroup's descriptors
  // Products in flight still read the fragments when Multiply has returned.
  mutable std::conditional_t<kRegisterFragments, FragmentSets, NoFragments> fragments_ = {};
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
