// Warpgroup products (wgmma of sm_90a) as plain facts: element types, shapes, how a descriptor
// finds an operand in shared memory, and who holds which sum. Both back ends and the hosts of
// kernels use them.
//
// d (64 x N) = a (64 x K) * b (K x N) + d, by the four warps of a warpgroup; K covers 32 bytes. In
// shared memory an operand is a matrix of `rows` (m of A, n of B) by k:
//   K-major   a row's 32 bytes of k lie together (without swizzle: in two chunks of 16). Byte k of
//             row r is at   start + r % 8 * pitch + r / 8 * stride + k
//             where pitch is the swizzle's span; without swizzle at
//                           start + r % 8 * 16 + r / 8 * stride + k / 16 * leading + k % 16
//   MN-major  (16-bit elements) eight rows of one k make a chunk of 16 bytes; with W chunks to the
//             span, element (r, k) is at
//                           start + r % 8 * 2 + r / 8 % W * 16 + r / 8 / W * leading
//                                 + k % 8 * span + k / 8 * stride
//             and without swizzle at
//                           start + r % 8 * 2 + r / 8 * stride + k % 8 * 16 + k / 8 * leading
// The swizzle is then applied to that address (SwizzledAddress); it depends on the absolute address
// only, so that an operand may start anywhere: any start, stride and leading offset that are
// multiples of 16 work without swizzle, and any multiples of 32 with it.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/isa/fragments.hpp"
#include "weft/gemm/arch/isa/tensor_map.hpp"

namespace weft::arch {

// Element types of A and B; sums are int32 for bytes, else float. kS8U8: signed bytes of A, unsigned
// ones of B. Of a float kTf32 reads the upper 19 bits.
//
// Hopper adds products of kE4m3 and kE5m2 to sums of about 14 significant bits, and drops what is
// below them; the CPU executor sums in float. Both are exact where every partial sum fits, of small
// integers for example; else they agree within 2^-13 of a sum's largest part for each product.
enum class WgmmaType : std::uint8_t { kS8, kF16, kBf16, kTf32, kE4m3, kE5m2, kS8U8 };
constexpr bool IsBytes(WgmmaType type) {
  return type == WgmmaType::kS8 || type == WgmmaType::kS8U8;
}

// Those that are read along k only: their operands are K-major.
constexpr bool IsWgmmaKMajorOnly(WgmmaType type) {
  return type != WgmmaType::kF16 && type != WgmmaType::kBf16;
}
constexpr int WgmmaElementBytes(WgmmaType type) {
  return !IsWgmmaKMajorOnly(type) ? 2 : type == WgmmaType::kTf32 ? 4 : 1;
}

// 8 to 32 by 8, then the multiples of 16 up to 256.
constexpr bool IsWgmmaN(int n) {
  return n >= 8 && n <= 256 && n % (n <= 32 ? 8 : 16) == 0;
}

// One operand's layout. Offsets are in bytes, multiples of 16 below 2^18.
struct WgmmaLayout {
  SwizzleSpan swizzle = SwizzleSpan::kNone;
  std::uint32_t leading = 16;  // ignored by swizzled K-major operands
  std::uint32_t stride = 128;
};

// The descriptor of an operand that starts at a shared address. Adding `bytes` / 16 to a descriptor
// moves its start.
constexpr std::uint64_t WgmmaDescriptor(std::uint32_t start, WgmmaLayout layout) {
  const auto field = [](std::uint32_t bytes) { return std::uint64_t{bytes >> 4 & 0x3FFF}; };
  const std::uint64_t code = layout.swizzle == SwizzleSpan::k128  ? 1
                             : layout.swizzle == SwizzleSpan::k64 ? 2
                             : layout.swizzle == SwizzleSpan::k32 ? 3
                                                                  : 0;
  return field(start) | field(layout.leading) << 16 | field(layout.stride) << 32 | code << 62;
}

constexpr std::uint32_t WgmmaStart(std::uint64_t descriptor) {
  return static_cast<std::uint32_t>(descriptor & 0x3FFF) << 4;
}
constexpr WgmmaLayout WgmmaLayoutOf(std::uint64_t descriptor) {
  constexpr SwizzleSpan kSpans[] = {SwizzleSpan::kNone, SwizzleSpan::k128, SwizzleSpan::k64,
                                    SwizzleSpan::k32};
  return {.swizzle = kSpans[descriptor >> 62],
          .leading = static_cast<std::uint32_t>(descriptor >> 16 & 0x3FFF) << 4,
          .stride = static_cast<std::uint32_t>(descriptor >> 32 & 0x3FFF) << 4};
}

// The shared addresses of a K-major operand's byte k (0 to 31) of row r, and of an MN-major
// operand's 16-bit element k (0 to 15) of row r.
constexpr std::uint32_t WgmmaKMajorAddress(std::uint32_t start, WgmmaLayout layout, int r, int k) {
  const auto row = static_cast<std::uint32_t>(r), byte = static_cast<std::uint32_t>(k);
  const auto span = static_cast<std::uint32_t>(layout.swizzle);
  const std::uint32_t in_group =
      span == 0 ? row % 8 * 16 + byte / 16 * layout.leading + byte % 16 : row % 8 * span + byte;
  return SwizzledAddress(layout.swizzle, start + row / 8 * layout.stride + in_group);
}
constexpr std::uint32_t WgmmaMnMajorAddress(std::uint32_t start, WgmmaLayout layout, int r, int k) {
  const auto row = static_cast<std::uint32_t>(r), column = static_cast<std::uint32_t>(k);
  const auto span = static_cast<std::uint32_t>(layout.swizzle);
  const std::uint32_t chunk = row / 8;
  if (span == 0) {
    return start + row % 8 * 2 + chunk * layout.stride + column % 8 * 16 +
           column / 8 * layout.leading;
  }
  const std::uint32_t width = span / 16;
  return SwizzledAddress(layout.swizzle, start + row % 8 * 2 + chunk % width * 16 +
                                             chunk / width * layout.leading + column % 8 * span +
                                             column / 8 * layout.stride);
}

// The sums that one warp of the warpgroup holds: rows 16 * (warp % 4) to + 15, as a fragment of N /
// 2 registers. Register 4j + 2h + e of lane l is row 8h + l / 4, column 8j + 2 * (l % 4) + e.
template <int kN>
inline constexpr auto kWgmmaAccumulator = internal::FragmentOf<
    16, kN,
    internal::LayoutOf<internal::Nest<internal::Ints<4, 8>, internal::Ints<2, 2, kN / 8>>,
                       internal::Nest<internal::Ints<32, 1>, internal::Ints<16, 8, 128>>>>();

}  // namespace weft::arch
