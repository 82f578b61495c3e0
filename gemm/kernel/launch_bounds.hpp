// How many threads and registers a kernel asks for, and so how many of its blocks fit on an SM.
#pragma once

#include "weft/gemm/arch/isa/kernel.hpp"

namespace weft::gemm {

// How many blocks of `threads` threads, with `registers` registers a thread, share a
// multiprocessor's 65536 registers: 1 to 16, as every GPU has room for 16 blocks.
constexpr int BlocksPerSm(int registers, int threads) {
  const int blocks = 65536 / (registers * threads);
  return blocks < 1 ? 1 : blocks > 16 ? 16 : blocks;
}

// The base of kernels of Parts whose blocks have `kBlockThreads` threads. It declares what
// arch/isa/kernel.hpp asks of a kernel, except Params and SharedStorage.
template <class Parts, int kBlockThreads>
struct LaunchBounds {
  static constexpr int kThreads = kBlockThreads;
  [[gnu::visibility("hidden")]] static constexpr arch::Requires kRequires =
      Parts::Mainloop::kRequires;
  static constexpr int kRegisters = Parts::kRegisters;
  static constexpr int kMinBlocksPerSm = BlocksPerSm(kRegisters, kThreads);
  static constexpr int kMinBlocksPerSmBefore90 =
      Parts::kRegistersBefore90 > 0 ? BlocksPerSm(Parts::kRegistersBefore90, kThreads)
                                    : kMinBlocksPerSm;
};

}  // namespace weft::gemm
