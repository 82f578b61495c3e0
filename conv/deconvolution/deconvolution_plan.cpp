#include "weft/conv/deconvolution/deconvolution_plan.hpp"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "weft/conv/problem/problem_checks.hpp"
#include "weft/gemm/tile/tile.hpp"

namespace weft::conv {
namespace {

using gemm::CeilDiv;
using gemm::Int32;
using internal::Field;
using internal::kMaxElements;
using internal::kMaxExtent;
using internal::kMaxPixels;
using internal::TooLarge;
using internal::Wide;

// The rows, or the columns, of a problem.
struct Axis {
  std::int64_t extent = 0, taps = 0, stride = 0, dilation = 0, pad = 0, outputs = 0;
};

Axis Rows(const DeconvolutionProblem& p) {
  return {p.h, p.r, p.stride_h, p.r == 1 ? 1 : p.dilation_h, p.pad_top, p.p()};
}
Axis Columns(const DeconvolutionProblem& p) {
  return {p.w, p.s, p.stride_w, p.s == 1 ? 1 : p.dilation_w, p.pad_left, p.q()};
}

std::int64_t Step(std::int64_t stride, std::int64_t dilation) {
  return stride / std::gcd(stride, dilation);
}

// The first tap that the outputs of `phase` meet, from which on every Step-th is of the same phase;
// -1 if they meet none.
std::int64_t FirstTap(const Axis& a, std::int64_t phase) {
  const std::int64_t end = std::min(a.taps, Step(a.stride, a.dilation));
  for (std::int64_t tap = 0; tap < end; ++tap) {
    if ((phase + a.pad - tap * a.dilation) % a.stride == 0) return tap;
  }
  return -1;
}

// A phase's convolution along one axis.
struct Line {
  std::int64_t taps = 1, dilation = 1;
  std::int64_t pad_before = 0, pad_after = 0;
  std::int64_t first = 0;  // place of its first output in the destination; may be negative
};

// first_tap: as FirstTap returns it; where that is -1 the phase convolves with one tap of zeros.
Line LineOf(const Axis& a, std::int64_t phase, std::int64_t first_tap) {
  Line line;
  std::int64_t begin = 0;  // the source's row (column) that the phase's first output meets first
  if (first_tap >= 0) {
    line.taps = CeilDiv(a.taps - first_tap, Step(a.stride, a.dilation));
    line.dilation = a.dilation / std::gcd(a.stride, a.dilation);
    const std::int64_t last = (phase + a.pad - first_tap * a.dilation) / a.stride;
    begin = last - (line.taps - 1) * line.dilation;
  }
  line.pad_before = std::max<std::int64_t>(0, -begin);
  // A convolution's outputs begin with the source. Those that meet only what lies before `begin`
  // are outside the destination, and so are those beyond its end where the source has more rows
  // than it needs.
  const std::int64_t before = std::max<std::int64_t>(0, begin);
  line.first = phase - before * a.stride;
  const std::int64_t outputs = before + CeilDiv(a.outputs - phase, a.stride);
  const std::int64_t reach = (line.taps - 1) * line.dilation;
  line.pad_after = std::max<std::int64_t>(0, outputs + reach - a.extent - line.pad_before);
  return line;
}

absl::Status CheckAxis(const Axis& a, std::int64_t pad_after, std::int64_t output_pad,
                       const char* outputs, const char* what, const char* h, const char* r) {
  if (output_pad >= std::max(a.stride, a.dilation)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "conv: output_pad_", h, "=", output_pad, " is not below stride_", h, "=", a.stride,
        " or dilation_", h, "=", a.dilation, "; give 0 to ", std::max(a.stride, a.dilation) - 1));
  }
  const Wide all = Wide{a.extent - 1} * a.stride + Wide{a.taps - 1} * a.dilation + 1 + output_pad;
  if (all > kMaxExtent) {
    const std::string name =
        absl::StrCat("(", h, "-1)*stride_", h, "+(", r, "-1)*dilation_", h, "+1+output_pad_", h);
    return TooLarge(name.c_str(), all, kMaxExtent, "use a smaller image, stride or filter");
  }
  if (a.outputs < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("conv: ", outputs, "=", a.outputs, " ", what, " are left of the ",
                     static_cast<std::int64_t>(all), " that ", h, ", stride, ", r,
                     ", dilation and output_pad give, less padding ", a.pad, " and ", pad_after,
                     "; use less padding"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckDeconvolution(const DeconvolutionProblem& p) {
  const Field positive[] = {{"n", p.n, 0},
                            {"h", p.h, 0},
                            {"w", p.w, 0},
                            {"c", p.c},
                            {"k", p.k, 0},
                            {"r", p.r},
                            {"s", p.s},
                            {"stride_h", p.stride_h},
                            {"stride_w", p.stride_w},
                            {"dilation_h", p.dilation_h},
                            {"dilation_w", p.dilation_w}};
  const Field pads[] = {{"pad_top", p.pad_top},           {"pad_left", p.pad_left},
                        {"pad_bottom", p.pad_bottom},     {"pad_right", p.pad_right},
                        {"output_pad_h", p.output_pad_h}, {"output_pad_w", p.output_pad_w}};
  absl::Status s = internal::CheckFields(positive, pads);
  if (!s.ok()) return s;
  if (p.IsEmpty()) return absl::OkStatus();
  s = CheckAxis(Rows(p), p.pad_bottom, p.output_pad_h, "p", "rows", "h", "r");
  if (!s.ok()) return s;
  s = CheckAxis(Columns(p), p.pad_right, p.output_pad_w, "q", "columns", "w", "s");
  if (!s.ok()) return s;
  if (Wide{p.stride_h} * p.stride_w > kMostPhases) {
    return TooLarge("stride_h*stride_w", Wide{p.stride_h} * p.stride_w, kMostPhases,
                    "each phase of the stride is a launch of its own");
  }
  const Wide pixels = Wide{p.n} * p.p() * p.q();
  if (pixels > kMaxPixels) return TooLarge("n*p*q", pixels, kMaxPixels, "split the batch");
  if (pixels * p.k > kMaxElements) {
    return TooLarge("n*k*p*q", pixels * p.k, kMaxElements, "split the batch");
  }
  return absl::OkStatus();
}

std::int64_t FilterParts::step_h() const {
  return Step(stride_h, dilation_h);
}
std::int64_t FilterParts::step_w() const {
  return Step(stride_w, dilation_w);
}
std::int64_t FilterParts::rows() const {
  return std::min(whole.r, step_h());
}
std::int64_t FilterParts::columns() const {
  return std::min(whole.s, step_w());
}
bool FilterParts::has_zeros() const {
  return rows() < stride_h || columns() < stride_w;
}

FilterExtents FilterParts::At(std::int64_t i) const {
  const std::int64_t row = i / columns(), column = i % columns();
  if (row >= rows()) return {whole.k, whole.c, 1, 1};
  return {whole.k, whole.c, CeilDiv(whole.r - row, step_h()), CeilDiv(whole.s - column, step_w())};
}

FilterParts PartsOf(const DeconvolutionProblem& p) {
  return {p.filter(), p.stride_h, p.stride_w, Rows(p).dilation, Columns(p).dilation};
}

std::vector<Phase> PhasesOf(const DeconvolutionProblem& p) {
  const Axis rows = Rows(p), columns = Columns(p);
  const FilterParts parts = PartsOf(p);
  std::vector<Phase> phases;
  if (p.IsEmpty()) return phases;
  for (std::int64_t i = 0; i < std::min(p.stride_h, rows.outputs); ++i) {
    for (std::int64_t j = 0; j < std::min(p.stride_w, columns.outputs); ++j) {
      std::int64_t tap_h = FirstTap(rows, i), tap_w = FirstTap(columns, j);
      const bool none = tap_h < 0 || tap_w < 0;
      if (none) tap_h = tap_w = -1;
      const Line h = LineOf(rows, i, tap_h), w = LineOf(columns, j, tap_w);
      Phase phase;
      Problem& of = phase.problem;
      of.n = p.n, of.h = p.h, of.w = p.w, of.c = p.c, of.k = p.k;
      of.r = h.taps, of.s = w.taps;
      of.pad_top = h.pad_before, of.pad_bottom = h.pad_after;
      of.pad_left = w.pad_before, of.pad_right = w.pad_after;
      of.dilation_h = h.dilation, of.dilation_w = w.dilation;
      phase.place.stride_h = Int32(p.stride_h), phase.place.stride_w = Int32(p.stride_w);
      phase.place.first_h = Int32(h.first), phase.place.first_w = Int32(w.first);
      phase.place.rows = Int32(rows.outputs), phase.place.columns = Int32(columns.outputs);
      phase.part = none ? parts.count() - 1 : tap_h * parts.columns() + tap_w;
      phases.push_back(phase);
    }
  }
  return phases;
}

absl::Status CheckParts(const FilterParts& wanted, const FilterParts& packed) {
  if (wanted == packed) return absl::OkStatus();
  const auto text = [](const FilterParts& f) {
    return absl::StrCat("k=", f.whole.k, " c=", f.whole.c, " r=", f.whole.r, " s=", f.whole.s,
                        " with stride ", f.stride_h, "x", f.stride_w, " and dilation ",
                        f.dilation_h, "x", f.dilation_w);
  };
  return absl::InvalidArgumentError(absl::StrCat("conv: args.filter was packed for ", text(packed),
                                                 ", this operator has ", text(wanted),
                                                 "; pack the filter that belongs to the problem"));
}

absl::Status OfPhase(const absl::Status& status, const DeconvolutionProblem& p,
                     std::int64_t phase) {
  if (status.ok()) return status;
  const std::int64_t columns = std::min(p.stride_w, p.q());
  return absl::Status(
      status.code(),
      absl::StrCat(std::string(status.message()), "; said of phase (", phase / columns, ", ",
                   phase % columns, ") of a deconvolution, a convolution of stride 1"));
}

std::string DescribePhases(const std::vector<Phase>& phases) {
  constexpr std::size_t kMost = 4;
  std::string text = absl::StrCat(phases.size(), phases.size() == 1 ? " phase of " : " phases of ");
  for (std::size_t i = 0; i < std::min(kMost, phases.size()); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", phases[i].problem.r, "x", phases[i].problem.s);
  }
  return absl::StrCat(text, phases.size() > kMost ? ", ... taps" : " taps");
}

}  // namespace weft::conv
