// The steps of a k tile of wgmma_sm90 (wgmma_sm90.hpp) whose columns come from registers (RS): each
// warp makes the fragments as register_fragments.hpp says.
//
// wgmma reads registers until its group has been waited for. So groups alternate between two sets
// of registers: one is filled while the group of the other is in flight. A k tile begins with set 0
// and ends with set 1, so that the next one can do the same.
//
// A group is waited for right behind the start of the next, not where its registers are needed
// again: ptxas 13.0 otherwise takes the filling for part of the pipeline and serialises all
// products (C7513).
#pragma once

#include <cstdint>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/hopper/wgmma_plan.hpp"
#include "weft/gemm/hopper/wgmma_product.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// Shape: a WgmmaShape. RegisterFragments: one of register_fragments.hpp.
template <class Shape, class RegisterFragments>
class WgmmaRsSteps {
  static constexpr int kBlocks = Shape::kBlocks;
  using Accumulators = typename Shape::Accumulators;
  using Product = WgmmaProduct<Shape>;

 public:
  // As WgmmaSsSteps::Multiply. Products in flight still read the fragments when it has returned.
  template <class Started>
  WEFT_DEVICE void Multiply(arch::Thread t, const WgmmaPlan& plan, int steps, std::uint32_t rows,
                            std::uint32_t columns, bool accumulate, Accumulators& acc,
                            const Started& started) {
    const KTile k = {plan, rows, (columns << 4) + RegisterFragments::Own(t)};
    const auto nothing = [] {};
    int i = 0;
    if (steps >= kPair) {
      Pair<kGroupSteps>(t, k, 0, accumulate, acc, started);
      i = kPair;
    } else if (steps >= 2) {
      Pair<1>(t, k, 0, accumulate, acc, started);
      i = 2;
    } else {
      Last(t, k, 0, accumulate, acc, started);
      return;
    }
    WEFT_NO_UNROLL
    for (; i + kPair <= steps; i += kPair) Pair<kGroupSteps>(t, k, i, true, acc, nothing);
    if (i + 2 <= steps) {
      Pair<1>(t, k, i, true, acc, nothing);
      i += 2;
    }
    if (i < steps) Last(t, k, i, true, acc, nothing);
  }

 private:
  static constexpr int kGroupSteps = 2;  // steps of a group, at most
  static constexpr int kPair = 2 * kGroupSteps;
  using Fragments = std::uint32_t[kGroupSteps][kBlocks][4];

  // A k tile: where its rows are, in units of 16 bytes, and the shared address of this lane's first
  // element of the columns.
  struct KTile {
    const WgmmaPlan& plan;
    std::uint32_t rows, columns;
  };

  template <int kCount, class Started>
  WEFT_DEVICE void Pair(arch::Thread t, const KTile& k, int i, bool accumulate, Accumulators& acc,
                        const Started& started) {
    Group<kCount, 0>(t, k, i, accumulate, acc, started);
    Group<kCount, 1>(t, k, i + kCount, true, acc, [] {});
  }
  // A single step that is left. It uses set 1, as the group before it does, and so waits for that.
  template <class Started>
  WEFT_DEVICE void Last(arch::Thread t, const KTile& k, int i, bool accumulate, Accumulators& acc,
                        const Started& started) {
    t.template WgmmaWait<0>();
    Group<1, 1>(t, k, i, accumulate, acc, started);
  }
  // Issues a group from set kSet, which no product in flight reads; waited(): called when all
  // earlier groups are complete.
  template <int kCount, int kSet, class Waited>
  WEFT_DEVICE void Group(arch::Thread t, const KTile& k, int i, bool accumulate, Accumulators& acc,
                         const Waited& waited) {
    Fragments& fragment = set_[kSet];
    WEFT_UNROLL
    for (int j = 0; j < kCount; ++j) {
      WEFT_UNROLL
      for (int x = 0; x < kBlocks; ++x) {
        RegisterFragments::LoadFragments(t, k.columns, k.plan, i + j, x, fragment[j][x]);
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
      const std::uint64_t rows = WithLowerHalf(k.plan.a, k.rows + k.plan.step_a[i + j]);
      WEFT_UNROLL
      for (int x = 0; x < kBlocks; ++x) {
        Product::Issue(t, acc[x], fragment[j][x], rows, accumulate || j > 0);
      }
    }
    t.WgmmaCommit();
    t.template WgmmaWait<1>();
    WEFT_UNROLL
    for (int j = 0; j < kGroupSteps; ++j) {
      WEFT_UNROLL
      for (int x = 0; x < kBlocks; ++x) t.KeepInPlace(set_[1 - kSet][j][x]);  // not reused before
    }
    waited();
  }

  Fragments set_[2] = {};
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
