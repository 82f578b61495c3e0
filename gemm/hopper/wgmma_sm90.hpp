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
//
// Its parts are the plan (wgmma_plan.hpp), the spec, the shape of a tile and the map of its
// accumulators (wgmma_shape.hpp), the instruction (wgmma_product.hpp), and the steps of a k tile
// whose columns are read from shared memory (here) or from registers (wgmma_rs.hpp).
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/hopper/register_fragments.hpp"
#include "weft/gemm/hopper/wgmma_plan.hpp"
#include "weft/gemm/hopper/wgmma_product.hpp"
#include "weft/gemm/hopper/wgmma_rs.hpp"
#include "weft/gemm/hopper/wgmma_shape.hpp"
#include "weft/gemm/ring/mbar_ring.hpp"
#include "weft/gemm/tile/accumulators.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// The steps of a k tile whose columns are read from shared memory (SS). Four steps at a time are a
// wgmma group, and each step that is left is one. A group is committed where its last product is:
// if it ends elsewhere, behind a loop say, ptxas ends it by a product of its own and closes one
// with every round of the loop, and the wait for the previous k tile becomes one for this k tile
// (docs/log/wgmma.md).
template <class Shape>
class WgmmaSsSteps {
  using Accumulators = typename Shape::Accumulators;

 public:
  // Starts acc += A B of a k tile of `steps` steps (acc = A B if !accumulate). rows, columns: where
  // its operands begin, in units of 16 bytes. started(): called when all products of earlier k
  // tiles are complete and some of this one's are in flight.
  template <class Started>
  WEFT_DEVICE void Multiply(arch::Thread t, const WgmmaPlan& plan, int steps, std::uint32_t rows,
                            std::uint32_t columns, bool accumulate, Accumulators& acc,
                            const Started& started) const {
    int i = 0;
    if (steps >= kGroupSteps) {
      Group<kGroupSteps>(t, plan, 0, rows, columns, accumulate, acc);
      i = kGroupSteps;
    } else {
      Group<1>(t, plan, 0, rows, columns, accumulate, acc);
      i = 1;
    }
    t.template WgmmaWait<1>();
    started();
    WEFT_NO_UNROLL
    for (; i + kGroupSteps <= steps; i += kGroupSteps) {
      Group<kGroupSteps>(t, plan, i, rows, columns, true, acc);
    }
    WEFT_NO_UNROLL
    for (; i < steps; ++i) Group<1>(t, plan, i, rows, columns, true, acc);
  }

 private:
  static constexpr int kGroupSteps = 4;

  // Issues a group: steps i to i + kCount - 1. Each group has its own fence: without one in the
  // basic block of its first product ptxas inserts it and says so (C7519).
  template <int kCount>
  WEFT_DEVICE static void Group(arch::Thread t, const WgmmaPlan& plan, int i, std::uint32_t rows,
                                std::uint32_t columns, bool accumulate, Accumulators& acc) {
    t.WgmmaFence();
    WEFT_UNROLL
    for (int j = 0; j < kCount; ++j) {
      Step(t, plan, i + j, rows, columns, accumulate || j > 0, acc);
    }
    t.WgmmaCommit();
  }
  WEFT_DEVICE static void Step(arch::Thread t, const WgmmaPlan& plan, int i, std::uint32_t rows,
                               std::uint32_t columns, bool accumulate, Accumulators& acc) {
    const std::uint32_t step_a = plan.step_a[i], step_b = plan.step_b[i];
    WEFT_UNROLL
    for (int x = 0; x < Shape::kBlocks; ++x) {
      WgmmaProduct<Shape>::Issue(t, acc[x],
                                 WithLowerHalf(plan.b, columns + step_b + x * plan.b_block),
                                 WithLowerHalf(plan.a, rows + step_a), accumulate);
    }
  }
};

