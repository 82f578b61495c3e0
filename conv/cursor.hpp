// Where the packets of a thread's pixels lie: im2col as index arithmetic, without the copy.
//
// A packet is what one channel block holds of one pixel (4 bytes in NCxHWx<4>, 32 in NCxHWx<32>),
// or the channels of one access in NHWC; conv/params.hpp has the order of packet indices. A cursor
// stands at one packet index and knows, for each of the thread's pixels, whether the packet is
// inside the image and its offset in packets.
#pragma once

#include <cstdint>

#include "weft/conv/params.hpp"
#include "weft/gemm/arch/arch.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

// Row far above the image: every tap of a pixel there falls outside.
inline constexpr std::int32_t kFarOutside = -(1 << 30);

// Output pixel m: its image, and the input row and column that stride alone gives it.
struct PixelPlace {
  std::int32_t n, h, w;

  WEFT_DEVICE PixelPlace(const ActivationParams& p, std::int32_t m) {
    std::int32_t pq = 0, q = 0;
    n = p.image_pixels.Divmod(m, pq);
    h = p.row_pixels.Divmod(pq, q) * p.stride_h;
    w = q * p.stride_w;
  }
};

// Any filter, stride, dilation and padding. Moves on by kStep packets.
template <int kPixels, int kStep>
class Im2colCursor {
 public:
  // m[i]: the output pixels. first: the packet index to start at.
  WEFT_DEVICE Im2colCursor(const ActivationParams& params, const std::int32_t (&m)[kPixels],
                           int first)
      : p_(params) {
    WEFT_UNROLL
    for (int i = 0; i < kPixels; ++i) {
      const PixelPlace at(p_, m[i]);
      h_[i] = m[i] < p_.pixels ? at.h + p_.base_h : kFarOutside;
      w_[i] = at.w + p_.base_w;
      origin_[i] = at.n * p_.image_packets + static_cast<std::int64_t>(h_[i]) * p_.w + w_[i];
    }
    kp_ = first;
    std::int32_t tap = 0, step_tap = 0;
    const std::int32_t block = p_.taps.Divmod(first, tap);
    r_ = p_.tap_columns.Divmod(tap, s_);
    offset_ = block * p_.plane + r_ * p_.step_h * p_.w + s_ * p_.step_w;
    const std::int32_t step_block = p_.taps.Divmod(kStep, step_tap);
    step_r_ = p_.tap_columns.Divmod(step_tap, step_s_);
    step_offset_ = step_block * p_.plane + step_r_ * p_.step_h * p_.w + step_s_ * p_.step_w;
  }

  WEFT_DEVICE bool Inside(int i) const {
    const std::uint32_t h = static_cast<std::uint32_t>(h_[i] + r_ * p_.step_h);
    const std::uint32_t w = static_cast<std::uint32_t>(w_[i] + s_ * p_.step_w);
    return kp_ < p_.packets && h < static_cast<std::uint32_t>(p_.h) &&
           w < static_cast<std::uint32_t>(p_.w);
  }

  // Meaningful where Inside(i).
  WEFT_DEVICE std::int64_t Offset(int i) const { return origin_[i] + offset_; }

  WEFT_DEVICE void Advance() {
    kp_ += kStep;
    // One packet on is one tap on; more are worked out once, in the constructor.
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
    }
  }

 private:
  const ActivationParams& p_;
  std::int32_t h_[kPixels];  // input row and column of tap (0, 0)
  std::int32_t w_[kPixels];
  std::int64_t origin_[kPixels];                // and its packet offset
  std::int32_t kp_;                             // packet index
  std::int32_t r_, s_;                          // its tap
  std::int32_t offset_;                         // its packet offset from origin_
  std::int32_t step_r_, step_s_, step_offset_;  // kStep as taps, and as an offset
};

// R = S = 1 and no padding: every tap is inside, and a packet's address is the pixel's plus kp
// planes. No im2col arithmetic.
template <int kPixels, int kStep>
class PointwiseCursor {
 public:
  WEFT_DEVICE PointwiseCursor(const ActivationParams& params, const std::int32_t (&m)[kPixels],
                              int first)
      : p_(params), kp_(first) {
    WEFT_UNROLL
    for (int i = 0; i < kPixels; ++i) {
      const PixelPlace at(p_, m[i]);
      inside_[i] = m[i] < p_.pixels;
      offset_[i] = at.n * p_.image_packets + static_cast<std::int64_t>(at.h) * p_.w + at.w +
                   static_cast<std::int64_t>(first) * p_.plane;
    }
  }

