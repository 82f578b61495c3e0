#include "weft/conv/launch/check_arguments.hpp"

namespace weft::conv::internal {

absl::Status CheckPrologue(const prologues::PerPhase& phase) {
  if (phase.rows >= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "conv: args.prologue of PerPhase has no destination; conv::Deconvolution gives it one");
}

absl::Status CheckRun(const ConvPlan& plan, const ConvFacts& facts, const CheckedRun& run) {
  const bool wgmma = facts.config.mainloop == gemm::Mainloop::kWgmmaSm90;
  constexpr int kFew = 4;  // channels of a block of NCxHWx<4>, which TMA does not load
  // TMA loads whole blocks of NCxHWx<32>.
  const bool blocks = wgmma && !facts.source.nhwc && facts.source.interleave > kFew;
  gemm::TensorArgument operands[5] = {
      run.source,
      {.field = "filter",
       .address = run.filter.data,
       .alignment = 16,
       .line_bytes = run.filter.bytes,
       .if_null = "is not packed; call weft::PackFilter and pass its view(), or At(device_pointer) "
                  "after a copy to the GPU"}};
  gemm::TensorArgument& source = operands[0];
  source.field = "src";
  source.alignment = blocks ? 32 : facts.config.alignment.src;
  source.helper = facts.source.nhwc ? "WithSrcAlignment" : nullptr;
  source.least_alignment = wgmma ? 8 : 4;
  const int count = 2 + run.zero_points.Operands(plan.problem, run.dst, operands + 2);
  if (absl::Status s = gemm::CheckArguments("conv", absl::MakeConstSpan(operands, count),
                                            run.output, run.epilogue);
      !s.ok()) {
    return s;
  }
  if (absl::Status s = CheckZeroPoints(plan.problem, run.zero_points); !s.ok()) return s;
  return CheckFilter(PackedExtents(plan.problem, facts.depthwise), run.filter.extents,
                     run.filter.count, run.filter.filters, run.filter.prologue);
}

}  // namespace weft::conv::internal
