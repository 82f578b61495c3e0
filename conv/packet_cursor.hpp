// Where the 32-byte packets of a thread's pixels lie in NCxHWx<32>, for the mma_sm80 mainloop.
//
// Like the cursors of conv/cursor.hpp, with less arithmetic for each packet, because tensor cores
// leave no time for it: an address for each pixel moves from packet to packet, and which taps lie
// inside the image has been worked out before.
#pragma once

#include <cstdint>

#include "weft/conv/cursor.hpp"
#include "weft/conv/params.hpp"
#include "weft/gemm/arch/arch.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

// Share: a PacketShare (conv/mma_tiles.hpp). The thread's pixels are first + i * Share::kGroups.
//
// Filters of at most ActivationParams::kTableTaps taps, any stride, dilation and padding.
template <class Share>
class TapCursor {
 public:
  // source: the thread's piece of the tensor's first packet. skip: packets to leave out.
  WEFT_DEVICE TapCursor(const ActivationParams& params, const std::uint8_t* source,
                        std::int32_t first, int skip)
      : p_(params) {
    std::int32_t h[Share::kRows], w[Share::kRows];
    WEFT_UNROLL
    for (int i = 0; i < Share::kRows; ++i) {
      const std::int32_t m = first + i * Share::kGroups;
      const PixelPlace at(p_, m);
      h[i] = at.h + p_.base_h;
      w[i] = at.w + p_.base_w;
      const std::int64_t packet =
          at.n * p_.image_packets + static_cast<std::int64_t>(h[i]) * p_.w + w[i];
      source_[i] =
          reinterpret_cast<std::uintptr_t>(source) + static_cast<std::uintptr_t>(packet * 32);
      if (m >= p_.pixels) h[i] = kFarOutside;
      inside_[i] = 0;
    }
    std::uint32_t tap = 1;
    WEFT_NO_UNROLL
    for (int r = 0; r < p_.r; ++r) {
      WEFT_NO_UNROLL
      for (int s = 0; s < p_.s; ++s) {
        WEFT_UNROLL
        for (int i = 0; i < Share::kRows; ++i) {
          const auto at_h = static_cast<std::uint32_t>(h[i] + r * p_.step_h);
          const auto at_w = static_cast<std::uint32_t>(w[i] + s * p_.step_w);
          const bool inside =
              at_h < static_cast<std::uint32_t>(p_.h) && at_w < static_cast<std::uint32_t>(p_.w);
          inside_[i] |= inside ? tap : 0u;
        }
        tap <<= 1;
      }
    }
    for (int k = 0; k < skip; ++k) Step();
  }

  WEFT_DEVICE bool Inside(int i) const { return (inside_[i] & bit_) != 0; }

  // Meaningful where Inside(i).
  WEFT_DEVICE const void* Source(int i) const { return reinterpret_cast<const void*>(source_[i]); }

  // To the thread's next packet.
  WEFT_DEVICE void Advance() {
    WEFT_UNROLL
    for (int k = 0; k < Share::kStep; ++k) Step();
  }

 private:
  // Without branches: instructions of the mainloop move across.
  WEFT_DEVICE void Step() {
    const std::int64_t bytes = static_cast<std::int64_t>(p_.next_tap[tap_]) * 32;
    ++packet_;
    tap_ = tap_ + 1 == p_.taps.divisor() ? 0 : tap_ + 1;
    bit_ = packet_ < p_.packets ? 1u << tap_ : 0u;
    WEFT_UNROLL
    for (int i = 0; i < Share::kRows; ++i) source_[i] += static_cast<std::uintptr_t>(bytes);
  }

  const ActivationParams& p_;
  std::uintptr_t source_[Share::kRows];
  std::uint32_t inside_[Share::kRows];  // bit by bit: whether the tap is inside the image
  std::uint32_t bit_ = 1;               // that of the present tap, 0 past the last packet
  std::int32_t tap_ = 0, packet_ = 0;
};

// The same for filters of any size, through conv/cursor.hpp.
template <class Share>
class LargeFilterCursor {
 public:
  WEFT_DEVICE LargeFilterCursor(const ActivationParams& params, const std::uint8_t* source,
                                std::int32_t first, int skip)
      : source_(source), cursor_(params, Pixels(first).m, skip) {}

  WEFT_DEVICE bool Inside(int i) const { return cursor_.Inside(i); }
  WEFT_DEVICE const void* Source(int i) const {
    return Inside(i) ? source_ + cursor_.Offset(i) * 32 : source_;
  }
  WEFT_DEVICE void Advance() { cursor_.Advance(); }

 private:
  struct Pixels {
    WEFT_DEVICE explicit Pixels(std::int32_t first) {
      WEFT_UNROLL
      for (int i = 0; i < Share::kRows; ++i) m[i] = first + i * Share::kGroups;
    }
    std::int32_t m[Share::kRows];
  };

  const std::uint8_t* source_;
  Im2colCursor<Share::kRows, Share::kStep> cursor_;
};

// R = S = 1 and no padding: every tap is inside, and a pixel's packets are planes apart.
template <class Share>
class PlaneCursor {
 public:
  WEFT_DEVICE PlaneCursor(const ActivationParams& params, const std::uint8_t* source,
                          std::int32_t first, int skip)
      : packet_(skip), bytes_(static_cast<std::int64_t>(params.plane) * (32 * Share::kStep)) {
    WEFT_UNROLL
    for (int i = 0; i < Share::kRows; ++i) {
      const std::int32_t m = first + i * Share::kGroups;
      const PixelPlace at(params, m);
      const std::int64_t packet = at.n * params.image_packets +
                                  static_cast<std::int64_t>(at.h) * params.w + at.w +
                                  static_cast<std::int64_t>(skip) * params.plane;
      source_[i] =
          reinterpret_cast<std::uintptr_t>(source) + static_cast<std::uintptr_t>(packet * 32);
      end_[i] = m < params.pixels ? params.packets : 0;
    }
  }

  WEFT_DEVICE bool Inside(int i) const { return packet_ < end_[i]; }
  WEFT_DEVICE const void* Source(int i) const { return reinterpret_cast<const void*>(source_[i]); }
  WEFT_DEVICE void Advance() {
    packet_ += Share::kStep;
    WEFT_UNROLL
    for (int i = 0; i < Share::kRows; ++i) source_[i] += static_cast<std::uintptr_t>(bytes_);
  }

 private:
  std::int32_t packet_;
  std::int64_t bytes_;  // to the next packet
  std::uintptr_t source_[Share::kRows];
  std::int32_t end_[Share::kRows];  // packets of the pixel, 0 where there is none
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
