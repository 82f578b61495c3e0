// An operator that is made of a string at run time:
//
//     auto op = weft::rtc::Compile(R"(
//       struct SquaredRelu {
//         float scale = 0.1f;
//         constexpr float operator()(float x) const {
//           return x > 0.0f ? weft::epilogues::Mul(scale, weft::epilogues::Mul(x, x)) : 0.0f;
//         }
//       };
//       struct MyConv : weft::conv::S8Conv4<weft::epilogues::BiasActivation<SquaredRelu>> {};
//     )");
//     auto plan = op->Plan(problem);
//     auto values = op->values();
//     values.Set("scale", 0.5);
//     op->RunOnCpu(*plan, {.src = x, .filter = weft::rtc::FilterOf(f), .bias = b, .dst = y, .values = &values});
//
// Its outputs are those of conv::Convolution<MyConv>, to the bit. docs/rtc.md says more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weft/conv/launch/run.hpp"
#include "weft/conv/planner/plan.hpp"
#include "weft/gemm/launch/launch.hpp"
#include "weft/layouts/base/abseil.hpp"
#include "weft/rtc/twin.hpp"

namespace weft::rtc {

struct Options {
  // The name of the policy struct; empty: the last type that the source defines.
  std::string policy{};
  // Members of functors that runs may set, beside those that the source itself declares: those of
  // Weft's functors, such as "high" of a ClampRange. "SquaredRelu.scale" is that of one functor.
  std::vector<std::string> values{};
  std::string include{};   // the folder of Weft's headers; empty: TwinOptions::include says which
  std::string compiler{};  // the C++ compiler; empty: $CXX, or else g++ or c++ on the PATH
};

class Operator;

// The run-time values of an operator's functors. It is of the operator that made it.
class Values {
 public:
  std::vector<std::string> names() const;

  // Sets a number, converted to the member's type. InvalidArgument if no functor, or more than one,
  // has a member of that name, or if it is no number; OutOfRange if its type cannot hold it.
  absl::Status Set(std::string_view name, double value);
  // Sets an address: of GPU memory for Run, of host memory for RunOnCpu.
  absl::Status SetAddress(std::string_view name, const void* address);
  // The number that a run would use.
  absl::StatusOr<double> Get(std::string_view name) const;

 private:
  friend class Operator;
  explicit Values(Twin twin);
  absl::StatusOr<const Value*> Find(std::string_view name) const;
  const void* bytes(Part part) const { return parts_[static_cast<int>(part)].data(); }
  unsigned char* At(const Value& value);

  Twin twin_;
  std::vector<std::max_align_t> parts_[3];  // by Part
};

// A packed filter, or a bank of them, without its type.
struct Filter {
  conv::FilterRun run;
  const char* layout = "";  // the name of its format, such as "CxRSKx<4>"
  char letter = '?';        // of its elements
};

// A PackedFilter, as a PackedFilterBuffer's view() or At(), for Arguments.
template <class Format, class Element, class Prologue>
[[gnu::visibility("hidden")]] Filter FilterOf(
    const PackedFilter<Format, Element, Prologue>& filter) {
  return {.run = {.data = filter.data(),
                  .bytes = filter.bytes(),
                  .count = filter.count(),
                  .extents = filter.extents(),
                  .fingerprint = filter.fingerprint()},
          .layout = Format::kName,
          .letter = LetterOf<Element>()};
}

// conv::ConvolutionArguments without types: the same fields with the same meaning.
struct Arguments {
  const void* src = nullptr;
  Filter filter;  // FilterOf a packed filter
  const void* bias = nullptr;
  const void* residual = nullptr;
  void* dst = nullptr;
  float alpha = 1.0f;
  const float* channel_alpha = nullptr;
  float beta = 1.0f, gamma = 1.0f, output_scale = 0.0f, zero_point = 0.0f;
  conv::SourceCorrection source_correction{};
  const std::int32_t* filter_zero_point = nullptr;
  const std::int32_t* window_sums = nullptr;
  bool filter_is_constant = false;
  const Values* values = nullptr;  // null: the functors' own defaults
};

// Immutable, cheap to copy, safe to share between threads. It plans any problem and holds none.
class Operator {
 public:
  // The name of the policy, and what is known of it.
  const std::string& policy() const { return policy_; }
  const conv::PolicyImage& image() const { return *twin_.table().image; }
  const TwinTable& table() const { return twin_.table(); }

  // The checks and errors are those of conv::Convolution<PolicyT>::Create.
  absl::StatusOr<conv::ConvPlan> Plan(const conv::Problem& problem) const;
  std::string Describe(const conv::ConvPlan& plan) const;

  // The functors' values as they are by default, to be changed and given to runs.
  Values values() const { return Values(twin_); }

  // The run that these arguments describe. It points into them. InvalidArgument if the filter has
  // another format or type than the policy's.
  absl::StatusOr<conv::ConvRun> RunOf(const conv::ConvPlan& plan, const Arguments& args) const;

  // Runs the kernel on the CPU and returns when it is done. Errors are those of
  // conv::Convolution<PolicyT>::RunOnCpu. plan: of this operator.
  absl::Status RunOnCpu(
      const conv::ConvPlan& plan, const conv::ConvRun& run,
      const gemm::CpuOptions& options = gemm::CpuOptions::FromEnvironment()) const;
  absl::Status RunOnCpu(
      const conv::ConvPlan& plan, const Arguments& args,
      const gemm::CpuOptions& options = gemm::CpuOptions::FromEnvironment()) const;

 private:
  friend absl::StatusOr<Operator> Compile(std::string_view source, const Options& options);
  Operator(std::string policy, Twin twin) : policy_(std::move(policy)), twin_(std::move(twin)) {}

  std::string policy_;
  Twin twin_;
};

// Compiles a policy of a convolution. The source has weft/conv/ready_made.hpp included before its
// first line, and may include more. InvalidArgument, with the compiler's first lines, by the lines of
// the source, if it does not compile or defines no policy; NotFound if there is no compiler; the
// other errors of Twin::Compile.
absl::StatusOr<Operator> Compile(std::string_view source, const Options& options = {});

}  // namespace weft::rtc
