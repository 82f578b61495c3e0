// Iterators over the source: im2col as index arithmetic, without a copy of the source.
//
// An iterator (gemm/operand/operand.hpp) stands at one place of k, (c, r, s), and knows for each of
// the thread's output pixels whether the input there is inside the image, and its address. k counts
// units. In NCxHWx<x> a unit is a channel block (the x channels of one pixel), in the order (c / x,
// r, s), s fastest; a block of 64 channels counts as two of 32. In NHWC a unit is a piece of one
// access, in the order (r, s, c), c fastest.
//
// This file has those of 1x1 filters and of filters of few taps; im2col_iterators.hpp those of any.
#pragma once

#include <cstdint>

#include "weft/conv/source/pixel_map.hpp"
#include "weft/gemm/operand/affine_iterator.hpp"
#include "weft/gemm/operand/operand.hpp"

namespace weft::conv {

// What every iterator over source pixels knows. Units are those of k, see above.
struct SourceParams {
  const void* src = nullptr;
  PixelMap rows;
  std::int64_t image_units = 0;    // units of one image
  std::int64_t group_units = 0;    // units from a channel group to the next
  std::int32_t units = 0;          // units of k: (C / G) / x * R * S
  std::int32_t pixel_units = 1;    // from a pixel to the next: 1, 2 or, in NHWC, all of a pixel
  std::int32_t channel_units = 1;  // NHWC: units of a pixel's channels in one group
  std::int32_t w = 0, plane = 0;   // input columns, and rows * columns
  std::int32_t stride_h = 0, stride_w = 0;

  template <class Tile>
  constexpr const std::uint8_t* Data(const Tile& tile, int unit_bytes) const {
    const auto* data = static_cast<const std::uint8_t*>(src);
    return kDependsOf<Tile>.group ? data + tile.batch.g * group_units * unit_bytes : data;
  }
};

// The source where R = S = 1 without padding, for gemm::AffineIterator. Every tap is inside the
// image, and a pixel's channel blocks are one plane apart. kKMajor: NHWC, whose pixels are K-major
// rows of a matrix.
template <class Format>
struct PointwiseSource {
  using Params = SourceParams;
  static constexpr bool kKMajor = Format::kNhwc, kWhole = true, kRegular = false;
  static constexpr int kUnitBytes = Format::kSrcUnitBytes;
  static constexpr std::int64_t RowBytes(const Params&) { return 0; }
  static constexpr std::int64_t StepBytes(const Params& p) {
    return static_cast<std::int64_t>(p.plane) * kUnitBytes;
  }
  static constexpr std::int32_t End(const Params& p) {
    return p.units * (kKMajor ? kUnitBytes : 1);
  }
  static constexpr std::int32_t First(const Params&) { return 0; }
  template <class Tile>
  static constexpr const void* Data(const Params& p, const Tile& tile) {
    return p.Data(tile, kUnitBytes);
  }
  template <class Tile>
  static constexpr gemm::RowPlace Row(const Params& p, const Tile& tile, std::int32_t m) {
    const PixelPlace at = p.rows.Place(tile, m);
    const std::int64_t pixel =
        static_cast<std::int64_t>(at.p * p.stride_h) * p.w + at.q * p.stride_w;
    return {(at.n * p.image_units + (kKMajor ? pixel * p.pixel_units : pixel)) * kUnitBytes,
            at.inside};
  }
};

// The input row and column of tap (0, 0) of an output pixel, and the unit there.
struct WindowPlace {
  std::int32_t h, w;
  std::int64_t unit;
};

// An input row so far above the image that every tap from there on is outside.
inline constexpr std::int32_t kFarOutside = -(1 << 30);

// Any filter. Input row of output row p and tap r: p * stride_h + base_h + r * step_h; base and
// step carry the padding, the dilation and, for Mode::kConvolution, the flip.
struct WindowParams : SourceParams {
  std::int32_t h = 0;         // input rows
  std::int32_t r = 0, s = 0;  // filter rows, columns
  std::int32_t base_h = 0, base_w = 0;
  std::int32_t step_h = 0, step_w = 0;

