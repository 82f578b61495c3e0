// The order in which consumer warpgroups that share a ring of stages (mbar_ring.hpp) multiply: all
// of them a tile together, or one after the other. A consumer calls Wait before a tile's products,
// Started when it has started the last of them, and Finished when they are complete.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/arch.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// All consumer warpgroups multiply every tile together.
struct NoOrder {
  struct State {};  // what each consumer thread remembers

  WEFT_DEVICE static int GroupOf(arch::Thread) { return 0; }
  // For each stage i, of which there are at least two, one thread calls it: it initializes the
  // mbarriers `order`, of which there are four.
  WEFT_DEVICE static void Begin(arch::Thread, std::uint64_t*, int) {}
  WEFT_DEVICE static void Wait(arch::Thread, std::uint64_t*, const State&) {}
  WEFT_DEVICE static void Started(arch::Thread, std::uint64_t*, State&) {}
  WEFT_DEVICE static void Finished(arch::Thread, std::uint64_t*, State&) {}
};

// Two ping-pong groups of kTileWarps warps each multiply in the order of their tiles. The parity of
// a ring's `full` barrier tells only two phases apart, so a group must not wait for its tile's k
// tiles before those of the previous tile, the other group's, have landed. `order` has an mbarrier
// for each group.
template <int kTileWarps>
struct PingPongOrder : NoOrder {
  struct State {
    int tile = 0;  // the parity of tiles that the group has multiplied
  };

  // The group of a consumer thread: 0 or 1.
  WEFT_DEVICE static int GroupOf(arch::Thread t) { return t.WarpUniform(t.warp()) / kTileWarps; }

  WEFT_DEVICE static void Begin(arch::Thread t, std::uint64_t* order, int i) {
    if (i < 2) t.MbarInit(t.SharedAddress(&order[i]), kTileWarps);
  }
  WEFT_DEVICE static void Wait(arch::Thread t, std::uint64_t* order, const State& state) {
    const int group = GroupOf(t);
    t.MbarWait(t.SharedAddress(&order[group]), state.tile ^ (group == 0 ? 1 : 0));
  }
  WEFT_DEVICE static void Started(arch::Thread t, std::uint64_t* order, State& state) {
    const int group = GroupOf(t);
    t.SyncWarp();
    if (t.ElectOne()) t.MbarArrive(t.SharedAddress(&order[1 - group]));
    state.tile ^= 1;
  }
  WEFT_DEVICE static void Finished(arch::Thread, std::uint64_t*, State&) {}
};

// In its first tile each of kGroups warpgroups waits until the one before it has finished its
// products, so that from then on one's epilogue overlaps with another's products; otherwise all
// would multiply at the same time, and then all store. `order` has an mbarrier for each warpgroup
// but the last.
template <int kGroups>
struct StaggeredOrder : NoOrder {
  struct State {
    bool started = false;  // whether the warpgroup has multiplied a tile
  };

  WEFT_DEVICE static void Begin(arch::Thread t, std::uint64_t* order, int i) {
    if (i > 0) return;
    WEFT_UNROLL
    for (int group = 0; group < kGroups - 1; ++group) {
      t.MbarInit(t.SharedAddress(&order[group]), 4);
    }
  }
  WEFT_DEVICE static void Wait(arch::Thread t, std::uint64_t* order, const State& state) {
    const int group = t.WarpUniform(t.warp()) / 4;
    if (!state.started && group > 0) t.MbarWait(t.SharedAddress(&order[group - 1]), 0);
  }
  WEFT_DEVICE static void Started(arch::Thread, std::uint64_t*, State&) {}
  // The warp has synchronized since its products completed.
  WEFT_DEVICE static void Finished(arch::Thread t, std::uint64_t* order, State& state) {
    const int group = t.WarpUniform(t.warp()) / 4;
    if (!state.started && group < kGroups - 1) {
      if (t.ElectOne()) t.MbarArrive(t.SharedAddress(&order[group]));
    }
    state.started = true;
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
