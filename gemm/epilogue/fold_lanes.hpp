// Folds values of a warp's lanes into one.
#pragma once

#include "weft/gemm/arch/arch.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// Folds value[i] over all lanes whose numbers differ in the bits of kLanes only, and calls
// done(base + i, value) for each i in one of these lanes. fold(x, y) must not depend on the order.
// All lanes of the warp call it, with mine = true at first. While the number of values is even,
// each step splits them between two halves of the lanes, which also halves the shuffles that are
// left.
template <int kLanes, class Type, int kCount, class Fold, class Done>
WEFT_DEVICE void FoldLanes(arch::Thread t, Type (&value)[kCount], int base, bool mine,
                           const Fold& fold, const Done& done) {
  if constexpr (kLanes == 0) {
    WEFT_UNROLL
    for (int i = 0; i < kCount; ++i) {
      if (mine) done(base + i, value[i]);
    }
  } else {
    constexpr int kBit = kLanes & -kLanes;
    const bool upper = (t.lane() & kBit) != 0;
    if constexpr (kCount % 2 == 0) {
      constexpr int kHalf = kCount / 2;
      Type half[kHalf];
      WEFT_UNROLL
      for (int i = 0; i < kHalf; ++i) {
        const Type sent = upper ? value[i] : value[i + kHalf];
        half[i] = fold(upper ? value[i + kHalf] : value[i], t.ShflXor(sent, kBit));
      }
      FoldLanes<kLanes & ~kBit>(t, half, upper ? base + kHalf : base, mine, fold, done);
    } else {
      WEFT_UNROLL
      for (int i = 0; i < kCount; ++i) value[i] = fold(value[i], t.ShflXor(value[i], kBit));
      FoldLanes<kLanes & ~kBit>(t, value, base, mine && !upper, fold, done);
    }
  }
}

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
