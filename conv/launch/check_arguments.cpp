#include "weft/conv/launch/check_arguments.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "weft/conv/launch/start.hpp"
#include "weft/conv/zero_point/source_correction.hpp"
#include "weft/gemm/check/argument_checks.hpp"

namespace weft::conv {
namespace {

// A phase of a transposed convolution needs its destination.
absl::Status CheckPhase(const ConvRun& run) {
  if (run.phase == nullptr || run.phase->rows >= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "conv: args.prologue of PerPhase has no destination; conv::Deconvolution gives it one");
}

// dst may be a slice where each image's channels of it lie side by side.
absl::Status CheckSlice(const PolicyImage& image, const Problem& problem, const ConvRun& run) {
  if (run.dst_channels == 0) return absl::OkStatus();
  const auto wrong = [&](const auto&... why) {
    return absl::InvalidArgumentError(
        absl::StrCat("conv: args.dst_channels=", run.dst_channels, why...));
  };
  if (run.dst_channels < problem.k) {
    return wrong(" is less than problem.k=", problem.k,
                 "; give the channels of the tensor that dst is a slice of, or 0");
  }
  constexpr std::int64_t kMost = (std::numeric_limits<std::int32_t>::max)();
  if (run.dst_channels > kMost) {
    return wrong(" is greater than ", kMost,
                 "; give the channels of the tensor that dst is a slice of, or 0");
  }
  if (image.dst.interleave == 1) {
    return wrong(" is set, but DstLayout=", image.facts.dst_layout,
                 " has no blocks of channels; leave it 0, or take NCxHWx");
  }
  if (image.epilogue.residual || image.epilogue.copy_bytes > 0) {
    return wrong(" is set, but the policy's Epilogue has a ",
                 image.epilogue.residual ? "Residual" : "Copy",
                 " stage, whose tensor is no slice; leave it 0");
  }
  return absl::OkStatus();
}

}  // namespace

gemm::TensorArgument SourceArgument(const ConvFacts& facts, const Problem& problem,
                                    const gemm::GivenTensor& src) {
  // TMA loads whole blocks of NCxHWx<32>.
  const bool blocks = facts.kind == Kind::kTma && !facts.source.nhwc;
  const FormatFacts format = {facts.source.interleave, facts.source.bits};
  return {.field = "src",
          .address = src.address,
          .alignment = blocks ? 32 : facts.config.alignment.src,
          .line_bytes = format.Bytes(problem.src()),
          .helper = facts.source.nhwc ? "WithSrcAlignment" : nullptr,
          .least_alignment = IsWgmma(facts.kind) ? 8 : 4,
          .given = src.given};
}

gemm::EpilogueArguments ConvEpilogueArguments(const PolicyImage& image, const Problem& problem,
                                              const TensorExtents& dst,
                                              const gemm::OutputRun& run) {
  // Residuals in blocked layouts are read by words of 4 channels, by wgmma_sm90 as widely as dst is
  // written.
  constexpr int kWord = 4;
  const ConvFacts& facts = image.facts;
  const bool wide = IsWgmma(facts.kind);
  gemm::EpilogueArguments e = gemm::EpilogueArgumentsOf(
      image.epilogue, run, problem.k,
      gemm::TensorArgument{
          .alignment = wide ? std::max(kWord, facts.config.alignment.dst) : kWord,
          .line_bytes = image.residual.Bytes(dst),
          .may_be_output = image.residual_as_dst &&
                           image.epilogue.residual_bytes == image.epilogue.output_bytes});
  if (image.epilogue.copy_bytes > 0) {
    e.copy = {.field = "epilogue's copy",
              .address = run.copy,
              .alignment = 16,
              .line_bytes = image.copy.Bytes(dst),
              .if_null = "is null; give args.epilogue.Get<Copy<T, Format>>().to"};
  }
  if (image.epilogue.image_sums) {
    e.image_sums = {.field = "epilogue's array of sums",
                    .address = run.image_sums,
                    .alignment = alignof(std::int32_t),
                    .line_bytes = problem.n * problem.k * std::int64_t{sizeof(std::int32_t)},
                    .if_null =
                        "is null; give args.epilogue.Get<ImageSums>() (or <OnlyImageSums>) the "
                        "address of zeros, one int32 for each image and output channel"};
  }
  return e;
}

gemm::TensorArgument DstArgument(const PolicyImage& image, const TensorExtents& dst,
                                 const gemm::GivenTensor& given) {
  return {.field = "dst",
          .address = given.address,
          .alignment = image.facts.config.alignment.dst,
          .line_bytes = image.epilogue.writes_output ? image.dst.Bytes(dst) : 0,
          .helper = "WithDstAlignment",
          .least_alignment = image.epilogue.output_bytes,
          .given = given.given};
}

absl::Status CheckArguments(const PolicyImage& image, const ConvPlan& plan, const ConvRun& run) {
  const Problem& problem = plan.problem;
  const ConvFacts& facts = image.facts;
  if (problem.IsEmpty()) return absl::OkStatus();
  if (absl::Status s = CheckPhase(run); !s.ok()) return s;
  if (absl::Status s = CheckSlice(image, problem, run); !s.ok()) return s;
  const TensorExtents dst = Destination(plan.dst(), run);
  gemm::TensorArgument output = DstArgument(image, dst, run.output.dst);
  if (run.dst_channels != 0 && output.line_bytes > 0) {
    output.lines = dst.n, output.pitch_bytes = output.line_bytes / dst.n;
    output.line_bytes = image.dst.Bytes({1, problem.k, dst.h, dst.w});
  }
  gemm::TensorArgument operands[5] = {
      SourceArgument(facts, problem, run.src),
      {.field = "filter",
       .address = run.filter.data,
       .alignment = 16,
       .line_bytes = run.filter.bytes,
       .if_null = "is not packed; call weft::PackFilter and pass its view(), or At(device_pointer) "
                  "after a copy to the GPU"}};
  const ZeroPoints zero_points{.source_stage = image.epilogue.source_zero_point,
                               .filter_stage = image.epilogue.filter_zero_point,
                               .unsigned_source = facts.source.is_unsigned,
                               .source_bits = facts.source.bits,
                               .depthwise = facts.IsDepthwise(),
                               .source_correction = *run.source_correction,
                               .filter = run.filter.fingerprint,
                               .filter_zero_point = run.filter_zero_point,
                               .window_sums = run.window_sums};
  // There is a sum for each window of the filter, also with a MaxPool.
  const int count =
      2 + zero_points.Operands(problem, Destination(problem.dst(), run), operands + 2);
  if (absl::Status s = gemm::CheckArguments("conv", absl::MakeConstSpan(operands, count), output,
                                            ConvEpilogueArguments(image, problem, dst, run.output));
      !s.ok()) {
    return s;
  }
  if (absl::Status s = CheckZeroPoints(problem, zero_points); !s.ok()) return s;
  return CheckFilter(PackedExtents(problem, facts.IsDepthwise()), run.filter.extents,
                     run.filter.count, run.filter.needed, facts.prologue.name);
}

}  // namespace weft::conv
