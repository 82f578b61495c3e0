#include "weft/conv/deconvolution/deconvolution_correction.hpp"

#include <string>

#include "absl/strings/str_cat.h"

namespace weft::conv {
namespace {

constexpr std::int64_t kSumBytes = sizeof(std::int32_t);

std::string Name(const DeconvolutionProblem& p) {
  return absl::StrCat("c=", p.c, " h=", p.h, " w=", p.w, " k=", p.k, " r=", p.r, " s=", p.s,
                      " to p=", p.p(), " q=", p.q(), " with padding ", p.pad_top, ",", p.pad_left,
                      ", stride ", p.stride_h, "x", p.stride_w, " and dilation ", p.dilation_h, "x",
                      p.dilation_w);
}

}  // namespace

absl::StatusOr<std::vector<SourceCorrection>> internal::LayOutPhases(
    const DeconvolutionProblem& problem, const std::vector<Phase>& phases,
    std::int32_t zero_point) {
  std::vector<SourceCorrection> tables;
  for (const Phase& phase : phases) {
    absl::StatusOr<SourceCorrection> table =
        SourceCorrection::LayOut(phase.problem, phase.place, zero_point);
    if (!table.ok()) {
      return OfPhase(table.status(), problem, static_cast<std::int64_t>(tables.size()));
    }
    tables.push_back(*table);
  }
  return tables;
}

absl::Status internal::CheckDeconvolutionRun(const DeconvolutionProblem& problem,
                                             const void* filter, const FilterParts& parts,
                                             std::uint64_t fingerprint,
                                             const DeconvolutionCorrection& table,
                                             bool source_zero_point) {
  if (filter == nullptr) {
    return absl::InvalidArgumentError(
        "conv: args.filter is not packed; call weft::conv::PackDeconvolutionFilter and pass its "
        "view(), or At(device_pointer) after a copy to the GPU");
  }
  if (absl::Status s = CheckParts(PartsOf(problem), parts); !s.ok()) return s;
  // Each phase's CheckArguments says that its table is missing.
  if (table.data() == nullptr) return absl::OkStatus();
  DeconvolutionProblem tabled = table.problem();
  tabled.n = problem.n;
  if (tabled != problem) {
    return absl::InvalidArgumentError(absl::StrCat(
        "conv: args.source_correction was made for ", Name(tabled), ", this operator has ",
        Name(problem), "; make the one that belongs to the problem and its filter"));
  }
  if (table.fingerprint() != 0 && table.fingerprint() != fingerprint) {
    return absl::InvalidArgumentError(
        "conv: args.source_correction was made of other weights than those of args.filter; give "
        "conv::MakeSourceCorrection the filter that runs, each time that it changes");
  }
  if (source_zero_point) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "conv: args.source_correction is set but the policy's Epilogue has no SourceZeroPoint "
      "stage; leave it empty");
}

absl::StatusOr<DeconvolutionCorrectionBuffer> DeconvolutionCorrectionBuffer::Make(
    const DeconvolutionProblem& problem, const std::vector<Phase>& phases,
    const std::vector<std::vector<std::int32_t>>& sums, std::int32_t zero_point,
    std::uint64_t fingerprint) {
  const absl::StatusOr<std::vector<SourceCorrection>> tables =
      internal::LayOutPhases(problem, phases, zero_point);
  if (!tables.ok()) return tables.status();
  DeconvolutionCorrectionBuffer buffer;
  buffer.tables_.problem_ = problem;
  buffer.tables_.zero_point_ = zero_point;
  buffer.tables_.fingerprint_ = fingerprint;
  for (const SourceCorrection& table : *tables) buffer.tables_.bytes_ += table.bytes();
  const std::int64_t size = buffer.bytes() / kSumBytes;
  buffer.data_ = internal::NewTable(size);
  if (buffer.data_ == nullptr) return internal::NoMemoryForTable(size);
  std::int32_t* to = buffer.data_.get();
  for (std::size_t i = 0; i < tables->size(); ++i) {
    (*tables)[i].Fill(sums[i].data(), to);
    to += (*tables)[i].bytes() / kSumBytes;
  }
  return buffer;
}

}  // namespace weft::conv
