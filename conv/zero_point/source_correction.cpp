#include "weft/conv/zero_point/source_correction.hpp"

#include <algorithm>
#include <limits>
#include <new>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "weft/conv/problem/problem_checks.hpp"
#include "weft/conv/problem/problem_name.hpp"

namespace weft::conv {
namespace {

// Which taps of one direction lie in the image, for an output: [first, end).
struct Taps {
  std::int64_t first = 0, end = 0;
  friend bool operator==(const Taps&, const Taps&) = default;
};

// The rows, or the columns, of a problem.
struct Direction {
  std::int64_t outputs, extent, taps, padding, stride, dilation;
  // Output i lies at place first + i * step of a destination with this many places, or outside it.
  std::int64_t first, step, places;

  std::int64_t Place(std::int64_t output) const { return first + output * step; }
  // The outputs [begin, end) lie in the destination.
  std::int64_t begin() const { return first < 0 ? gemm::CeilDiv(-first, step) : 0; }
  std::int64_t end() const {
    return std::min(outputs, gemm::CeilDiv(std::max<std::int64_t>(0, places - first), step));
  }

  Taps At(std::int64_t output) const {
    const std::int64_t start = output * stride - padding, apart = taps == 1 ? 1 : dilation;
    // How many taps lie before input position `place`.
    const auto before = [&](std::int64_t place) {
      return start < place ? std::min(taps, gemm::CeilDiv(place - start, apart)) : 0;
    };
    return {before(0), before(extent)};
  }
};

// The classes of outputs along one direction that see the same taps. The first class is that of
// outputs that see all taps, even if there are none.
struct Classes {
  std::vector<Taps> taps;

  explicit Classes(const Direction& d) : taps(1, Taps{0, d.taps}) {
    ForEachRun(d, [&](std::int64_t, std::int64_t, const Taps& in) {
      if (Find(in) == static_cast<std::int64_t>(taps.size())) taps.push_back(in);
    });
  }

  std::int64_t Find(const Taps& in) const {
    return std::find(taps.begin(), taps.end(), in) - taps.begin();
  }

  // Calls visit(first output, count, taps) for each run of neighbouring outputs that see the same
  // taps. Once left, the same taps never come again, so a binary search finds the end of a run:
  // images may have 2^30 rows.
  template <class Visit>
  static void ForEachRun(const Direction& d, const Visit& visit) {
    for (std::int64_t i = d.begin(); i < d.end();) {
      const Taps in = d.At(i);
      std::int64_t end = i + 1, others = d.end();
      while (end < others) {
        const std::int64_t middle = end + (others - end) / 2;
        if (d.At(middle) == in) {
          end = middle + 1;
        } else {
          others = middle;
        }
      }
      visit(i, end - i, in);
      i = end;
    }
  }

  // to[i] = `step` times the class of the output at place i of the destination, or 0 where it has
  // none.
  void Write(const Direction& d, std::int64_t step, std::int32_t* to) const {
    std::fill_n(to, d.places, 0);
    ForEachRun(d, [&](std::int64_t first, std::int64_t count, const Taps& in) {
      const auto value = static_cast<std::int32_t>(Find(in) * step);
      for (std::int64_t i = first; i < first + count; ++i) to[d.Place(i)] = value;
    });
  }
};

// Sums of an output channel's filter over rectangles of taps, by a summed-area table. Taps are
// counted as they meet the image, that is flipped for Mode::kConvolution.
class TapSums {
 public:
  TapSums(const Problem& p, const std::int32_t* sums)
      : columns_(p.s + 1), prefix_(static_cast<std::size_t>((p.r + 1) * columns_)) {
    const bool flip = p.mode == Mode::kConvolution;
    for (std::int64_t r = 0; r < p.r; ++r) {
      for (std::int64_t s = 0; s < p.s; ++s) {
        const std::int64_t tap = r * p.s + s;
        At(r + 1, s + 1) =
            sums[flip ? p.r * p.s - 1 - tap : tap] + At(r, s + 1) + At(r + 1, s) - At(r, s);
      }
    }
  }

