// Formats of 4-bit values, two to a byte: filters, and what a convolution reads and writes.
//
// Filters of int4, values from -8 to 7, are for kernels to expand:
// PackedInt4<Format> has the elements of Format in the same order, in blocks of 32: byte i of a
// block's 16 has element i in its lower four bits and element 16 + i in its upper ones. Four bytes
// at once thus become twice four int8 (LowerInt4, UpperInt4, or 16 times these), which are neighbours in Format: four
// channels of CxRSKx<4>, or what one lane of a tensor core takes of each half of 32 channels.
//
// The output channels of one tap of CxRSKx<x>, and all values of an output channel of KRSC, begin a
// block of their own. What fills the last one holds zeros.
//
// Activations are in the order in which instructions of 4 bits take them: PairedInt4<Format> has
// elements 2 i and 2 i + 1 of Format in the lower and upper four bits of byte i. They are -8 to 7
// where the elements are int8, 0 to 15 where they are uint8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "weft/layouts/formats.hpp"

namespace weft {

// Names the elements of a matrix of 4 bits, -8 to 7, which lie in pairs along memory as PairedInt4's do:
// a matrix of them is a std::uint8_t for each two.
struct Int4 {};

namespace internal {

// Byte(offset), Shift(offset): where the four bits of element `offset` are, which Format::Offset
// gives, from the tensor's first byte.
struct Int4Blocks {
  static constexpr std::int64_t Byte(std::int64_t offset) { return offset / 32 * 16 + offset % 16; }
  static constexpr int Shift(std::int64_t offset) { return offset % 32 < 16 ? 0 : 4; }
};
struct Int4Pairs {
  static constexpr std::int64_t Byte(std::int64_t offset) { return offset / 2; }
  static constexpr int Shift(std::int64_t offset) { return offset % 2 * 4; }
};

// Whether Type (int8 or uint8) has `value` in four bits.
template <class Type>
constexpr bool FitsInt4(Type value) {
  return std::is_signed_v<Type> ? value >= -8 && value <= 7 : value <= 15;
}
template <class Format, class Type>
constexpr Type GetInt4(const void* data, std::int64_t offset) {
  const int bits =
      static_cast<const std::uint8_t*>(data)[Format::Byte(offset)] >> Format::Shift(offset) & 15;
  return static_cast<Type>(std::is_signed_v<Type> ? (bits ^ 8) - 8 : bits);
}
// Where the element was 0.
template <class Format, class Type>
constexpr void SetInt4(void* data, std::int64_t offset, Type value) {
  static_cast<std::uint8_t*>(data)[Format::Byte(offset)] |=
      static_cast<std::uint8_t>((value & 15) << Format::Shift(offset));
}

}  // namespace internal

template <FilterFormat Format>
struct PackedInt4 : Format, internal::Int4Blocks {
  static_assert(sizeof(Format) == 0,
                "weft: PackedInt4<Format> packs filters of the formats CxRSKx<4>, CxRSKx<32>, "
                "CxRSKx<64> and KRSC");
};

// K is rounded up to a multiple of 8.
template <>
struct PackedInt4<CxRSKx<4>> : internal::Int4Blocks {
  static constexpr bool kIsFilterFormat = true;
  static constexpr int kInterleave = 8;
  static constexpr const char* kName = "PackedInt4<CxRSKx<4>>";

  static constexpr std::int64_t PaddedK(std::int64_t k) { return RoundUp(k, 8); }
  static constexpr std::int64_t Offset(const FilterExtents& e, std::int64_t k, std::int64_t c,
                                       std::int64_t r, std::int64_t s) {
    return ((c / 4 * e.r + r) * e.s + s) * (PaddedK(e.k) * 4) + k * 4 + c % 4;
  }
  static constexpr std::int64_t Size(const FilterExtents& e) {
    return RoundUp(e.c, 4) * e.r * e.s * PaddedK(e.k);
  }
};

template <>
struct PackedInt4<CxRSKx<32>> : CxRSKx<32>, internal::Int4Blocks {
  static constexpr const char* kName = "PackedInt4<CxRSKx<32>>";
};

// For instructions of 4 bits, whose other operand is a PairedInt4<NCxHWx<64>>: not in blocks, but in
// pairs as that. K and C are rounded up to multiples of 64.
template <>
struct PackedInt4<CxRSKx<64>> : CxRSKx<64>, internal::Int4Pairs {
  static constexpr const char* kName = "PackedInt4<CxRSKx<64>>";
};

// R * S * C of an output channel are rounded up to a multiple of 32.
template <>
struct PackedInt4<KRSC> : internal::Int4Blocks {
  static constexpr bool kIsFilterFormat = true;
  static constexpr int kInterleave = 1;
  static constexpr const char* kName = "PackedInt4<KRSC>";

