// Runs a policy that was compiled at run time on a GPU.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "weft/conv/launch/run.hpp"
#include "weft/conv/plan/conv_plan.hpp"
#include "weft/gemm/launch/launch.hpp"
#include "weft/layouts/base/abseil.hpp"
#include "weft/rtc/gpu/compile.hpp"

namespace weft::rtc {

// A policy's kernels, each of which is compiled, linked and loaded once for each context of a GPU, when it
// is first needed. Copies share them. Thread-safe.
class Module {
 public:
  // Compiles the policy for GPUs of a compute capability.
  using Compiler = std::function<absl::StatusOr<Program>(int compute_capability)>;

  // policy: what plans are made of, which is what the compiled code must say, too. facts: what a GPU must have. cache, archive: where
  // linked kernels are kept; nothing: nowhere.
  Module(Policy policy, const gemm::TileFacts& facts, Compiler compile, std::optional<Cache> cache,
         std::shared_ptr<Archive> archive = nullptr);

  // Links and loads a kernel for the current GPU, as the first Run does.
  absl::Status Prepare(int kernel) const;

  // Checks a run of a convolution and enqueues it on `stream`, as conv::Convolution::Run does, and with the same errors.
  absl::Status Run(const conv::ConvPlan& plan, const conv::ConvRun& run, Stream stream,
                   const gemm::LaunchOptions& options = {}) const;
  // Enqueues a launch, with the grid that it has on this GPU.
  absl::Status Run(const gemm::TileFacts& facts, const gemm::Launch& launch, Stream stream,
                   const gemm::LaunchOptions& options = {}) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace weft::rtc
