// The order of output channels among the rows of operand B in shared memory.
#pragma once

#include "weft/layouts/algebra/inverse.hpp"
#include "weft/layouts/algebra/layout.hpp"

namespace weft::gemm {

namespace internal {

// An mma gives each lane two adjacent columns of the product. In this order of B's rows, a lane's
// columns of kRun / 2 instructions are kRun adjacent channels: 8, or 4 where those are 16 bytes
// already. With 2 the channels stay as they are. kRows: a multiple of 4 kRun.
//
//     8: n = 8 lane + 2 instruction + e             ->  8 instruction + 2 lane + e
//     4: n = 16 half + 4 lane + 2 instruction + e   ->  16 half + 8 instruction + 2 lane + e
//     2: n = 8 instruction + 2 lane + e             ->  the same
template <int kRun, int kRows = 32>
struct ChannelOrder {
  static_assert((kRun == 8 || kRun == 4 || kRun == 2) && kRows % (4 * kRun) == 0);
  using OrderLayout = layouts::LayoutOf<layouts::Ints<2, kRun / 2, 4, kRows / (4 * kRun)>,
                                        layouts::Ints<1, 8, 2, 4 * kRun>>;
  using Inverse = decltype(layouts::RightInverse(OrderLayout()));
};

}  // namespace internal

// The row of operand B in shared memory that has output channel n.
template <int kRun = 8>
constexpr int ChannelRow(int n) {
  return n / 32 * 32 + typename internal::ChannelOrder<kRun>::OrderLayout()(n % 32);
}

// The output channel that a row of operand B in shared memory has.
template <int kRun = 8>
constexpr int RowChannel(int row) {
  return row / 32 * 32 + typename internal::ChannelOrder<kRun>::Inverse()(row % 32);
}

// The order of output channels among the columns of a wgmma_sm90 product.
enum class ColumnOrder {
  kPlain,     // column c holds channel c
  kPermuted,  // column c holds channel c ^ (c / 8 % 4)
  // Of every 16 columns the first eight hold the even channels, the others the odd ones: a thread's
  // two channels are then adjacent, and what is staged for stores (staged_chunk.hpp) is in the
  // order of channels.
  kPaired,
};
constexpr int PairedColumn(int channel) {
  return channel / 16 * 16 + channel % 2 * 8 + channel % 16 / 2;
}

}  // namespace weft::gemm