  static constexpr std::int64_t Offset(const FilterExtents& e, std::int64_t k, std::int64_t c,
                                       std::int64_t r, std::int64_t s) {
    return k * RoundUp(e.r * e.s * e.c, 32) + (r * e.s + s) * e.c + c;
  }
  static constexpr std::int64_t Size(const FilterExtents& e) {
    return e.k * RoundUp(e.r * e.s * e.c, 32);
  }
};

// NCxHWx<x> of 4, 32 and 64, and NHWC.
template <TensorFormat Format>
struct PairedInt4 : Format, internal::Int4Pairs {
  static_assert(Format::kChannelRun != 1,
                "weft: PairedInt4<Format> pairs channels that lie side by side: NCxHWx<x> or NHWC");
  [[gnu::visibility("hidden")]] static constexpr auto kPairsName =
      internal::FormatName().Add("PairedInt4<").Add(Format::kName).Add(">");
  static constexpr const char* kName = kPairsName.text;
};

// Of four bytes of a block, the lower four bits of each as an int8, ...
constexpr std::uint32_t LowerInt4(std::uint32_t bytes) {
  // The exclusive or adds 8 to each value, of which it lost 16 if it was negative, and sets bit 7, so
  // that no byte borrows from the next when 8 is taken away again.
  return (((bytes & 0x0f0f0f0fu) ^ 0x88888888u) - 0x08080808u) ^ 0x80808080u;
}
// ... and the upper ones.
constexpr std::uint32_t UpperInt4(std::uint32_t bytes) {
  return LowerInt4(bytes >> 4);
}
// The same times 16, for which their bits are in place or move once: sums of products of these are 16
// times those of the values.
constexpr std::uint32_t LowerInt4Times16(std::uint32_t bytes) {
  return bytes << 4 & 0xf0f0f0f0u;
}
constexpr std::uint32_t UpperInt4Times16(std::uint32_t bytes) {
  return bytes & 0xf0f0f0f0u;
}

// The lower 16 bits of `pairs`, two pairs as PairedInt4 has them: four values of Type (int8 or uint8), a
// byte each.
template <class Type>
constexpr std::uint32_t UnpairInt4(std::uint32_t pairs) {
  std::uint32_t bytes = pairs & 0xffffu;
  bytes = (bytes | bytes << 8) & 0x00ff00ffu;
  bytes |= bytes << 4;
  return std::is_signed_v<Type> ? LowerInt4(bytes) : bytes & 0x0f0f0f0fu;
}

// The lower four bits of four bytes, in pairs as PairedInt4 has them: 16 bits.
constexpr std::uint32_t PairInt4(std::uint32_t bytes) {
  const std::uint32_t alone = bytes & 0x0f0f0f0fu, pairs = alone | alone >> 4;
  return (pairs & 0xffu) | (pairs >> 8 & 0xff00u);
}

namespace internal {

template <class Format>
struct FormatTraits {
  static constexpr bool kInt4 = false;
  using Plain = Format;  // the format of which this one packs the values
};
template <class Format>
struct FormatTraits<PackedInt4<Format>> {
  static constexpr bool kInt4 = true;
  using Plain = Format;
};
template <class Format>
struct FormatTraits<PairedInt4<Format>> {
  static constexpr bool kInt4 = true;
  using Plain = Format;
};

// What holds elements Type of a format, one or two of them each.
template <class Format, class Type>
using Stored = std::conditional_t<FormatTraits<Format>::kInt4, std::uint8_t, Type>;
template <class Format>
inline constexpr std::int64_t kStoredElements = FormatTraits<Format>::kInt4 ? 2 : 1;

template <class Format, class Type>
inline constexpr std::size_t kElementBits =
    8 * sizeof(Stored<Format, Type>) / std::size_t{kStoredElements<Format>};

// Those that hold `size` elements.
template <class Format>
constexpr std::int64_t StoredSize(std::int64_t size) {
  return (size + kStoredElements<Format> - 1) / kStoredElements<Format>;
}

// Of `size` elements Type.
template <class Format, class Type>
constexpr std::int64_t BytesOf(std::int64_t size) {
  return StoredSize<Format>(size) * static_cast<std::int64_t>(sizeof(Stored<Format, Type>));
}

// Element `offset` of a tensor of elements Type, of 4 bits or not.
template <class Format, class Type>
constexpr Type GetElement(const void* data, std::int64_t offset) {
  if constexpr (FormatTraits<Format>::kInt4) {
    return GetInt4<Format, Type>(data, offset);
  } else {
    return static_cast<const Type*>(data)[offset];
  }
}

}  // namespace internal

// Whether elements of Format are of 4 bits, ...
template <class Format>
inline constexpr bool kIsInt4 = internal::FormatTraits<Format>::kInt4;
// ... and the format whose elements they are.
template <class Format>
using UnpackedFormat = typename internal::FormatTraits<Format>::Plain;

}  // namespace weft
