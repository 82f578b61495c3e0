// The numbers of an operator: a type for each mainloop, with the numbers that it needs.
//
// threadblock is one block's share of the output and its step in k; warp one warp's share.
//
// registers: what a thread may use. The compiler is held to it, and a kernel that then spills fails
// the build; 65536 / (registers * threads) blocks share a multiprocessor. 0: the mainloop's own
// estimate for the tile.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "weft/gemm/tile/tile.hpp"
#include "weft/layouts/element/float16.hpp"

namespace weft::gemm {

// Widths in bytes of one thread's accesses to global memory.
struct Alignment {
  int src = 0;  // of operands: 16, 8, 4 or 2
  int dst = 0;  // of stores: 1, 2, 4, 8 or 16, at most what lies side by side in the output

  friend constexpr bool operator==(const Alignment&, const Alignment&) = default;
};

// Any config as values, for people and for the tile model. Members a mainloop lacks are zero.
struct TileDescription {
  Mainloop mainloop = Mainloop::kSimt;
  TileShape threadblock, warp;
  TileShape thread;       // simt
  TileShape instruction;  // tensor cores; of int8
  int stages = 2;
  Alignment alignment;
  int blocks_per_sm = 0;    // wgmma_sm90
  int cluster_split_k = 1;  // wgmma_sm90
  int packed_rows = 1;      // wgmma_sm90
  bool ping_pong = false;   // wgmma_sm90
  // Mainloop::kOther: its name, the same array for all of its tiles.
  const char* other = nullptr;

  constexpr const char* name() const {
    return mainloop == Mainloop::kOther ? other : MainloopName(mainloop);
  }

  friend constexpr bool operator==(const TileDescription&, const TileDescription&) = default;
};

// Whether a policy has `using Sum = weft::Half`: mma_sm80 then keeps its sums as halves, two to a
// register. wgmma_sm90 keeps floats, which its instructions add at the same rate, so that nothing is rounded
// before the epilogue.
template <class PolicyT>
inline constexpr bool kHalfSums = false;
template <class PolicyT>
  requires std::is_same_v<typename PolicyT::Sum, Half>
inline constexpr bool kHalfSums<PolicyT> = true;

// A config by the names of its numbers, for who prefers them to their order, which differs from one type to
// the next: MmaSm80Config({.threadblock = {128, 128, 64}, .warp = {64, 32, 64}, .stages = 3}). What a type has
// no use for is not among its Fields; what is left out has the value of the constructor without names.

// Mainloop simt: dp4a for int8, fma for float and double.
struct SimtConfig {
  static constexpr Mainloop kMainloop = Mainloop::kSimt;
  TileShape threadblock;
  TileShape warp;    // with .k below threadblock.k, several warps share each k tile
  TileShape thread;  // one thread's sums, m x n; .k elements of an instruction: 4 (dp4a) or 1
  Alignment alignment;
  int registers = 0;

  constexpr SimtConfig(TileShape block_tile, TileShape warp_tile, TileShape thread_tile,
                       Alignment accesses)
      : threadblock(block_tile), warp(warp_tile), thread(thread_tile), alignment(accesses) {}
  // For convolutions; the dst alignment fits every layout of channel runs of 4 elements or more.
  constexpr SimtConfig(TileShape block_tile, TileShape warp_tile, TileShape thread_tile,
                       int dst_alignment = 4)
      : SimtConfig(block_tile, warp_tile, thread_tile, Alignment{4, dst_alignment}) {}
  struct Fields {
    TileShape threadblock, warp, thread;
    Alignment alignment = {4, 4};
    int registers = 0;
  };
  constexpr SimtConfig(const Fields& f)  // NOLINT(runtime/explicit)
      : SimtConfig(f.threadblock, f.warp, f.thread, f.alignment) {
    registers = f.registers;
  }
  constexpr operator TileDescription() const {  // NOLINT(runtime/explicit): a view of the same
    return {kMainloop, threadblock, warp, thread, {1, 1, thread.k}, 2, alignment};
  }
};

// Mainloop simt_async: fma for float and double, a ring of cp.async buffers.
struct SimtAsyncConfig {
  static constexpr Mainloop kMainloop = Mainloop::kSimtAsync;
  TileShape threadblock, warp;
  TileShape thread;  // one thread's sums, m x n; .k is 1
  int stages;        // 3 or more
  Alignment alignment;
  int registers = 0;

