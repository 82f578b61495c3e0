// Where in memory the parts of a convolution kernel's parameters lie, as numbers, for each kind of
// kernel. One function that is compiled once writes the parameters of any policy by such a layout
// (conv/launch/make_params.hpp).
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/conv/depthwise/depthwise_params.hpp"
#include "weft/conv/hopper/gathered_operands.hpp"
#include "weft/conv/hopper/sliding_window_operands.hpp"
#include "weft/conv/hopper/tma_operands.hpp"
#include "weft/conv/source/kernel_params.hpp"
#include "weft/gemm/launch/params_writer.hpp"
#include "weft/gemm/policy/output_layout.hpp"

namespace weft::conv {

using gemm::kNoPart;

// Offsets in bytes from the beginning of the parameters; kNoPart: these have no such part.
struct ParamsLayout {
  std::int32_t bytes = 0;  // of all parameters
  // The scheduler's grid; of a batch also the three divisors of its coordinates, and the prologue's
  // run-time values.
  std::int32_t schedule = kNoPart, batch = kNoPart, prologue = kNoPart;
  bool batched = false;  // the grid is a BatchedGrid's
  std::int32_t prologue_bytes = 0;
  std::int32_t k_tiles = kNoPart;
  // The source: its plan's part, its tensor map; its functor's run-time values and the two numbers of
  // channels behind them.
  std::int32_t a = kNoPart, a_map = kNoPart, functor = kNoPart, channels = kNoPart;
  std::int32_t functor_bytes = 0;
  // The filter: its plan's part, a first layer's chunks of it, its tensor map.
  std::int32_t b = kNoPart, b_chunks = kNoPart, b_map = kNoPart;
  // Parameters of wgmma_sm90.
  std::int32_t ring = kNoPart, tiles = kNoPart, early = kNoPart, plan = kNoPart, padding = kNoPart;
  // The epilogue's OutputParams, and within them what rows have besides their plan's part.
  std::int32_t output = kNoPart;
  gemm::OutputLayout of_output;
  std::int32_t last_first = kNoPart, phase = kNoPart;
};

// The parameters of one of a policy's kernels: their layout, and their bytes as they are
// default-constructed, from which a run starts.
struct ParamsImage {
  ParamsLayout at;
  const void* defaults = nullptr;
};

namespace internal {

WEFT_OFFSETS_BEGIN

template <class Params, class Prologue>
constexpr void AddOutput(ParamsLayout& at) {
  using Output = decltype(Params::output);
  at.bytes = sizeof(Params);
  at.output = WEFT_OFFSET(Params, output);
  at.of_output = gemm::OutputLayoutOf<Output>();
  if constexpr (kPerPhase<Prologue>) at.phase = WEFT_OFFSET(Output, rows.phase);
}

// What all kernels have that multiply matrices.
template <class Params, class Prologue>
constexpr ParamsLayout ProductLayout() {
  ParamsLayout at;
  AddOutput<Params, Prologue>(at);
  at.schedule = WEFT_OFFSET(Params, schedule);
  at.batched = kBatched<Prologue>;
  if constexpr (kBatched<Prologue>) {
    at.batch = WEFT_OFFSET(Params, schedule.batch_g);
    at.prologue = WEFT_OFFSET(Params, schedule.prologue);
    at.prologue_bytes = sizeof(Prologue);
  }
  at.k_tiles = WEFT_OFFSET(Params, k_tiles);
  at.a = WEFT_OFFSET(Params, a);
  at.b = WEFT_OFFSET(Params, b);
  return at;
}

// What all kernels of wgmma_sm90 have.
template <class Params, class Prologue>
constexpr ParamsLayout RingLayout() {
  ParamsLayout at = ProductLayout<Params, Prologue>();
  at.ring = WEFT_OFFSET(Params, ring);
  at.tiles = WEFT_OFFSET(Params, tiles);
  at.early = WEFT_OFFSET(Params, early);
  at.plan = WEFT_OFFSET(Params, plan);
  return at;
}

// ParamsLayoutOf of a pointer to parameters: one function for each kind of kernel.
template <class Prologue, class Epilogue, class Source>
constexpr ParamsLayout ParamsLayoutOf(const MultistageParams<Prologue, Epilogue, Source>*) {
  return ProductLayout<MultistageParams<Prologue, Epilogue, Source>, Prologue>();
}
template <class Prologue, class Epilogue, class Base, class Functor>
  requires(!std::is_same_v<Functor, NoSourceFunctor>)
constexpr ParamsLayout ParamsLayoutOf(
    const MultistageParams<Prologue, Epilogue, ConvertedParams<Base, Functor>>*) {
  using Params = MultistageParams<Prologue, Epilogue, ConvertedParams<Base, Functor>>;
  ParamsLayout at = ProductLayout<Params, Prologue>();
  at.functor = WEFT_OFFSET(Params, a.functor);
  at.functor_bytes = sizeof(Functor);
  at.channels = WEFT_OFFSET(Params, a.channels);
  return at;
}
template <class Prologue, class Epilogue, class PixelMapT, bool kTransforms>
constexpr ParamsLayout ParamsLayoutOf(
    const TmaParams<Prologue, Epilogue, PixelMapT, kTransforms>*) {
  using Params = TmaParams<Prologue, Epilogue, PixelMapT, kTransforms>;
  using Output = decltype(Params::output);
  ParamsLayout at = RingLayout<Params, Prologue>();
  at.a_map = WEFT_OFFSET(Params, a.map);
  at.b_map = WEFT_OFFSET(Params, b.map);
  if constexpr (kTransforms) at.padding = WEFT_OFFSET(Params, padding);
  if constexpr (std::is_same_v<PixelMapT, PackedRowsPixelMap>) {
    at.last_first = WEFT_OFFSET(Output, rows.last_first);
  }
  return at;
}
template <class Prologue, class Epilogue, class Windows>
constexpr ParamsLayout ParamsLayoutOf(const FirstLayerParams<Prologue, Epilogue, Windows>*) {
  using Params = FirstLayerParams<Prologue, Epilogue, Windows>;
  ParamsLayout at = RingLayout<Params, Prologue>();
  at.a_map = WEFT_OFFSET(Params, a.map);
  at.b_chunks = WEFT_OFFSET(Params, b.chunks);
  return at;
}
template <class Prologue, class Epilogue>
constexpr ParamsLayout ParamsLayoutOf(const GatherParams<Prologue, Epilogue>*) {
  return RingLayout<GatherParams<Prologue, Epilogue>, Prologue>();
}
template <class Epilogue>
constexpr ParamsLayout ParamsLayoutOf(const DepthwiseParams<Epilogue>*) {
  using Params = DepthwiseParams<Epilogue>;
  ParamsLayout at;
  AddOutput<Params, prologues::Depthwise>(at);
  at.a = WEFT_OFFSET(Params, iterator);
  return at;
}

WEFT_OFFSETS_END

}  // namespace internal

template <class Params>
[[gnu::visibility("hidden")]] inline constexpr ParamsImage kParamsImage = {
    internal::ParamsLayoutOf(static_cast<const Params*>(nullptr)), gemm::kDefaultsOf<Params>};

}  // namespace weft::conv
