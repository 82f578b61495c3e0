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
//     op->Run(*plan, {.src = x, .filter = weft::rtc::FilterOf(f), .bias = b, .dst = y,
//                     .values = &values}, stream);
//
// Its outputs are those of conv::Convolution<MyConv>, to the bit. docs/rtc.md says more.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weft/conv/launch/run.hpp"
#include "weft/conv/plan/conv_plan.hpp"
#include "weft/gemm/launch/launch.hpp"
#include "weft/layouts/base/abseil.hpp"
#include "weft/rtc/cache/archive.hpp"
#include "weft/rtc/policy/policy.hpp"
#include "weft/rtc/values.hpp"

namespace weft::rtc {

// What Compile compiles at once. The other one follows when it is first needed.
enum class BackEnd {
  kAny,  // for the GPU if there is one, and NVRTC; else for the CPU if there is a C++ compiler
  kGpu,
  kCpu,
};

struct Options {
  // The name of the policy struct; empty: the last type that the source defines.
  std::string policy{};
  // Members of functors that runs may set, beside those that the source itself declares: those of
  // Weft's functors, such as "high" of a ClampRange. "SquaredRelu.scale" is that of one functor.
  std::vector<std::string> values{};
  std::string include{};   // a folder of headers that the source includes, beside Weft's; or empty
  std::string compiler{};  // the C++ compiler; empty: $CXX, or else g++ or c++ on the PATH
  BackEnd back_end = BackEnd::kAny;
  // Of BackEnd::kGpu, the compute capability to compile for at once, such as 90; 0: that of the GPU, or 90.
  int compute_capability = 0;
  // Where compiled operators are kept, from one run of the program to the next; empty: weft in
  // $XDG_CACHE_HOME, or else .cache/weft in $HOME. Those of sources that include other files than
  // Weft's and the standard library's are not kept.
  std::string cache_folder{};
  std::int64_t cache_bytes = std::int64_t{512} << 20;  // at most, of all; 0: nothing is kept
  // Looked into before the cache, and given what the operator uses, unless its source includes other files.
  std::shared_ptr<Archive> archive{};
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
  return {.run = conv::FilterRunOf(filter), .layout = Format::kName, .letter = LetterOf<Element>()};
}

// conv::ConvolutionArguments without types: the same fields with the same meaning.
struct Arguments {
  const void* src = nullptr;
  Filter filter;  // FilterOf a packed filter
  const void* bias = nullptr;
  const void* residual = nullptr;
  void* dst = nullptr;
  std::int64_t dst_channels = 0;
  float alpha = 1.0f;
  const float* channel_alpha = nullptr;
  float beta = 1.0f, gamma = 1.0f, output_scale = 0.0f, zero_point = 0.0f;
  conv::SourceCorrection source_correction{};
  const std::int32_t* filter_zero_point = nullptr;
  const std::int32_t* window_sums = nullptr;
  bool filter_is_constant = false;
  // Of a policy whose Prologue is PerPhase: where the pixels of this phase of a transposed convolution
  // lie, the place of one of conv::PhasesOf. The plan is that of the phase's problem.
  const prologues::PerPhase* phase = nullptr;
  const Values* values = nullptr;  // null: the functors' own defaults
};

class Compiled;

// Immutable, cheap to copy, safe to share between threads. It plans any problem and holds none.
class Operator {
 public:
  // The name of the policy, and what is known of it.
  const std::string& policy() const;
  const Policy& facts() const;
  const conv::PolicyImage& image() const { return facts().image(); }

  // The checks and errors are those of conv::Convolution<PolicyT>::Create.
  absl::StatusOr<conv::ConvPlan> Plan(const conv::Problem& problem) const;
  std::string Describe(const conv::ConvPlan& plan) const;
  // Bytes of src and dst in memory, the zero channels of blocked layouts included; of the prologue PerPhase dst is what
  // conv::DeconvolutionProblem::dst() takes, not that of one phase.
  std::int64_t src_bytes(const conv::ConvPlan& plan) const;
  std::int64_t dst_bytes(const conv::ConvPlan& plan) const;

  // The functors' values as they are by default, to be changed and given to runs.
  Values values() const { return Values(facts()); }

  // The run that these arguments describe. It points into them. InvalidArgument if the filter has
  // another format or type than the policy's. A policy whose functors check their own numbers is
  // compiled for the CPU first, also for a GPU; the errors are then those of PrepareOnCpu.
  absl::StatusOr<conv::ConvRun> RunOf(const conv::ConvPlan& plan, const Arguments& args) const;

  // Enqueues the kernel on `stream`, of the GPU that is current in the calling thread, and returns.
  // Pointers are to memory that the GPU can use. The errors of Prepare, and those of
  // conv::Convolution<PolicyT>::Run. plan: of this operator.
  absl::Status Run(const conv::ConvPlan& plan, const conv::ConvRun& run, Stream stream,
                   const gemm::LaunchOptions& options = {}) const;
  absl::Status Run(const conv::ConvPlan& plan, const Arguments& args, Stream stream,
                   const gemm::LaunchOptions& options = {}) const;

  // Runs the kernel on the CPU and returns when it is done. The errors of PrepareOnCpu, and those of
  // conv::Convolution<PolicyT>::RunOnCpu. plan: of this operator.
  absl::Status RunOnCpu(
      const conv::ConvPlan& plan, const conv::ConvRun& run,
      const gemm::CpuOptions& options = gemm::CpuOptions::FromEnvironment()) const;
  absl::Status RunOnCpu(
      const conv::ConvPlan& plan, const Arguments& args,
      const gemm::CpuOptions& options = gemm::CpuOptions::FromEnvironment()) const;

  // What the first run of a plan on the current GPU does before its launch, and the first run on the
  // CPU: they compile and load. FailedPrecondition if there is no GPU, or it is too old; NotFound if
  // there is no NVRTC, and on the CPU, no compiler; the other errors of Compile.
  absl::Status Prepare(const conv::ConvPlan& plan) const;
  absl::Status PrepareOnCpu() const;

  // Compiles and links the kernel of a plan for GPUs of a compute capability, such as 90, into the cache and the archive; it
  // needs no GPU. So it does for the CPU if a run on a GPU asks functors on the host. The errors of Compile.
  absl::Status CompileFor(const conv::ConvPlan& plan, int compute_capability) const;

  // OK, or why what was compiled is not kept: FailedPrecondition, with the folder and the reason.
  absl::Status cache_status() const;

 private:
  friend absl::StatusOr<Operator> Compile(std::string_view source, const Options& options);
  explicit Operator(std::shared_ptr<Compiled> state) : state_(std::move(state)) {}

  std::shared_ptr<Compiled> state_;
};

// Compiles a policy of a convolution. The source has weft/conv/ready_made.hpp included before its
// first line, and may include more. InvalidArgument, with the compiler's first lines, by the lines of
// the source, if it does not compile or defines no policy; NotFound if there is no compiler;
// FailedPrecondition if what was compiled cannot be written or loaded.
absl::StatusOr<Operator> Compile(std::string_view source, const Options& options = {});

}  // namespace weft::rtc
