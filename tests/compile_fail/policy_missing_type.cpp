// A misspelt member.
// EXPECT: static assertion failed: weft: this convolution policy has no type DstLayout
#include "tests/compile_fail/policy_base.hpp"

struct Mine {
  using Element = std::int8_t;
  using SrcLayout = weft::NCxHWx<4>;
  using FilterLayout = weft::CxRSKx<4>;
  using DestLayout = weft::NCxHWx<4>;
  using Prologue = weft::prologues::SharedFilter;
  using Epilogue = weft::epilogues::BiasRelu<>;
  static constexpr auto config = weft::conv::kSimt64x64;
};

const bool kUsed = Use<Mine>();
