// Iterators over the source for any filter of any size, one for NHWC and one for blocks of
// channels. The present place in k is split into a tap, (r, s), and channels; a step is split in
// the same way once, so that Advance adds and carries instead of dividing.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/conv/source/source_iterators.hpp"
#include "weft/gemm/arch/arch.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

// What both have in common: the thread's pixels, and the present tap. Format: a CheckedPolicy.
template <class Shape, class Format>
class Im2colPixels {
 public:
  using Params = Im2colParams;
  static constexpr bool kWhole = true;
  static_assert(CheckedShape<Shape>::kOk);
  static constexpr int kBytes = Shape::kBytes;

  WEFT_DEVICE int Bytes(int i) const {
    const auto h = static_cast<std::uint32_t>(at_[i].h + r_ * p_.step_h);
    const auto w = static_cast<std::uint32_t>(at_[i].w + s_ * p_.step_w);
    const bool inside = unit_ < p_.units && h < static_cast<std::uint32_t>(p_.h) &&
                        w < static_cast<std::uint32_t>(p_.w);
    return inside ? kBytes : 0;
  }

 protected:
  static constexpr int kUnitBytes = Format::kSrcUnitBytes;

  template <class Tile>
  WEFT_DEVICE Im2colPixels(arch::Thread t, const Params& params, const Tile& tile)
      : p_(params), src_(p_.Data(tile, kUnitBytes)) {
    WEFT_UNROLL
    for (int i = 0; i < Shape::kRows; ++i) {
      at_[i] = p_.Window(tile, tile.m * Shape::kExtent + Shape::Row(t, i));
    }
  }

  WEFT_DEVICE std::int32_t Tap(std::int32_t r, std::int32_t s) const {
    return r * p_.step_h * p_.w + s * p_.step_w;
  }

  const Params& p_;
  const std::uint8_t* src_;
  WindowPlace at_[Shape::kRows];
  std::int32_t unit_;                      // the present place in k
  std::int32_t r_, s_, c_;                 // its tap, and its channels in units
  std::int32_t step_r_, step_s_, step_c_;  // a step, split in the same way
};

// NHWC: k is (r, s, c), c fastest.
template <class Shape, class Format>
class NhwcIm2colIterator : public Im2colPixels<Shape, Format> {
  using Base = Im2colPixels<Shape, Format>;
  using Base::kUnitBytes;
  using Base::p_, Base::src_, Base::at_, Base::unit_;
  using Base::r_, Base::s_, Base::c_, Base::step_r_, Base::step_s_, Base::step_c_;
  static constexpr int kStep = Shape::kStep * Shape::kInner;  // in units

 public:
  using typename Base::Params;

  template <class Tile>
  WEFT_DEVICE NhwcIm2colIterator(arch::Thread t, const Params& params, const Tile& tile)
      : Base(t, params, tile) {
    unit_ = Shape::Outer(t, 0) * Shape::kInner + Shape::Inner(t);
    c_ = Split(unit_, r_, s_);
    step_c_ = Split(kStep, step_r_, step_s_);
  }

  WEFT_DEVICE const void* Source(int i) const {
    return src_ + (at_[i].unit + (Base::Tap(r_, s_) * p_.pixel_units + c_)) * kUnitBytes;
  }
  // Where the thread's pieces begin among its group's channels, in bytes of channels.
  WEFT_DEVICE std::int32_t Channel(arch::Thread) const { return c_ * kUnitBytes; }

  WEFT_DEVICE void Advance() {
    unit_ += kStep;
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
  }

 private:
  // Splits a number of units into rows r and columns s of taps, and channel units, which are
  // returned.
  WEFT_DEVICE std::int32_t Split(std::int32_t units, std::int32_t& r, std::int32_t& s) const {
    std::int32_t c = 0;
    const std::int32_t tap = p_.channels.Divmod(units, c);
    r = p_.tap_columns.Divmod(tap, s);
    return c;
  }
};

// NCxHWx: k is (c / x, r, s), s fastest.
template <class Shape, class Format>
class BlockIm2colIterator : public Im2colPixels<Shape, Format> {
  using Base = Im2colPixels<Shape, Format>;
  using Base::kUnitBytes;
  using Base::p_, Base::src_, Base::at_, Base::unit_;
  using Base::r_, Base::s_, Base::c_, Base::step_r_, Base::step_s_, Base::step_c_;
  static constexpr int kStep = Shape::kStep;  // in units
  static constexpr int kBlockUnits = Format::kBlockUnits;

 public:
  using Base::kBytes;
  using typename Base::Params;

  template <class Tile>
  WEFT_DEVICE BlockIm2colIterator(arch::Thread t, const Params& params, const Tile& tile)
      : Base(t, params, tile) {
    src_ += Shape::Inner(t) * kBytes;
    unit_ = Shape::Outer(t, 0);
    c_ = Split(unit_, r_, s_);
    step_c_ = Split(kStep, step_r_, step_s_);
    offset_ = Offset();
    step_offset_ = step_c_ * p_.plane + Base::Tap(step_r_, step_s_);
  }

  WEFT_DEVICE const void* Source(int i) const {
    return src_ + (at_[i].unit + offset_) * kUnitBytes;
  }
  // Where the thread's pieces begin among its group's channels, in bytes of channels.
  WEFT_DEVICE std::int32_t Channel(arch::Thread t) const {
    return p_.taps.Divide(unit_) * kUnitBytes + Shape::Inner(t) * kBytes;
  }

  WEFT_DEVICE void Advance() {
    unit_ += kStep;
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

 private:
  // Splits a number of units into rows r and columns s of taps, and channel blocks, which are
  // returned.
  WEFT_DEVICE std::int32_t Split(std::int32_t units, std::int32_t& r, std::int32_t& s) const {
    std::int32_t tap = 0;
    const std::int32_t c = p_.taps.Divmod(units, tap);
    r = p_.tap_columns.Divmod(tap, s);
    return c;
  }
  // Units from tap (0, 0) of the first block to the present place.
  WEFT_DEVICE std::int32_t Offset() const {
    return c_ / kBlockUnits * kBlockUnits * p_.plane + c_ % kBlockUnits +
           Base::Tap(r_, s_) * kBlockUnits;
  }

  std::int32_t offset_, step_offset_;  // units from tap (0, 0), and in a step
};

template <class Shape, class Format>
using Im2colIterator = std::conditional_t<Format::kNhwc, NhwcIm2colIterator<Shape, Format>,
                                          BlockIm2colIterator<Shape, Format>>;

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
