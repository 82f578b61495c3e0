// What directs the wgmma_sm90 mainloop (wgmma_sm90.hpp): the plan, which the host makes for a
// launch, and the spec, which the kernel states for its operands.
#pragma once

#include <cstdint>

#include "weft/gemm/tile/channel_order.hpp"
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

}  // namespace weft::gemm
