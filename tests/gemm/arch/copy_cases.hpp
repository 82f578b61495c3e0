// The copies of TMA that are tested: every kind of map, each swizzle, borders, steps,
// targets off the swizzle's period. Plain data, for tests and golden vectors alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/gemm/arch/hopper_kernels.hpp"

namespace weft::arch::testing {

constexpr int kTensorWords = 16384;  // 64 KB

struct CopyCase {
  std::string name;
  CopyKind kind = CopyKind::kTiled;
  TensorMapSpec spec = {};  // base is set when there is memory
  int32_t coord[5] = {};
  uint16_t offset[3] = {};
  uint32_t target = 0;
  uint32_t bulk_bytes = 0;
  uint32_t source_offset = 0;
};

// Strides of a dense tensor: each dimension's is the one before times its extent. Its elements are bytes unless it
// says otherwise.
inline TensorMapSpec DenseSpec(TensorMapSpec spec) {
  if (spec.element_bytes == 0) spec.element_bytes = 1;
  uint64_t stride = spec.interleave32 ? 32 : spec.element_bytes;
  for (int i = 0; i + 1 < spec.rank; ++i) {
    stride *= spec.dim[i];
    spec.stride[i] = stride;
  }
  return spec;
}

inline std::vector<CopyCase> CopyCases() {
  using Spec = TensorMapSpec;
  constexpr auto kTiled = Spec::Kind::kTiled;
  constexpr auto kIm2col = Spec::Kind::kIm2col;
  std::vector<CopyCase> cases;
  const auto tiled = [&](const char* name, Spec spec, std::vector<int32_t> coord,
                         uint32_t target = 0) {
    spec.kind = kTiled;
    CopyCase c{.name = name, .kind = CopyKind::kTiled, .spec = DenseSpec(spec), .target = target};
    for (size_t i = 0; i < coord.size(); ++i) c.coord[i] = coord[i];
    cases.push_back(c);
  };
  const auto im2col = [&](const char* name, Spec spec, std::vector<int32_t> coord,
                          std::vector<uint16_t> offset, uint32_t target = 0) {
    spec.kind = kIm2col;
    CopyCase c{.name = name, .kind = CopyKind::kIm2col, .spec = DenseSpec(spec), .target = target};
    for (size_t i = 0; i < coord.size(); ++i) c.coord[i] = coord[i];
    for (size_t i = 0; i < offset.size(); ++i) c.offset[i] = offset[i];
    cases.push_back(c);
  };

  tiled("1d", {.dim = {4096}, .rank = 1, .box = {256}}, {3968});
  tiled("2d_borders", {.dim = {64, 10}, .rank = 2, .box = {16, 14}}, {-16, -3}, 128);
  tiled("2d_beyond", {.dim = {80, 10}, .rank = 2, .box = {64, 8}}, {48, 7});
  tiled("2d_words", {.dim = {16, 9}, .rank = 2, .element_bytes = 4, .box = {8, 5}}, {12, -1});
  tiled("3d_halves", {.dim = {24, 5, 4}, .rank = 3, .element_bytes = 2, .box = {16, 4, 3}},
        {8, 3, 2});
  tiled("swizzle32",
        {.dim = {32, 12, 9, 2}, .rank = 4, .swizzle = SwizzleSpan::k32, .box = {32, 10, 6, 1}},
        {0, -1, -2, 1}, 128);
  tiled("swizzle64",
        {.dim = {64, 7, 6, 2}, .rank = 4, .swizzle = SwizzleSpan::k64, .box = {64, 5, 4, 2}},
        {0, 4, 3, 1}, 384);
  tiled("swizzle128",
        {.dim = {128, 9, 5}, .rank = 3, .swizzle = SwizzleSpan::k128, .box = {128, 6, 4}},
        {0, -2, 2}, 640);
  tiled("swizzle128_part",
        {.dim = {96, 9}, .rank = 2, .swizzle = SwizzleSpan::k128, .box = {128, 9}}, {16, 0});
  tiled("steps",
        {.dim = {32, 14, 13, 2},
         .rank = 4,
         .swizzle = SwizzleSpan::k32,
         .box = {32, 13, 11, 1},
         .step = {1, 2, 2, 1}},
        {0, -1, 0, 1});
  tiled("5d", {.dim = {16, 3, 4, 3, 2}, .rank = 5, .box = {16, 2, 3, 2, 2}}, {0, 2, -1, 2, 0});

  Spec packets{.dim = {12, 9, 4, 3}, .rank = 4, .interleave32 = true, .swizzle = SwizzleSpan::k32};
  Spec packets_tiled = packets;
  for (int i = 0; i < 4; ++i) packets_tiled.box[i] = (const uint16_t[]){16, 5, 1, 2}[i];
  tiled("interleaved_4d", packets_tiled, {-2, 6, 3, 1});
  tiled("interleaved_3d",
        {.dim = {108, 4, 3},
         .rank = 3,
         .interleave32 = true,
         .swizzle = SwizzleSpan::k32,
         .box = {112, 1, 1}},
        {4, 2, 1}, 256);

  // Convolutions of 12 x 9 pixels: what im2col of NC32HW32 needs.
  const auto convolution = [&](int pad, int size, int dilation, int stride, int pixels) {
    Spec s = packets;
    s.channels = 32;
    s.pixels = static_cast<uint16_t>(pixels);
    s.step[0] = s.step[1] = static_cast<uint16_t>(stride);
    for (int i = 0; i < 2; ++i) {
      s.lower[i] = static_cast<int16_t>(-pad);
      s.upper[i] = static_cast<int16_t>(pad - dilation * (size - 1));
    }
    return s;
  };
  im2col("interleaved_3x3", convolution(1, 3, 1, 1, 64), {4, 3, 1, 0}, {2, 1});
  im2col("interleaved_3x3_images", convolution(1, 3, 1, 1, 128), {-1, 5, 3, 1}, {0, 2}, 256);
  im2col("interleaved_3x3_past_the_end", convolution(1, 3, 1, 1, 64), {9, 6, 2, 2}, {1, 0});
  im2col("interleaved_3x3_stride2", convolution(1, 3, 1, 2, 48), {3, -1, 0, 0}, {2, 2});
  im2col("interleaved_3x3_dilation2", convolution(2, 3, 2, 1, 96), {-2, -2, 1, 1}, {4, 2});
  im2col("interleaved_5x5", convolution(2, 5, 1, 1, 80), {6, 2, 3, 0}, {4, 4});
  im2col("interleaved_7x7_stride2", convolution(3, 7, 1, 2, 32), {-3, 1, 0, 2}, {6, 0});
  im2col("interleaved_1x1_stride2", convolution(0, 1, 1, 2, 64), {0, 0, 2, 0}, {0, 0});
  Spec padded = convolution(1, 1, 1, 1, 72);
  padded.upper[0] = padded.upper[1] = 0;
  im2col("interleaved_padded_linear", padded, {3, -1, 1, 0}, {0, 0});

  const auto nhwc = [&](int channels, SwizzleSpan swizzle, int element_bytes, int stride,
                        int pixels) {
    Spec s{.dim = {static_cast<uint32_t>(channels), 7, 5, 3},
           .rank = 4,
           .element_bytes = static_cast<uint8_t>(element_bytes),
           .swizzle = swizzle,
           .step = {1, static_cast<uint16_t>(stride), static_cast<uint16_t>(stride), 1},
           .lower = {-1, -1},
           .upper = {-1, -1},
           .channels = static_cast<uint16_t>(static_cast<int>(swizzle) / element_bytes),
           .pixels = static_cast<uint16_t>(pixels)};
    return s;
  };
  im2col("nhwc_128", nhwc(160, SwizzleSpan::k128, 1, 1, 60), {128, 2, 1, 0}, {2, 1});
  im2col("nhwc_128_halves", nhwc(64, SwizzleSpan::k128, 2, 1, 40), {0, -1, 3, 1}, {0, 2}, 512);
  im2col("nhwc_64_stride2", nhwc(64, SwizzleSpan::k64, 1, 2, 30), {0, 1, -1, 0}, {1, 1}, 128);
  im2col("nhwc_32", nhwc(48, SwizzleSpan::k32, 1, 1, 50), {16, 4, 3, 2}, {1, 2});
  im2col("nwc_3d",
         {.dim = {32, 20, 4},
          .rank = 3,
          .swizzle = SwizzleSpan::k32,
          .lower = {-2},
          .upper = {-2},
          .channels = 32,
          .pixels = 50},
         {0, 6, 1}, {3});
  im2col("ndhwc_5d",
         {.dim = {32, 5, 4, 3, 2},
          .rank = 5,
          .swizzle = SwizzleSpan::k32,
          .lower = {-1, -1, -1},
          .upper = {-1, -1, -1},
          .channels = 32,
          .pixels = 90},
         {0, 1, 0, -1, 0}, {1, 2, 0});

  cases.push_back({.name = "bulk",
                   .kind = CopyKind::kBulk,
                   .target = 48,
                   .bulk_bytes = 4112,
                   .source_offset = 32});
  return cases;
}

}  // namespace weft::arch::testing