  constexpr SimtAsyncConfig(TileShape block_tile, TileShape warp_tile, TileShape thread_tile,
                            int stage_count, Alignment accesses)
      : threadblock(block_tile),
        warp(warp_tile),
        thread(thread_tile),
        stages(stage_count),
        alignment(accesses) {}
  constexpr operator TileDescription() const {  // NOLINT(runtime/explicit)
    return {kMainloop, threadblock, warp, thread, {1, 1, 1}, stages, alignment};
  }
};

// Mainloop mma_sm75: int8 through m8n8k16.
struct MmaSm75Config {
  static constexpr Mainloop kMainloop = Mainloop::kMmaSm75;
  TileShape threadblock, warp;
  Alignment alignment;  // dst: 8 fits channel runs of 8 bytes and longer; 16 is for int8 outputs
  int registers = 0;

  constexpr MmaSm75Config(TileShape block_tile, TileShape warp_tile, int dst_alignment = 8)
      : threadblock(block_tile), warp(warp_tile), alignment{16, dst_alignment} {}
  struct Fields {
    TileShape threadblock, warp;
    Alignment alignment = {16, 8};
    int registers = 0;
  };
  constexpr MmaSm75Config(const Fields& f)  // NOLINT(runtime/explicit)
      : threadblock(f.threadblock), warp(f.warp), alignment(f.alignment), registers(f.registers) {}
  constexpr operator TileDescription() const {  // NOLINT(runtime/explicit)
    return {kMainloop, threadblock, warp, {}, {8, 8, 16}, 2, alignment};
  }
};

// Mainloop mma_sm80: int8 through m16n8k32, 16-bit floats through m16n8k16, doubles through m16n8k8, a
// ring of cp.async buffers.
struct MmaSm80Config {
  static constexpr Mainloop kMainloop = Mainloop::kMmaSm80;
  TileShape threadblock;
  TileShape warp;  // with .k below threadblock.k, several warps share each k tile
  int stages;      // 3 or more
  Alignment alignment;
  int registers = 0;

  constexpr MmaSm80Config(TileShape block_tile, TileShape warp_tile, int stage_count,
                          Alignment accesses)
      : threadblock(block_tile), warp(warp_tile), stages(stage_count), alignment(accesses) {}
  // dst_alignment: 8 fits every layout whose channel runs are 8 bytes or longer.
  constexpr MmaSm80Config(TileShape block_tile, TileShape warp_tile, int stage_count,
                          int dst_alignment = 8)
      : MmaSm80Config(block_tile, warp_tile, stage_count, Alignment{16, dst_alignment}) {}
  struct Fields {
    TileShape threadblock, warp;
    int stages = 0;
    Alignment alignment = {16, 8};
    int registers = 0;
  };
  constexpr MmaSm80Config(const Fields& f)  // NOLINT(runtime/explicit)
      : MmaSm80Config(f.threadblock, f.warp, f.stages, f.alignment) {
    registers = f.registers;
  }
  template <class Shape = TileShape>
  constexpr MmaSm80Config(Shape, Shape) {
    static_assert(sizeof(Shape) == 0,
                  "weft: MmaSm80Config(threadblock, warp, stages) needs its stages, 3 or more");
  }
  constexpr operator TileDescription() const {  // NOLINT(runtime/explicit)
    return {kMainloop, threadblock, warp, {}, {16, 8, 32}, stages, alignment};
  }
};

// Mainloop wgmma_sm90: int8, and of matrix products 8-bit and 16-bit floats and tf32, through the
// warpgroup products of sm_90a, a ring of stages that TMA fills. warp is one warpgroup's
// share: m a legal N of wgmma (arch::IsWgmmaN), n a multiple of 64; threadblock.k, and warp.k with
// it, is what a stage holds of k where a copy serves one tap. Over NCxHWx<4> (alignment.src 4) a
// stage holds all of k.
// WgmmaSm90Config({224, 128, 128}, {224, 64, 128}): two warpgroups, 64 channels of 224 pixels each.
struct WgmmaSm90Config {
  static constexpr Mainloop kMainloop = Mainloop::kWgmmaSm90;
  TileShape threadblock, warp;
  int blocks_per_sm;  // that share a multiprocessor, 1 or 2: they divide shared memory and registers
  Alignment alignment;
  int registers = 0;  // of a thread that multiplies; at most what its warpgroups can have
  // Blocks of a cluster that share the k tiles of a tile, 1, 2, 4 or 8, for problems of few tiles:
  // each multiplies some, and stores every split-th of warp.m, a multiple of 8.
  int cluster_split_k = 1;
  // Of convolutions with few channels, 1 or 2: output rows that the columns of a tile hold. With 2,
  // threadblock.n is 64, 32 channels of two rows each (conv/plan/packed_rows.hpp).
  int packed_rows = 1;
  // Ping-pong: two groups of warpgroups, of which one stores its tile while the other multiplies the
  // next. Not with cluster_split_k, nor in products of Listed and Grouped.
  bool ping_pong = false;

