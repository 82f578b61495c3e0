// The consumer's own operator.
#pragma once

#include <cstdint>

#include "weft/conv/policy.hpp"

struct Fprop {
  using Element = std::int8_t;
  using SrcLayout = weft::NCxHWx<4>;
  using FilterLayout = weft::CxRSKx<4>;
  using DstLayout = weft::NCxHWx<4>;
  using Prologue = weft::prologues::SharedFilter;
  using Epilogue =
      weft::epilogues::Chain<weft::epilogues::Scale, weft::epilogues::ClampTo<std::int8_t>>;
  static constexpr weft::conv::Config config = weft::conv::kSimt32x32;
};
