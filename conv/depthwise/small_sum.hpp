// A short sum as the bits of a float.
#pragma once

#include <bit>
#include <cstdint>

#include "weft/epilogues/numerics.hpp"

namespace weft::conv {

// A sum of fewer than 256 products of two int8 values, kept as the bits of the float 1.5 * 2^23
// plus the sum. Floats there are one apart, so one subtraction converts the sum to float, exactly.
// Before sm_90 a conversion runs at a quarter of an addition's rate or less.
struct SmallSum {
  [[gnu::visibility("hidden")]] static constexpr float kMagic = 12582912.0f;
  static constexpr int kMostProducts = 255;  // 2^22 / 2^14, the largest product
  std::int32_t bits = 0;

  static constexpr std::int32_t Zero() { return std::bit_cast<std::int32_t>(kMagic); }
  explicit constexpr operator float() const {
    return epilogues::Add(std::bit_cast<float>(bits), -kMagic);
  }
};

}  // namespace weft::conv