  std::int64_t Of(const Taps& rows, const Taps& columns) {
    return At(rows.end, columns.end) - At(rows.first, columns.end) - At(rows.end, columns.first) +
           At(rows.first, columns.first);
  }

 private:
  std::int64_t& At(std::int64_t r, std::int64_t s) {
    return prefix_[static_cast<std::size_t>(r * columns_ + s)];
  }
  std::int64_t columns_;
  std::vector<std::int64_t> prefix_;
};

Direction Down(const Problem& p, const prologues::PerPhase& at) {
  return {p.p(), p.h, p.r, p.pad_top, p.stride_h, p.dilation_h, at.first_h, at.stride_h, at.rows};
}
Direction Along(const Problem& p, const prologues::PerPhase& at) {
  return {p.q(),        p.w,        p.s,         p.pad_left, p.stride_w,
          p.dilation_w, at.first_w, at.stride_w, at.columns};
}

absl::Status ZeroPointOutside(const char* who, const char* what, std::int32_t zero_point,
                              std::int32_t lowest, std::int32_t highest, const char* type) {
  return absl::OutOfRangeError(absl::StrCat(who, ": ", what, "=", zero_point, " is no value of ",
                                            type, "; give one from ", lowest, " to ", highest));
}

}  // namespace

absl::Status internal::CheckCorrectedFilter(const Problem& p, const FilterExtents& f,
                                            std::int64_t count, bool depthwise) {
  if (absl::Status s = CheckProblem(p); !s.ok()) return s;
  const FilterExtents all = {p.k, 1, p.r, p.s};
  if (depthwise ? f == all && p.groups == p.c : f == p.filter() && count == p.groups) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "conv: the filter of a source correction is packed for k=%d c=%d r=%d s=%d, %d of them; this "
      "problem has k=%d c=%d r=%d s=%d in each of its %d groups, so pack the filter that belongs "
      "to it",
      f.k, f.c, f.r, f.s, count, p.filter().k, p.filter().c, p.r, p.s, p.groups));
}

absl::Status internal::CheckFilterZeroPoints(const Problem& p,
                                             absl::Span<const std::int32_t> filter_zero_point) {
  if (static_cast<std::int64_t>(filter_zero_point.size()) != p.k) {
    return absl::InvalidArgumentError(
        absl::StrCat("conv: filter_zero_point has ", filter_zero_point.size(),
                     " values; give k=", p.k, ", one for each output channel"));
  }
  for (std::size_t k = 0; k < filter_zero_point.size(); ++k) {
    const std::int32_t value = filter_zero_point[k];
    if (value >= -128 && value <= 127) continue;
    return ZeroPointOutside("conv", absl::StrCat("filter_zero_point[", k, "]").c_str(), value, -128,
                            127, "an int8 filter");
  }
  return absl::OkStatus();
}

std::unique_ptr<std::int32_t[]> internal::NewTable(std::int64_t size) {
  return std::unique_ptr<std::int32_t[]>(new (std::nothrow)
                                             std::int32_t[static_cast<std::size_t>(size)]);
}
absl::Status internal::NoMemoryForTable(std::int64_t size) {
  return absl::ResourceExhaustedError(
      absl::StrCat("conv: no memory for a source correction of ", size, " int32 numbers"));
}

