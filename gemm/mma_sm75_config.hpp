// Tiles of the mma_sm75 mainloop, and what they must fulfil.
#pragma once

#include <cstdint>

#include "weft/gemm/config.hpp"

namespace weft::gemm {

// int8 through m8n8k16 with two register-staged buffers (sm_75 and newer). threadblock.k counts
// elements, 32 a packet. The dst alignment of 8 fits every layout whose channel runs are 8 bytes or
// longer; 16 is for int8 outputs in runs of 16 or longer.
constexpr Config MmaSm75Config(TileShape threadblock, TileShape warp, int dst_alignment = 8) {
  return {Mainloop::kMmaSm75, threadblock, warp, {}, {8, 8, 16}, 2, {16, dst_alignment}};
}

// Instantiating this checks Owner::config; each failure is one sentence.
template <class Owner>
struct CheckedMmaSm75Tiles {
  static constexpr Config config = Owner::config;
  static constexpr int kOutputBytes = sizeof(typename Owner::Epilogue::Output);

  static_assert(internal::Divides(config.warp, config.threadblock) &&
                    config.warp.k == config.threadblock.k,
                "weft: config.warp must divide config.threadblock in m and n and equal it in k");
  static_assert(config.instruction == TileShape{8, 8, 16},
                "weft: config.instruction of the mma_sm75 mainloop is {8, 8, 16}");
  static_assert(config.thread == TileShape{},
                "weft: config.thread is for the simt mainloop; leave it empty");
  static_assert(
      config.warp.m % 16 == 0 && config.warp.n % 32 == 0 && config.threadblock.k % 32 == 0,
      "weft: config.warp of the mma_sm75 mainloop must be a multiple of 16 in m (pixels) and of 32 "
      "in n (channels), and threadblock.k a multiple of 32");
  static_assert(config.stages == 2, "weft: the mma_sm75 mainloop has config.stages = 2");
  static_assert(internal::StoreWidth(config.alignment.dst),
                "weft: config.alignment.dst is 1, 2, 4, 8 or 16 bytes");
  static constexpr int kThreads =
      config.threadblock.m / config.warp.m * (config.threadblock.n / config.warp.n) * 32;
  static_assert(kThreads <= 1024, "weft: config.threadblock / config.warp gives over 1024 threads");
  // Two threads bring the halves of one packet.
  static constexpr bool Covers(int extent) {
    return extent % (kThreads / 2) == 0 ||
           (kThreads / 2 % extent == 0 && config.threadblock.k / 32 % (kThreads / 2 / extent) == 0);
  }
  static_assert(Covers(config.threadblock.m) && Covers(config.threadblock.n),
                "weft: config.threadblock has too many threads for its k extent: half the threads "
                "and threadblock.m must divide one another, likewise n, and what is left over must "
                "divide threadblock.k / 32");
  static_assert(std::int64_t{2} * config.threadblock.k *
                        (config.threadblock.m + config.threadblock.n) <=
                    64 * 1024,
                "weft: config.threadblock of the mma_sm75 mainloop needs more than 64 KB of shared "
                "memory, the most an sm_75 GPU gives one block");
  static constexpr bool kValid = true;
};

}  // namespace weft::gemm
