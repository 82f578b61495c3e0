// The layouts of the parameters of convolutions' kernels, for each kind of kernel.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/conv/depthwise/depthwise_params.hpp"
#include "weft/conv/hopper/gathered_operands.hpp"
#include "weft/conv/hopper/sliding_window_operands.hpp"
#include "weft/conv/hopper/tma_operands.hpp"
#include "weft/conv/source/kernel_params.hpp"
#include "weft/gemm/launch/params_layout.hpp"
#include "weft/gemm/launch/params_writer.hpp"

namespace weft::conv {

using gemm::kNoPart;

struct ParamsLayout : gemm::ParamsLayout {
  // The schedule of a batch: the three divisors of its coordinates, and the prologue's run-time values.
  std::int32_t batch = kNoPart, prologue = kNoPart, prologue_bytes = 0;
  std::int32_t channels = kNoPart;                  // the two numbers behind the source's functor
  std::int32_t b_chunks = kNoPart;                  // a first layer's chunks of the filter
  std::int32_t early = kNoPart, padding = kNoPart;  // wgmma_sm90
  // Within the epilogue's OutputParams what rows have besides their plan's part.
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
constexpr void AddPhase(ParamsLayout& at) {
  if constexpr (kPerPhase<Prologue>) at.phase = WEFT_OFFSET(decltype(Params::output), rows.phase);
}

// What all kernels have that multiply matrices.
template <class Params, class Prologue>
constexpr ParamsLayout ProductLayout() {
  ParamsLayout at;
  gemm::internal::AddProduct<Params>(at);
  AddPhase<Params, Prologue>(at);
  at.schedule = WEFT_OFFSET(Params, schedule);
  if constexpr (kBatched<Prologue>) {
    at.batch = WEFT_OFFSET(Params, schedule.batch_g);
    at.prologue = WEFT_OFFSET(Params, schedule.prologue);
    at.prologue_bytes = sizeof(Prologue);
  }
  return at;
}

// What all kernels of wgmma_sm90 have.
template <class Params, class Prologue>
constexpr ParamsLayout RingLayout() {
  ParamsLayout at = ProductLayout<Params, Prologue>();
  gemm::internal::AddRing<Params>(at);
  at.early = WEFT_OFFSET(Params, early);
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
  at.a.functor = WEFT_OFFSET(Params, a.functor);
  at.a.functor_bytes = sizeof(Functor);
  at.channels = WEFT_OFFSET(Params, a.channels);
  return at;
}
template <class Prologue, class Epilogue, class PixelMapT, bool kTransforms>
constexpr ParamsLayout ParamsLayoutOf(
    const TmaParams<Prologue, Epilogue, PixelMapT, kTransforms>*) {
  using Params = TmaParams<Prologue, Epilogue, PixelMapT, kTransforms>;
  using Output = decltype(Params::output);
  ParamsLayout at = RingLayout<Params, Prologue>();
  at.a.map = WEFT_OFFSET(Params, a.map);
  at.b.map = WEFT_OFFSET(Params, b.map);
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
  at.a.map = WEFT_OFFSET(Params, a.map);
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
  gemm::internal::AddOutput<Params>(at);
  at.a.at = WEFT_OFFSET(Params, iterator);
  return at;
}

WEFT_OFFSETS_END

}  // namespace internal

template <class Params>
[[gnu::visibility("hidden")]] inline constexpr ParamsImage kParamsImage = {
    internal::ParamsLayoutOf(static_cast<const Params*>(nullptr)), gemm::kDefaultsOf<Params>};

}  // namespace weft::conv