  // dst_alignment: 16 fits NCxHWx<32>, and NHWC whose K is a multiple of 16.
  constexpr WgmmaSm90Config(TileShape block_tile, TileShape warp_tile, int resident_blocks = 1,
                            int dst_alignment = 16)
      : threadblock(block_tile),
        warp(warp_tile),
        blocks_per_sm(resident_blocks),
        alignment{16, dst_alignment} {}
  struct Fields {
    TileShape threadblock, warp;
    int blocks_per_sm = 1;
    Alignment alignment = {16, 16};
    int registers = 0;
    int cluster_split_k = 1, packed_rows = 1;
    bool ping_pong = false;
  };
  constexpr WgmmaSm90Config(const Fields& f)  // NOLINT(runtime/explicit)
      : threadblock(f.threadblock),
        warp(f.warp),
        blocks_per_sm(f.blocks_per_sm),
        alignment(f.alignment),
        registers(f.registers),
        cluster_split_k(f.cluster_split_k),
        packed_rows(f.packed_rows),
        ping_pong(f.ping_pong) {}
  constexpr operator TileDescription() const {  // NOLINT(runtime/explicit)
    return {kMainloop,     threadblock,     warp,        {},       {warp.m, 64, 32}, 2, alignment,
            blocks_per_sm, cluster_split_k, packed_rows, ping_pong};
  }
};

// One of the types above.
template <class ConfigT>
concept Config = requires(const ConfigT c) {
  { ConfigT::kMainloop } -> std::convertible_to<Mainloop>;
  { c.alignment } -> std::convertible_to<Alignment>;
  { c.registers } -> std::convertible_to<int>;
};

// `config` with stores of `bytes` bytes: WithDstAlignment(kSimt64x64, 1) for NHWC with any K, 8 for
// NCxHWx<32>.
template <Config ConfigT>
constexpr ConfigT WithDstAlignment(ConfigT config, int bytes) {
  config.alignment.dst = bytes;
  return config;
}

// `config` with loads of `bytes` bytes: 8 or 4 for NHWC whose C is not a multiple of 16.
template <Config ConfigT>
constexpr ConfigT WithSrcAlignment(ConfigT config, int bytes) {
  config.alignment.src = bytes;
  return config;
}

// `config` with another register budget.
template <Config ConfigT>
constexpr ConfigT WithRegisters(ConfigT config, int registers) {
  config.registers = registers;
  return config;
}

// `config` for clusters of `split` blocks to a tile.
constexpr WgmmaSm90Config WithClusterSplitK(WgmmaSm90Config config, int split) {
  config.cluster_split_k = split;
  return config;
}

// `config` for tiles that hold `rows` output rows side by side.
constexpr WgmmaSm90Config WithPackedRows(WgmmaSm90Config config, int rows) {
  config.packed_rows = rows;
  return config;
}

// `config` for ping-pong: twice as many warpgroups, of which one half stores while the other
// multiplies.
constexpr WgmmaSm90Config WithPingPong(WgmmaSm90Config config) {
  config.ping_pong = true;
  return config;
}

// Configs that suit most layers, ready to be named in a policy: kSimt64x64, kMma128x128, kWgmma128x256 and the others of the
// table of tiles.
#define WEFT_NAMED_TILE(type, constant, value, ...) inline constexpr auto constant = value;
#define WEFT_CONSTANT(constant, value, ...) inline constexpr auto constant = value;
#include "weft/gemm/tile/tiles.def"

namespace internal {

constexpr bool PositiveTile(const TileShape& t) {
  return t.m > 0 && t.n > 0 && t.k > 0;
}

constexpr bool Divides(const TileShape& part, const TileShape& whole) {
  return PositiveTile(part) && PositiveTile(whole) && whole.m % part.m == 0 &&
         whole.n % part.n == 0 && whole.k % part.k == 0;
}

constexpr bool StoreWidth(int bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
}

}  // namespace internal
}  // namespace weft::gemm
