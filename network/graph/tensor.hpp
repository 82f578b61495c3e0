// What is known of a tensor of a network: its elements, its extents, what its integers stand for, and how
// it lies in memory.
#pragma once

#include <cstdint>

#include "weft/layouts/formats.hpp"

namespace weft::network {

enum class Element : std::int8_t { kInt8, kUint8, kFloat };

constexpr std::int64_t BytesOf(Element element) {
  return element == Element::kFloat ? 4 : 1;
}

// The formats of layouts/formats.hpp that a network's tensors may have.
enum class Format : std::int8_t { kNhwc, kNc4, kNc32, kNchw };

// An integer x of the tensor stands for scale * (x - zero_point). scale is positive and finite; zero_point is a
// value of the element. Floats stand for themselves.
struct Quantization {
  float scale = 1.0f;
  std::int32_t zero_point = 0;

  friend constexpr bool operator==(const Quantization&, const Quantization&) = default;
};

// Where the element (n, c, h, w) of a tensor lies, in elements, of every format alike:
//     n * image + (c / block) * block_stride + (h * W + w) * pixel + c % block.
struct Strides {
  std::int64_t block = 1;  // channels side by side
  std::int64_t pixel = 1, block_stride = 1, image = 1;

  constexpr std::int64_t Offset(std::int64_t n, std::int64_t c, std::int64_t pixel_index) const {
    return n * image + c / block * block_stride + pixel_index * pixel + c % block;
  }
};

constexpr Strides StridesOf(const TensorExtents& e, Format format) {
  const std::int64_t pixels = e.h * e.w;
  switch (format) {
    case Format::kNhwc:
      return {.block = e.c, .pixel = e.c, .block_stride = 0, .image = pixels * e.c};
    case Format::kNchw:
      return {.block = 1, .pixel = 1, .block_stride = pixels, .image = pixels * e.c};
    case Format::kNc4:
      return {
          .block = 4, .pixel = 4, .block_stride = pixels * 4, .image = pixels * RoundUp(e.c, 4)};
    case Format::kNc32:
      break;
  }
  return {
      .block = 32, .pixel = 32, .block_stride = pixels * 32, .image = pixels * RoundUp(e.c, 32)};
}

// A tensor in memory. In blocked formats the channels that fill the last block hold zeros.
struct TensorType {
  Element element = Element::kUint8;
  TensorExtents extents{};
  Format format = Format::kNhwc;
  Quantization quantization{};

  constexpr Strides strides() const { return StridesOf(extents, format); }
  constexpr std::int64_t bytes() const { return extents.n * strides().image * BytesOf(element); }
};

}  // namespace weft::network
