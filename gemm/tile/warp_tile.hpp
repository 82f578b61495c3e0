// Divides a threadblock tile among warps and, in the simt mainloops, a warp's tile among its lanes.
// Instantiating these templates checks PolicyT::config; each failure is one sentence.
#pragma once

#include "weft/gemm/tile/accumulators.hpp"
#include "weft/gemm/tile/config.hpp"
#include "weft/gemm/tile/traits.hpp"
#include "weft/layouts/packed_int4.hpp"

namespace weft::gemm {

// A policy that has a format for its output tensor, which decides how many bits an element takes;
// outputs of other policies are whole elements.
template <class PolicyT>
concept HasDstLayout = requires { typename PolicyT::DstLayout; };

// The bits that one output of PolicyT takes in memory.
template <class PolicyT>
constexpr int OutputBits() {
  using Output = typename PolicyT::Epilogue::Output;
  if constexpr (HasDstLayout<PolicyT>) {
    return weft::internal::kElementBits<typename PolicyT::DstLayout, Output>;
  } else {
    return 8 * sizeof(Output);
  }
}

// Checks that a thread of a block of kThreads threads has registers for its kAccumulators and
// kFragments, which it holds all the time. Compilers print the numbers with the failure.
template <int kAccumulators, int kFragments, int kThreads>
struct CheckedThreadRegisters {
  static constexpr int kRegisters = 65536 / kThreads < 255 ? 65536 / kThreads : 255;
  static_assert(
      kAccumulators + kFragments <= kRegisters,
      "weft: config.warp is too large: a thread's accumulators and fragments (the first two "
      "numbers of CheckedThreadRegisters) are more than the registers it can have, 255 and "
      "65536 divided by the block's threads (the third); make config.warp smaller, or "
      "config.threadblock if it has too many threads");
  static constexpr bool kOk = true;
};

template <class PolicyT>
struct WarpTile : MainloopTraits {
  static constexpr auto config = PolicyT::config;
  static constexpr int kElementBytes = sizeof(typename PolicyT::Element);
  static constexpr int kOutputBits = OutputBits<PolicyT>();

  static constexpr bool kWarpDivides = internal::Divides(config.warp, config.threadblock);
  static_assert(kWarpDivides, "weft: config.warp must divide config.threadblock in m, n and k");
  static_assert(config.kMainloop == Mainloop::kSimt || config.kMainloop == Mainloop::kSimtAsync ||
                    config.kMainloop == Mainloop::kMmaSm80 || config.warp.k == config.threadblock.k,
                "weft: config.warp must equal config.threadblock in k; only the mainloops simt, "
                "simt_async and mma_sm80 let warps share a k tile");
  static_assert(internal::StoreWidth(config.alignment.dst),
                "weft: config.alignment.dst is 1, 2, 4, 8 or 16 bytes");

  static constexpr int kBlockM = config.threadblock.m, kBlockN = config.threadblock.n;
  static constexpr int kBlockK = config.threadblock.k;
  static constexpr int kWarpM = config.warp.m, kWarpN = config.warp.n;
  static constexpr int kWarpsM = kBlockM / kWarpM, kWarpsN = kBlockN / kWarpN;
  static constexpr int kWarpsK = kBlockK / config.warp.k;
  static constexpr int kThreads = kWarpsM * kWarpsN * kWarpsK * 32;
  static_assert(kThreads <= 1024, "weft: config.threadblock / config.warp gives over 1024 threads");
};

// The lanes of a warp form a kLanesM x kLanesN grid. kParts: how many warps share a warp tile
// (sliced k), in mainloops that have that.
template <class PolicyT, int... kParts>
struct LaneTile : WarpTile<PolicyT> {
  using Warps = WarpTile<PolicyT>;
  static constexpr bool kInt8 = Warps::kElementBytes == 1;
  static constexpr TileShape kThread = Warps::config.thread, kWarp = Warps::config.warp;
  static constexpr bool kThreadDivides =
      internal::Divides(kThread, kWarp) && kThread.k == (kInt8 ? 4 : 1);
  static_assert(kThreadDivides || !Warps::kWarpDivides,
                "weft: config.thread must divide config.warp in m and n, with thread.k = 4 (one "
                "dp4a) for int8 and 1 for float and double, and warp.k a multiple of it");
  static constexpr int kThreadM = kThread.m, kThreadN = kThread.n;
  static constexpr int kLanesM = kWarp.m / kThreadM, kLanesN = kWarp.n / kThreadN;
  static_assert(
      kLanesM * kLanesN == 32 || !kThreadDivides || !Warps::kWarpDivides,
      "weft: a warp has 32 threads: (warp.m / thread.m) * (warp.n / thread.n) must be 32");

  // Thread -> its first row (column), kScale being how far lanes that are neighbours in m (n) are
  // apart. A thread's number has these modes: lane (m, n, m, n), warp (m, n, part). Of floats
  // neighbouring lanes alternate in m and n: shared memory then serves half a warp's 16-byte reads
  // at once, of A (lanes l and l ^ 2 read the same) and of B (l and l ^ 1).
  static constexpr bool kAlternate = !kInt8 && kLanesM > 1 && kLanesN > 1;
  static constexpr int kM0 = kAlternate ? 2 : kLanesM, kN0 = kAlternate ? 2 : 1;
  using Threads =
      Ints<kM0, kN0, kLanesM / kM0, kLanesN / kN0, Warps::kWarpsM, Warps::kWarpsN, kParts...>;
  template <int kScale>
  using RowOf = LayoutOf<Threads, Ints<kScale, 0, kM0 * kScale, 0, kWarp.m, 0, 0 * kParts...>>;
  template <int kScale>
  using ColumnOf = LayoutOf<Threads, Ints<0, kScale, 0, kN0 * kScale, 0, kWarp.n, 0 * kParts...>>;
};

// Adjacent elements that a thread reads from shared memory at once.
template <class Type, int kCount>
struct alignas(kCount * sizeof(Type)) SharedVector {
  Type value[kCount];
};

}  // namespace weft::gemm
