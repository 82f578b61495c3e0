// Micro-kernels for golden vectors, one for each primitive that primitive_kernels.hpp does not
// already run alone. Words in, words out.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tests/gemm/arch/fragment_kernels.hpp"
#include "weft/layouts/element/float16.hpp"

namespace weft::arch::testing {
inline namespace WEFT_BACKEND {

// in: 32 lanes x (a, b, c); out: 32.
struct Dp4aKernel {
  static constexpr int kThreads = 32;
  static constexpr arch::Requires kRequires{.min = 75};
  using Params = WordParams;
  using SharedStorage = NoShared;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, Thread t) const {
    const uint32_t* in = p.in + 3 * t.lane();
    p.out[t.lane()] =
        static_cast<uint32_t>(Thread::Dp4a(in[0], in[1], static_cast<int32_t>(in[2])));
  }
};

// in: 32 values, then 32 source lanes, of any value; out: 32.
struct ShflKernel {
  static constexpr int kThreads = 32;
  static constexpr arch::Requires kRequires{.min = 75};
  using Params = WordParams;
  using SharedStorage = NoShared;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, Thread t) const {
    p.out[t.lane()] = t.Shfl(p.in[t.lane()], static_cast<int>(p.in[32 + t.lane()]));
  }
};

// in: 32; out: for each x below 32, 32.
struct ShflXorKernel {
  static constexpr int kThreads = 32;
  static constexpr arch::Requires kRequires{.min = 75};
  using Params = WordParams;
  using SharedStorage = NoShared;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, Thread t) const {
    for (int x = 0; x < 32; ++x) p.out[32 * x + t.lane()] = t.ShflXor(p.in[t.lane()], x);
  }
};

// in: 32; out: for each of their bits, 32.
struct BallotKernel {
  static constexpr int kThreads = 32;
  static constexpr arch::Requires kRequires{.min = 75};
  using Params = WordParams;
  using SharedStorage = NoShared;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, Thread t) const {
    for (int bit = 0; bit < 32; ++bit) {
      p.out[32 * bit + t.lane()] = t.Ballot((p.in[t.lane()] >> bit & 1) != 0);
    }
  }
};

// in: 32 lanes x (a, b, selector); out: 32.
struct BytePermuteKernel {
  static constexpr int kThreads = 32;
  static constexpr arch::Requires kRequires{.min = 75};
  using Params = WordParams;
  using SharedStorage = NoShared;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, Thread t) const {
    const uint32_t* in = p.in + 3 * t.lane();
    p.out[t.lane()] = Thread::BytePermute(in[0], in[1], in[2]);
  }
};

// in: 32 lanes x (2 of a, 2 of b, 4 of c), the bits of floats; out: 32 lanes x 4, likewise.
struct FmaFloatKernel {
  static constexpr int kThreads = 32;
  static constexpr arch::Requires kRequires{.min = 75};
  using Params = WordParams;
  using SharedStorage = NoShared;

  // A finite number from 2^-19 to 2^13, so that sums round in every way.
  static constexpr uint32_t Input(int, uint32_t noise) {
    return (noise & 0x807FFFFFu) | (108 + (noise >> 23 & 31)) << 23;
  }

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, Thread t) const {
    const uint32_t* in = p.in + 8 * t.lane();
    float a[2], b[2], c[2][2];
    std::memcpy(a, in, sizeof(a));
    std::memcpy(b, in + 2, sizeof(b));
    std::memcpy(c, in + 4, sizeof(c));
    Thread::FmaOuter(c, a, b);
    std::memcpy(p.out + 4 * t.lane(), c, sizeof(c));
  }
};

// in: 32 lanes x (2 of a, 2 of b, 4 of c), the bits of doubles, low word first; out: 32 lanes x 4,
// likewise.
struct FmaDoubleKernel {
  static constexpr int kThreads = 32;
  static constexpr arch::Requires kRequires{.min = 75};
  using Params = WordParams;
  using SharedStorage = NoShared;

  // A finite number from 2^-19 to 2^13.
  static constexpr uint32_t Input(int index, uint32_t noise) {
    return index % 2 == 0 ? noise : (noise & 0x800FFFFFu) | (1004 + (noise >> 20 & 31)) << 20;
  }

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, Thread t) const {
    const uint32_t* in = p.in + 16 * t.lane();
    double a[2], b[2], c[2][2];
    std::memcpy(a, in, sizeof(a));
    std::memcpy(b, in + 4, sizeof(b));
    std::memcpy(c, in + 8, sizeof(c));
    Thread::FmaOuter(c, a, b);
    std::memcpy(p.out + 8 * t.lane(), c, sizeof(c));
  }
};

// Integers up to 7 and sums that a float holds exactly (with 8-bit floats, 14 bits): how the hardware rounds
// within a sum is nobody's promise.
template <class E, int kWords = 8>
struct ExactMmaFloatsKernel : MmaFloatsKernel<E, kWords> {
  static constexpr int kParts = 4 / sizeof(E);  // of a word

  // Of the highest bits of a part of the noise.
  static constexpr uint32_t Number(uint32_t noise) {
    const float x = static_cast<float>(noise % 8) * ((noise & 8) != 0 ? -1.0f : 1.0f);
    if constexpr (std::is_same_v<E, Tf32>) {
      return std::bit_cast<uint32_t>(x);
    } else {
      return E::FromFloat(x).bits;
    }
  }
  static constexpr uint32_t Input(int index, uint32_t noise) {
    using Kernel = MmaFloatsKernel<E, kWords>;
    if (index % Kernel::kIn >= Kernel::kA + Kernel::kB) {
      return static_cast<uint32_t>(static_cast<int32_t>(noise) >> (sizeof(E) == 1 ? 20 : 12));
    }
    uint32_t word = 0;
    for (int i = 0; i < kParts; ++i) {
      const int part = 32 / kParts, top = (i + 1) * part - (part > 8 ? 8 : 4);
      word |= Number(noise >> top) << i * part % 32;
    }
    return word;
  }
};

// The same with sums of halves: integers up to 2048 of either sign. in: 32 lanes x (4 of a, 2 of b, 2 of
// c); out: 32 lanes x 2 of d.
struct ExactMmaM16N8K16HalfSumsKernel : MmaM16N8K16HalfSumsKernel {
  static constexpr uint32_t Sum(uint32_t noise) {
    return Half::FromFloat(static_cast<float>(static_cast<int>(noise % 2048) - 1024)).bits;
  }
  static constexpr uint32_t Input(int index, uint32_t noise) {
    const bool operand = index % 8 < 6;
    return operand ? ExactMmaFloatsKernel<Half>::Number(noise >> 8) |
                         ExactMmaFloatsKernel<Half>::Number(noise >> 24) << 16
                   : Sum(noise) | Sum(noise >> 16) << 16;
  }
};

// Integers up to 7 of either sign, sums up to 2^19: how the hardware rounds within a sum is not documented.
struct ExactMmaM16N8K8F64Kernel : MmaM16N8K8F64Kernel {
  static constexpr uint32_t Input(int index, uint32_t noise) {
    if (index % 2 == 0) return 0;  // the low word
    const int number = index % 20 < 12 ? static_cast<int>(noise % 15) - 7
                                       : static_cast<int>(noise % (1 << 20)) - (1 << 19);
    return static_cast<uint32_t>(std::bit_cast<uint64_t>(static_cast<double>(number)) >> 32);
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::arch::testing
