#include "weft/conv/condconv/mix_start.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "weft/conv/plan/conv_plan.hpp"
#include "weft/gemm/check/argument_checks.hpp"
#include "weft/gemm/launch/launch.hpp"
#include "weft/gemm/policy/facts.hpp"
#include "weft/prologues/prologues.hpp"

namespace weft::conv {
namespace {

constexpr gemm::TileFacts kFacts{};  // the kernels run on any GPU

gemm::TensorArgument Floats(const char* field, const gemm::GivenTensor& tensor,
                            std::int64_t count) {
  return {.field = field,
          .address = tensor.address,
          .alignment = alignof(float),
          .line_bytes = count * std::int64_t{sizeof(float)},
          .given = tensor.given};
}

// What the convolution checks again, so that its bytes alone matter here.
gemm::TensorArgument Bytes(const char* field, const gemm::GivenTensor& tensor, std::int64_t bytes) {
  return {.field = field, .address = tensor.address, .line_bytes = bytes};
}

// The tensors that mixing reads.
std::vector<gemm::TensorArgument> Read(const Problem& problem, const MixPlan& plan,
                                       const MixRun& run) {
  const std::int64_t experts = plan.params.count;
  std::vector<gemm::TensorArgument> read = {
      {.field = "experts",
       .address = run.experts.data,
       .alignment = 16,
       .line_bytes = experts * plan.params.filter_bytes,
       .if_null =
           "is not packed; call weft::PackFilters<weft::prologues::Experts, FilterLayout> and pass "
           "its view(), or At(device_pointer) after a copy to the GPU"},
      Floats("routing", run.routing, problem.n * experts)};
  read[1].if_null = "is null; give a weight for each image and expert";
  if (run.expert_scale.address != nullptr) {
    read.push_back(Floats("expert_scale", run.expert_scale, experts * problem.k));
  }
  return read;
}

}  // namespace

absl::Status CheckArguments(const PolicyImage& image, const Problem& problem, const MixPlan& plan,
                            const MixRun& run, ConvolutionFunction check) {
  if (problem.IsEmpty()) return absl::OkStatus();
  if (run.experts.data != nullptr && run.experts.count != plan.params.count) {
    return absl::InvalidArgumentError(absl::StrCat(
        "conv: args.experts holds ", run.experts.count, " filters, the operator was created for ",
        plan.params.count, " experts; give PackFilters that count"));
  }
  if (run.workspace_bytes < plan.workspace_bytes()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("conv: args.workspace_bytes=", run.workspace_bytes, " is less than the ",
                     plan.workspace_bytes(), " bytes of a filter for each of ", plan.params.images,
                     " images; give workspace_size() bytes"));
  }
  const gemm::OutputRun& output = run.convolution.output;
  const gemm::TensorArgument dst = Bytes("dst", output.dst, image.dst.Bytes(problem.dst()));
  std::vector<gemm::TensorArgument> read = Read(problem, plan, run);
  // The convolution checks whether there must be a dst.
  const gemm::OutputRun no_run;
  gemm::EpilogueFacts no_epilogue;
  no_epilogue.writes_output = dst.address != nullptr;
  if (absl::Status s =
          gemm::CheckArguments("conv", read, dst, {.facts = no_epilogue, .run = no_run});
      !s.ok()) {
    return s;
  }
  const FormatFacts source = {image.facts.source.interleave, image.facts.source.bits};
  for (const gemm::TensorArgument& t :
       {Bytes("src", run.convolution.src, source.Bytes(problem.src())),
        Bytes("bias", output.bias, problem.k * image.epilogue.bias_bytes),
        Bytes("channel_alpha", output.channel_alpha, problem.k * image.epilogue.value_bytes),
        Bytes("residual", output.residual, image.residual.Bytes(problem.dst())), dst}) {
    if (t.address != nullptr) read.push_back(t);
  }
  const gemm::TensorArgument workspace = {.field = "workspace",
                                          .address = run.workspace,
                                          .alignment = 16,
                                          .line_bytes = plan.workspace_bytes(),
                                          .if_null = "is null; give workspace_size() bytes"};
  no_epilogue.writes_output = true;
  if (absl::Status s =
          gemm::CheckArguments("conv", read, workspace, {.facts = no_epilogue, .run = no_run});
      !s.ok()) {
    return s;
  }
  if (absl::Status s = CheckFilter(problem.filter(), run.experts.extents, 0, 0,
                                   prologues::PerSample::kName, "experts");
      !s.ok()) {
    return s;
  }
  return check(run.convolution);
}

template <class BackEnd>
absl::Status Start(const PolicyImage& image, const Problem& problem, const MixPlan& plan,
                   const MixRun& run, const BackEnd& on, ConvolutionFunction check,
                   ConvolutionFunction start) {
  absl::Status s = CheckArguments(image, problem, plan, run, check);
  if (!s.ok() || problem.IsEmpty()) return s;
  MixParams params = plan.params;
  params.experts = static_cast<const std::int8_t*>(run.experts.data);
  params.mixed = static_cast<std::int8_t*>(run.workspace);
  params.routing = static_cast<const float*>(run.routing.address);
  params.expert_scale = static_cast<const float*>(run.expert_scale.address);
  params.early = run.experts_are_constant;
  gemm::Launch launch = {.kernel = plan.kernel, .params = &params, .grid = plan.grid};
  if (run.experts_are_constant) {
    launch.attributes.constant[0] = {run.experts.data,
                                     static_cast<std::size_t>(params.count * params.filter_bytes)};
  }
  s = on.template Run<MixFilters>("conv", kFacts, launch);
  return s.ok() ? start(run.convolution) : s;
}

template absl::Status Start(const PolicyImage&, const Problem&, const MixPlan&, const MixRun&,
                            const gemm::GpuBackEnd&, ConvolutionFunction, ConvolutionFunction);
template absl::Status Start(const PolicyImage&, const Problem&, const MixPlan&, const MixRun&,
                            const gemm::CpuBackEnd&, ConvolutionFunction, ConvolutionFunction);

}  // namespace weft::conv
