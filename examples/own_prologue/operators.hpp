// A prologue of the user's own: each image picks its filter from a bank, by an index tensor. And
// the operator that uses it. CMake compiles this header's kernels for the GPU
// (examples/operators.cmake).
#pragma once

#include <cstdint>

#include "weft/conv/policy.hpp"

struct FromBank {
  static constexpr weft::prologues::Depends kDepends{.image = true};
  static constexpr const char* kName = "FromBank";
  const std::int32_t* index = nullptr;  // one for each image, in [0, filters of the bank)
  constexpr std::int64_t Filter(const weft::prologues::BatchCoord& at) const { return index[at.n]; }
  // Any number of filters will do.
  static constexpr std::int64_t Filters(const weft::prologues::BatchExtents&) { return 0; }
};

struct BankConv {
  using Element = std::int8_t;
  using SrcLayout = weft::NCxHWx<4>;
  using FilterLayout = weft::CxRSKx<4>;
  using DstLayout = weft::NCHW;
  using Prologue = FromBank;
  using Epilogue = weft::epilogues::Chain<weft::epilogues::Scale, weft::epilogues::Bias<>,
                                          weft::epilogues::Relu, weft::epilogues::ToFloat>;
  static constexpr auto config = weft::conv::kSimt32x32;
};
