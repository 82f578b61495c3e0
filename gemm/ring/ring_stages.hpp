// The stages of an MbarRing (mbar_ring.hpp) in shared memory, their mbarriers, and a thread's place
// among them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {

// How a ring lies in shared memory and which threads load it; made by the host.
struct MbarRingParams {
  static constexpr int kMostStages = 16, kMostRowThreads = 3;
  std::int32_t stages = 0;       // 2 to kMostStages
  std::int32_t stage_bytes = 0;  // a multiple of 1024, as swizzles need; without swizzle of 16
  std::int32_t b_offset = 0;  // where operand B begins, from its stage's or the first stage's begin
  // Bytes from a k tile of B to the next; 0 where all stages have the same B.
  std::int32_t b_stride = 0;
  std::int32_t row_threads = 1;  // threads that load A, 1 to kMostRowThreads; 0: B's thread loads A
  std::int32_t thread_copies = 1;  // copies of a k tile that each of these starts; together all
  // Divides the `copies` copies of A's k tile among at most `most` threads.
  constexpr void ShareCopies(std::int32_t copies, std::int32_t most = kMostRowThreads) {
    thread_copies = most > 0 ? (copies + most - 1) / most : copies;
    row_threads = most > 0 ? (copies + thread_copies - 1) / thread_copies : 0;
  }
  // K tiles of A that are prefetched into the L2 before the kernel waits for earlier ones. Each
  // keeps TMA busy as long as the copy itself would.
  std::int32_t prefetch = 1;
  // Whether all k tiles of B stay in shared memory, loaded with a block's first tile: they lie
  // behind the stages, and all tiles of a block have the same columns. Otherwise each stage holds
  // its k tile of B.
  std::int32_t b_stays = 0;
  // FirstLayerProducer only: the launch's number of tiles if TMA can load operand A, otherwise 0.
  std::int32_t tma_tiles = 0;
};

// What a transform warp remembers in shared memory: a list that it makes for each tile, and four
// words that stay from tile to tile.
inline constexpr int kTransformList = 640;
struct alignas(16) TransformMemory {
  std::uint32_t word[4];
  std::uint16_t list[kTransformList];
};

inline namespace WEFT_BACKEND {

template <>
struct Absent<TransformMemory> {};

// A thread's position in the ring: the stage, and the parity of its phase.
struct RingState {
  int slot = 0, parity = 0;
  WEFT_DEVICE void Next(int stages) {
    if (++slot == stages) {
      slot = 0;
      parity ^= 1;
    }
  }
};

// The shared memory of a ring: kBytes bytes that a launch divides into stages, and the mbarriers of
// each stage. A phase of `full` ends when the k tiles of A and B are in the stage, one
// of `changed` when transform warps have rewritten them (Shape::kTransforms only), one of `empty`
// when every consumer warp of the tile has multiplied them.
template <class Shape, int kBytes>
struct RingStages {
  alignas(1024) std::uint8_t bytes[kBytes];
  std::uint64_t full[MbarRingParams::kMostStages], empty[MbarRingParams::kMostStages];
  std::uint64_t changed[MbarRingParams::kMostStages];
  std::uint64_t order[4];  // the consumers' (consumer_order.hpp)
  PartIf<Shape::kTransforms, TransformMemory> transform;
  typename Shape::Producer::Memory producer;

  // Where the stage `slot` begins, and where k tile `k_tile` of operand B lies for it.
  WEFT_DEVICE std::uint32_t Stage(arch::Thread t, const MbarRingParams& p, int slot) {
    return t.SharedAddress(bytes) + static_cast<std::uint32_t>(slot * p.stage_bytes);
  }
  WEFT_DEVICE std::uint32_t KTileOfB(arch::Thread t, const MbarRingParams& p, int slot,
                                     int k_tile) {
    return t.SharedAddress(bytes) +
           static_cast<std::uint32_t>(p.b_offset + (p.b_stays ? k_tile : slot) * p.b_stride);
  }
  // Waits until consumers have freed the stage; returns the address of its `full` barrier.
  WEFT_DEVICE std::uint32_t WaitForEmpty(arch::Thread t, const RingState& state) {
    t.MbarWait(t.SharedAddress(&empty[state.slot]), state.parity ^ 1);
    return t.SharedAddress(&full[state.slot]);
  }
  // Called by one thread, which has waited for the stage to be empty: writes zeros, which wgmma sees.
  WEFT_DEVICE void Clear(arch::Thread t, const MbarRingParams& p, int slot) {
    struct alignas(16) Zeros {
      std::uint32_t word[4];
    };
    auto* const stage = reinterpret_cast<Zeros*>(bytes + slot * p.stage_bytes);
    WEFT_NO_UNROLL
    for (int i = 0; i < p.stage_bytes / 16; ++i) t.StoreShared(&stage[i], Zeros{});
    t.FenceProxyAsync();
  }
  // Called by a consumer warp that has multiplied the stage.
  WEFT_DEVICE void Release(arch::Thread t, int slot) {
    t.SyncWarp();
    if (t.ElectOne()) t.MbarArrive(t.SharedAddress(&empty[slot]));
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
