// The epilogue's part of a kernel's parameters; made on the host, the same bytes for both back
// ends.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/fast_divmod.hpp"
#include "weft/layouts/formats.hpp"

namespace weft::gemm {

// Epilogue and destination. Output, Bias and Residual are element types.
template <class P>
struct OutputParams {
  using Epilogue = typename P::Epilogue;
  using Output = typename Epilogue::Output;
  using BiasElement = std::conditional_t<Epilogue::kHasBias, typename Epilogue::BiasElement, float>;
  using ResidualElement =
      std::conditional_t<Epilogue::kHasResidual, typename Epilogue::ResidualElement, std::int8_t>;

  Output* dst = nullptr;
  const BiasElement* bias = nullptr;
  const float* channel_alpha = nullptr;  // null: alpha for every channel
  const ResidualElement* residual = nullptr;
  float alpha = 1.0f, beta = 1.0f, gamma = 1.0f, zero_point = 0.0f;
  std::int32_t pixels = 0;    // N P Q
  std::int32_t k = 0;         // output channels
  std::int32_t padded_k = 0;  // and with the zero channels of the destination's last block
  FastDivmod image_pixels;    // by P Q
  FastDivmod row_pixels;      // by Q
  TensorExtents extents;      // of dst
  Epilogue epilogue;
};

}  // namespace weft::gemm
