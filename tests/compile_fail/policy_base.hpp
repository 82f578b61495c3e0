// A correct policy; the cases of this folder derive from it and get one thing wrong.
#pragma once

#include "weft/conv/convolution.hpp"

struct Base {
  using Element = std::int8_t;
  using SrcLayout = weft::NCxHWx<4>;
  using FilterLayout = weft::CxRSKx<4>;
  using DstLayout = weft::NCxHWx<4>;
  using Prologue = weft::prologues::SharedFilter;
  using Epilogue = weft::epilogues::BiasRelu<>;
  static constexpr auto config = weft::conv::kSimt64x64;
};