  // The window of row m of the tile's batch.
  template <class Tile>
  constexpr WindowPlace Window(const Tile& tile, std::int32_t m) const {
    const PixelPlace at = rows.Place(tile, m);
    const std::int32_t top = at.p * stride_h + base_h, left = at.q * stride_w + base_w;
    const std::int64_t pixel = static_cast<std::int64_t>(top) * w + left;
    return {at.inside ? top : kFarOutside, left, at.n * image_units + pixel * pixel_units};
  }
};

// Filters of at most kTableTaps taps; where a block has two units, each tap counts twice.
struct TapParams : WindowParams {
  static constexpr int kTableTaps = 32;
  std::int32_t taps = 0;  // R * S, or twice that
  // Units from a tap to the next one; after the last tap, to the first one of the next channel
  // block.
  std::int32_t next_tap[kTableTaps] = {};
};

struct Im2colParams : WindowParams {
  gemm::FastDivmod taps;         // by R S
  gemm::FastDivmod tap_columns;  // by S
  gemm::FastDivmod channels;     // NHWC: by channel_units
};

// Checks what the iterators need of a Shape.
template <class Shape>
struct CheckedShape {
  static_assert(Shape::kEven,
                "weft: the block's threads that share a row of the source must divide its pieces "
                "of config.threadblock.k; make that larger, or take fewer warps");
  static constexpr bool kOk = true;
};

inline namespace WEFT_BACKEND {

// NCxHWx, at most 32 taps, any stride, dilation and padding. Tensor cores leave no time for
// arithmetic at each piece. So the constructor works out which taps of a pixel lie inside the
// image, as bits, and each step just adds a table's entry to the pixels' addresses.
template <class Shape, class Format>
class TapIterator {
  static constexpr int kUnitBytes = Format::kSrcUnitBytes;

 public:
  using Params = TapParams;
  static constexpr bool kWhole = true;
  static_assert(CheckedShape<Shape>::kOk);
  static constexpr int kBytes = Shape::kBytes;

  template <class Tile>
  WEFT_DEVICE TapIterator(arch::Thread t, const Params& params, const Tile& tile) : p_(params) {
    const auto source =
        reinterpret_cast<std::uintptr_t>(p_.Data(tile, kUnitBytes)) + Shape::Inner(t) * kBytes;
    WindowPlace at[Shape::kRows];
    WEFT_UNROLL
    for (int i = 0; i < Shape::kRows; ++i) {
      at[i] = p_.Window(tile, tile.m * Shape::kExtent + Shape::Row(t, i));
      source_[i] = source + static_cast<std::uintptr_t>(at[i].unit * kUnitBytes);
      inside_[i] = 0;
    }
    std::uint32_t tap = 1;
    WEFT_NO_UNROLL
    for (int r = 0; r < p_.r; ++r) {
      WEFT_NO_UNROLL
      for (int s = 0; s < p_.s; ++s) {
        WEFT_UNROLL
        for (int i = 0; i < Shape::kRows; ++i) {
          const auto at_h = static_cast<std::uint32_t>(at[i].h + r * p_.step_h);
          const auto at_w = static_cast<std::uint32_t>(at[i].w + s * p_.step_w);
          const bool inside =
              at_h < static_cast<std::uint32_t>(p_.h) && at_w < static_cast<std::uint32_t>(p_.w);
          inside_[i] |= inside ? tap : 0u;
        }
        tap <<= 1;
      }
    }
    if constexpr (Format::kBlockUnits == 2) {  // the same for the block's second half
      WEFT_UNROLL
      for (int i = 0; i < Shape::kRows; ++i) inside_[i] |= inside_[i] << (p_.taps / 2);
    }
    for (int k = Shape::Outer(t, 0); k > 0; --k) Step();
  }

  WEFT_DEVICE int Bytes(int i) const { return (inside_[i] & bit_) != 0 ? kBytes : 0; }
  WEFT_DEVICE const void* Source(int i) const { return reinterpret_cast<const void*>(source_[i]); }
  WEFT_DEVICE void Advance() {
    WEFT_UNROLL
    for (int k = 0; k < Shape::kStep; ++k) Step();
  }

 private:
  // Without branches, so that the compiler can move the mainloop's instructions past it.
  WEFT_DEVICE void Step() {
    const std::int64_t bytes = static_cast<std::int64_t>(p_.next_tap[tap_]) * kUnitBytes;
    ++unit_;
    tap_ = tap_ + 1 == p_.taps ? 0 : tap_ + 1;
    bit_ = unit_ < p_.units ? 1u << tap_ : 0u;
    WEFT_UNROLL
    for (int i = 0; i < Shape::kRows; ++i) source_[i] += static_cast<std::uintptr_t>(bytes);
  }

  const Params& p_;
  std::uintptr_t source_[Shape::kRows];
  std::uint32_t inside_[Shape::kRows];  // a bit for each tap: whether it is inside the image
  std::uint32_t bit_ = 1;               // the bit of the present tap; 0 past the end of k
  std::int32_t tap_ = 0, unit_ = 0;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
