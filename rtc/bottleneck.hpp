// A bottleneck of a residual network (conv/bottleneck.hpp) that is made of a string at run time:
//
//     auto op = weft::rtc::CompileBottleneck(R"(
//       using Relu8 = weft::epilogues::QLinear<std::uint8_t>; ...
//       struct MyBlock : weft::conv::S8Bottleneck<First, Second, Third> {
//         using Element = std::uint8_t;
//       };
//     )");
//     auto plan = op->Plan({.n = 64, .h = 56, .w = 56, .c = 256, .k = 256});
//     op->Run(*plan, {.first = {.src = x, .filter = weft::rtc::FilterOf(f1), .bias = b1},
//                     .second = {.filter = weft::rtc::FilterOf(f2), .bias = b2},
//                     .third = {.filter = weft::rtc::FilterOf(f3), .bias = b3, .dst = y}}, stream);
//
// Its outputs are those of conv::Bottleneck<MyBlock>, to the bit. GPUs of compute capability 9.0 alone run it, and the CPU.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "weft/conv/bottleneck/bottleneck_plan.hpp"
#include "weft/conv/bottleneck/bottleneck_start.hpp"
#include "weft/conv/problem/bottleneck_problem.hpp"
#include "weft/rtc/operator.hpp"

namespace weft::rtc {

using BottleneckPart = conv::BottleneckPartName;

// conv::BottleneckArguments without types. Of each part its filter, bias, alpha, channel_alpha, beta, output_scale, zero_point and
// values; of the first one also src, of the third dst and gamma, the scale of what is added. Nothing else of them is read.
struct BottleneckArguments {
  Arguments first, second;
  Arguments projection;  // of a policy that has one
  Arguments third;
  std::int32_t padding = 0;  // what stands for 0 in what the first convolution makes
  bool filters_are_constant = false;
};

// Immutable, cheap to copy, safe to share between threads. It plans any problem and holds none. Its calls are those of
// rtc::Operator, with the same errors.
class Bottleneck {
 public:
  // The checks and errors are those of conv::Bottleneck<PolicyT>::Create.
  absl::StatusOr<conv::BottleneckPlan> Plan(const conv::BottleneckProblem& problem) const;
  std::string Describe(const conv::BottleneckPlan& plan) const;

  // The values of a part's functors as they are by default, to be changed and given to runs.
  Values values(BottleneckPart part) const;

  absl::Status Run(const conv::BottleneckPlan& plan, const BottleneckArguments& args, Stream stream,
                   const gemm::LaunchOptions& options = {}) const;
  absl::Status RunOnCpu(
      const conv::BottleneckPlan& plan, const BottleneckArguments& args,
      const gemm::CpuOptions& options = gemm::CpuOptions::FromEnvironment()) const;

  absl::Status Prepare() const;
  absl::Status PrepareOnCpu() const;
  absl::Status CompileFor(int compute_capability) const;

 private:
  friend absl::StatusOr<Bottleneck> CompileBottleneck(std::string_view source,
                                                      const Options& options);
  explicit Bottleneck(std::shared_ptr<Compiled> state);
  absl::StatusOr<conv::BottleneckRun> RunOf(const BottleneckArguments& args) const;

  std::shared_ptr<Compiled> state_;
  std::shared_ptr<const conv::BottleneckImage> image_;  // points into *state_
};

// Compiles a policy of a bottleneck, as Compile does one of a convolution, and with its errors.
absl::StatusOr<Bottleneck> CompileBottleneck(std::string_view source, const Options& options = {});

}  // namespace weft::rtc
