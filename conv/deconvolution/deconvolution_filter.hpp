// The filter of a Deconvolution, packed: a type of its own, so that neither an unpacked filter nor
// that of a convolution can be passed by mistake.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "weft/conv/deconvolution/deconvolution_plan.hpp"
#include "weft/layouts/base/abseil.hpp"
#include "weft/layouts/formats.hpp"
#include "weft/layouts/packing.hpp"

namespace weft::conv {

template <FilterFormat Format>
class PackedDeconvolutionFilterBuffer;

// A packed filter somewhere in memory: a pointer that knows its format and parts. It does not own
// the memory. A default-constructed one refers to nothing and is refused by every operator.
template <FilterFormat Format>
class PackedDeconvolutionFilter {
 public:
  PackedDeconvolutionFilter() = default;

  template <class Other>
  PackedDeconvolutionFilter(const Other&) {  // NOLINT(runtime/explicit): the sentence is the point
    static_assert(sizeof(Other) == 0,
                  "weft: this filter is not packed for a Deconvolution; call "
                  "weft::conv::PackDeconvolutionFilter<FilterLayout>(problem, values) and pass its "
                  "view() or, after a copy to the GPU, its At(device_pointer)");
  }

  // The first part; PartOffsets says where the others lie.
  const std::int8_t* data() const { return data_; }
  const FilterParts& parts() const { return parts_; }
  // A fingerprint of the weights, as PackedFilter::fingerprint is.
  std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  friend class PackedDeconvolutionFilterBuffer<Format>;
  PackedDeconvolutionFilter(const FilterParts& parts, const std::int8_t* data,
                            std::uint64_t fingerprint)
      : parts_(parts), data_(data), fingerprint_(fingerprint) {}

  FilterParts parts_;
  const std::int8_t* data_ = nullptr;
  std::uint64_t fingerprint_ = 0;
};

// Owns a packed filter in host memory, 64-byte aligned.
template <FilterFormat Format>
class PackedDeconvolutionFilterBuffer {
 public:
  // What to copy to a GPU: bytes() from data() on.
  const std::int8_t* data() const { return lines_.data()->byte; }
  std::int64_t bytes() const { return static_cast<std::int64_t>(lines_.size() * sizeof(Line)); }

  // The filter in host memory, for RunOnCpu. Valid as long as this buffer.
  PackedDeconvolutionFilter<Format> view() const { return At(data()); }

  // The copy of these bytes that the caller made at `memory` (a GPU address, 16-byte aligned).
  PackedDeconvolutionFilter<Format> At(const void* memory) const {
    return {parts_, static_cast<const std::int8_t*>(memory), fingerprint_};
  }

 private:
  template <FilterFormat To, FilterFormat From>
  friend absl::StatusOr<PackedDeconvolutionFilterBuffer<To>> PackDeconvolutionFilter(
      const DeconvolutionProblem& problem, absl::Span<const std::int8_t> values);
  struct alignas(64) Line {
    std::int8_t byte[64];
  };

  FilterParts parts_;
  std::uint64_t fingerprint_ = 0;
  std::vector<Line> lines_;
};

// Packs `values`, the filter [c][k][r][s] of the problem, for a Deconvolution with this
// FilterLayout. That order is ONNX's and PyTorch's, and the one in which the convolution whose
// gradient this is, with c output channels, has its filter. From = KRSC: values are [c][r][s][k].
// The padding and the image of the problem do not matter. InvalidArgument as for
// CheckDeconvolution, and if there are not c * k * r * s values; ResourceExhausted if there is not
// enough memory.
template <FilterFormat To, FilterFormat From = KCRS>
inline absl::StatusOr<PackedDeconvolutionFilterBuffer<To>> PackDeconvolutionFilter(
    const DeconvolutionProblem& problem, absl::Span<const std::int8_t> values) {
  if (absl::Status s = CheckDeconvolution(problem); !s.ok()) return s;
  const FilterExtents given = {problem.c, problem.k, problem.r, problem.s};
  if (absl::Status s = weft::internal::CheckExtents(given); !s.ok()) return s;
  if (absl::Status s = weft::internal::CheckSize(From::kName, 1, From::Size(given), values.size());
      !s.ok()) {
    return s;
  }
  PackedDeconvolutionFilterBuffer<To> packed;
  const FilterParts parts = PartsOf(problem);
  packed.parts_ = parts;
  packed.fingerprint_ = weft::internal::Fingerprint<From>(given, 1, values);
  const std::vector<std::int64_t> offsets = PartOffsets<To>(parts);
  const auto lines = offsets.back() / static_cast<std::int64_t>(sizeof(packed.lines_[0]));
  if (!weft::internal::Resize(lines, &packed.lines_)) {
    return weft::internal::NoMemory(To::kName, offsets.back(), 8);
  }
  std::int8_t* const to = packed.lines_.data()->byte;
  for (std::int64_t i = 0; i < parts.rows() * parts.columns(); ++i) {
    const FilterExtents e = parts.At(i);
    for (std::int64_t r = 0; r < e.r; ++r) {
      for (std::int64_t s = 0; s < e.s; ++s) {
        // A part has its taps in reverse order.
        const std::int64_t row = i / parts.columns() + (e.r - 1 - r) * parts.step_h();
        const std::int64_t column = i % parts.columns() + (e.s - 1 - s) * parts.step_w();
        for (std::int64_t k = 0; k < e.k; ++k) {
          for (std::int64_t c = 0; c < e.c; ++c) {
            to[offsets[i] + To::Offset(e, k, c, r, s)] =
                values[static_cast<std::size_t>(From::Offset(given, c, k, row, column))];
          }
        }
      }
    }
  }
  return packed;
}

template <FilterFormat To, FilterFormat From = KCRS>
inline absl::StatusOr<PackedDeconvolutionFilterBuffer<To>> PackDeconvolutionFilter(
    const DeconvolutionProblem& problem, const std::vector<std::int8_t>& values) {
  return PackDeconvolutionFilter<To, From>(problem, absl::MakeConstSpan(values));
}

}  // namespace weft::conv
