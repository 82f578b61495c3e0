// How a thread loads, computes with and stores adjacent channels of a pixel.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "weft/epilogues/numerics.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/network/operators/tensor_view.hpp"

namespace weft::network {

// Four adjacent channels: of bytes a word, of floats these.
struct alignas(16) FloatQuad {
  float lane[4];
};

// Adjacent channels of a pixel, 4 in each quad.
template <class Quad, int kQuads = 4>
struct alignas(kQuads == 4 ? 16 : alignof(Quad)) Group {
  Quad quad[kQuads];
};
using Bytes = Group<std::uint32_t>;

template <class Quad>
inline constexpr bool kIsBytes = std::is_same_v<Quad, std::uint32_t>;
template <class Quad>
using LaneOf = std::conditional_t<kIsBytes<Quad>, std::uint8_t, float>;

constexpr std::uint8_t LaneAt(std::uint32_t quad, int i) {
  return static_cast<std::uint8_t>(quad >> 8 * i);
}
constexpr float LaneAt(const FloatQuad& quad, int i) {
  return quad.lane[i];
}
constexpr void SetLane(std::uint32_t& zero, int i, std::uint8_t lane) {
  zero |= std::uint32_t{lane} << 8 * i;
}
constexpr void SetLane(FloatQuad& quad, int i, float lane) {
  quad.lane[i] = lane;
}

inline namespace WEFT_BACKEND {

// The address of channel c of a place's pixel.
template <class Lane>
WEFT_DEVICE Lane* AddressOf(const TensorView& view, const Place& at, std::int32_t c) {
  return static_cast<Lane*>(view.address) + view.Offset(at.n, c, at.pixel);
}

// Channels c to c + 15 of a pixel; those that do not lie in memory are zeros.
template <class Quad = std::uint32_t>
WEFT_DEVICE Group<Quad> LoadChannels(arch::Thread t, const TensorView& from, const Place& at,
                                     std::int32_t c) {
  const auto address = [&](std::int32_t first) {
    return AddressOf<const LaneOf<Quad>>(from, at, first);
  };
  Group<Quad> x{};
  if constexpr (kIsBytes<Quad>) {
    if (from.width == kGroup && c >= 0 && c + kGroup <= from.channels) {
      return t.LoadGlobalCoherent(reinterpret_cast<const Bytes*>(address(c)));
    }
  }
  WEFT_UNROLL
  for (int i = 0; i < 4; ++i) {
    const std::int32_t first = c + 4 * i;
    if (from.width >= 4 && first >= 0 && first + 4 <= from.channels) {
      x.quad[i] = t.LoadGlobalCoherent(reinterpret_cast<const Quad*>(address(first)));
      continue;
    }
    WEFT_UNROLL
    for (int j = 0; j < 4; ++j) {
      if (first + j < 0 || first + j >= from.channels) continue;
      SetLane(x.quad[i], j, t.LoadGlobalCoherent(address(first + j)));
    }
  }
  return x;
}

// Stores those of channels at.c to at.c + 15 that a run makes.
template <class Quad>
WEFT_DEVICE void StoreChannels(arch::Thread t, const TensorView& to, const Place& at,
                               const Channels& made, const Group<Quad>& x) {
  const auto address = [&](std::int32_t first) { return AddressOf<LaneOf<Quad>>(to, at, first); };
  if constexpr (kIsBytes<Quad>) {
    if (to.width == kGroup && at.c >= made.begin && at.c + kGroup <= made.end) {
      return t.StoreGlobal(reinterpret_cast<Bytes*>(address(at.c)), x);
    }
  }
  WEFT_UNROLL
  for (int i = 0; i < 4; ++i) {
    const std::int32_t first = at.c + 4 * i;
    if (to.width >= 4 && first >= made.begin && first + 4 <= made.end) {
      t.StoreGlobal(reinterpret_cast<Quad*>(address(first)), x.quad[i]);
      continue;
    }
    WEFT_UNROLL
    for (int j = 0; j < 4; ++j) {
      if (first + j < made.begin || first + j >= made.end) continue;
      t.StoreGlobal(address(first + j), LaneAt(x.quad[i], j));
    }
  }
}

// The first `count` of 16 channels, and zeros.
template <class Quad>
WEFT_DEVICE void KeepFirst(Group<Quad>& x, std::int32_t count) {
  WEFT_UNROLL
  for (int i = 0; i < 4; ++i) {
    const std::int32_t kept = count - 4 * i;
    if constexpr (kIsBytes<Quad>) {
      if (kept < 4) x.quad[i] &= kept <= 0 ? 0u : (1u << 8 * kept) - 1;
    } else {
      WEFT_UNROLL
      for (int j = 0; j < 4; ++j) {
        if (j >= kept) x.quad[i].lane[j] = 0.0f;
      }
    }
  }
}

// Byte i of a word that ByteNumbers::flip has been applied to, and 2^15.
WEFT_DEVICE float FloatAbove(arch::Thread t, std::uint32_t word, int i) {
  return std::bit_cast<float>(
      t.BytePermute(word, 0x47000000u, 0x7604u | static_cast<std::uint32_t>(i) << 4));
}
WEFT_DEVICE float FloatOf(arch::Thread t, std::uint32_t word, int i, float base) {
  return epilogues::Add(FloatAbove(t, word, i), -base);
}

// x / by, to the bit. kWide: by Markstein's correction of the product with the reciprocal, which needs that no step
// leaves the range of normal numbers: of scales that IsUsual the quotients that count are such.
template <bool kWide>
WEFT_DEVICE float Quotient(float x, const Divisor& by) {
  if constexpr (!kWide) return x / by.divisor;
  const float product = epilogues::Mul(x, by.reciprocal);
  return epilogues::Fma(epilogues::Fma(-product, by.divisor, x), by.reciprocal, product);
}

// A number that is no signaling NaN, limited; NaN gives the lower limit.
WEFT_DEVICE float Limited(float x, const ByteResult& to) {
  return __builtin_fminf(__builtin_fmaxf(x, to.low), to.high);
}

// Four floats within the limits as bytes, with `add`. In the binade of 1.5 * 2^23 floats are one apart, so that a sum there
// is rounded to an integer, another one is exact, and the lowest byte is that of the integer.
WEFT_DEVICE std::uint32_t RoundedBytes(arch::Thread t, const float (&x)[4], const ByteResult& to) {
  constexpr float kMagic = 12582912.0f;
  std::uint32_t bits[4];
  WEFT_UNROLL
  for (int i = 0; i < 4; ++i) {
    bits[i] = std::bit_cast<std::uint32_t>(epilogues::Add(epilogues::Add(x[i], kMagic), to.add));
  }
  const std::uint32_t low = t.BytePermute(bits[0], bits[1], 0x0040u);
  const std::uint32_t high = t.BytePermute(bits[2], bits[3], 0x0040u);
  return t.BytePermute(low, high, 0x5410u);
}

// Calls function.operator()<Byte>() with what the bytes of a result are.
template <class Function>
WEFT_DEVICE void VisitByte(const ByteResult& to, const Function& function) {
  if (to.is_signed) return function.template operator()<std::int8_t>();
  function.template operator()<std::uint8_t>();
}

}  // namespace WEFT_BACKEND
}  // namespace weft::network