absl::StatusOr<SourceCorrection> SourceCorrection::LayOut(const Problem& p,
                                                          const prologues::PerPhase& place,
                                                          std::int32_t zero_point) {
  if (absl::Status s = CheckProblem(p); !s.ok()) return s;
  if (zero_point < -128 || zero_point > 255) {
    return ZeroPointOutside("conv", "zero_point", zero_point, -128, 255, "int8 or uint8");
  }
  if (p.k == 0 || p.p() == 0 || p.q() == 0) {
    return absl::InvalidArgumentError(
        "conv: k*p*q=0 outputs have no source correction; runs of the operator do nothing and look "
        "at none");
  }
  const Classes rows(Down(p, place)), columns(Along(p, place));
  const auto kinds = internal::Wide{rows.taps.size()} * columns.taps.size();
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (kinds * p.k > kMost) {
    return internal::TooLarge("k times the classes of pixels that see the same taps", kinds * p.k,
                              kMost, "split the output channels");
  }
  SourceCorrection table;
  table.problem_ = p;
  table.place_ = place;
  table.zero_point_ = zero_point;
  table.uniform_ = kinds == 1;
  table.bytes_ = (place.rows + place.columns + p.k + static_cast<std::int64_t>(kinds * p.k)) *
                 std::int64_t{sizeof(std::int32_t)};
  return table;
}

void SourceCorrection::Fill(const std::int32_t* sums, std::int32_t* to) const {
  const Problem& p = problem_;
  const Direction down = Down(p, place_), along = Along(p, place_);
  const Classes rows(down), columns(along);
  const auto row_classes = static_cast<std::int64_t>(rows.taps.size());
  const auto column_classes = static_cast<std::int64_t>(columns.taps.size());
  rows.Write(down, column_classes * p.k, to);
  columns.Write(along, p.k, to + place_.rows);
  std::int32_t* const corrections = to + place_.rows + place_.columns;
  std::int32_t* const edges = corrections + p.k;
  // Kernels add modulo 2^32, so the correction is taken modulo 2^32 as well.
  const auto correction = [&](std::int64_t sum) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(-zero_point_ * sum));
  };
  for (std::int64_t k = 0; k < p.k; ++k) {
    TapSums filter(p, sums + k * p.r * p.s);
    const std::int64_t all = filter.Of(rows.taps[0], columns.taps[0]);
    corrections[k] = correction(all);
    for (std::int64_t c = 0; c < row_classes * column_classes; ++c) {
      const std::int64_t sum =
          filter.Of(rows.taps[static_cast<std::size_t>(c / column_classes)],
                    columns.taps[static_cast<std::size_t>(c % column_classes)]);
      edges[c * p.k + k] = correction(sum - all);
    }
  }
}

absl::StatusOr<SourceCorrectionBuffer> SourceCorrectionBuffer::Make(
    const Problem& p, const std::vector<std::int32_t>& sums, std::int32_t zero_point,
    bool of_filter_zero_points, std::uint64_t fingerprint) {
  if (absl::Status s = CheckProblem(p); !s.ok()) return s;
  if (static_cast<std::int64_t>(sums.size()) != p.k * p.r * p.s) {
    return absl::InvalidArgumentError(absl::StrCat(
        "conv: sums has ", sums.size(), " numbers, the filter has k*r*s=", p.k * p.r * p.s,
        " taps; give one for each"));
  }
  prologues::PerPhase place;
  place.rows = gemm::Int32(p.p()), place.columns = gemm::Int32(p.q());
  const absl::StatusOr<SourceCorrection> table = SourceCorrection::LayOut(p, place, zero_point);
  if (!table.ok()) return table.status();
  SourceCorrectionBuffer buffer;
  buffer.table_ = table->OfFilter(fingerprint);
  if (of_filter_zero_points) buffer.table_ = buffer.table_.OfFilterZeroPoints();
  const std::int64_t size = table->bytes() / std::int64_t{sizeof(std::int32_t)};
  buffer.data_ = internal::NewTable(size);
  if (buffer.data_ == nullptr) return internal::NoMemoryForTable(size);
  table->Fill(sums.data(), buffer.data_.get());
  return buffer;
}