// Warpgroup g of a tile multiplies warp.m rows by warp.n columns; groups go along the columns
// first. A lane's accumulator acc[x][4j + 2h + e] is row 8j + 2 (lane % 4) + e and column 64x + 16w
// + 8h + lane / 4, w being the warp's number in its warpgroup.
//
// Spec inherits WgmmaSpec.
template <class PolicyT, class Spec>
class WgmmaSm90Mainloop : public WgmmaShape<PolicyT, Spec> {
 public:
  using Shape = WgmmaShape<PolicyT, Spec>;
  using Map = WgmmaMap<Shape>;
  using Shape::kBlocks, Shape::kClusterSplit, Shape::kGroups, Shape::kN, Shape::kThreads;
  using typename Shape::Accumulators, typename Shape::Sum;
  using typename Shape::Producer;

  // Registers of a thread: kStartRegisters of all threads at the start; kRegisters of the consumers
  // once they have taken what the producers give up (setmaxnreg).
  static constexpr int kStartRegisters = [] {
    const int even =
        65536 / (Shape::kConfig.blocks_per_sm * (kThreads + Producer::kThreads)) / 8 * 8;
    return even > 248 ? 248 : even;
  }();
  static constexpr int kProducerRegisters = (kClusterSplit == 1 ? Producer::Registers() : 32) +
                                            (Shape::kTransforms ? Shape::kTransformRegisters : 0);
  static constexpr int kRegisters = [] {
    const int share = (kStartRegisters * (kGroups + 1) - kProducerRegisters) / kGroups / 8 * 8;
    const int own = share < kStartRegisters ? kStartRegisters : share > 240 ? 240 : share;
    return Shape::kConfig.registers > 0 && Shape::kConfig.registers < own ? Shape::kConfig.registers
                                                                          : own;
  }();
  static_assert(kRegisters % 8 == 0,
                "weft: config.registers of wgmma_sm90 is a multiple of 8, as setmaxnreg takes it");
  // What ptxas 13.0 needs beside the accumulators. It also lays the accumulators of one instruction
  // out within the registers of the start.
  static constexpr int kFragmentRegisters = Shape::kRegisterFragments ? 16 * kBlocks : 0;
  static_assert(kBlocks * kN / 2 + (Producer::kFirstLayer ? 48 : 56) + kFragmentRegisters <=
                        kRegisters &&
                    kN / 2 + 24 < kStartRegisters,
                "weft: the sums of a warpgroup of this config of wgmma_sm90 leave its threads too "
                "few registers; make config.warp smaller, take fewer warpgroups, or blocks_per_sm "
                "1");

  WEFT_DEVICE WgmmaSm90Mainloop(arch::Thread t, const WgmmaPlan& plan) : plan_(plan) {
    const int group = t.WarpUniform(t.warp() / 4) % Shape::kTileGroups;
    a_ = LowerHalf(plan.a) + plan.group_rows[group / Shape::kGroupsN];
    b_ = LowerHalf(plan.b) +
         static_cast<std::uint32_t>(group % Shape::kGroupsN * kBlocks) * plan.b_block;
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
  template <class Started>
  WEFT_DEVICE void Multiply(arch::Thread t, std::uint32_t a, std::uint32_t b, int k_tile,
                            const KTileRange& k_tiles, Accumulators& acc,
                            const Started& started) const {
    const std::uint32_t rows = a_ + (a >> 4), columns = b_ + (b >> 4);
    const int steps = k_tile + 1 < k_tiles.all ? plan_.steps : plan_.last_steps;
    const bool accumulate = k_tile > k_tiles.begin;
    KeepInPlace(t, acc);
    steps_.Multiply(t, plan_, steps, rows, columns, accumulate, acc, started);
  }

  WEFT_DEVICE static void KeepInPlace(arch::Thread t, Accumulators& acc) {
    WEFT_UNROLL
    for (int x = 0; x < kBlocks; ++x) t.KeepInPlace(acc[x]);
  }

 private:
  using Steps = std::conditional_t<Shape::kRegisterFragments,
                                   WgmmaRsSteps<Shape, typename Spec::RegisterFragments>,
                                   WgmmaSsSteps<Shape>>;

  const WgmmaPlan& plan_;
  std::uint32_t a_, b_;  // lower halves of the warpgroup's descriptors
  mutable Steps steps_ = {};
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
