// An operator that was compiled from a string, for a problem: arrays of Python are given to it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "weft/conv/launch/run.hpp"
#include "weft/conv/planner/plan.hpp"
#include "weft/rtc/operator.hpp"

namespace weft::python {

// A layout of an activation in memory, as numbers.
struct Layout {
  int interleave = 1;   // channels of a block
  int channel_run = 0;  // TensorFormat::kChannelRun
  int bits = 8;         // 4: two to a byte

  std::string Name() const;
  // The shape of an array of these extents.
  Shape Of(const TensorExtents& e) const;
};

// What a call is given.
struct Call {
  nb::object x, w, bias, residual, alpha, out, stream;
  float beta = 1.0f, gamma = 1.0f, output_scale = 0.0f, zero_point = 0.0f;
};

class Operator {
 public:
  Operator(const rtc::Operator& compiled, const conv::Problem& problem);

  const conv::Problem& problem() const { return plan_.problem; }
  std::string Describe() const;
  Layout src() const, dst() const, residual() const;
  Shape filter() const;  // of the packed filter
  const rtc::TwinTable& table() const { return compiled_.table(); }
  const conv::PolicyImage& image() const { return compiled_.image(); }
  std::int64_t filters() const;  // of its bank; 1 where the prologue has none

  // The output, which is call.out or new.
  nb::object operator()(const Call& call) const;
  // The numbers of the functors, by name.
  std::vector<std::string> names() const { return values_.names(); }
  nb::object Get(const std::string& name) const;
  void Set(const std::string& name, nb::handle value);

 private:
  rtc::Operator compiled_;
  conv::ConvPlan plan_;
  rtc::Values values_;
  std::vector<std::pair<std::string, Array>> arrays_;  // those whose addresses are among the values
};

}  // namespace weft::python
