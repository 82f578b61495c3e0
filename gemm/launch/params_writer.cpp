#include "weft/gemm/launch/params_writer.hpp"

namespace weft::gemm {

void PutOutput(const OutputLayout& at, const OutputRun& run, const ParamsWriter& output) {
  const auto value_bytes = static_cast<std::size_t>(at.value_bytes);
  output.Put(at.dst, run.dst.address);
  output.Put(at.bias, run.bias.address);
  output.Put(at.channel_alpha, run.channel_alpha.address);
  output.Put(at.residual, run.ResidualOrOutput());
  output.PutBytes(at.alpha, run.alpha, value_bytes);
  output.Put(at.beta, run.beta);
  output.PutBytes(at.gamma, run.gamma, value_bytes);
  output.Put(at.inverse_output_scale, 1.0f / run.output_scale);
  output.Put(at.zero_point, run.zero_point);
  output.PutBytes(at.epilogue, run.epilogue, static_cast<std::size_t>(at.epilogue_bytes));
}

}  // namespace weft::gemm
