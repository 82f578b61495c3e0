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

// The least integer of an element of 8 bits; the greatest is 255 more.
constexpr std::int32_t LeastOf(Element element) {
  return element == Element::kInt8 ? -128 : 0;
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

// Calls visit.operator()<Layout>() for the type of layouts/formats.hpp that a format stands for.
template <class Visit>
constexpr auto VisitFormat(Format format, const Visit& visit) {
  switch (format) {
    case Format::kNhwc:
      return visit.template operator()<NHWC>();
    case Format::kNchw:
      return visit.template operator()<NCHW>();
    case Format::kNc4:
      return visit.template operator()<NCxHWx<4>>();
    case Format::kNc32:
      break;
  }
  return visit.template operator()<NCxHWx<32>>();
}

// A tensor in memory. In blocked formats the channels that fill the last block hold zeros.
struct TensorType {
  Element element = Element::kUint8;
  TensorExtents extents{};
  Format format = Format::kNhwc;
  Quantization quantization{};

  // Elements in memory, and their bytes.
  constexpr std::int64_t size() const {
    return VisitFormat(format, [this]<class Layout>() { return Layout::Size(extents); });
  }
  constexpr std::int64_t bytes() const { return size() * BytesOf(element); }
};

}  // namespace weft::network
