// Tile shapes, and the names of the mainloops.
#pragma once

#include <cstdint>

namespace weft::gemm {

// Extents of a tile of the product C[m][n] += A[m][k] B[k][n]. k counts elements, not bytes.
// In a convolution m runs over output pixels (N P Q), n over output channels (K) and k over the
// taps (C R S).
struct TileShape {
  int m = 0;
  int n = 0;
  int k = 0;

  friend constexpr bool operator==(const TileShape&, const TileShape&) = default;
};

enum class Mainloop {
  kSimt,     // dp4a for int8; any GPU from sm_75; register-staged, 2 stages
  kMmaSm75,  // tensor cores, m8n8k16 for int8; any GPU from sm_75; register-staged, 2 stages
  kMmaSm80,  // tensor cores, m16n8k32 for int8; sm_80 and newer; cp.async, 3 or more stages
};

constexpr const char* MainloopName(Mainloop mainloop) {
  switch (mainloop) {
    case Mainloop::kSimt:
      return "simt";
    case Mainloop::kMmaSm75:
      return "mma_sm75";
    case Mainloop::kMmaSm80:
      return "mma_sm80";
  }
  return "";
}

constexpr int CeilDiv(int a, int b) {
  return (a + b - 1) / b;
}
constexpr std::int64_t CeilDiv(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

}  // namespace weft::gemm
