#include "weft/conv/launch/depthwise_pointwise_start.hpp"

#include "weft/conv/launch/check_arguments.hpp"
#include "weft/conv/launch/make_params.hpp"
#include "weft/gemm/launch/params_writer.hpp"

namespace weft::conv {
namespace {

void MakeParams(const FusedLayout& at, const DepthwisePointwisePlan& plan, const FusedRun& run,
                const gemm::ParamsWriter& params) {
  DepthwiseIteratorParams iterator = plan.iterator;
  iterator.src = run.first.src.address;
  iterator.filter = run.first.filter.data;
  params.Put(at.a.at, iterator);
  params.Put(at.b.at, run.second.filter.data);
  params.Put(at.k_tile_bytes, plan.k_tile_bytes);
  params.Put(at.k_tiles, plan.k_tiles);
  const gemm::ParamsWriter middle = params.Part(at.middle), output = params.Part(at.output);
  const Problem &depthwise = plan.problem.depthwise, &pointwise = plan.pointwise;
  middle.Put(at.of_middle.rows, plan.middle_rows);
  PutConvOutput(depthwise, plan.padded_middle, depthwise.dst(), at.of_middle, run.first, middle);
  output.Put(at.of_output.rows, plan.middle_rows);
  PutConvOutput(pointwise, plan.padded_k, pointwise.dst(), at.of_output, run.second, output);
}

gemm::TensorArgument PackedArgument(const char* field, const FilterRun& filter,
                                    std::int64_t bytes) {
  return {
      .field = field,
      .address = filter.data,
      .alignment = 16,
      .line_bytes = bytes,
      .if_null =
          "is not packed; call weft::PackDepthwiseFilter, for the 1x1 filter "
          "weft::PackFilter<weft::CxRSKx<32>>, and pass its view(), or At(device_pointer) after "
          "a copy to the GPU"};
}

}  // namespace

absl::Status CheckArguments(const FusedImage& image, const DepthwisePointwisePlan& plan,
                            const FusedRun& run) {
  if (plan.problem.IsEmpty()) return absl::OkStatus();
  const Problem &depthwise = plan.problem.depthwise, &pointwise = plan.pointwise;
  const ConvFacts& facts = image.first.facts;
  const FilterExtents first = plan.problem.depthwise_filter(), second = pointwise.filter();
  gemm::TensorArgument before[4] = {
      SourceArgument(facts, depthwise, run.first.src),
      PackedArgument("depthwise.filter", run.first.filter, KRSx4x4::Size(first))};
  constexpr const char* kFirst = "conv: depthwise";
  const ZeroPoints zero_points{.who = kFirst,
                               .source_stage = image.first.epilogue.source_zero_point,
                               .filter_stage = image.first.epilogue.filter_zero_point,
                               .unsigned_source = facts.source.is_unsigned,
                               .depthwise = true,
                               .source_correction = *run.first.source_correction,
                               .filter = run.first.filter.fingerprint,
                               .filter_zero_point = run.first.filter_zero_point};
  const int count = 2 + zero_points.Operands(depthwise, depthwise.dst(), before + 2);
  const gemm::TensorArgument after[] = {
      PackedArgument("filter", run.second.filter, CxRSKx<32>::Size(second))};
  gemm::TensorArgument dst = DstArgument(image.second, pointwise.dst(), run.second.output.dst);
  dst.alignment = image.facts.config.alignment.dst;
  if (absl::Status s = gemm::CheckArguments(
          kFirst, absl::MakeConstSpan(before, count), dst,
          gemm::EpilogueArgumentsOf(image.first.epilogue, run.first.output, depthwise.k, {}));
      !s.ok()) {
    return s;
  }
  if (absl::Status s = CheckZeroPoints(depthwise, zero_points); !s.ok()) return s;
  if (absl::Status s = gemm::CheckArguments(
          "conv", after, dst,
          ConvEpilogueArguments(image.second, pointwise, pointwise.dst(), run.second.output));
      !s.ok()) {
    return s;
  }
  if (absl::Status s = CheckFilter(first, run.first.filter.extents, 1, 0,
                                   prologues::Depthwise::kName, "depthwise.filter");
      !s.ok()) {
    return s;
  }
  return CheckFilter(second, run.second.filter.extents, 1, 0, prologues::SharedFilter::kName);
}

template <class BackEnd>
absl::Status Start(const FusedImage& image, const DepthwisePointwisePlan& plan, const FusedRun& run,
                   const BackEnd& on, gemm::RunFunction<BackEnd> start) {
  if (absl::Status s = CheckArguments(image, plan, run); !s.ok()) return s;
  if (plan.problem.IsEmpty()) return absl::OkStatus();
  gemm::ParamsBuffer bytes(image.defaults, image.at.bytes);
  MakeParams(image.at, plan, run, bytes.writer());
  gemm::Launch launch = {plan.kernel, bytes.data(), {plan.blocks, 1, 1}};
  launch.attributes.shared_bytes = plan.shared_bytes;
  return (on.*start)("conv", LaunchFacts(plan, image.facts.tile), launch);
}

template absl::Status Start(const FusedImage&, const DepthwisePointwisePlan&, const FusedRun&,
                            const gemm::GpuBackEnd&, gemm::RunFunction<gemm::GpuBackEnd>);
template absl::Status Start(const FusedImage&, const DepthwisePointwisePlan&, const FusedRun&,
                            const gemm::CpuBackEnd&, gemm::RunFunction<gemm::CpuBackEnd>);

}  // namespace weft::conv
