// Where a column of operand A lies in a row of shared memory.
#pragma once

#include "weft/gemm/simt_geometry.hpp"
#include "weft/layouts/layout.hpp"

namespace weft::gemm {

// Threads read vectors of kVectorM columns that are kLanesM apart in m, so those are put side by
// side. Writers with consecutive m then hit distinct banks (stride kVectorM over the lanes, then
// 1), and readers with consecutive lanes read adjacent vectors.
template <class G>
struct SharedColumnsA {
  // m = lane + kLanesM * (element + kVectorM * (vector + kThreadM / kVectorM * warp)) -> position.
  static constexpr auto Layout() {
    using layouts::kInt;
    return layouts::MakeLayout(
        layouts::MakeTuple(kInt<G::kLanesM>, kInt<G::kVectorM>, kInt<G::kThreadM / G::kVectorM>,
                           kInt<G::kWarpsM>),
        layouts::MakeTuple(kInt<G::kVectorM>, kInt<1>, kInt<G::kVectorM * G::kLanesM>,
                           kInt<G::kWarpM>));
  }

  // The position of column m of the threadblock tile.
  static constexpr int Position(int m) { return Layout()(m); }

  // The position of a lane's first vector; its vector v follows at + v * kVectorM * kLanesM.
  static constexpr int First(int warp_m, int lane_m) {
    return warp_m * G::kWarpM + lane_m * G::kVectorM;
  }
};

}  // namespace weft::gemm
