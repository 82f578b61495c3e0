// How many threads and registers a kernel asks for, and so how many of its blocks fit on a multiprocessor.
#pragma once

#include "weft/gemm/arch/isa/kernel.hpp"

namespace weft::gemm {

// Blocks of `threads` threads of `registers` registers that fit on a multiprocessor, which has room
// for 16 of them on every GPU.
constexpr int BlocksPerSm(int registers, int threads) {
  const int blocks = 65536 / (registers * threads);
  return blocks < 1 ? 1 : blocks > 16 ? 16 : blocks;
}

// A base of kernels of Parts whose blocks have `kBlockThreads` threads: what arch/kernel.hpp asks a kernel
// for, but Params and SharedStorage.
template <class Parts, int kBlockThreads>
struct LaunchBounds {
  static constexpr int kThreads = kBlockThreads;
  static constexpr arch::Requires kRequires = Parts::Mainloop::kRequires;
  static constexpr int kRegisters = Parts::kRegisters;
  static constexpr int kMinBlocksPerSm = BlocksPerSm(kRegisters, kThreads);
  static constexpr int kMinBlocksPerSmBefore90 =
      Parts::kRegistersBefore90 > 0 ? BlocksPerSm(Parts::kRegistersBefore90, kThreads)
                                    : kMinBlocksPerSm;
};

}  // namespace weft::gemm
