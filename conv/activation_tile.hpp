// Operand A of the implicit GEMM: source pixels, gathered tap by tap (im2col without the copy).
#pragma once

#include <cstdint>

#include "weft/conv/params.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/operand_share.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

// Any filter, stride, dilation and padding.
template <class G>
class Im2colTile {
  using Share = gemm::ColumnShare<G>;

 public:
  using Fragment = typename Share::Fragment;

  WEFT_DEVICE Im2colTile(arch::Thread t, const ActivationParams& params, int tile_m) : p_(params) {
    WEFT_UNROLL
    for (int i = 0; i < Share::kColumns; ++i) {
      const std::int32_t m = tile_m * G::kBlockM + Share::Column(t.tid(), i);
      std::int32_t pq = 0, q = 0;
      const std::int32_t n = p_.image_pixels.Divmod(m, pq);
      const std::int32_t p = p_.row_pixels.Divmod(pq, q);
      // A row far above the image makes every tap of a surplus pixel fall outside.
      h_[i] = m < p_.pixels ? p * p_.stride_h + p_.base_h : kFarOutside;
      w_[i] = q * p_.stride_w + p_.base_w;
      origin_[i] = n * p_.image_packets + static_cast<std::int64_t>(h_[i]) * p_.w + w_[i];
    }
    const int first = Share::Row(t.tid(), 0);
    kp_ = first;
    const std::int32_t taps = p_.r * p_.s;
    const std::int32_t c4 = first / taps, tap = first % taps;
    r_ = tap / p_.s;
    s_ = tap % p_.s;
    offset_ = c4 * p_.plane + r_ * p_.step_h * p_.w + s_ * p_.step_w;
    const std::int32_t step_c4 = Share::kRowStep / taps, step_tap = Share::kRowStep % taps;
    step_r_ = step_tap / p_.s;
    step_s_ = step_tap % p_.s;
    step_offset_ = step_c4 * p_.plane + step_r_ * p_.step_h * p_.w + step_s_ * p_.step_w;
  }

  WEFT_DEVICE void Load(arch::Thread t, Fragment& f) {
    WEFT_UNROLL
    for (int row = 0; row < Share::kRows; ++row) {
      const bool in_k = kp_ < p_.packets;
      WEFT_UNROLL
      for (int i = 0; i < Share::kColumns; ++i) {
        const std::uint32_t h = static_cast<std::uint32_t>(h_[i] + r_ * p_.step_h);
        const std::uint32_t w = static_cast<std::uint32_t>(w_[i] + s_ * p_.step_w);
        const bool inside =
            in_k && h < static_cast<std::uint32_t>(p_.h) && w < static_cast<std::uint32_t>(p_.w);
        f.packet[row][i] = t.LoadGlobalOr0(p_.src + (origin_[i] + offset_), inside);
      }
      Advance();
    }
  }

  WEFT_DEVICE void Store(arch::Thread t, const Fragment& f,
                         std::uint32_t (*shared)[G::kBlockM]) const {
    Share::Store(t, f, shared);
  }

 private:
  static constexpr std::int32_t kFarOutside = -(1 << 30);

  // kRowStep packets on: (c / 4, r, s) counted with s fastest.
  WEFT_DEVICE void Advance() {
    kp_ += Share::kRowStep;
    // One packet on is one tap on; more are worked out once, in the constructor.
    s_ += Share::kRowStep == 1 ? 1 : step_s_;
    offset_ += Share::kRowStep == 1 ? p_.step_w : step_offset_;
    if (s_ >= p_.s) {
      s_ -= p_.s;
      ++r_;
      offset_ += p_.step_h * p_.w - p_.s * p_.step_w;
    }
    if constexpr (Share::kRowStep > 1) r_ += step_r_;
    if (r_ >= p_.r) {
      r_ -= p_.r;
      offset_ += p_.plane - p_.r * p_.step_h * p_.w;
    }
  }

  const ActivationParams& p_;
  std::int32_t h_[Share::kColumns];  // input row and column of tap (0, 0)
  std::int32_t w_[Share::kColumns];
  std::int64_t origin_[Share::kColumns];        // and its packet offset
  std::int32_t kp_;                             // packet index of the next row
  std::int32_t r_, s_;                          // its tap
  std::int32_t step_r_, step_s_, step_offset_;  // kRowStep as taps, and as an offset
  std::int32_t offset_;                         // its packet offset from origin_
};

// R = S = 1 and no padding: every tap is inside, and a packet's address is the pixel's plus
// kp planes. No im2col arithmetic.
template <class G>
class PointwiseTile {
  using Share = gemm::ColumnShare<G>;

 public:
  using Fragment = typename Share::Fragment;

  WEFT_DEVICE PointwiseTile(arch::Thread t, const ActivationParams& params, int tile_m)
      : p_(params), kp_(Share::Row(t.tid(), 0)) {
    WEFT_UNROLL
    for (int i = 0; i < Share::kColumns; ++i) {
      const std::int32_t m = tile_m * G::kBlockM + Share::Column(t.tid(), i);
      std::int32_t pq = 0, q = 0;
      const std::int32_t n = p_.image_pixels.Divmod(m, pq);
      const std::int32_t p = p_.row_pixels.Divmod(pq, q);
      inside_[i] = m < p_.pixels;
      source_[i] =
          p_.src + (n * p_.image_packets + static_cast<std::int64_t>(p * p_.stride_h) * p_.w +
                    q * p_.stride_w + static_cast<std::int64_t>(kp_) * p_.plane);
    }
  }

  WEFT_DEVICE void Load(arch::Thread t, Fragment& f) {
    WEFT_UNROLL
    for (int row = 0; row < Share::kRows; ++row) {
      WEFT_UNROLL
      for (int i = 0; i < Share::kColumns; ++i) {
        f.packet[row][i] = t.LoadGlobalOr0(source_[i], inside_[i] && kp_ < p_.packets);
        source_[i] += static_cast<std::int64_t>(Share::kRowStep) * p_.plane;
      }
      kp_ += Share::kRowStep;
    }
  }

  WEFT_DEVICE void Store(arch::Thread t, const Fragment& f,
                         std::uint32_t (*shared)[G::kBlockM]) const {
    Share::Store(t, f, shared);
  }

 private:
  const ActivationParams& p_;
  std::int32_t kp_;
  const std::uint32_t* source_[Share::kColumns];
  bool inside_[Share::kColumns];
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
