// Where in memory the parts of an epilogue's parameters lie, as numbers. One function that is
// compiled once writes the parameters of any epilogue by such a layout (gemm/launch/params_writer.hpp):
// it knows no type of the policy.
#pragma once

#include <cstdint>

#include "weft/gemm/policy/output_params.hpp"

namespace weft::gemm {

// The offset of a part that parameters do not have.
inline constexpr std::int32_t kNoPart = -1;

// Parameters inherit parts of theirs, so that the language does not promise their offsets. Every
// compiler that builds Weft has them. g++ and nvcc (1427) would warn of it between WEFT_OFFSETS_BEGIN and
// WEFT_OFFSETS_END, where functions ask for offsets.
#define WEFT_OFFSET(type, member) static_cast<std::int32_t>(__builtin_offsetof(type, member))
#if defined(__CUDACC__)
#define WEFT_OFFSETS_BEGIN                                                                \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Winvalid-offsetof\"") \
      _Pragma("nv_diagnostic push") _Pragma("nv_diag_suppress 1427")
#define WEFT_OFFSETS_END _Pragma("nv_diagnostic pop") _Pragma("GCC diagnostic pop")
#else
#define WEFT_OFFSETS_BEGIN \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Winvalid-offsetof\"")
#define WEFT_OFFSETS_END _Pragma("GCC diagnostic pop")
#endif

// Offsets in bytes from the beginning of an OutputParams, and sizes in bytes.
struct OutputLayout {
  std::int32_t dst = kNoPart, bias = kNoPart, channel_alpha = kNoPart, residual = kNoPart;
  std::int32_t alpha = kNoPart, beta = kNoPart, gamma = kNoPart;
  std::int32_t inverse_output_scale = kNoPart, zero_point = kNoPart;
  std::int32_t k = kNoPart, padded_k = kNoPart, rows = kNoPart, extents = kNoPart;
  std::int32_t epilogue = kNoPart;
  // SourceZeroPointParams: the corrections, and the three addresses of what the border adds.
  std::int32_t correction = kNoPart, edges = kNoPart;
  // FilterZeroPointParams: the zero points, the sums of windows, and the three numbers behind them.
  std::int32_t filter_zero_point = kNoPart, window_sums = kNoPart, groups = kNoPart;
  std::int32_t value_bytes = 0;     // of alpha and of gamma
  std::int32_t epilogue_bytes = 0;  // of the epilogue's run-time values
};

WEFT_OFFSETS_BEGIN

// The layout of an OutputParams.
template <class OutputT>
constexpr OutputLayout OutputLayoutOf() {
  using Epilogue = typename OutputT::Epilogue;
  using Rows = typename OutputT::Rows;
  OutputLayout at;
  at.dst = WEFT_OFFSET(OutputT, dst);
  at.bias = WEFT_OFFSET(OutputT, bias);
  at.channel_alpha = WEFT_OFFSET(OutputT, channel_alpha);
  at.residual = WEFT_OFFSET(OutputT, residual);
  at.alpha = WEFT_OFFSET(OutputT, alpha);
  at.beta = WEFT_OFFSET(OutputT, beta);
  at.gamma = WEFT_OFFSET(OutputT, gamma);
  if (Epilogue::kHasOutputScale) {
    at.inverse_output_scale = WEFT_OFFSET(OutputT, inverse_output_scale);
  }
  at.zero_point = WEFT_OFFSET(OutputT, zero_point);
  at.k = WEFT_OFFSET(OutputT, k);
  at.padded_k = WEFT_OFFSET(OutputT, padded_k);
  at.rows = WEFT_OFFSET(OutputT, rows);
  at.extents = WEFT_OFFSET(OutputT, extents);
  at.epilogue = WEFT_OFFSET(OutputT, epilogue);
  at.value_bytes = sizeof(typename OutputT::Value);
  at.epilogue_bytes = sizeof(Epilogue);
  if constexpr (Epilogue::kSourceZeroPoint) {
    at.correction = WEFT_OFFSET(OutputT, correction);
    if constexpr (!Rows::kPaddingIsFilled) at.edges = WEFT_OFFSET(OutputT, edges);
  }
  if constexpr (Epilogue::kFilterZeroPoint) {
    at.filter_zero_point = WEFT_OFFSET(OutputT, filter_zero_point);
    if constexpr (!Rows::kFilterZerosInSums) {
      at.window_sums = WEFT_OFFSET(OutputT, window_sums);
      at.groups = WEFT_OFFSET(OutputT, groups);
    }
  }
  return at;
}

WEFT_OFFSETS_END

}  // namespace weft::gemm
