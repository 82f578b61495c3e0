#include "weft/conv/bottleneck/bottleneck_start.hpp"

#include "absl/strings/str_cat.h"
#include "weft/conv/launch/check_arguments.hpp"
#include "weft/conv/launch/make_params.hpp"
#include "weft/conv/plan/conv_plan.hpp"

namespace weft::conv {
namespace {

// What messages call the arguments of each part, and its filter.
struct PartNames {
  const char *who, *filter;
};
constexpr PartNames kNames[kBottleneckParts] = {{"conv: first", "first.filter"},
                                                {"conv: second", "second.filter"},
                                                {"conv: projection", "projection.filter"},
                                                {"conv", "filter"}};

std::int64_t FilterBytes(const Problem& part) {
  return CxRSKx<32>::Size(part.filter());
}

// The source as the kernel reads it, by blocks of 32 channels.
gemm::TensorArgument SourceOf(const BottleneckPlan& plan, const BottleneckRun& run) {
  const gemm::GivenTensor& src = run.part[0].src;
  return {.field = "src",
          .address = src.address,
          .alignment = 32,
          .line_bytes = NCxHWx<32>::Size(plan.problem.src()),
          .given = src.given};
}

absl::Status CheckPart(const BottleneckImage& image, const BottleneckPlan& plan,
                       const BottleneckRun& run, int i, const gemm::TensorArgument& dst) {
  const PolicyImage& own = image.part[i];
  const Problem problem = PartOf(plan.problem, i);
  const gemm::TensorArgument operands[] = {
      {.field = kNames[i].filter,
       .address = run.part[i].filter.data,
       .alignment = 16,
       .line_bytes = FilterBytes(problem),
       .if_null = "is not packed; call weft::PackFilter<weft::CxRSKx<32>>, and pass its view(), or "
                  "At(device_pointer) after a copy to the GPU"},
      SourceOf(plan, run)};
  // The residual is x, or made of x: it is at no address of its own.
  gemm::OutputRun output = run.part[i].output;
  if (own.epilogue.residual) output.residual.address = run.part[0].src.address;
  const gemm::TensorArgument residual = {.alignment = 32, .line_bytes = operands[1].line_bytes};
  const std::size_t count = i == 0 ? 2 : 1;
  if (absl::Status s = gemm::CheckArguments(
          kNames[i].who, absl::MakeConstSpan(operands, count), dst,
          gemm::EpilogueArgumentsOf(own.epilogue, output, problem.k, residual));
      !s.ok()) {
    return s;
  }
  return CheckFilter(problem.filter(), run.part[i].filter.extents, 1, 0,
                     prologues::SharedFilter::kName, kNames[i].filter);
}

void PutParams(const BottleneckImage& image, const BottleneckPlan& plan, const BottleneckRun& run,
               const gemm::ParamsWriter& params) {
  BottleneckTiling tiling = plan.tiling;
  tiling.padding = 0x01010101u * static_cast<std::uint8_t>(run.padding);
  tiling.early = run.filters_are_constant ? 1 : 0;
  params.Put(image.at.tiling, tiling);
  for (int i = 0; i < kBottleneckParts; ++i) {
    if (!image.facts.Has(i)) continue;
    const Problem problem = PartOf(plan.problem, i);
    PutConvOutput(problem, gemm::Int32(problem.k), problem.dst(), image.at.of_output[i],
                  run.part[i], params.Part(image.at.output[i]));
  }
}

absl::Status PutMaps(const BottleneckImage& image, const BottleneckPlan& plan,
                     const BottleneckRun& run, gemm::MakeTensorMap make, BottleneckMaps* maps) {
  const auto put = [&](const arch::TensorMapSpec& spec, const void* base, arch::TensorMap* map) {
    return gemm::MakeMap("conv", make, spec, base, map);
  };
  const int rows = image.facts.rows;
  for (int column = 0; column < plan.tiling.columns.divisor(); ++column) {
    const arch::TensorMapSpec spec = SourceSpec(plan, rows, column, run.part[0].src.address);
    if (absl::Status s = put(spec, spec.base, &maps->x[column]); !s.ok()) return s;
  }
  arch::TensorMap* const filters[kBottleneckParts] = {
      &maps->first_filter, &maps->second_filter, &maps->projection_filter, &maps->third_filter};
  for (int i = 0; i < kBottleneckParts; ++i) {
    if (!image.facts.Has(i)) continue;
    if (absl::Status s =
            put(FilterSpec(PartOf(plan.problem, i)), run.part[i].filter.data, filters[i]);
        !s.ok()) {
      return s;
    }
  }
  return put(OutputSpec(plan, rows), run.part[3].output.dst.address, &maps->y);
}

}  // namespace

absl::Status CheckArguments(const BottleneckImage& image, const BottleneckPlan& plan,
                            const BottleneckRun& run) {
  if (plan.problem.IsEmpty()) return absl::OkStatus();
  const gemm::OutputRun& output = run.part[3].output;
  gemm::TensorArgument dst = DstArgument(image.part[3], plan.problem.dst(), output.dst);
  dst.alignment = 16, dst.helper = nullptr;
  for (int i = 0; i < kBottleneckParts; ++i) {
    if (!image.facts.Has(i)) continue;
    if (absl::Status s = CheckPart(image, plan, run, i, dst); !s.ok()) return s;
  }
  const gemm::EpilogueFacts& first = image.part[0].epilogue;
  const auto padding = static_cast<float>(run.padding);
  if (padding < first.least_zero_point || padding > first.most_zero_point) {
    return absl::InvalidArgumentError(absl::StrCat(
        "conv: args.padding=", run.padding, " is no value of the first convolution's type; ",
        "give its zero point, ", first.least_zero_point, " to ", first.most_zero_point));
  }
  if (image.facts.adds_quantized && output.zero_point != 0.0f) {
    return absl::InvalidArgumentError(
        absl::StrCat("conv: args.zero_point=", output.zero_point,
                     " is not 0, but the policy's Epilogue has a QuantizedAdd, whose `fixed` has "
                     "the zero point"));
  }
  return absl::OkStatus();
}

BottleneckLaunch::BottleneckLaunch(const BottleneckImage& image, const BottleneckPlan& plan,
                                   const BottleneckRun& run, gemm::MakeTensorMap make)
    : params(image.defaults, image.at.bytes) {
  const gemm::ParamsWriter writer = params.writer();
  PutParams(image, plan, run, writer);
  status = PutMaps(image, plan, run, make, writer.At<BottleneckMaps>(image.at.maps));
  launch = {0, params.data(), {plan.tiling.tiles, 1, 1}};
  launch.attributes.shared_bytes = plan.shared_bytes();
  if (!run.filters_are_constant) return;
  for (int i = 0; i < kBottleneckParts; ++i) {
    if (!image.facts.Has(i)) continue;
    launch.attributes.constant[i] = {
        run.part[i].filter.data, static_cast<std::size_t>(FilterBytes(PartOf(plan.problem, i)))};
  }
}

template <class BackEnd>
absl::Status Start(const BottleneckImage& image, const BottleneckPlan& plan,
                   const BottleneckRun& run, const BackEnd& on, gemm::RunFunction<BackEnd> start) {
  if (absl::Status s = CheckArguments(image, plan, run); !s.ok()) return s;
  if (plan.problem.IsEmpty()) return absl::OkStatus();
  const BottleneckLaunch made(image, plan, run, BackEnd::kMakeMap);
  if (!made.status.ok()) return made.status;
  return (on.*start)("conv", LaunchFacts(plan, image.facts.tile), made.launch);
}

template absl::Status Start(const BottleneckImage&, const BottleneckPlan&, const BottleneckRun&,
                            const gemm::GpuBackEnd&, gemm::RunFunction<gemm::GpuBackEnd>);
template absl::Status Start(const BottleneckImage&, const BottleneckPlan&, const BottleneckRun&,
                            const gemm::CpuBackEnd&, gemm::RunFunction<gemm::CpuBackEnd>);

}  // namespace weft::conv