int ZeroPoints::Operands(const Problem& p, const TensorExtents& dst,
                         gemm::TensorArgument* to) const {
  constexpr std::int64_t kSumBytes = sizeof(std::int32_t);
  int count = 0;
  if (source_stage) {
    to[count++] = {.field = "source_correction",
                   .address = source_correction.data(),
                   .alignment = kSumBytes,
                   .line_bytes = source_correction.bytes(),
                   .if_null =
                       "is missing; call conv::MakeSourceCorrection with the packed filter "
                       "and pass its view(), or At(device_pointer) after a copy to the GPU"};
  }
  if (filter_stage) {
    to[count++] = {.field = "filter_zero_point",
                   .address = filter_zero_point,
                   .alignment = kSumBytes,
                   .line_bytes = p.k * kSumBytes,
                   .if_null = "is null; give the address of k int32 numbers",
                   .given = filter_zero_point.given()};
  }
  if (filter_stage && !depthwise) {
    to[count++] = {.field = "window_sums",
                   .address = window_sums,
                   .alignment = kSumBytes,
                   .line_bytes = p.n * p.groups * dst.h * dst.w * kSumBytes,
                   .if_null = "is null; give what conv::WindowSums made of the same source",
                   .given = window_sums.given()};
  }
  return count;
}

absl::Status CheckZeroPoints(const Problem& p, const ZeroPoints& z) {
  const auto without = [&z](const char* field, const char* stage, const char* leave) {
    return absl::InvalidArgumentError(absl::StrCat(z.who, ": args.", field,
                                                   " is set but the policy's Epilogue has no ",
                                                   stage, " stage; leave it ", leave));
  };
  if (!z.filter_stage && z.filter_zero_point != nullptr) {
    return without("filter_zero_point", "FilterZeroPoint", "null");
  }
  if (!z.filter_stage && z.window_sums != nullptr) {
    return without("window_sums", "FilterZeroPoint", "null");
  }
  if (z.depthwise && z.window_sums != nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        z.who,
        ": args.window_sums is set but a depthwise convolution sums its windows itself; leave it "
        "null"));
  }
  const SourceCorrection& table = z.source_correction;
  if (!z.source_stage) {
    return table.data() == nullptr ? absl::OkStatus()
                                   : without("source_correction", "SourceZeroPoint", "empty");
  }
  Problem tabled = table.problem();
  tabled.n = p.n;
  if (tabled != p) {
    return absl::InvalidArgumentError(
        absl::StrCat(z.who, ": args.source_correction was made for ", ProblemName(tabled),
                     ", this operator has ", ProblemName(p),
                     "; make the one that belongs to the problem and its filter"));
  }
  if (table.fingerprint() != 0 && z.filter != 0 && table.fingerprint() != z.filter) {
    return absl::InvalidArgumentError(absl::StrCat(
        z.who,
        ": args.source_correction was made of other weights than those of args.filter; give "
        "conv::MakeSourceCorrection the filter that runs, each time that it changes"));
  }
  if (table.of_filter_zero_points() != (z.depthwise && z.filter_stage)) {
    return absl::InvalidArgumentError(absl::StrCat(
        z.who, ": args.source_correction was made ",
        table.of_filter_zero_points()
            ? "with the filter's zero points, which go with a depthwise convolution that has a "
              "FilterZeroPoint stage; make one without"
            : "without the filter's zero points; give conv::MakeSourceCorrection the k values of "
              "args.filter_zero_point, in host memory"));
  }
  const int values = 1 << z.source_bits;
  const int lowest = z.unsigned_source ? 0 : -values / 2, highest = lowest + values - 1;
  if (table.zero_point() < lowest || table.zero_point() > highest) {
    const char* const type = z.source_bits == 4
                                 ? (z.unsigned_source ? "a u4 source" : "an s4 source")
                             : z.unsigned_source ? "a uint8 source"
                                                 : "an int8 source";
    return ZeroPointOutside(z.who, "args.source_correction.zero_point()", table.zero_point(),
                            lowest, highest, type);
  }
  return absl::OkStatus();
}

}  // namespace weft::conv
