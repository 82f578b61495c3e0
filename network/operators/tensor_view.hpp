// How kernels see a tensor of a network: they read and write 16 adjacent channels of a pixel at a time.
#pragma once

#include <cstdint>

#include "weft/gemm/tile/fast_divmod.hpp"
#include "weft/layouts/base/compiler.hpp"

namespace weft::network {

inline constexpr int kGroup = 16;  // channels of one access of bytes

// A tensor in any of the formats of network/graph/tensor.hpp. Strides count elements.
struct TensorView {
  void* address = nullptr;
  std::int64_t image = 0, block_stride = 0;
  std::int64_t pixel = 0;     // 0: the tensor has one pixel, which stands for every pixel
  std::int32_t shift = 0;     // 1 << shift channels lie side by side; 31: all of them
  std::int32_t channels = 0;  // that lie in memory, those that fill the last block included
  std::int32_t width = 1;     // most elements of one access: 1, 4 or, of bytes, 16

  constexpr std::int64_t Offset(std::int32_t n, std::int32_t c, std::int32_t at_pixel) const {
    return n * image + (c >> shift) * block_stride + (c & ((std::uint32_t{1} << shift) - 1)) +
           at_pixel * pixel;
  }
};

// Where the channels of a thread's first pixel lie in the output: in row h and column w, which is `pixel`.
struct Place {
  std::int32_t n = 0, c = 0, pixel = 0;
  std::int32_t h = 0, w = 0;
};

// How many adjacent channels a thread makes of how many pixels: of `rows` rows below each other, and of `columns` of each.
struct Share {
  std::int32_t channels = kGroup, rows = 1, columns = 1;
};

// The shares of the threads, numbered so that neighbours lie side by side in memory: `inner` groups of channels of a pixel,
// columns, rows, the other groups, images. Tensors that are one row of elements are cut into rows all the same, which lie
// behind each other and have the elements of kFlatGroups groups.
struct Units {
  gemm::FastDivmod inner, columns, rows, outer;
  std::int32_t count = 0;
  Share share;
  std::int32_t first = 0;                         // the first group's channel of the output
  std::int32_t row_channels = 0, row_pixels = 0;  // from a row to the next one
  std::int32_t pixels = 0;                        // of an image
  std::int32_t end = 0;                           // behind the last channel

  constexpr Place At(std::int32_t unit) const {
    Place at;
    std::int32_t inner_group = 0, outer_group = 0;
    unit = inner.Divmod(unit, inner_group);
    unit = columns.Divmod(unit, at.w);
    unit = rows.Divmod(unit, at.h);
    at.n = outer.Divmod(unit, outer_group);
    at.h *= share.rows, at.w *= share.columns;
    at.c = first + share.channels * (outer_group * inner.divisor() + inner_group) +
           at.h * row_channels;
    at.pixel = at.h * row_pixels + at.w;
    return at;
  }
  // Whether the output has the pixel that lies i rows below a place.
  constexpr bool Has(const Place& at, std::int32_t i) const {
    return at.pixel + i * row_pixels < pixels && at.c + i * row_channels < end;
  }
  // From a row of a tensor to the next one.
  constexpr std::int64_t Step(const TensorView& view) const {
    return row_pixels * view.pixel + row_channels;
  }
};
inline constexpr std::int32_t kFlatGroups = 256;

// Which channels a run makes. Channel c of the output is made of channel c - begin of the source.
struct Channels {
  std::int32_t count = 0;           // of the source
  std::int32_t begin = 0, end = 0;  // of the output; those behind `count` channels become zeros
};

// How a byte of a tensor becomes an exact float, by exclusive-or and a subtraction: the float whose second byte
// is the byte is 2^15 more than it.
struct ByteNumbers {
  std::uint32_t flip = 0;  // int8: 0x80 in every byte, which then is 128 more than the integer
  float base = 32768.0f;
};

// How a float becomes a byte: it is limited and rounded to the nearest integer, halves to the even one. kQuantize and
// kGlobalAverage limit it to [low, high], and add `add` to the integer.
struct ByteResult {
  bool is_signed = false;
  float low = 0.0f, high = 255.0f;
  float add = 0.0f;
};

// What a float is divided by, and 1 over it, rounded.
struct Divisor {
  float divisor = 1.0f, reciprocal = 1.0f;
};

}  // namespace weft::network
