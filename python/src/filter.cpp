// The packed filter of an operator: its shape, and what lies behind it where x has a zero point.
#include <absl/strings/str_cat.h>

#include "operator.hpp"

namespace weft::python {

void Operator::CountFilters() {
  if (steps_.empty()) return;
  rtc::Arguments any;
  if (!phases_.empty()) any.phase = &steps_[0].place;
  const std::int64_t needed = Value(compiled_.RunOf(steps_[0].plan, any)).filter.needed;
  if (needed != 0) filters_ = needed;
}

Shape Operator::filter() const {
  if (!phases_.empty()) return {filter_bytes_};
  return steps_.empty() ? Shape{0} : BankShape(steps_[0].plan.problem);
}

Shape Operator::PackedShape(const FilterExtents& e) const {
  const std::int64_t x = image().facts.filter.interleave;
  if (image().facts.IsDepthwise()) return {RoundUp(e.k, 4) / 4, e.r, RoundUp(e.s, 4) / 4, 4, 4};
  if (x == 1) return {e.k, e.r, e.s, e.c};
  return {RoundUp(e.c, x) / x, e.r, e.s, RoundUp(e.k, x), x};
}

Shape Operator::BankShape(const conv::Problem& problem) const {
  Shape shape = PackedShape(conv::PackedExtents(problem, image().facts.IsDepthwise()));
  if (image().facts.prologue.batched && !image().facts.IsDepthwise()) {
    for (int i = shape.rank++; i > 0; --i) shape.dim[i] = shape.dim[i - 1];
    shape.dim[0] = filters();
  }
  return shape;
}

void Operator::LayOutCorrections(std::int64_t source_zero_point) {
  const conv::ConvFacts& facts = image().facts;
  const auto refused = [&](const auto&... why) {
    return Error(ErrorKind::kArgument,
                 absl::StrCat("weft: source_zero_point=", source_zero_point, why...));
  };
  if (!image().epilogue.source_zero_point) {
    if (source_zero_point == 0) return;
    throw refused(", and the epilogue has no stage SourceZeroPoint; leave it 0");
  }
  const std::int64_t values = std::int64_t{1} << facts.source.bits;
  const std::int64_t least = facts.source.is_unsigned ? 0 : -values / 2;
  if (source_zero_point < least || source_zero_point >= least + values) {
    throw refused(" is no value of x; give one from ", least, " to ", least + values - 1);
  }
  std::int64_t end = RoundUp(filter().size(), 64);
  for (Step& step : steps_) {
    if (step.plan.problem.IsEmpty()) continue;
    step.correction = Value(conv::SourceCorrection::LayOut(
        step.plan.problem, step.place, static_cast<std::int32_t>(source_zero_point)));
    step.correction_offset = end;
    packed_bytes_ = end += RoundUp(step.correction.bytes(), 64);
  }
}

std::vector<std::pair<std::int64_t, std::int64_t>> Operator::corrected() const {
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (steps_[i].correction.bytes() > 0) steps.emplace_back(i, steps_[i].part);
  }
  return steps;
}

void Operator::Correct(std::int64_t step, const nb::object& sums, const nb::object& w) const {
  const Step& of = steps_.at(static_cast<std::size_t>(step));
  const conv::Problem& p = of.plan.problem;
  const Array from = ArrayOf(sums, "sums"), to = ArrayOf(w, "w");
  CheckArray(from, "sums", 'i', {p.k, p.r, p.s}, "sums over the input channels", "");
  CheckArray(to, "w", record().filter, packed(), "the packed filter", "");
  auto* const bytes = static_cast<std::int8_t*>(to.data) + of.correction_offset;
  of.correction.Fill(static_cast<const std::int32_t*>(from.data),
                     reinterpret_cast<std::int32_t*>(bytes));
}

}  // namespace weft::python
