// Tiles of the tensor-core mainloops, and what they must fulfil.
#pragma once

#include <cstdint>

#include "weft/gemm/config.hpp"

namespace weft::gemm {

// int8 through m16n8k32 with cp.async (sm_80 and newer). threadblock.k counts elements, 32 a
// packet. The dst alignment of 8 fits every layout whose channel runs are 8 bytes or longer.
constexpr Config MmaSm80Config(TileShape threadblock, TileShape warp, int stages,
                               int dst_alignment = 8) {
  return {Mainloop::kMmaSm80, threadblock, warp, {}, {16, 8, 32}, stages, {16, dst_alignment}};
}
inline constexpr Config kMma128x128 = MmaSm80Config({128, 128, 64}, {64, 32, 64}, 3);
inline constexpr Config kMma128x64 = MmaSm80Config({128, 64, 64}, {64, 32, 64}, 3);
inline constexpr Config kMma64x64 = MmaSm80Config({64, 64, 64}, {32, 32, 64}, 4);
inline constexpr Config kMma128x32 = MmaSm80Config({128, 32, 64}, {64, 32, 64}, 3);

// The same for 16-bit floats through m16n8k16: 16 elements a packet.
constexpr Config MmaSm80HalfConfig(TileShape threadblock, TileShape warp, int stages,
                                   int dst_alignment = 8) {
  return {Mainloop::kMmaSm80, threadblock, warp, {}, {16, 8, 16}, stages, {16, dst_alignment}};
}
inline constexpr Config kMmaHalf128x128 = MmaSm80HalfConfig({128, 128, 32}, {64, 32, 32}, 3);
inline constexpr Config kMmaHalf64x64 = MmaSm80HalfConfig({64, 64, 32}, {32, 32, 32}, 4);

// Instantiating this checks Owner::config for operands of kElementBytes bytes (1 or 2); each
// failure is one sentence.
template <class Owner, int kElementBytes = 1>
struct CheckedMmaTiles {
  static constexpr int kPacketElements = 32 / kElementBytes;
  static constexpr Config config = Owner::config;
  static_assert(internal::Divides(config.warp, config.threadblock) &&
                    config.warp.k == config.threadblock.k,
                "weft: config.warp must divide config.threadblock in m and n and equal it in k");
  static_assert(config.instruction == TileShape{16, 8, kPacketElements},
                "weft: config.instruction of the mma_sm80 mainloop is {16, 8, 32} for int8 and "
                "{16, 8, 16} for 16-bit floats");
  static_assert(config.thread == TileShape{},
                "weft: config.thread is for the simt mainloop; leave it empty");
  static_assert(
      config.warp.m % 16 == 0 && (config.warp.n % 32 == 0 || config.warp.n == 16) &&
          config.threadblock.k % kPacketElements == 0,
      "weft: config.warp must be a multiple of 16 in m and 16 or a multiple of 32 in n, and "
      "threadblock.k a multiple of config.instruction.k");
  static_assert(config.stages >= 3, "weft: the mma_sm80 mainloop has config.stages of 3 or more");
  static_assert(internal::StoreWidth(config.alignment.dst) && config.alignment.dst <= 8 * 4,
                "weft: config.alignment.dst is 1, 2, 4, 8 or 16 bytes");
  static_assert((config.warp.n == 16 ? 4 : 8) *
                        static_cast<int>(sizeof(typename Owner::Epilogue::Output)) %
                        config.alignment.dst ==
                    0,
                "weft: config.alignment.dst is wider than the 8 output channels (4 if warp.n is "
                "16) that one thread holds side by side");
  static constexpr int kThreads =
      config.threadblock.m / config.warp.m * (config.threadblock.n / config.warp.n) * 32;
  static_assert(kThreads <= 1024, "weft: config.threadblock / config.warp gives over 1024 threads");
  // Two threads bring the halves of one packet.
  static constexpr bool Covers(int extent) {
    return extent % (kThreads / 2) == 0 ||
           (kThreads / 2 % extent == 0 &&
            config.threadblock.k / kPacketElements % (kThreads / 2 / extent) == 0);
  }
  static_assert(Covers(config.threadblock.m) && Covers(config.threadblock.n),
                "weft: config.threadblock has too many threads for its k extent: half the threads "
                "and threadblock.m must divide one another, likewise n, and what is left over must "
                "divide the packets of 32 bytes of threadblock.k");
  static_assert(
      std::int64_t{config.stages} * config.threadblock.k * kElementBytes *
              (config.threadblock.m + config.threadblock.n) <=
          227 * 1024,
      "weft: config.threadblock and config.stages need more than 227 KB of shared memory, "
      "the most any GPU gives one block");
  static constexpr bool kValid = true;
};

}  // namespace weft::gemm
