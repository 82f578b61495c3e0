// The numbers of a simt operator, and what they must fulfil.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/config.hpp"

namespace weft::gemm {

// Tiles that suit most layers, ready to be named in a policy; the dst alignment fits every layout
// whose channel runs are 4 elements or longer.
constexpr Config SimtConfig(TileShape threadblock, TileShape warp, TileShape thread,
                            int dst_alignment = 4) {
  return {Mainloop::kSimt, threadblock, warp, thread, {1, 1, 4}, 2, {4, dst_alignment}};
}
inline constexpr Config kSimt128x128 = SimtConfig({128, 128, 32}, {64, 32, 32}, {8, 8, 4});
inline constexpr Config kSimt128x64 = SimtConfig({128, 64, 32}, {64, 32, 32}, {8, 8, 4});
inline constexpr Config kSimt128x32 = SimtConfig({128, 32, 32}, {64, 32, 32}, {8, 8, 4});
inline constexpr Config kSimt64x64 = SimtConfig({64, 64, 32}, {32, 32, 32}, {4, 8, 4});
inline constexpr Config kSimt32x32 = SimtConfig({32, 32, 32}, {32, 16, 32}, {4, 4, 4});
// For small outputs with long sums: 4 warps share each warp tile.
inline constexpr Config kSimt32x32Deep = SimtConfig({32, 32, 128}, {32, 16, 32}, {4, 4, 4});

// Tiles for float and double, one element a packet.
constexpr Config SimtFmaConfig(TileShape threadblock, TileShape warp, TileShape thread,
                               Alignment alignment) {
  return {Mainloop::kSimt, threadblock, warp, thread, {1, 1, 1}, 2, alignment};
}
inline constexpr Config kSimtFloat128x128 =
    SimtFmaConfig({128, 128, 8}, {64, 32, 8}, {8, 8, 1}, {16, 16});
inline constexpr Config kSimtFloat64x64 =
    SimtFmaConfig({64, 64, 8}, {32, 32, 8}, {8, 4, 1}, {4, 4});
inline constexpr Config kSimtDouble64x64 =
    SimtFmaConfig({64, 64, 8}, {32, 32, 8}, {8, 4, 1}, {8, 8});

// The same with 3 or more stages: cp.async, sm_80 and newer. Of the tile below, k = 32 with 3
// stages is a little faster on Hopper; this one fits in the 99 KB that sm_86 and sm_89 give a
// block.
constexpr Config SimtAsyncConfig(TileShape threadblock, TileShape warp, TileShape thread,
                                 int stages, Alignment alignment) {
  return {Mainloop::kSimt, threadblock, warp, thread, {1, 1, 1}, stages, alignment};
}
inline constexpr Config kSimtFloat128x256 =
    SimtAsyncConfig({128, 256, 16}, {64, 64, 16}, {8, 16, 1}, 4, {16, 16});

// Whether a product of Elements with kSimt goes through cp.async.
template <class Element>
constexpr bool UsesSimtAsync(const Config& config) {
  return config.mainloop == Mainloop::kSimt && config.stages > 2 &&
         (std::is_same_v<Element, float> || std::is_same_v<Element, double>);
}

namespace internal {

// Each thread brings whole columns of the source slice, or equal shares of one.
constexpr bool ThreadsCoverSlice(const TileShape& block, int threads, int packet_elements) {
  if (block.m % threads == 0) return true;
  return threads % block.m == 0 && block.k / packet_elements % (threads / block.m) == 0;
}

}  // namespace internal

// Instantiating this checks Owner::config (and the width of Owner::Epilogue::Output) for packets of
// kPacketElements elements in kPacketBytes bytes; each failure is one sentence.
template <class Owner, int kPacketElements = 4, int kPacketBytes = 4>
struct CheckedSimtTiles {
  static constexpr Config config = Owner::config;

