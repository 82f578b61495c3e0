// Operands of warpgroup products for tests: matrices of numbers that sums hold exactly, and where
// they lie in shared memory.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tests/gemm/arch/noise.hpp"
#include "tests/gemm/arch/wgmma_kernels.hpp"
#include "weft/gemm/arch/isa/wgmma.hpp"

namespace weft::arch::testing {

// Bytes as they are; for floats the bits of -4 to 4.
constexpr uint32_t ElementBits(WgmmaType type, int value) {
  constexpr uint32_t kF16[] = {0, 0x3C00, 0x4000, 0x4200, 0x4400};
  constexpr uint32_t kBf16[] = {0, 0x3F80, 0x4000, 0x4040, 0x4080};
  constexpr uint32_t kE4m3[] = {0, 0x38, 0x40, 0x44, 0x48};
  constexpr uint32_t kE5m2[] = {0, 0x3C, 0x40, 0x42, 0x44};
  const int size = value < 0 ? -value : value;
  const auto sign = static_cast<uint32_t>(value < 0);
  switch (type) {
    case WgmmaType::kS8:
    case WgmmaType::kS8U8:
      return static_cast<uint8_t>(value);
    case WgmmaType::kF16:
      return kF16[size] | sign << 15;
    case WgmmaType::kBf16:
      return kBf16[size] | sign << 15;
    case WgmmaType::kTf32:
      return kBf16[size] << 16 | sign << 31;
    case WgmmaType::kE4m3:
      return kE4m3[size] | sign << 7;
    case WgmmaType::kE5m2:
      return kE5m2[size] | sign << 7;
  }
  return 0;
}

// rows x k numbers, row by row.
struct Matrix {
  int rows = 0;
  int k = 0;
  std::vector<int> value;
  int at(int row, int column) const { return value[static_cast<size_t>(row) * k + column]; }
};

// kS8U8: unsigned bytes, for B.
inline Matrix RandomMatrix(WgmmaType type, int rows, int k, uint64_t seed) {
  Matrix m{rows, k, {}};
  Noise noise(seed);
  for (int i = 0; i < rows * k; ++i) {
    const auto bits = noise.Next() >> 20;
    m.value.push_back(type == WgmmaType::kS8     ? static_cast<int8_t>(bits)
                      : type == WgmmaType::kS8U8 ? static_cast<uint8_t>(bits)
                                                 : static_cast<int>(bits % 9) - 4);
  }
  return m;
}

// Where an operand of one or more products lies: element by element, in words of this file.
//   K-major, swizzled     rows of `span` bytes; eight rows are an atom, atoms `stride` apart;
//   16-byte
//                         chunk c of line l (128 bytes) lies at c xor l mod (span / 16)
//   K-major, not swizzled chunks of 16 bytes: eight rows one after the other; `leading` to the next
//                         16 bytes of k, `stride` to the next eight rows
//   MN-major              chunks of eight rows (16 bytes) of one k; span / 16 chunks side by side,
//                         then `leading`; k after k `span` bytes, eight k `stride`
struct Placement {
  WgmmaLayout layout;
  bool mn_major = false;
  uint32_t start = 0;
};

inline void Place(const Matrix& m, WgmmaType type, const Placement& p,
                  std::vector<uint32_t>* arena) {
  const int size = WgmmaElementBytes(type);
  auto* bytes = reinterpret_cast<uint8_t*>(arena->data());
  const int span = static_cast<int>(p.layout.swizzle);
  const auto leading = static_cast<int>(p.layout.leading);
  const auto stride = static_cast<int>(p.layout.stride);
  for (int row = 0; row < m.rows; ++row) {
    for (int k = 0; k < m.k; ++k) {
      const int kb = k * size;
      int at = static_cast<int>(p.start);
      if (!p.mn_major && span == 0) {
        at += row / 8 * stride + kb / 16 * leading + row % 8 * 16 + kb % 16;
      } else if (!p.mn_major) {
        at += row / 8 * stride + row % 8 * span + kb;
      } else if (span == 0) {
        at += row / 8 * stride + k / 8 * leading + k % 8 * 16 + row % 8 * size;
      } else {
        const int block = span / 2;  // rows side by side
        at += row / block * leading + k / 8 * stride + k % 8 * span + row % block * size;
      }
      if (span != 0) {
        const int line = at / 128, chunk = at % 128 / 16;
        at = line * 128 + (chunk ^ line % (span / 16)) * 16 + at % 16;
      }
      const uint32_t bits = ElementBits(type, m.at(row, k));
      for (int i = 0; i < size; ++i) bytes[at + i] = static_cast<uint8_t>(bits >> 8 * i);
    }
  }
}

// The widths of products that tests and golden vectors make of every type, and of some types.
using EveryN = std::integer_sequence<int, 8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176,
                                     192, 208, 224, 240, 256>;
using SeveralN = std::integer_sequence<int, 8, 96, 128, 256>;

// A product as tests and golden vectors know it.
struct ProductCase {
  const char* name;
  Placement a, b;
  int products = 1;  // along k
  bool from_zero = false;
};

// All but the addresses, which a run fills in.
inline WgmmaParams ParamsOf(const ProductCase& c) {
  return {.arena = nullptr,
          .out = nullptr,
          .words = 0,
          .start_a = c.a.start,
          .start_b = c.b.start,
          .step_a = 32,
          .step_b = 32,
          .a = c.a.layout,
          .b = c.b.layout,
          .products = static_cast<uint32_t>(c.products),
          .from_zero = c.from_zero};
}

// How one operand can lie; the second half at addresses and strides of no particular alignment.
inline std::vector<ProductCase> ProductCases(int n) {
  const auto un = static_cast<uint32_t>(n);
  const Placement a32{{SwizzleSpan::k32, 16, 256}, false, 0};
  const Placement b32{{SwizzleSpan::k32, 16, 256}, false, 8192};
  return {
      {"swizzle32", a32, b32, 1, false},
      {"no_swizzle",
       {{SwizzleSpan::kNone, 128, 256}, false, 0},
       {{SwizzleSpan::kNone, un * 16, 128}, false, 8192},
       1,
       true},
      {"swizzle64",
       {{SwizzleSpan::k64, 16, 512}, false, 0},
       {{SwizzleSpan::k64, 16, 512}, false, 8192},
       2,
       false},
      {"swizzle128",
       {{SwizzleSpan::k128, 16, 1024}, false, 0},
       {{SwizzleSpan::k128, 16, 1024}, false, 8192},
       4,
       true},
      {"shifted32",
       {{SwizzleSpan::k32, 16, 256}, false, 96},
       {{SwizzleSpan::k32, 16, 320}, false, 8192 + 416},
       1,
       false},
      {"shifted64",
       {{SwizzleSpan::k64, 16, 544}, false, 160},
       {{SwizzleSpan::k64, 16, 608}, false, 8192 + 288},
       2,
       true},
      {"shifted128",
       {{SwizzleSpan::k128, 16, 1056}, false, 32},
       {{SwizzleSpan::k128, 16, 1120}, false, 9216 + 736},
       1,
       false},
      {"shifted_no_swizzle",
       {{SwizzleSpan::kNone, 1168, 144}, false, 48},
       {{SwizzleSpan::kNone, 176, 304}, false, 8192 + 80},
       1,
       false},
  };
}

}  // namespace weft::arch::testing
