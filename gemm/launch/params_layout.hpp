// Where in memory the parts of a kernel's parameters lie, as numbers. Functions that are compiled once write the
// parameters of any policy by such a layout: conv/launch/make_params.cpp, conv/launch/depthwise_pointwise_start.cpp,
// gemm/product/gemm_start.cpp.
#pragma once

#include <cstdint>

#include "weft/gemm/policy/output_layout.hpp"

namespace weft::gemm {

// An operand's place in the parameters, that of its tensor map, and of the run-time values of the functor that
// changes its elements.
struct OperandPlace {
  std::int32_t at = kNoPart, map = kNoPart, functor = kNoPart;
  std::int32_t functor_bytes = 0;
};

// Offsets in bytes from the beginning of the parameters; kNoPart: these have no such part.
struct ParamsLayout {
  std::int32_t bytes = 0;  // of all parameters
  std::int32_t schedule = kNoPart, k_tiles = kNoPart;
  OperandPlace a, b;
  std::int32_t output = kNoPart;  // the epilogue's OutputParams
  OutputLayout of_output;
  std::int32_t ring = kNoPart, tiles = kNoPart, plan = kNoPart;  // wgmma_sm90
};

namespace internal {

WEFT_OFFSETS_BEGIN

template <class Params>
constexpr void AddOutput(ParamsLayout& at) {
  at.bytes = sizeof(Params);
  at.output = WEFT_OFFSET(Params, output);
  at.of_output = OutputLayoutOf<decltype(Params::output)>();
}

// What all parameters have of a product, but its schedule.
template <class Params>
constexpr void AddProduct(ParamsLayout& at) {
  AddOutput<Params>(at);
  at.k_tiles = WEFT_OFFSET(Params, k_tiles);
  at.a.at = WEFT_OFFSET(Params, a);
  at.b.at = WEFT_OFFSET(Params, b);
}

// What all parameters of wgmma_sm90 have of a launch.
template <class Params>
constexpr void AddRing(ParamsLayout& at) {
  at.ring = WEFT_OFFSET(Params, ring);
  at.tiles = WEFT_OFFSET(Params, tiles);
  at.plan = WEFT_OFFSET(Params, plan);
}

WEFT_OFFSETS_END

}  // namespace internal

}  // namespace weft::gemm
