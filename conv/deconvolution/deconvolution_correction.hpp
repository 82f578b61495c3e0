// The correction for the zero point of a Deconvolution's source
// (conv/zero_point/source_correction.hpp): a table for each phase, since the phases meet different
// taps and have borders of their own.
//
//     auto table = weft::conv::MakeSourceCorrection(problem, packed_filter, zero_point);
//     op->Run({..., .source_correction = table->At(gpu_copy_of_its_bytes)}, stream);
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "weft/conv/deconvolution/deconvolution_filter.hpp"
#include "weft/conv/deconvolution/deconvolution_plan.hpp"
#include "weft/conv/zero_point/source_correction.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

class DeconvolutionCorrectionBuffer;

// The tables somewhere in memory: a pointer that knows its problem and zero point. It does not own
// the memory. A default-constructed one refers to nothing and is refused by operators with a
// SourceZeroPoint.
class DeconvolutionCorrection {
 public:
  DeconvolutionCorrection() = default;

  // The numbers of all phases' tables, one table after the other, each as in
  // SourceCorrection::data.
  const std::int32_t* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }
  const DeconvolutionProblem& problem() const { return problem_; }
  std::int32_t zero_point() const { return zero_point_; }
  // Fingerprint of the filter that the tables were made of.
  std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  friend class DeconvolutionCorrectionBuffer;
  DeconvolutionProblem problem_;
  std::int32_t zero_point_ = 0;
  std::int64_t bytes_ = 0;
  std::uint64_t fingerprint_ = 0;
  const std::int32_t* data_ = nullptr;
};

// Owns the tables in host memory.
class DeconvolutionCorrectionBuffer {
 public:
  // What to copy to a GPU: bytes() from data() on.
  const std::int32_t* data() const { return data_.get(); }
  std::int64_t bytes() const { return tables_.bytes(); }

  // The tables in host memory, for RunOnCpu. Valid as long as this buffer.
  DeconvolutionCorrection view() const { return At(data_.get()); }

  // The copy of these bytes that the caller made at `memory` (a GPU address, 4-byte aligned).
  DeconvolutionCorrection At(const void* memory) const {
    DeconvolutionCorrection copy = tables_;
    copy.data_ = static_cast<const std::int32_t*>(memory);
    return copy;
  }

  // MakeSourceCorrection calls it. sums: for each phase [K][R][S] of its filter, the sums of the
  // filter's values over the input channels.
  static absl::StatusOr<DeconvolutionCorrectionBuffer> Make(
      const DeconvolutionProblem& problem, const std::vector<Phase>& phases,
      const std::vector<std::vector<std::int32_t>>& sums, std::int32_t zero_point,
      std::uint64_t fingerprint = 0);

 private:
  DeconvolutionCorrectionBuffer() = default;
  DeconvolutionCorrection tables_;
  std::unique_ptr<std::int32_t[]> data_;
};

namespace internal {

// The layout of each phase's table, without its numbers. phases: of `problem`. The errors of
// SourceCorrection::LayOut, with the phase's name.
absl::StatusOr<std::vector<SourceCorrection>> LayOutPhases(const DeconvolutionProblem& problem,
                                                           const std::vector<Phase>& phases,
                                                           std::int32_t zero_point);

// What is checked of a run before its phases are: InvalidArgument if there is no filter or it was packed for
// other parts; and if `table` was made for another problem (the number of images aside), or of other weights than
// those of the filter with this fingerprint, or is there without a SourceZeroPoint stage.
absl::Status CheckDeconvolutionRun(const DeconvolutionProblem& problem, const void* filter,
                                   const FilterParts& parts, std::uint64_t fingerprint,
                                   const DeconvolutionCorrection& table, bool source_zero_point);

}  // namespace internal

// The tables, in host memory, for `problem`, whose filter is `filter`, and a source with zero point
// `zero_point`, -128 to 255. Any number of images may be run with them. InvalidArgument as for
// CheckDeconvolution and for a filter of another problem; OutOfRange for a zero point outside its
// range; ResourceExhausted if there is no memory.
template <FilterFormat Format>
inline absl::StatusOr<DeconvolutionCorrectionBuffer> MakeSourceCorrection(
    const DeconvolutionProblem& problem, const PackedDeconvolutionFilterBuffer<Format>& filter,
    std::int32_t zero_point) {
  if (absl::Status s = CheckDeconvolution(problem); !s.ok()) return s;
  const FilterParts parts = PartsOf(problem);
  if (absl::Status s = CheckParts(parts, filter.view().parts()); !s.ok()) return s;
  const std::vector<std::int64_t> offsets = PartOffsets<Format>(parts);
  const std::vector<Phase> phases = PhasesOf(problem);
  std::vector<std::vector<std::int32_t>> sums;
  for (const Phase& phase : phases) {
    const FilterExtents e = parts.At(phase.part);
    const std::int8_t* const part = filter.data() + offsets[static_cast<std::size_t>(phase.part)];
    std::vector<std::int32_t> of;
    for (std::int64_t i = 0; i < e.k * e.r * e.s; ++i) {
      const std::int64_t k = i / (e.r * e.s), r = i / e.s % e.r, s = i % e.s;
      std::int32_t sum = 0;
      for (std::int64_t c = 0; c < e.c; ++c) sum += part[Format::Offset(e, k, c, r, s)];
      of.push_back(sum);
    }
    sums.push_back(std::move(of));
  }
  return DeconvolutionCorrectionBuffer::Make(problem, phases, sums, zero_point,
                                             filter.view().fingerprint());
}

}  // namespace weft::conv
