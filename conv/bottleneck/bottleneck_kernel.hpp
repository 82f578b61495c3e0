// The kernel of conv::Bottleneck: the convolutions of a bottleneck, tile by tile, whose intermediate
// tensors stay in shared memory (docs/bottleneck.md).
//
// A persistent block has all filters in shared memory. One thread loads patches of x, tiles with a
// pixel more on each side; each warpgroup of the others makes y of a whole tile:
//   1. t1 of the patch, a product of x as it was loaded; outside the image it is the padding;
//   2. t2 of the tile, a product for each tap, whose operand is t1 shifted by some pixels; t2 takes
//      the place of t1;
//   3. y, 128 channels at a time, which takes the place of x if x is the residual.
// Columns of the products, which are filters, lie in shared memory in the order in which a thread has
// two adjacent channels, so that the bytes of t1 and t2 are in the order of the next filter's.
#pragma once

#include <cstdint>

#include "weft/conv/bottleneck/bottleneck_params.hpp"
#include "weft/conv/bottleneck/bottleneck_roles.hpp"
#include "weft/conv/bottleneck/bottleneck_tiles.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/launch/kernel_list.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

// PolicyT: IsBottleneck.
template <class PolicyT>
struct BottleneckKernel {
  static_assert(CheckedBottleneck<PolicyT>::kValid);
  using Roles = BottleneckRoles<PolicyT>;
  using Barriers = typename Roles::Barriers;
  using Params = BottleneckParamsOf<PolicyT>;
  // A launch allocates as much as it needs.
  struct SharedStorage {
    alignas(1024) std::uint8_t byte[arch::kMaxSharedBytes];
  };

  static constexpr BottleneckConfig config = PolicyT::config;
  static constexpr BottleneckShape kShape = Roles::kShape;
  static constexpr int kGroups = config.warpgroups, kThreads = 128 * (kGroups + 1);
  static constexpr arch::Requires kRequires = {.min = 90, .exact = true};
  static constexpr bool kDependent = true;
  static constexpr int kMinBlocksPerSm = 1;
  // Of all threads at the start; of those that multiply when the others have given some up.
  static constexpr int kRegisters = 65536 / kThreads / 8 * 8 < 248 ? 65536 / kThreads / 8 * 8 : 248;
  static constexpr int kRolesRegisters = 24;
  static constexpr int kOwnRegisters = [] {
    const int own = (65536 / 128 - kRolesRegisters) / kGroups / 8 * 8;
    return own < 240 ? own : 240;
  }();
  static constexpr bool kTradesRegisters = kOwnRegisters > kRegisters;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, arch::Thread t) const {
    const std::uint32_t base = t.SharedAddress(shared.byte);
    if (t.tid() == 0) {
      Barriers{base}.Init(t);
      for (int i = 0; i < kBottleneckParts; ++i) {
        t.StoreSharedAt(Roles::SlowAt(base, i), typename Roles::SlowWord{0});
      }
    }
    t.LetLaterGridsStart();
    t.SyncThreads();
    if (t.WarpUniform(t.warp()) / 4 == kGroups) {
      if constexpr (kTradesRegisters) t.template SetMaxRegDec<kRolesRegisters>();
      Roles::Run(p, t, base);
    } else {
      if constexpr (kTradesRegisters) t.template SetMaxRegInc<kOwnRegisters>();
      BottleneckTiles<PolicyT>(p, t, base).Run();
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv

namespace weft::gemm {
inline namespace WEFT_BACKEND {

template <conv::IsBottleneck PolicyT>
struct KernelList<PolicyT> {
  static constexpr int kCount = 1;
  template <int i>
  static constexpr bool kExists = true;
  template <int i>
  using Kernel = conv::BottleneckKernel<PolicyT>;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
