// In which order output channels stand among the rows of operand B in shared memory.
#pragma once

#include "weft/layouts/algebra/inverse.hpp"
#include "weft/layouts/algebra/layout.hpp"

namespace weft::gemm {

namespace internal {

// An mma hands each lane two adjacent columns of each of four instructions; in this order they are
// kRun = 8 adjacent channels, or twice 4 where those are 16 bytes already; with 2 they stay as they
// are. kRows: a multiple of 4 kRun.
//   8: n = 8 lane + 2 instruction + e             ->  8 instruction + 2 lane + e
//   4: n = 16 half + 4 lane + 2 instruction + e   ->  16 half + 8 instruction + 2 lane + e
//   2: n = 8 instruction + 2 lane + e             ->  the same
template <int kRun, int kRows = 32>
struct ChannelOrder {
  static_assert((kRun == 8 || kRun == 4 || kRun == 2) && kRows % (4 * kRun) == 0);
  using OrderLayout = layouts::LayoutOf<layouts::Ints<2, kRun / 2, 4, kRows / (4 * kRun)>,
                                        layouts::Ints<1, 8, 2, 4 * kRun>>;
  using Inverse = decltype(layouts::RightInverse(OrderLayout()));
};

}  // namespace internal

// The row of output channel n.
template <int kRun = 8>
constexpr int ChannelRow(int n) {
  return n / 32 * 32 + typename internal::ChannelOrder<kRun>::OrderLayout()(n % 32);
}

// The output channel of a row.
template <int kRun = 8>
constexpr int RowChannel(int row) {
  return row / 32 * 32 + typename internal::ChannelOrder<kRun>::Inverse()(row % 32);
}

// Likewise among the columns of wgmma_sm90.
enum class ColumnOrder {
  kPlain,     // as they are
  kPermuted,  // column c holds channel c ^ (c / 8 % 4)
  // Of 16 columns the first eight hold the even channels, the others the odd ones: a thread's two are
  // neighbours, and what is staged (staged_chunk.hpp) lies in order.
  kPaired,
};
constexpr int PairedColumn(int channel) {
  return channel / 16 * 16 + channel % 2 * 8 + channel % 16 / 2;
}

}  // namespace weft::gemm
