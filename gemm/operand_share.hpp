// Which packets of a k slice each thread of a block brings to shared memory.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/simt_shared_layout.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// Operand A: kColumns columns m, and of each kRows packets that are kRowStep apart in k. Lanes of a
// warp take neighbouring columns: neighbouring pixels of a convolution, whose loads coalesce.
template <class G>
struct ColumnShare {
  static constexpr int kColumns = G::kBlockM > G::kThreads ? G::kBlockM / G::kThreads : 1;
  static constexpr int kRowStep = G::kThreads > G::kBlockM ? G::kThreads / G::kBlockM : 1;
  static constexpr int kRows = G::kPackets / kRowStep;

  struct Fragment {
    std::uint32_t packet[kRows][kColumns];
  };

  WEFT_DEVICE static int Column(int tid, int index) {
    return kColumns == 1 ? tid % G::kBlockM : tid + index * G::kThreads;
  }
  WEFT_DEVICE static int Row(int tid, int index) {
    return (kColumns == 1 ? tid / G::kBlockM : 0) + index * kRowStep;
  }

  WEFT_DEVICE static void Store(arch::Thread t, const Fragment& f,
                                std::uint32_t (*shared)[G::kBlockM]) {
    WEFT_UNROLL
    for (int column = 0; column < kColumns; ++column) {
      const int position = SharedColumnsA<G>::Position(Column(t.tid(), column));
      WEFT_UNROLL
      for (int row = 0; row < kRows; ++row) {
        t.StoreShared(&shared[Row(t.tid(), row)][position], f.packet[row][column]);
      }
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
