// How kernels see a tensor of a network: they read and write 16 adjacent channels of a pixel at a time.
#pragma once

#include <cstdint>

#include "weft/gemm/tile/fast_divmod.hpp"
#include "weft/layouts/base/compiler.hpp"

namespace weft::network {

inline constexpr int kGroup = 16;  // channels that a thread makes of one pixel

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

// Where a thread's channels lie in the output.
struct Place {
  std::int32_t n = 0, c = 0, pixel = 0;
};

// The groups of 16 channels of the output, one for each thread, numbered so that neighbours lie side by side in
// memory: `inner` groups of a pixel, pixels, the other groups, images.
struct Units {
  gemm::FastDivmod inner, pixels, outer;
  std::int32_t count = 0;
  std::int32_t first = 0;  // the first group's channel of the output, a multiple of 16

  constexpr Place At(std::int32_t unit) const {
    Place at;
    std::int32_t inner_group = 0, outer_group = 0;
    unit = inner.Divmod(unit, inner_group);
    unit = pixels.Divmod(unit, at.pixel);
    at.n = outer.Divmod(unit, outer_group);
    at.c = first + kGroup * (outer_group * inner.divisor() + inner_group);
    return at;
  }
};

// Which channels a run makes. Channel c of the output is made of channel c - begin of the source.
struct Channels {
  std::int32_t count = 0;           // of the source
  std::int32_t begin = 0, end = 0;  // of the output; those behind `count` channels become zeros
};

// How a byte of a tensor becomes an exact float, by exclusive-or and a subtraction: the float whose lower bits
// are the byte is 2^23 more than it.
struct ByteNumbers {
  std::uint32_t flip = 0;  // int8: 0x80 in every byte, which then is 128 more than the integer
  float base = 8388608.0f;
};

// How a float becomes a byte: limited to [low, high], rounded to the nearest integer, halves to the even one, and
// `add` added.
struct ByteResult {
  float low = 0.0f, high = 255.0f;
  float add = 0.0f;
};

}  // namespace weft::network
