// Iterators over the source: im2col as index arithmetic, without a copy of the source.
//
// An iterator (gemm/operand/operand.hpp) stands at one place of k, (c, r, s), and knows for each of
// the thread's output pixels whether the input there is inside the image, and its address. k counts
// units. In NCxHWx<x> a unit is a channel block (the x channels of one pixel), in the order (c / x,
// r, s), s fastest; a block of 64 channels counts as two of 32. In NHWC a unit is a piece of one
// access, in the order (r, s, c), c fastest.
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

// Checks what the iterators below need of a Shape.
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

// Any filter of any size. Format: a CheckedPolicy. kKMajor: NHWC.
template <class Shape, class Format>
class Im2colIterator {
  static constexpr int kUnitBytes = Format::kSrcUnitBytes, kBlockUnits = Format::kBlockUnits;
  static constexpr bool kKMajor = Format::kNhwc;
  static constexpr int kStep = Shape::kStep * (kKMajor ? Shape::kInner : 1);  // in units

 public:
  using Params = Im2colParams;
  static constexpr bool kWhole = true;
  static_assert(CheckedShape<Shape>::kOk);
  static constexpr int kBytes = Shape::kBytes;

  template <class Tile>
  WEFT_DEVICE Im2colIterator(arch::Thread t, const Params& params, const Tile& tile) : p_(params) {
    src_ = p_.Data(tile, kUnitBytes) + (kKMajor ? 0 : Shape::Inner(t) * kBytes);
    WEFT_UNROLL
    for (int i = 0; i < Shape::kRows; ++i) {
      at_[i] = p_.Window(tile, tile.m * Shape::kExtent + Shape::Row(t, i));
    }
    unit_ = Shape::Outer(t, 0);
    if constexpr (kKMajor) unit_ = unit_ * Shape::kInner + Shape::Inner(t);
    c_ = Split(unit_, r_, s_);
    step_c_ = Split(kStep, step_r_, step_s_);
    if constexpr (!kKMajor) {
      offset_ = Offset();
      step_offset_ = step_c_ * p_.plane + Tap(step_r_, step_s_);
    }
  }

  WEFT_DEVICE int Bytes(int i) const {
    const auto h = static_cast<std::uint32_t>(at_[i].h + r_ * p_.step_h);
    const auto w = static_cast<std::uint32_t>(at_[i].w + s_ * p_.step_w);
    const bool inside = unit_ < p_.units && h < static_cast<std::uint32_t>(p_.h) &&
                        w < static_cast<std::uint32_t>(p_.w);
    return inside ? kBytes : 0;
  }

  WEFT_DEVICE const void* Source(int i) const {
    if constexpr (kKMajor) {
      return src_ + (at_[i].unit + (Tap(r_, s_) * p_.pixel_units + c_)) * kUnitBytes;
    } else {
      return src_ + (at_[i].unit + offset_) * kUnitBytes;
    }
  }

  // Where the thread's pieces begin among its group's channels, in bytes of channels.
  WEFT_DEVICE std::int32_t Channel(arch::Thread t) const {
    if constexpr (kKMajor) {
      return c_ * kUnitBytes;
    } else {
      return p_.taps.Divide(unit_) * kUnitBytes + Shape::Inner(t) * kBytes;
    }
  }

  WEFT_DEVICE void Advance() {
    unit_ += kStep;
    if constexpr (kKMajor) {
      c_ += step_c_;
      if (c_ >= p_.channel_units) {
        c_ -= p_.channel_units;
        ++s_;
      }
      s_ += step_s_;
      if (s_ >= p_.s) {
        s_ -= p_.s;
        ++r_;
      }
      r_ += step_r_;
    } else {
      // A step of one unit is one tap; the constructor has split a longer step into taps and
      // channels.
      s_ += kStep == 1 ? 1 : step_s_;
      offset_ += kStep == 1 ? p_.step_w : step_offset_;
      if (s_ >= p_.s) {
        s_ -= p_.s;
        ++r_;
        offset_ += p_.step_h * p_.w - p_.s * p_.step_w;
      }
      if constexpr (kStep > 1) r_ += step_r_;
      if (r_ >= p_.r) {
        r_ -= p_.r;
        offset_ += p_.plane - p_.r * p_.step_h * p_.w;
        if constexpr (kBlockUnits == 2) ++c_;
      }
      if constexpr (kBlockUnits == 2) {
        // A step of one unit carries into c_ above; so it does where R * S = 1, whose step_c_ is 1.
        if constexpr (kStep > 1) c_ += step_c_;
        offset_ = Offset();
      }
    }
  }

 private:
  // Splits a number of units into rows r and columns s of taps, and channel units, which are
  // returned.
  WEFT_DEVICE std::int32_t Split(std::int32_t units, std::int32_t& r, std::int32_t& s) const {
    std::int32_t c = 0, tap = 0;
    if constexpr (kKMajor) {
      tap = p_.channels.Divmod(units, c);
    } else {
      c = p_.taps.Divmod(units, tap);
    }
    r = p_.tap_columns.Divmod(tap, s);
    return c;
  }
  WEFT_DEVICE std::int32_t Tap(std::int32_t r, std::int32_t s) const {
    return r * p_.step_h * p_.w + s * p_.step_w;
  }
  // NCxHWx: units from tap (0, 0) of the first block to the present place.
  WEFT_DEVICE std::int32_t Offset() const {
    return c_ / kBlockUnits * kBlockUnits * p_.plane + c_ % kBlockUnits + Tap(r_, s_) * kBlockUnits;
  }

  const Params& p_;
  const std::uint8_t* src_;
  WindowPlace at_[Shape::kRows];
  std::int32_t unit_;                          // the present place in k
  std::int32_t r_, s_, c_;                     // its tap, and its channels in units
  std::int32_t step_r_, step_s_, step_c_;      // kStep, split in the same way
  std::int32_t offset_ = 0, step_offset_ = 0;  // NCxHWx: units from tap (0, 0), and in kStep
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
