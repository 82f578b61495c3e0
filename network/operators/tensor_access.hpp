// How a thread loads, computes with and stores 16 channels of a pixel.
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

// 16 adjacent channels of a pixel.
template <class Quad>
struct alignas(16) Sixteen {
  Quad quad[4];
};
using Bytes = Sixteen<std::uint32_t>;
using Floats = Sixteen<FloatQuad>;

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

// Channels c to c + 15 of a pixel; those that do not lie in memory are zeros. kWide: all do, and the tensor's accesses
// are the widest ones.
template <bool kWide, class Quad = std::uint32_t>
WEFT_DEVICE Sixteen<Quad> LoadChannels(arch::Thread t, const TensorView& from, const Place& at,
                                       std::int32_t c) {
  const auto* const memory = static_cast<const LaneOf<Quad>*>(from.address);
  const auto quad = [&](std::int32_t first) {
    return t.LoadGlobalCoherent(
        reinterpret_cast<const Quad*>(memory + from.Offset(at.n, first, at.pixel)));
  };
  const auto all = [&] {
    return t.LoadGlobalCoherent(
        reinterpret_cast<const Bytes*>(memory + from.Offset(at.n, c, at.pixel)));
  };
  Sixteen<Quad> x{};
  if constexpr (kWide && kIsBytes<Quad>) {
    x = all();
  } else if constexpr (kWide) {
    WEFT_UNROLL
    for (int i = 0; i < 4; ++i) x.quad[i] = quad(c + 4 * i);
  } else {
    if constexpr (kIsBytes<Quad>) {
      if (from.width == kGroup && c >= 0 && c + kGroup <= from.channels) return all();
    }
    WEFT_UNROLL
    for (int i = 0; i < 4; ++i) {
      const std::int32_t first = c + 4 * i;
      if (from.width >= 4 && first >= 0 && first + 4 <= from.channels) {
        x.quad[i] = quad(first);
        continue;
      }
      WEFT_UNROLL
      for (int j = 0; j < 4; ++j) {
        if (first + j < 0 || first + j >= from.channels) continue;
        SetLane(x.quad[i], j,
                t.LoadGlobalCoherent(memory + from.Offset(at.n, first + j, at.pixel)));
      }
    }
  }
  return x;
}

// Stores those of channels at.c to at.c + 15 that a run makes.
template <bool kWide, class Quad>
WEFT_DEVICE void StoreChannels(arch::Thread t, const TensorView& to, const Place& at,
                               const Channels& made, const Sixteen<Quad>& x) {
  auto* const memory = static_cast<LaneOf<Quad>*>(to.address);
  const auto quad = [&](std::int32_t first, const Quad& value) {
    t.StoreGlobal(reinterpret_cast<Quad*>(memory + to.Offset(at.n, first, at.pixel)), value);
  };
  const auto all = [&](const Bytes& value) {
    t.StoreGlobal(reinterpret_cast<Bytes*>(memory + to.Offset(at.n, at.c, at.pixel)), value);
  };
  if constexpr (kWide && kIsBytes<Quad>) {
    all(x);
  } else if constexpr (kWide) {
    WEFT_UNROLL
    for (int i = 0; i < 4; ++i) quad(at.c + 4 * i, x.quad[i]);
  } else {
    if constexpr (kIsBytes<Quad>) {
      if (to.width == kGroup && at.c >= made.begin && at.c + kGroup <= made.end) return all(x);
    }
    WEFT_UNROLL
    for (int i = 0; i < 4; ++i) {
      const std::int32_t first = at.c + 4 * i;
      if (to.width >= 4 && first >= made.begin && first + 4 <= made.end) {
        quad(first, x.quad[i]);
        continue;
      }
      WEFT_UNROLL
      for (int j = 0; j < 4; ++j) {
        if (first + j < made.begin || first + j >= made.end) continue;
        t.StoreGlobal(memory + to.Offset(at.n, first + j, at.pixel), LaneAt(x.quad[i], j));
      }
    }
  }
}

// The first `count` of 16 channels, and zeros.
template <class Quad>
WEFT_DEVICE void KeepFirst(Sixteen<Quad>& x, std::int32_t count) {
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

// Byte i of a word that ByteNumbers::flip has been applied to.
WEFT_DEVICE float FloatOf(arch::Thread t, std::uint32_t word, int i, float base) {
  const std::uint32_t bits =
      t.BytePermute(word, 0x4b000000u, 0x7440u + static_cast<std::uint32_t>(i));
  return epilogues::Add(std::bit_cast<float>(bits), -base);
}

// Four floats as bytes. In the binade of 1.5 * 2^23 floats are one apart, so that a sum there is rounded to an integer,
// another one is exact, and the lowest byte is that of the integer.
WEFT_DEVICE std::uint32_t BytesOf(arch::Thread t, const float (&x)[4], const ByteResult& to) {
  constexpr float kMagic = 12582912.0f;
  std::uint32_t bits[4];
  WEFT_UNROLL
  for (int i = 0; i < 4; ++i) {
    const float rounded = epilogues::Add(epilogues::Clamp(x[i], to.low, to.high), kMagic);
    bits[i] = std::bit_cast<std::uint32_t>(epilogues::Add(rounded, to.add));
  }
  const std::uint32_t low = t.BytePermute(bits[0], bits[1], 0x0040u);
  const std::uint32_t high = t.BytePermute(bits[2], bits[3], 0x0040u);
  return t.BytePermute(low, high, 0x5410u);
}

}  // namespace WEFT_BACKEND
}  // namespace weft::network
