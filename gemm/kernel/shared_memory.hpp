// The shared memory of a block of a warp-specialised kernel. Each part says what it needs by a type, and the
// ring's stages have what is left.
#pragma once

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/kernel/cluster_split_k_sums.hpp"
#include "weft/gemm/ring/mbar_ring.hpp"
#include "weft/gemm/tile/tile.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// The epilogue's part does not replace the stages, as a mainloop's scratch does in MultistageStorage: a
// ring that goes on from tile to tile is never empty.
template <class Stages, class Epilogue, bool kStaged = Epilogue::kStaged>
struct WarpSpecializedStorage {
  Stages stages;
};
template <class Stages, class Epilogue>
struct WarpSpecializedStorage<Stages, Epilogue, true> {
  Stages stages;
  typename Epilogue::Shared epilogue;
};

// The bytes of the ring of a kernel with this mainloop and epilogue: of the 228 KB of a multiprocessor, of which
// the start of each block takes one, what else it has leaves, each part in whole KB.
template <class Mainloop, class Epilogue>
constexpr int RingBytes() {
  constexpr int kKilo = 1024;
  using Stages = RingStages<typename Mainloop::Shape, kKilo>;  // it has the alignment of one KB
  int bytes = (228 / Mainloop::kConfig.blocks_per_sm - 1) * kKilo + kKilo;
  bytes -= static_cast<int>(sizeof(WarpSpecializedStorage<Stages, Epilogue>));
  if constexpr (Mainloop::kClusterSplit > 1) {
    constexpr int kSplit = sizeof(typename ClusterSplitKSums<Mainloop>::Shared);
    bytes -= CeilDiv(kSplit, kKilo) * kKilo;
  }
  return bytes;
}

// The pipeline of such a kernel.
template <class Mainloop, class Epilogue>
using RingOf = MbarRing<Mainloop, RingBytes<Mainloop, Epilogue>()>;

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
