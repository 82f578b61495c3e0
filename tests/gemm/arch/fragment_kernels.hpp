// primitive_kernels.hpp of tensor cores: ldmatrix and mma.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tests/gemm/arch/primitive_kernels.hpp"
#include "weft/layouts/element/float16.hpp"
#include "weft/layouts/element/float8.hpp"
#include "weft/layouts/element/tf32.hpp"

namespace weft::arch::testing {
inline namespace WEFT_BACKEND {

// Matrices i of an 8 x 8 x b16 tile, whose rows are taken in the order Row(i, j).
template <int kMatrices>
struct LdMatrixKernel {
  static constexpr int kThreads = 32;
  static constexpr arch::Requires kRequires{.min = 75};
  using Params = WordParams;  // in: 32 rows x 4; out: 32 lanes x kMatrices
  struct SharedStorage {
    Word4 row[32];
  };

  static constexpr int Row(int lane) { return (lane * 7 + 3) % 32; }

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    for (int w = 0; w < 4; ++w) shared.row[t.lane()].w[w] = p.in[4 * t.lane() + w];
    t.SyncWarp();
    const uint32_t address = t.SharedAddress(&shared.row[Row(t.lane())]);
    uint32_t r[kMatrices];
    if constexpr (kMatrices == 1) {
      t.LdMatrixX1(r, address);
    } else if constexpr (kMatrices == 2) {
      t.LdMatrixX2(r, address);
    } else {
      t.LdMatrixX4(r, address);
    }
    for (int i = 0; i < kMatrices; ++i) p.out[t.lane() * kMatrices + i] = r[i];
  }
};

// m16n8k32 of bytes, m16n8k64 of 4 bits. in: 32 lanes x (4 of a, 2 of b, 4 of c); out: 32 lanes x 4 of d.
template <int kK, bool kUnsignedA>
struct MmaM16N8Kernel {
  static constexpr int kThreads = 32;
  static constexpr arch::Requires kRequires{.min = 80};
  using Params = WordParams;
  using SharedStorage = NoShared;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, Thread t) const {
    const uint32_t* in = p.in + 10 * t.lane();
    const uint32_t a[4] = {in[0], in[1], in[2], in[3]};
    const uint32_t b[2] = {in[4], in[5]};
    int32_t sum[4] = {static_cast<int32_t>(in[6]), static_cast<int32_t>(in[7]),
                      static_cast<int32_t>(in[8]), static_cast<int32_t>(in[9])};
    if constexpr (kK == 64) {
      kUnsignedA ? t.MmaM16N8K64U4S4(sum, a, b, sum) : t.MmaM16N8K64S4(sum, a, b, sum);
    } else {
      kUnsignedA ? t.MmaM16N8K32U8S8(sum, a, b, sum) : t.MmaM16N8K32S8(sum, a, b, sum);
    }
    for (int i = 0; i < 4; ++i) p.out[4 * t.lane() + i] = static_cast<uint32_t>(sum[i]);
  }
};

// m8n8k16 of bytes, m8n8k32 of 4 bits. in: 32 lanes x (1 of a, 1 of b, 2 of c); out: 32 lanes x 2 of d.
template <int kK, bool kUnsignedA>
struct MmaM8N8Kernel {
  static constexpr int kThreads = 32;
  static constexpr arch::Requires kRequires{.min = 75};
  using Params = WordParams;
  using SharedStorage = NoShared;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, Thread t) const {
    const uint32_t* in = p.in + 4 * t.lane();
    int32_t sum[2] = {static_cast<int32_t>(in[2]), static_cast<int32_t>(in[3])};
    if constexpr (kK == 32) {
      kUnsignedA ? t.MmaM8N8K32U4S4(sum, in[0], in[1], sum)
                 : t.MmaM8N8K32S4(sum, in[0], in[1], sum);
    } else {
      kUnsignedA ? t.MmaM8N8K16U8S8(sum, in[0], in[1], sum)
                 : t.MmaM8N8K16S8(sum, in[0], in[1], sum);
    }
    for (int i = 0; i < 2; ++i) p.out[2 * t.lane() + i] = static_cast<uint32_t>(sum[i]);
  }
};