  WEFT_DEVICE bool Inside(int i) const { return inside_[i] && kp_ < p_.packets; }
  WEFT_DEVICE std::int64_t Offset(int i) const { return offset_[i]; }

  WEFT_DEVICE void Advance() {
    kp_ += kStep;
    WEFT_UNROLL
    for (int i = 0; i < kPixels; ++i) {
      offset_[i] += static_cast<std::int64_t>(kStep) * p_.plane;
    }
  }

 private:
  const ActivationParams& p_;
  std::int32_t kp_;
  std::int64_t offset_[kPixels];
  bool inside_[kPixels];
};

// NHWC: packet indices enumerate (r, s, c), c fastest. Any filter, stride, dilation and padding.
template <int kPixels, int kStep>
class NhwcCursor {
 public:
  WEFT_DEVICE NhwcCursor(const ActivationParams& params, const std::int32_t (&m)[kPixels],
                         int first)
      : p_(params) {
    WEFT_UNROLL
    for (int i = 0; i < kPixels; ++i) {
      const PixelPlace at(p_, m[i]);
      h_[i] = m[i] < p_.pixels ? at.h + p_.base_h : kFarOutside;
      w_[i] = at.w + p_.base_w;
      origin_[i] = at.n * p_.image_packets +
                   (static_cast<std::int64_t>(h_[i]) * p_.w + w_[i]) * p_.channel_packets;
    }
    kp_ = first;
    const std::int32_t tap = p_.pixel_packets.Divmod(first, c_);
    r_ = p_.tap_columns.Divmod(tap, s_);
    const std::int32_t step_tap = p_.pixel_packets.Divmod(kStep, step_c_);
    step_r_ = p_.tap_columns.Divmod(step_tap, step_s_);
  }

  WEFT_DEVICE bool Inside(int i) const {
    const std::uint32_t h = static_cast<std::uint32_t>(h_[i] + r_ * p_.step_h);
    const std::uint32_t w = static_cast<std::uint32_t>(w_[i] + s_ * p_.step_w);
    return kp_ < p_.packets && h < static_cast<std::uint32_t>(p_.h) &&
           w < static_cast<std::uint32_t>(p_.w);
  }

  // Meaningful where Inside(i).
  WEFT_DEVICE std::int64_t Offset(int i) const {
    return origin_[i] + ((r_ * p_.step_h * p_.w + s_ * p_.step_w) * p_.channel_packets + c_);
  }

  WEFT_DEVICE void Advance() {
    kp_ += kStep;
    c_ += step_c_;
    if (c_ >= p_.channel_packets) {
      c_ -= p_.channel_packets;
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
  const ActivationParams& p_;
  std::int32_t h_[kPixels];  // input row and column of tap (0, 0)
  std::int32_t w_[kPixels];
  std::int64_t origin_[kPixels];           // and its packet offset
  std::int32_t kp_;                        // packet index
  std::int32_t r_, s_, c_;                 // its tap and channel packet
  std::int32_t step_r_, step_s_, step_c_;  // kStep as taps and channel packets
};

// NHWC with R = S = 1 and no padding: a row of a matrix.
template <int kPixels, int kStep>
class NhwcPointwiseCursor {
 public:
  WEFT_DEVICE NhwcPointwiseCursor(const ActivationParams& params, const std::int32_t (&m)[kPixels],
                                  int first)
      : p_(params), kp_(first) {
    WEFT_UNROLL
    for (int i = 0; i < kPixels; ++i) {
      const PixelPlace at(p_, m[i]);
      inside_[i] = m[i] < p_.pixels;
      origin_[i] = at.n * p_.image_packets +
                   (static_cast<std::int64_t>(at.h) * p_.w + at.w) * p_.channel_packets;
    }
  }

  WEFT_DEVICE bool Inside(int i) const { return inside_[i] && kp_ < p_.packets; }
  WEFT_DEVICE std::int64_t Offset(int i) const { return origin_[i] + kp_; }
  WEFT_DEVICE void Advance() { kp_ += kStep; }

 private:
  const ActivationParams& p_;
  std::int32_t kp_;
  std::int64_t origin_[kPixels];
  bool inside_[kPixels];
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
