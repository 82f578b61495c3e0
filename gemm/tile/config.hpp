// Configs: the sizes that an operator is compiled for. Each mainloop has a type of its own, with
// the members that it needs.
//
// threadblock is one block's share of the output and its step in k; warp is one warp's share.
//
// registers: how many registers a thread may use. The compiler is held to it, and a kernel that
// then spills fails the build; 65536 / (registers * threads) blocks share a multiprocessor. 0
// stands for the mainloop's own estimate for the tile.
#pragma once

#include <concepts>
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

// Any config as values, to be shown to people and for the tile model. Members that a mainloop lacks
// have their defaults.
struct TileDescription {
  Mainloop mainloop = Mainloop::kSimt;
  TileShape threadblock, warp;
  TileShape thread;       // simt
  TileShape instruction;  // of tensor cores, for int8
  int stages = 2;
  Alignment alignment;
  int blocks_per_sm = 0;    // wgmma_sm90
  int cluster_split_k = 1;  // wgmma_sm90
  int packed_rows = 1;      // wgmma_sm90
  bool ping_pong = false;   // wgmma_sm90
  // The name of a Mainloop::kOther: the same array for all of its tiles.
  const char* other = nullptr;

  constexpr const char* name() const {
    return mainloop == Mainloop::kOther ? other : MainloopName(mainloop);
  }

  friend constexpr bool operator==(const TileDescription&, const TileDescription&) = default;
};

// Whether a policy has `using Sum = weft::Half`. mma_sm80 then keeps its accumulators as halves,
// two to a register. wgmma_sm90 keeps floats, which its instructions add at the same rate, so that
// nothing is rounded before the epilogue.
template <class PolicyT>
inline constexpr bool kHalfSums = false;
template <class PolicyT>
  requires std::is_same_v<typename PolicyT::Sum, Half>
inline constexpr bool kHalfSums<PolicyT> = true;

// Whether a policy that names a type Sum, or a type FilterElement or ElementB of its other operand,
// names the type that it is anyway; one that names none does.
template <class PolicyT, class SumT>
inline constexpr bool kNamesNoOtherSum = true;
template <class PolicyT, class SumT>
  requires requires { typename PolicyT::Sum; }
inline constexpr bool kNamesNoOtherSum<PolicyT, SumT> = std::is_same_v<typename PolicyT::Sum, SumT>;
template <class PolicyT, class ElementT>
inline constexpr bool kNamesNoOtherFilter = true;
template <class PolicyT, class ElementT>
  requires requires { typename PolicyT::FilterElement; }
inline constexpr bool kNamesNoOtherFilter<PolicyT, ElementT> =
    std::is_same_v<typename PolicyT::FilterElement, ElementT>;
template <class PolicyT, class ElementT>
inline constexpr bool kNamesNoOtherB = true;
template <class PolicyT, class ElementT>
  requires requires { typename PolicyT::ElementB; }
inline constexpr bool kNamesNoOtherB<PolicyT, ElementT> =
    std::is_same_v<typename PolicyT::ElementB, ElementT>;

// Each config can also be made by the names of its members instead of their order, which differs
// between types: MmaSm80Config({.threadblock = {128, 128, 64}, .warp = {64, 32, 64}, .stages = 3}).
// Fields has the members that a type uses; one that is left out has the value that the constructor
// without names gives it.

// Mainloop simt: dp4a for int8, fma for float and double.
struct SimtConfig {
  static constexpr Mainloop kMainloop = Mainloop::kSimt;
  TileShape threadblock;
  TileShape warp;    // with .k below threadblock.k, several warps share each k tile
  TileShape thread;  // one thread's outputs, m x n; .k: elements of an instruction, 4 (dp4a) or 1
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

// Mainloop simt_async: fma for float and double, with a ring of stages that cp.async fills.
struct SimtAsyncConfig {
  static constexpr Mainloop kMainloop = Mainloop::kSimtAsync;
  TileShape threadblock, warp;
  TileShape thread;  // one thread's outputs, m x n; .k is 1
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

// Mainloop mma_sm80: int8 through m16n8k32, 16-bit floats through m16n8k16, doubles through
// m16n8k8, with a ring of stages that cp.async fills.
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

// Mainloop wgmma_sm90: int8, and in matrix products also 8-bit and 16-bit floats and tf32, through
// wgmma of sm_90a, with a ring of stages that TMA fills. warp is one warpgroup's share: m is a
// legal N of wgmma (arch::IsWgmmaN), n a multiple of 64. threadblock.k, and warp.k with it, is what
// a stage holds of k where a TMA copy serves one tap. Over NCxHWx<4> (alignment.src 4) a stage
// holds all of k.
//
// WgmmaSm90Config({224, 128, 128}, {224, 64, 128}): two warpgroups, each with 64 channels of 224
// pixels.
struct WgmmaSm90Config {
  static constexpr Mainloop kMainloop = Mainloop::kWgmmaSm90;
  TileShape threadblock, warp;
  int blocks_per_sm;  // that share a multiprocessor, 1 or 2: they split shared memory and registers
  Alignment alignment;
  int registers = 0;  // of a consumer thread; at most what its warpgroups can have
  // Cluster split-K: 1, 2, 4 or 8 blocks of a cluster share the k tiles of a tile, for problems of
  // few tiles. Each multiplies some of them, and stores its part of warp.m, which is a multiple of
  // 8 rows.
  int cluster_split_k = 1;
  // Packed output rows, for convolutions with few channels: how many output rows the columns of a
  // tile hold, 1 or 2. With 2, threadblock.n is 64, 32 channels of two rows each
  // (conv/plan/packed_rows.hpp).
  int packed_rows = 1;
  // Ping-pong: two groups of consumer warpgroups, of which one stores its tile while the other
  // multiplies the next. It excludes cluster_split_k, and products of Listed and Grouped.
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

// Any of the config types above.
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

// `config` with cluster split-K among `split` blocks, 1, 2, 4 or 8.
constexpr WgmmaSm90Config WithClusterSplitK(WgmmaSm90Config config, int split) {
  config.cluster_split_k = split;
  return config;
}

// `config` for tiles with `rows` packed output rows, 1 or 2.
constexpr WgmmaSm90Config WithPackedRows(WgmmaSm90Config config, int rows) {
  config.packed_rows = rows;
  return config;
}

// `config` for ping-pong: twice as many consumer warpgroups, of which one half stores while the
// other multiplies.
constexpr WgmmaSm90Config WithPingPong(WgmmaSm90Config config) {
  config.ping_pong = true;
  return config;
}

// Configs that suit most layers, ready to be named in a policy: kSimt64x64, kMma128x128,
// kWgmma128x256 and the others of the table of tiles.
#define WEFT_NAMED_TILE(type, constant, value, ...) \
  [[gnu::visibility("hidden")]] inline constexpr auto constant = value;
#define WEFT_CONSTANT(constant, value, ...) \
  [[gnu::visibility("hidden")]] inline constexpr auto constant = value;
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
