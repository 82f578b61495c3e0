// An operator that was compiled from a string, for a problem: arrays of Python are given to it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "weft/conv/launch/run.hpp"
#include "weft/conv/plan/conv_plan.hpp"
#include "weft/conv/problem/deconvolution_problem.hpp"
#include "weft/conv/zero_point/source_correction.hpp"
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

// A number of float32, of Python's or another library's. An error, by this name, if it is none.
float NumberOf(nb::handle given, const char* name);

// A convolution that an operator runs: its only one, or a phase of a transposed convolution.
struct Step {
  conv::ConvPlan plan;
  prologues::PerPhase place;       // of a phase: where its pixels lie in the destination
  std::int64_t part = 0;           // which one of its filter's parts the phase reads
  std::int64_t filter_offset = 0;  // bytes from the packed filter to the step's part of it
  // What the source's zero point adds to the sums, of an epilogue with that stage, and bytes from the packed filter to it.
  conv::SourceCorrection correction{};
  std::int64_t correction_offset = 0;
};

// A part of the filter of a transposed convolution: every step-th tap from (row, column) on.
struct FilterPart {
  std::int64_t offset = 0;  // bytes from the packed filter to it
  FilterExtents extents;
  std::int64_t row = 0, column = 0, step_h = 1, step_w = 1;
  bool zeros = false;  // it is one tap of zeros instead
};

class Operator {
 public:
  // matrices: of a 1 x 1 convolution over NHWC, whose arrays are then matrices (pixels, channels).
  // source_zero_point: 0 unless the epilogue has the stage.
  Operator(const rtc::Operator& compiled, const conv::Problem& problem, bool matrices,
           std::int64_t source_zero_point);
  // The policy's Prologue is PerPhase.
  Operator(const rtc::Operator& compiled, const conv::DeconvolutionProblem& problem,
           std::int64_t source_zero_point);

  // As it was given; p() and q() of it are of no transposed convolution.
  const conv::Problem& problem() const { return problem_; }
  const TensorExtents& src_extents() const { return src_extents_; }
  const TensorExtents& dst_extents() const { return dst_extents_; }
  std::string Describe() const;
  Layout src() const, dst() const, residual() const;
  // The shape of an array of this layout.
  Shape ShapeOf(const Layout& layout, const TensorExtents& extents) const;
  // The packed filter's: of a transposed convolution its bytes, part after part.
  Shape filter() const;
  // That of w: the filter's, or the bytes of the filter and of the corrections behind it.
  Shape packed() const { return packed_bytes_ == 0 ? filter() : Shape{packed_bytes_}; }
  // Those steps whose correction is not empty, by the parts of the filter that they read.
  std::vector<std::pair<std::int64_t, std::int64_t>> corrected() const;
  // Writes the correction of a step into w. sums: int32 [k][r][s], sums over the input channels of the part of the filter.
  void Correct(std::int64_t step, const nb::object& sums, const nb::object& w) const;
  Shape PackedShape(const FilterExtents& extents) const;           // of one filter
  const std::vector<FilterPart>& parts() const { return parts_; }  // empty unless transposed
  const rtc::PolicyRecord& record() const { return compiled_.facts().record(); }
  const conv::PolicyImage& image() const { return compiled_.image(); }
  std::int64_t filters() const { return filters_; }  // of its bank; 1 where the prologue has none

  // The output, which is call.out or new. On a GPU it is enqueued, elsewhere it has been computed.
  nb::object operator()(const Call& call) const;
  // Compiles and loads the kernels for the GPU that is current in this thread, as the first call would.
  void Prepare() const;
  // The numbers of the functors, by name.
  std::vector<std::string> names() const { return values_->numbers.names(); }
  nb::object Get(const std::string& name) const;
  void Set(const std::string& name, nb::handle value);

  // The tiles that could run it, for the current GPU or for the CPU, the quickest by the model of times first: those of the
  // ready-made family of its formats. Its own stages are not asked, so that some may not compile.
  std::vector<std::string> CandidateTiles(bool gpu) const;
  // The microseconds of a call of each, of operators that differ by their tiles alone, on the current GPU: medians, over arrays in
  // turn that the L2 cache does not hold together. Negative for one that cannot run.
  static std::vector<double> Times(const std::vector<const Operator*>& operators);
  // Becomes another operator of the same problem and functors, whose values stay those of this one.
  void Adopt(const Operator& other);

 private:
  // What runs may set of the functors. A run keeps those that it began with.
  struct Values {
    rtc::Values numbers;
    std::vector<std::pair<std::string, Array>>
        arrays;  // those whose addresses are among the numbers
  };

  void CountFilters();
  void LayOutCorrections(std::int64_t source_zero_point);
  Shape BankShape(const conv::Problem& problem) const;
  nb::object NewOutput(const nb::object& x) const;  // of the library, and in the memory, of x
  // Runs each step, on the CPU or enqueued on a stream.
  absl::Status Run(rtc::Arguments args, bool on_gpu, Stream stream) const;

  rtc::Operator compiled_;
  conv::Problem problem_;
  bool matrices_ = false;
  TensorExtents src_extents_, dst_extents_;
  nb::tuple dst_shape_;
  std::vector<Step> steps_;
  std::string phases_;  // a description of them; empty: there are none
  std::int64_t filters_ = 1;
  std::int64_t filter_bytes_ = 0;  // of all parts
  std::int64_t packed_bytes_ = 0;  // of the filter and its corrections; 0: there are none
  std::vector<FilterPart> parts_;
  std::shared_ptr<const Values> values_;
};

// Adds the functions that choose tiles to the module.
void BindTune(nb::module_& m);

}  // namespace weft::python
