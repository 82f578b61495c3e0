// The correction for a source's zero point: what it adds to a convolution's accumulators.
//
// Kernels multiply a source's values x as they are, and count taps outside the image as 0. Where x
// stands for x - zx, and the padding for 0, an output is
//     sum of (x - zx) w  =  sum of x w  -  zx * (sum of w),
// both over the taps that lie in the image. The last sum depends on the output channel and on which
// taps those are: the same for all pixels but a few at the border. MakeSourceCorrection tabulates
// it, once for each filter, and an epilogue's SourceZeroPoint stage adds it to the accumulators in
// int32. Kernels that write zx over their padding (conv/hopper/padding_transform.hpp) add to all
// pixels what belongs to all taps.
//
//     auto table = weft::conv::MakeSourceCorrection(problem, packed_filter, zero_point);
//     op->Run({..., .source_correction = table->At(gpu_copy_of_its_bytes)}, stream);
//     op->RunOnCpu({..., .source_correction = table->view()});
//
// A depthwise kernel with a FilterZeroPoint stage sums the x that an output sees itself, and takes
// zw times that from the accumulator. What remains is the formula above with w - zw in the place of
// w, so its table is made of the filter and of its zero points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "weft/conv/problem/problem.hpp"
#include "weft/gemm/check/argument_checks.hpp"
#include "weft/layouts/base/abseil.hpp"
#include "weft/layouts/packed_filter.hpp"
#include "weft/prologues/prologues.hpp"

namespace weft::conv {

class SourceCorrectionBuffer;

// A table somewhere in memory: a pointer that knows its problem and zero point. It does not own the
// memory. A default-constructed one refers to nothing and is refused by operators with a
// SourceZeroPoint.
class SourceCorrection {
 public:
  SourceCorrection() = default;

  // The table is int32 numbers. First, for each row and then each column of the destination, an
  // offset: the two of a pixel add up to where its class begins in the edges. Then k corrections,
  // those of pixels that see all taps. Then the edges, k for each class of pixels that see the same
  // taps, which its pixels add to the corrections; those of the first class are zeros.
  const std::int32_t* data() const { return data_; }
  // Null if all pixels see all taps, as without padding.
  const std::int32_t* edge_rows() const { return uniform_ ? nullptr : data_; }
  const std::int32_t* edge_columns() const { return data_ + place_.rows; }
  const std::int32_t* corrections() const { return data_ + place_.rows + place_.columns; }
  const std::int32_t* edges() const { return corrections() + problem_.k; }
  std::int64_t bytes() const { return bytes_; }
  const Problem& problem() const { return problem_; }
  std::int32_t zero_point() const { return zero_point_; }
  // Whether the table was made of a filter and its zero points.
  bool of_filter_zero_points() const { return of_filter_zero_points_; }
  // PackedFilter::fingerprint of the filter that the table was made of; 0 if that is unknown.
  std::uint64_t fingerprint() const { return fingerprint_; }

  // The table, still without numbers, of a convolution whose pixels lie at `place` in the
  // destination, as those of a phase do. Errors are MakeSourceCorrection's.
  static absl::StatusOr<SourceCorrection> LayOut(const Problem& problem,
                                                 const prologues::PerPhase& place,
                                                 std::int32_t zero_point);
  // Writes the bytes() of the table's numbers. sums: [K][R][S], the sums of the filter's values
  // over the input channels of an output channel's group.
  void Fill(const std::int32_t* sums, std::int32_t* to) const;
  // The same table with its numbers at `data`, and this zero point.
  SourceCorrection With(const std::int32_t* data, std::int32_t zero_point) const {
    SourceCorrection table = *this;
    table.data_ = data, table.zero_point_ = zero_point;
    return table;
  }
  SourceCorrection OfFilter(std::uint64_t fingerprint) const {
    SourceCorrection table = *this;
    table.fingerprint_ = fingerprint;
    return table;
  }
  SourceCorrection OfFilterZeroPoints() const {
    SourceCorrection table = *this;
    table.of_filter_zero_points_ = true;
    return table;
  }

 private:
  Problem problem_;
  prologues::PerPhase place_;
  std::int32_t zero_point_ = 0;
  bool uniform_ = false, of_filter_zero_points_ = false;
  std::int64_t bytes_ = 0;
  std::uint64_t fingerprint_ = 0;
  const std::int32_t* data_ = nullptr;
};

// Owns a table in host memory.
class SourceCorrectionBuffer {
 public:
  // What to copy to a GPU: bytes() from data() on.
  const std::int32_t* data() const { return data_.get(); }
  std::int64_t bytes() const { return table_.bytes(); }

  // The table in host memory, for RunOnCpu. Valid as long as this buffer.
  SourceCorrection view() const { return At(data_.get()); }

  // The copy of these bytes that the caller made at `memory` (a GPU address, 4-byte aligned).
  SourceCorrection At(const void* memory) const {
    return table_.With(static_cast<const std::int32_t*>(memory), table_.zero_point());
  }

