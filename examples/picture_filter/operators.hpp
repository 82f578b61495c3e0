// The operators of picture_filter: from a picture packed as NCxHWx<4> to bytes side by side, the
// order of a picture file, in one kernel.
#pragma once

#include <cstdint>

#include "weft/conv/policy.hpp"

namespace picture_filter {

// Pictures have 3 or 4 output channels, so 4 columns of the product are enough: 32 lanes lie along
// the pixels. One byte is stored at a time, since a pixel of 3 bytes is not aligned.
inline constexpr weft::conv::SimtConfig kNarrow({256, 4, 16}, {64, 4, 16}, {2, 4, 4},
                                                /*dst_alignment=*/1);

// How strong a change is, whichever way it goes.
struct Magnitude {
  constexpr float operator()(float x) const { return x < 0.0f ? -x : x; }
};

struct ColourFilter {
  using Element = std::int8_t;
  using SrcLayout = weft::NCxHWx<4>;
  using FilterLayout = weft::CxRSKx<4>;
  using DstLayout = weft::NHWC;
  using Prologue = weft::prologues::SharedFilter;
  using Epilogue =
      weft::epilogues::Chain<weft::epilogues::Scale, weft::epilogues::ClampTo<std::uint8_t>>;
  static constexpr auto config = kNarrow;
};

struct EdgeFilter {
  using Element = std::int8_t;
  using SrcLayout = weft::NCxHWx<4>;
  using FilterLayout = weft::CxRSKx<4>;
  using DstLayout = weft::NHWC;
  using Prologue = weft::prologues::SharedFilter;
  using Epilogue = weft::epilogues::Chain<weft::epilogues::Scale, Magnitude,
                                          weft::epilogues::ClampTo<std::uint8_t>>;
  static constexpr auto config = kNarrow;
};

}  // namespace picture_filter
