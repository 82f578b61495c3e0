// Tensor formats: where the element at logical coordinate (n, c, h, w) of an activation, or
// (k, c, r, s) of a filter, lies in memory.
//
// A format is a stateless type. Offsets count elements, not bytes. Formats with interleave x store
// x consecutive channels of one pixel side by side; a channel count that is not a multiple of x is
// rounded up and the surplus channels hold zeros.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/layouts/base/compiler.hpp"

namespace weft {

// Logical extents of an activation tensor; all positive.
struct TensorExtents {
  std::int64_t n = 0;
  std::int64_t c = 0;
  std::int64_t h = 0;
  std::int64_t w = 0;

  friend constexpr bool operator==(const TensorExtents&, const TensorExtents&) = default;
};

// Logical extents of a filter: k output channels, c input channels, r rows, s columns; all
// positive.
struct FilterExtents {
  std::int64_t k = 0;
  std::int64_t c = 0;
  std::int64_t r = 0;
  std::int64_t s = 0;

  friend constexpr bool operator==(const FilterExtents&, const FilterExtents&) = default;
};

// The smallest multiple of `multiple` that is not below `value`.
template <class Type>
constexpr Type RoundUp(Type value, std::type_identity_t<Type> multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

namespace internal {

// Every activation format here is separable:
//   offset(n, c, h, w) = n * ImageStride + ChannelOffset(c) + (h * W + w) * PixelStride.
// A format states these three; the rest follows.
template <class Format>
struct ActivationFormat {
  static constexpr bool kIsActivationFormat = true;

  static constexpr std::int64_t Offset(const TensorExtents& e, std::int64_t n, std::int64_t c,
                                       std::int64_t h, std::int64_t w) {
    return n * Format::ImageStride(e) + Format::ChannelOffset(e, c) +
           (h * e.w + w) * Format::PixelStride(e);
  }

  // Elements in memory, the zero channels that fill the last block included.
  static constexpr std::int64_t Size(const TensorExtents& e) {
    return e.n * Format::ImageStride(e);
  }
};

// The blocks of channels that formats have; all else that depends on a block's size is computed from it.
inline constexpr int kBlocks[] = {4, 32, 64};
constexpr bool IsBlock(int x) {
  for (const int block : kBlocks) {
    if (x == block) return true;
  }
  return false;
}

// A name that is made of parts, such as NCxHWx<4>. One that is too long is no constant expression.
struct FormatName {
  char text[32] = {};
  int size = 0;

  constexpr FormatName& Add(const char* part) {
    for (; *part != 0; ++part) text[size++] = *part;
    text[size] = 0;
    return *this;
  }
  constexpr FormatName& Add(int number) {
    if (number >= 10) Add(number / 10);
    const char digit[] = {static_cast<char>('0' + number % 10), 0};
    return Add(digit);
  }
};

}  // namespace internal

// Channel-blocked: (N, C/x, H, W, x). NCxHWx<4> is cuDNN's NCHW_VECT_C for INT8x4, <32> for
// INT8x32.
template <int kX>
struct NCxHWx : internal::ActivationFormat<NCxHWx<kX>> {
  static_assert(internal::IsBlock(kX), "weft: NCxHWx<x> takes x = 4, 32 or 64");

  static constexpr int kInterleave = kX;
  // How many channels of one pixel lie side by side; 0 means all of them.
  static constexpr int kChannelRun = kX;
  [[gnu::visibility("hidden")]] static constexpr auto kBlockName =
      internal::FormatName().Add("NCxHWx<").Add(kX).Add(">");
  static constexpr const char* kName = kBlockName.text;

  static constexpr std::int64_t PaddedC(std::int64_t c) { return RoundUp(c, kX); }
  static constexpr std::int64_t ImageStride(const TensorExtents& e) {
    return PaddedC(e.c) * e.h * e.w;
  }
  static constexpr std::int64_t ChannelOffset(const TensorExtents& e, std::int64_t c) {
    return c / kX * (e.h * e.w * kX) + c % kX;
  }
  static constexpr std::int64_t PixelStride(const TensorExtents&) { return kX; }
};

// Channels last: (N, H, W, C). No padding.
struct NHWC : internal::ActivationFormat<NHWC> {
  static constexpr int kInterleave = 1;
  static constexpr int kChannelRun = 0;
  static constexpr const char* kName = "NHWC";

  static constexpr std::int64_t PaddedC(std::int64_t c) { return c; }
  static constexpr std::int64_t ImageStride(const TensorExtents& e) { return e.c * e.h * e.w; }
  static constexpr std::int64_t ChannelOffset(const TensorExtents&, std::int64_t c) { return c; }
  static constexpr std::int64_t PixelStride(const TensorExtents& e) { return e.c; }
};

// Planar: (N, C, H, W). No padding.
struct NCHW : internal::ActivationFormat<NCHW> {
  static constexpr int kInterleave = 1;
  static constexpr int kChannelRun = 1;
  static constexpr const char* kName = "NCHW";

  static constexpr std::int64_t PaddedC(std::int64_t c) { return c; }
  static constexpr std::int64_t ImageStride(const TensorExtents& e) { return e.c * e.h * e.w; }
  static constexpr std::int64_t ChannelOffset(const TensorExtents& e, std::int64_t c) {
    return c * e.h * e.w;
  }
  static constexpr std::int64_t PixelStride(const TensorExtents&) { return 1; }
};

// Channel-blocked filter: (C/x, R, S, K, x). Both C and K are rounded up to multiples of x, so that
// the K * x elements of one tap are a whole number of 16-byte vectors; the surplus holds zeros.
template <int kX>
struct CxRSKx {
  static_assert(internal::IsBlock(kX), "weft: CxRSKx<x> takes x = 4, 32 or 64");

  static constexpr bool kIsFilterFormat = true;
  static constexpr int kInterleave = kX;
  [[gnu::visibility("hidden")]] static constexpr auto kBlockName =
      internal::FormatName().Add("CxRSKx<").Add(kX).Add(">");
  static constexpr const char* kName = kBlockName.text;

  static constexpr std::int64_t PaddedK(std::int64_t k) { return RoundUp(k, kX); }
  static constexpr std::int64_t PaddedC(std::int64_t c) { return RoundUp(c, kX); }
  static constexpr std::int64_t Offset(const FilterExtents& e, std::int64_t k, std::int64_t c,
                                       std::int64_t r, std::int64_t s) {
    return ((c / kX * e.r + r) * e.s + s) * (PaddedK(e.k) * kX) + k * kX + c % kX;
  }
  static constexpr std::int64_t Size(const FilterExtents& e) {
    return PaddedC(e.c) * e.r * e.s * PaddedK(e.k);
  }
};

// Filter with channels last: (K, R, S, C). No padding.
struct KRSC {
  static constexpr bool kIsFilterFormat = true;
  static constexpr int kInterleave = 1;
  static constexpr const char* kName = "KRSC";

  static constexpr std::int64_t Offset(const FilterExtents& e, std::int64_t k, std::int64_t c,
                                       std::int64_t r, std::int64_t s) {
    return ((k * e.r + r) * e.s + s) * e.c + c;
  }
  static constexpr std::int64_t Size(const FilterExtents& e) { return e.k * e.c * e.r * e.s; }
};

// Planar filter, PyTorch's order: (K, C, R, S). No padding.
struct KCRS {
  static constexpr bool kIsFilterFormat = true;
  static constexpr int kInterleave = 1;
  static constexpr const char* kName = "KCRS";

  static constexpr std::int64_t Offset(const FilterExtents& e, std::int64_t k, std::int64_t c,
                                       std::int64_t r, std::int64_t s) {
    return ((k * e.c + c) * e.r + r) * e.s + s;
  }
  static constexpr std::int64_t Size(const FilterExtents& e) { return e.k * e.c * e.r * e.s; }
};

// Filter of a depthwise convolution, whose output channels see one input channel each, so that C is
// 1: (C, K/4, R, S/4, 4, 4), blocks of 4 output channels by 4 taps of a row. K and S are rounded up;
// the surplus holds zeros.
struct KRSx4x4 {
  static constexpr bool kIsFilterFormat = true;
  static constexpr int kInterleave = 4;
  static constexpr const char* kName = "KRSx4x4";

  static constexpr std::int64_t Offset(const FilterExtents& e, std::int64_t k, std::int64_t c,
                                       std::int64_t r, std::int64_t s) {
    const std::int64_t row = (c * (RoundUp(e.k, 4) / 4) + k / 4) * e.r + r;
    return (row * (RoundUp(e.s, 4) / 4) + s / 4) * 16 + k % 4 * 4 + s % 4;
  }
  static constexpr std::int64_t Size(const FilterExtents& e) {
    return e.c * RoundUp(e.k, 4) * e.r * RoundUp(e.s, 4);
  }
};

template <class Type>
concept TensorFormat = requires { requires Type::kIsActivationFormat; };

template <class Type>
concept FilterFormat = requires { requires Type::kIsFilterFormat; };

}  // namespace weft
