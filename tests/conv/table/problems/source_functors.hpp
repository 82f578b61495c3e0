// The functors of sources that the table's operators have.
#pragma once

#include <cstdint>

#include "weft/epilogues/chain.hpp"

namespace weft::conv::table {

// Bytes of a picture, or values of 4 bits without a sign, around 0.
struct Centre {
  using Source = std::uint8_t;
  constexpr std::int8_t operator()(std::uint8_t x, int) const {
    return static_cast<std::int8_t>(x - 128);
  }
};

// Dequantises each channel with its own scale, adds its own offset, and requantises.
struct Requantise {
  using Source = std::int8_t;
  const float* scale = nullptr;
  const float* offset = nullptr;
  constexpr std::int8_t operator()(std::int8_t x, int c) const {
    const float t = epilogues::Fma(scale == nullptr ? 1.0f : scale[c], static_cast<float>(x),
                                   offset == nullptr ? 0.0f : offset[c]);
    return epilogues::ClampTo<std::int8_t>::Convert(t, epilogues::StageInputs{});
  }
};

}  // namespace weft::conv::table
