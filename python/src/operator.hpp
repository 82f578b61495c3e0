// Kernel: an operator that was compiled from a string. Operator: one for a problem, which arrays of Python are given to.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "unit.hpp"
#include "weft/conv/launch/run.hpp"
#include "weft/conv/planner/plan.hpp"

namespace weft::python {

class Kernel {
 public:
  // path: a shared object whose weft_unit() is a Unit of this version. It stays loaded.
  explicit Kernel(const std::string& path);
  const Unit& unit() const { return *unit_; }

 private:
  const Unit* unit_ = nullptr;
};

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
  nb::object source_correction, filter_zero_point, window_sums;
};

class Operator {
 public:
  Operator(std::shared_ptr<Kernel> kernel, const conv::Problem& problem);

  const conv::Problem& problem() const { return plan_.problem; }
  std::string Describe() const;
  Layout src() const, dst() const, residual() const;
  Shape filter() const;  // of the packed filter
  const Unit& unit() const { return kernel_->unit(); }
  std::int64_t filters() const;  // of its bank; 1 where the prologue has none

  // The output, which is call.out or new.
  nb::object operator()(const Call& call) const;
  // The epilogue of the sums [n][k][p][q], by plain loops; dst likewise.
  void Plain(const Call& call, nb::handle sums) const;

  // The numbers of the functors, by name.
  std::vector<std::string> names() const;
  nb::object Get(const std::string& name) const;
  void Set(const std::string& name, nb::handle value);

 private:
  // The functors' bytes that a run has, and arrays whose addresses are among them.
  struct Found {
    const python::Value* value = nullptr;
    const unsigned char* bytes = nullptr;
  };
  Found Find(const std::string& name) const;

  std::shared_ptr<Kernel> kernel_;
  conv::ConvPlan plan_;
  std::vector<std::max_align_t> epilogue_, functor_;
  std::vector<std::pair<std::string, Array>> arrays_;
};

}  // namespace weft::python
