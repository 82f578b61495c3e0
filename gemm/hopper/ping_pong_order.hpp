// The order of products of the two ping-pong groups of consumer warpgroups, which share a ring of
// stages (mbar_ring.hpp). The groups multiply in the order of their tiles: a group calls Wait
// before a tile's products and Signal when it has started the last of them. The parity of a ring's
// `full` barrier tells only two phases apart, so a group must not wait for its tile's k tiles
// before those of the previous tile, the other group's, have landed.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/arch.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// kTileWarps: the warps of a group. `order`: an mbarrier for each group. `tile`: the parity of
// tiles that the calling warp's group has multiplied.
template <int kTileWarps>
struct PingPongOrder {
  // The group of a consumer thread: 0 or 1.
  WEFT_DEVICE static int GroupOf(arch::Thread t) { return t.WarpUniform(t.warp()) / kTileWarps; }

  // One thread calls it for each i in turn.
  WEFT_DEVICE static void Begin(arch::Thread t, std::uint64_t* order, int i) {
    if (i < 2) t.MbarInit(t.SharedAddress(&order[i]), kTileWarps);
  }
  WEFT_DEVICE static void Wait(arch::Thread t, std::uint64_t* order, int tile) {
    const int group = GroupOf(t);
    t.MbarWait(t.SharedAddress(&order[group]), tile ^ (group == 0 ? 1 : 0));
  }
  WEFT_DEVICE static void Signal(arch::Thread t, std::uint64_t* order, int& tile) {
    const int group = GroupOf(t);
    t.SyncWarp();
    if (t.ElectOne()) t.MbarArrive(t.SharedAddress(&order[1 - group]));
    tile ^= 1;
  }
};

// Takes its place where all consumer warpgroups multiply every tile together.
struct NoOrder {
  WEFT_DEVICE static int GroupOf(arch::Thread) { return 0; }
  WEFT_DEVICE static void Begin(arch::Thread, std::uint64_t*, int) {}
  WEFT_DEVICE static void Wait(arch::Thread, std::uint64_t*, int) {}
  WEFT_DEVICE static void Signal(arch::Thread, std::uint64_t*, int&) {}
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
