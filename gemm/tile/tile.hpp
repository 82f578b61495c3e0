// Tile shapes, and the names of the mainloops.
#pragma once

#include <cstdint>

#include "weft/layouts/base/compiler.hpp"

namespace weft::gemm {

// Extents of a tile of the product C[m][n] += A[m][k] B[k][n]. k counts elements, not bytes.
struct TileShape {
  int m = 0;
  int n = 0;
  int k = 0;

  friend constexpr bool operator==(const TileShape&, const TileShape&) = default;
};

enum class Mainloop {
  kSimt,       // dp4a for int8, fma for float and double; any GPU from sm_75; two buffers
  kSimtAsync,  // fma for float and double; sm_80 and newer; a ring of cp.async buffers
  kMmaSm75,    // tensor cores, m8n8k16 of int8; any GPU from sm_75; two buffers
  // Tensor cores, m16n8k32 of int8, m16n8k16 of 16-bit floats, m16n8k8 of doubles; sm_80 and newer;
  // a ring of cp.async buffers.
  kMmaSm80,
  kWgmmaSm90,  // tensor cores, wgmma; sm_90a only; a ring that TMA fills
  kOther,  // what an operator that is no product multiplies by; TileDescription::other is its name
};

constexpr const char* MainloopName(Mainloop mainloop) {
  constexpr const char* kNames[] = {"simt",     "simt_async", "mma_sm75",
                                    "mma_sm80", "wgmma_sm90", "other"};
  return kNames[static_cast<int>(mainloop)];
}

// The k tiles of a tile that a block multiplies: `begin` to `end` - 1 of `all`. With cluster
// split-K a block may have none.
struct KTileRange {
  int begin = 0, end = 0, all = 0;
};

template <class Type>
constexpr Type CeilDiv(Type a, Type b) {
  return (a + b - 1) / b;
}

// Narrows a number that a check has found to fit into 32 bits, which kernels use.
inline constexpr std::int64_t kInt32Max = 0x7fffffff;
constexpr std::int32_t Int32(std::int64_t x) {
  return static_cast<std::int32_t>(x);
}

// The row that is `rows` rows behind `row`. The sum wraps around instead of overflowing where it is
// beyond 32 bits; the product then has no such row.
constexpr std::int32_t AddRows(std::int32_t row, std::int32_t rows) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(row) +
                                   static_cast<std::uint32_t>(rows));
}

// A mask of the first `count` bytes of a word: all of them if count >= 4, none if count <= 0.
constexpr std::uint32_t FirstBytes(std::int32_t count) {
  return count >= 4 ? ~0u : count <= 0 ? 0u : (1u << (8 * count)) - 1u;
}

}  // namespace weft::gemm