  static_assert(internal::Divides(config.warp, config.threadblock) &&
                    config.threadblock.k % config.warp.k == 0,
                "weft: config.warp must divide config.threadblock in m, n and k");
  static_assert(internal::Divides(config.thread, config.warp) &&
                    config.thread.k == kPacketElements && config.warp.k % kPacketElements == 0,
                "weft: config.thread must divide config.warp in m and n, with thread.k = 4 (one "
                "dp4a) for int8 and 1 for float and double, and warp.k a multiple of it");
  static_assert(
      config.warp.m / config.thread.m * (config.warp.n / config.thread.n) == 32,
      "weft: a warp has 32 threads: (warp.m / thread.m) * (warp.n / thread.n) must be 32");
  static_assert(config.thread.n % 4 == 0 && (config.thread.m == 2 || config.thread.m % 4 == 0),
                "weft: config.thread.n must be a multiple of 4 (one dst word), and thread.m 2 or a "
                "multiple of 4");
  static_assert(config.instruction == TileShape{1, 1, kPacketElements},
                "weft: config.instruction of the simt mainloop is {1, 1, 4}, one dp4a, for int8, "
                "and {1, 1, 1} for float and double");
  static_assert(
      config.stages == 2,
      "weft: the simt mainloop has config.stages = 2, or 3 and more for the float and double "
      "elements of a GEMM");
  static_assert(internal::StoreWidth(config.alignment.dst),
                "weft: config.alignment.dst is 1, 2, 4, 8 or 16 bytes");
  static_assert(config.thread.n * static_cast<int>(sizeof(typename Owner::Epilogue::Output)) %
                        config.alignment.dst ==
                    0,
                "weft: config.alignment.dst is wider than the config.thread.n output channels that "
                "one thread holds");
  static constexpr int kThreads = config.threadblock.m / config.warp.m *
                                  (config.threadblock.n / config.warp.n) *
                                  (config.threadblock.k / config.warp.k) * 32;
  static_assert(kThreads <= 1024, "weft: config.threadblock / config.warp gives over 1024 threads");
  static_assert(internal::ThreadsCoverSlice(config.threadblock, kThreads, kPacketElements),
                "weft: config.threadblock has too many threads for its k extent: threads and "
                "threadblock.m must divide one another, and threads / threadblock.m must divide "
                "the packets of threadblock.k (k / 4 for int8)");
  static_assert(
      std::int64_t{config.stages} * (config.threadblock.k / kPacketElements * kPacketBytes) *
              (config.threadblock.m + config.threadblock.n) <=
          227 * 1024,
      "weft: config.threadblock and config.stages need more than 227 KB of shared memory, "
      "the most any GPU gives one block");
  static constexpr bool kValid = true;
};

// The same for the simt mainloop with cp.async, of elements of kBytes bytes.
template <class Owner, int kBytes>
struct CheckedSimtAsyncTiles {
  static constexpr Config config = Owner::config;
  static constexpr int kVector = 16 / kBytes;

  static_assert(internal::Divides(config.warp, config.threadblock) &&
                    config.threadblock.k == config.warp.k && config.warp.k % 2 == 0,
                "weft: config.warp must divide config.threadblock in m and n; with 3 or more "
                "stages of the simt mainloop both have the same even k");
  static_assert(internal::Divides(config.thread, config.warp) && config.thread.k == 1 &&
                    config.instruction == TileShape{1, 1, 1},
                "weft: config.thread must divide config.warp in m and n; its k and all of "
                "config.instruction are 1 for float and double");
  static_assert(
      config.warp.m / config.thread.m * (config.warp.n / config.thread.n) == 32,
      "weft: a warp has 32 threads: (warp.m / thread.m) * (warp.n / thread.n) must be 32");
  static_assert(config.thread.m % kVector == 0 && config.thread.n % kVector == 0,
                "weft: config.thread.m and n must be multiples of 16 bytes, 4 floats or 2 doubles");
  static_assert(internal::StoreWidth(config.alignment.dst),
                "weft: config.alignment.dst is 1, 2, 4, 8 or 16 bytes");
  static_assert(kVector * static_cast<int>(sizeof(typename Owner::Epilogue::Output)) %
                        config.alignment.dst ==
                    0,
                "weft: config.alignment.dst is wider than the columns of C that lie side by side "
                "in a thread, 4 of a float and 2 of a double product");
  static constexpr int kThreads =
      config.threadblock.m / config.warp.m * (config.threadblock.n / config.warp.n) * 32;
  static_assert(kThreads <= 1024, "weft: config.threadblock / config.warp gives over 1024 threads");
  // 16 bytes: what a row may be padded by.
  static_assert(
      std::int64_t{config.stages} * config.threadblock.k *
              ((config.threadblock.m + config.threadblock.n) * kBytes + 32) <=
          227 * 1024,
      "weft: config.threadblock and config.stages need more than 227 KB of shared memory, "
      "the most any GPU gives one block");
  static constexpr bool kValid = true;
};

}  // namespace weft::gemm
