// TensorOperator: what a network computes besides convolutions, of tensors in any format: pooling, additions, products,
// tables, and changes of format and of scale.
//
//     auto pool = weft::network::TensorOperator::Create({.kind = Kind::kMaxPool, .src = x, .dst = y,
//                                                        .window = {.h = 3, .w = 3, .stride_h = 2, .stride_w = 2}});
//     pool->Run({.src = from, .dst = to}, stream);
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "weft/gemm/arch/isa/backend.hpp"
#include "weft/gemm/launch/launch.hpp"
#include "weft/layouts/base/abseil.hpp"
#include "weft/network/operators/tensor_problem.hpp"

namespace weft::rtc {
class Archive;
class Kernels;
}  // namespace weft::rtc

namespace weft::network {

// Immutable, cheap to copy and safe to share between threads.
class TensorOperator {
 public:
  // Addresses of the whole tensors: of the GPU's memory for Run, of the host's for RunOnCpu. Those of floats are
  // multiples of 4; runs are fastest where all are multiples of 16. dst may be src, or other, of kConvert, kTable, kAdd
  // and kMultiply where these have the same format and no zeros fill their blocks; else it overlaps none of them.
  struct Arguments {
    const void* src = nullptr;
    const void* other = nullptr;  // of kAdd and kMultiply
    void* dst = nullptr;
  };

  // The errors of CheckTensorProblem. archive: where compiled kernels are looked for first, and added; null: nowhere.
  static absl::StatusOr<TensorOperator> Create(const TensorProblem& problem,
                                               std::shared_ptr<rtc::Archive> archive = nullptr);

  const TensorProblem& problem() const;

  // Such as "max_pool of uint8 nhwc 64x64x112x112 to uint8 nhwc 64x64x56x56, 3x3".
  std::string Describe() const;

  // InvalidArgument if an address is null, is misaligned or its tensor overlaps dst. A run of tensors without elements
  // takes any addresses, and does nothing.
  absl::Status CheckArguments(const Arguments& args) const;

  // Enqueues the kernel on `stream`, of the GPU that is current in the calling thread, and returns; it can be captured in
  // a CUDA graph once it is prepared. NVRTC compiles each kernel when it is first needed on a machine (rtc/gpu/kernels.hpp).
  // The errors of CheckArguments and Prepare; Internal if the driver refuses.
  absl::Status Run(const Arguments& args, Stream stream,
                   const gemm::LaunchOptions& options = {}) const;

  // What the first Run on the current GPU does before its launch, where all addresses are multiples of 16.
  // FailedPrecondition if there is no GPU; NotFound if there is no NVRTC.
  absl::Status Prepare() const;

  // The numbers of the kernels that a Run may start, for TensorKernelsOnGpu().Compile: that of addresses that are all multiples of 16
  // first, and one for others.
  std::vector<int> kernels() const;

  // Runs on the CPU and returns when it is done. The errors of CheckArguments.
  absl::Status RunOnCpu(const Arguments& args, const gemm::CpuOptions& options =
                                                   gemm::CpuOptions::FromEnvironment()) const;

 private:
  struct State;
  explicit TensorOperator(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  std::shared_ptr<const State> state_;
};

// The kernels of all TensorOperators, which the GPUs of a program share.
const rtc::Kernels& TensorKernelsOnGpu();

}  // namespace weft::network
