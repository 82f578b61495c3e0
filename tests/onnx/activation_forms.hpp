// A convolution and an activation of real values as ONNX writes them, where quantisation stands between the
// nodes or does not, as epilogues of Weft: what docs/quantization.md explains, and quotes.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/onnx/run_node.hpp"

namespace weft::onnx_test {

using namespace epilogues;  // NOLINT: as the guide does

// clang-format off
// DequantizeLinear -> Conv -> F -> QuantizeLinear
template <class F>
using ConvThen = Chain<SourceZeroPoint, SumBias, Scale, F, OutputScale, RoundFirst, ClampTo<std::int8_t>>;

// QLinearConv -> DequantizeLinear -> F -> QuantizeLinear
template <class F>
using QLinearConvThen = Chain<SourceZeroPoint, SumBias, Scale, OnSteps<F>, OutputScale, RoundFirst, ClampTo<std::int8_t>>;

// DequantizeLinear -> Conv -> Add (of another DequantizeLinear) -> F -> QuantizeLinear
template <class F>
using ConvAddThen = Chain<ResidualWithZeroPoint<>, SourceZeroPoint, SumBias, Scale, F, OutputScale, RoundFirst, ClampTo<std::int8_t>>;

// DequantizeLinear -> Conv -> F -> Add (of another DequantizeLinear) -> QuantizeLinear
template <class F>
using ConvThenAdd = Chain<SourceZeroPoint, SumBias, Scale, F, ResidualWithZeroPoint<>, OutputScale, RoundFirst, ClampTo<std::int8_t>>;

// The scales and zero points beside those of the convolution's Node: of the bytes between QLinearConv and
// DequantizeLinear, and of the tensor that is added.
struct Between {
  float scale = 1.0f;
  std::int32_t zero_point = 0;
};

// sx: the source's scale; sw: the filter's, one per output channel.
inline std::vector<float> RealAlpha(float sx, const std::vector<float>& sw) {
  std::vector<float> alpha;
  for (const float s : sw) alpha.push_back(sx * s);
  return alpha;
}

// The numbers of a run. alpha: of QLinearConvThen ChannelAlpha(sx, sw, between.scale), else RealAlpha(sx, sw).
template <class F, class Arguments>
void FillScales(const std::vector<float>& alpha, const Between& between, float y_scale, std::int32_t y_zero_point, Arguments* args) {
  using Epilogue = decltype(args->epilogue);
  args->channel_alpha = alpha.data();
  args->output_scale = y_scale;
  args->zero_point = static_cast<float>(y_zero_point);
  if constexpr (std::is_same_v<Epilogue, QLinearConvThen<F>>) {
    args->epilogue.template Get<OnSteps<F>>().scale = between.scale;
    args->epilogue.template Get<OnSteps<F>>().zero_point = static_cast<float>(between.zero_point);
  } else if constexpr (Epilogue::kHasResidual) {
    args->gamma = between.scale;
    args->epilogue.template Get<ResidualWithZeroPoint<>>().zero_point = static_cast<float>(between.zero_point);
  }
}
// clang-format on

// One of the activations, which a case names by its row of the table, so that a kernel serves all of them.
struct AnyActivation {
  enum Row {
#define WEFT_ACTIVATION(functor, ...) k##functor,
#include "weft/epilogues/activations.def"
  };
  int which = 0;
  constexpr float operator()(float x) const {
    switch (which) {
#define WEFT_ACTIVATION(functor, ...) \
  case k##functor:                    \
    return functor{}(x);
#include "weft/epilogues/activations.def"
      default:
        return std::numeric_limits<float>::quiet_NaN();  // which none of the true functions is
    }
  }
};

}  // namespace weft::onnx_test