// m16n8 of Es into floats, of kWords_ words of k: 8, or of Half 4. in: 32 lanes x (kA of a, kB of b, 4 of c,
// integers); out: 32 lanes x 4 of d, likewise.
template <class E, int kWords_ = 8>
struct MmaFloatsKernel {
  using Element = E;
  static constexpr int kThreads = 32;
  static constexpr int kWords = kWords_, kA = kWords / 2, kB = kWords / 4, kIn = kA + kB + 4;
  static constexpr arch::Requires kRequires{.min = sizeof(E) == 1 ? 89 : kWords == 4 ? 75 : 80};
  using Params = WordParams;
  using SharedStorage = NoShared;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, Thread t) const {
    const uint32_t* in = p.in + kIn * t.lane();
    uint32_t a[kA], b[kB];
    float c[4], d[4];
    for (int i = 0; i < kA; ++i) a[i] = in[i];
    for (int i = 0; i < kB; ++i) b[i] = in[kA + i];
    for (int i = 0; i < 4; ++i) c[i] = static_cast<float>(static_cast<int32_t>(in[kA + kB + i]));
    if constexpr (kWords == 4) {
      t.MmaM16N8K8F16(d, a, b, c);
    } else if constexpr (std::is_same_v<E, Bfloat16>) {
      t.MmaM16N8K16Bf16(d, a, b, c);
    } else if constexpr (std::is_same_v<E, Tf32>) {
      t.MmaM16N8K8Tf32(d, a, b, c);
    } else if constexpr (std::is_same_v<E, Float8E4m3>) {
      t.MmaM16N8K32E4m3(d, a, b, c);
    } else if constexpr (std::is_same_v<E, Float8E5m2>) {
      t.MmaM16N8K32E5m2(d, a, b, c);
    } else {
      t.MmaM16N8K16F16(d, a, b, c);
    }
    for (int i = 0; i < 4; ++i) {
      p.out[4 * t.lane() + i] = static_cast<uint32_t>(static_cast<int32_t>(d[i]));
    }
  }
};

// The same with halves for sums, two to a word. in: 32 lanes x (4 of a, 2 of b, 2 of c); out: 32 lanes x 2
// of d.
struct MmaM16N8K16HalfSumsKernel {
  static constexpr int kThreads = 32;
  static constexpr arch::Requires kRequires{.min = 80};
  using Params = WordParams;
  using SharedStorage = NoShared;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, Thread t) const {
    const uint32_t* in = p.in + 8 * t.lane();
    const uint32_t a[4] = {in[0], in[1], in[2], in[3]};
    const uint32_t b[2] = {in[4], in[5]};
    uint32_t c[2] = {in[6], in[7]};
    t.MmaM16N8K16F16HalfSums(c, a, b, c);
    for (int i = 0; i < 2; ++i) p.out[2 * t.lane() + i] = c[i];
  }
};

// Of doubles, low word first. in: 32 lanes x (4 of a, 2 of b, 4 of c); out: 32 lanes x 4 of d.
struct MmaM16N8K8F64Kernel {
  static constexpr int kThreads = 32;
  static constexpr arch::Requires kRequires{.min = 80};
  using Params = WordParams;
  using SharedStorage = NoShared;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, Thread t) const {
    const uint32_t* in = p.in + 20 * t.lane();
    double a[4], b[2], c[4];
    std::memcpy(a, in, sizeof(a));
    std::memcpy(b, in + 8, sizeof(b));
    std::memcpy(c, in + 12, sizeof(c));
    t.MmaM16N8K8F64(c, a, b, c);
    std::memcpy(p.out + 8 * t.lane(), c, sizeof(c));
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::arch::testing
