// What an epilogue reads and writes, as values instead of types.
#pragma once

#include <limits>

namespace weft::gemm {

struct EpilogueFacts {
  bool scale = false;
  bool bias = false;
  bool bias_in_sum = false;
  bool residual = false;
  bool output_scale = false;
  bool zero_point = false;
  bool channel_values = false;  // an activation reads a value for each channel
  bool table = false;           // it has a Table
  // Zero points are integers; false where zero_point also stands for something else.
  bool whole_zero_point = true;
  bool source_zero_point = false, filter_zero_point = false;  // it has these stages
  bool range = false, image_sums = false;                     // it has these auxiliary outputs
  bool writes_output = true;
  // Bytes of an element, in a run's arguments; of copy 0 where there is no Copy stage.
  int output_bytes = 1, bias_bytes = 4, residual_bytes = 1, copy_bytes = 0;
  int value_bytes = 4, value_alignment = 4;  // of alpha, gamma and channel_alpha
  // The ranges of the types of zero_point and of the residual's zero point.
  float least_zero_point = 0.0f, most_zero_point = 0.0f;
  float least_residual_zero_point = 0.0f, most_residual_zero_point = 0.0f;
};

template <class Epilogue>
constexpr EpilogueFacts EpilogueFactsOf() {
  using Output = typename Epilogue::Output;
  using Residual = typename Epilogue::ResidualElement;
  EpilogueFacts f;
  f.scale = Epilogue::kHasScale;
  f.bias = Epilogue::kHasBias;
  f.bias_in_sum = Epilogue::kBiasInSum;
  f.residual = Epilogue::kHasResidual;
  f.output_scale = Epilogue::kHasOutputScale;
  f.zero_point = Epilogue::OutputStage::kAddsZeroPoint;
  f.channel_values = Epilogue::kHasChannelValues;
  f.table = Epilogue::kHasTable;
  f.source_zero_point = Epilogue::kSourceZeroPoint;
  f.filter_zero_point = Epilogue::kFilterZeroPoint;
  f.range = Epilogue::kHasRange;
  f.image_sums = Epilogue::kHasSums;
  f.writes_output = Epilogue::kWritesOutput;
  f.output_bytes = sizeof(Output);
  f.bias_bytes = sizeof(typename Epilogue::BiasElement);
  f.residual_bytes = sizeof(Residual);
  f.value_bytes = sizeof(typename Epilogue::Value);
  f.value_alignment = alignof(typename Epilogue::Value);
  if constexpr (Epilogue::kHasCopy) f.copy_bytes = sizeof(typename Epilogue::CopyStage::Element);
  if constexpr (Epilogue::OutputStage::kAddsZeroPoint) {
    f.least_zero_point = (std::numeric_limits<Output>::min)();
    f.most_zero_point = (std::numeric_limits<Output>::max)();
  }
  if constexpr (Epilogue::kResidualZeroPoint) {
    f.least_residual_zero_point = (std::numeric_limits<Residual>::min)();
    f.most_residual_zero_point = (std::numeric_limits<Residual>::max)();
  }
  return f;
}

}  // namespace weft::gemm