  // MakeSourceCorrection calls it. sums: [K][R][S], the sums of the filter's values over the input
  // channels of an output channel's group, each value less its zero point if of_filter_zero_points.
  // fingerprint: the filter's.
  static absl::StatusOr<SourceCorrectionBuffer> Make(const Problem& problem,
                                                     const std::vector<std::int32_t>& sums,
                                                     std::int32_t zero_point,
                                                     bool of_filter_zero_points = false,
                                                     std::uint64_t fingerprint = 0);

 private:
  SourceCorrectionBuffer() = default;
  SourceCorrection table_;
  std::unique_ptr<std::int32_t[]> data_;
};

// The zero-point stages of an operator, and the arguments of one run that belong to them.
struct ZeroPoints {
  const char* who = "conv";  // messages begin with it
  // Whether the epilogue has a SourceZeroPoint and a FilterZeroPoint.
  bool source_stage = false, filter_stage = false;
  bool unsigned_source = false;
  int source_bits = 8;
  bool depthwise = false;  // the kernel sums its windows itself
  const SourceCorrection& source_correction;
  std::uint64_t filter = 0;  // the fingerprint of the filter of the run
  gemm::NumbersPointer<std::int32_t> filter_zero_point = nullptr;
  gemm::NumbersPointer<std::int32_t> window_sums = nullptr;

  // Writes the arguments that the stages read, at most 3, and returns how many. dst: the
  // destination's extents.
  int Operands(const Problem& problem, const TensorExtents& dst, gemm::TensorArgument* to) const;
};

// InvalidArgument for an argument that no stage reads, and for a table of another problem (the
// number of images aside) or of other weights than the run's filter, or that has the filter's zero
// points where it must not, or lacks them; OutOfRange if its zero point is no value of the source.
absl::Status CheckZeroPoints(const Problem& problem, const ZeroPoints& zero_points);

namespace internal {
absl::Status CheckCorrectedFilter(const Problem& problem, const FilterExtents& filter,
                                  std::int64_t count, bool depthwise);
absl::Status CheckFilterZeroPoints(const Problem& problem,
                                   absl::Span<const std::int32_t> filter_zero_point);
// New memory for `size` int32 numbers; null if there is none.
std::unique_ptr<std::int32_t[]> NewTable(std::int64_t size);
absl::Status NoMemoryForTable(std::int64_t size);
}  // namespace internal

// The table, in host memory, for `problem`, whose filter (or bank, for Grouped) is `filter`, and a
// source with zero point `zero_point`, -128 to 255. Any number of images may be run with it. It
// takes 4 (p + q + k (1 + c)) bytes, with c classes of pixels that see the same taps: 9 for a 3x3
// filter and padding 1. filter_zero_point: for a depthwise convolution with a FilterZeroPoint its
// problem.k values, in host memory, -128 to 127; otherwise none. InvalidArgument as for
// CheckProblem, for a filter of another problem and another number of zero points; OutOfRange for a
// zero point outside its range; ResourceExhausted if there is no memory.
template <FilterFormat Format, class Prologue>
inline absl::StatusOr<SourceCorrectionBuffer> MakeSourceCorrection(
    const Problem& problem, const PackedFilterBuffer<Format, std::int8_t, Prologue>& filter,
    std::int32_t zero_point, absl::Span<const std::int32_t> filter_zero_point = {}) {
  constexpr bool kDepthwise = std::is_same_v<Prologue, prologues::Depthwise>;
  if (absl::Status s =
          internal::CheckCorrectedFilter(problem, filter.extents(), filter.count(), kDepthwise);
      !s.ok()) {
    return s;
  }
  if (kDepthwise && !filter_zero_point.empty()) {
    absl::Status s = internal::CheckFilterZeroPoints(problem, filter_zero_point);
    if (!s.ok()) return s;
  } else if (!filter_zero_point.empty()) {
    return absl::InvalidArgumentError(
        "conv: filter_zero_point is given for a convolution that is not depthwise; leave it out: "
        "what conv::WindowSums makes of the source has its zero point taken from it");
  }
  const FilterExtents& e = filter.extents();
  const std::int64_t taps = e.r * e.s;
  std::vector<std::int32_t> sums(static_cast<std::size_t>(problem.k * taps));
  for (std::int64_t k = 0; k < problem.k; ++k) {
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      std::int32_t sum = 0;
      if (!filter_zero_point.empty()) sum = -filter_zero_point[static_cast<std::size_t>(k)];
      for (std::int64_t c = 0; c < e.c; ++c) {
        sum += filter.Value(k / e.k, k % e.k, c, tap / e.s, tap % e.s);
      }
      sums[static_cast<std::size_t>(k * taps + tap)] = sum;
    }
  }
  return SourceCorrectionBuffer::Make(problem, sums, zero_point, !filter_zero_point.empty(),
                                      filter.fingerprint());
}

}  // namespace weft::conv
