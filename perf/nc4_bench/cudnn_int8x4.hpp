// The peer: cuDNN's legacy int8 convolution in CUDNN_TENSOR_NCHW_VECT_C, the same memory layout as
// NCxHWx<4>. Only with WEFT_HAVE_CUDA; without cuDNN's header Open() fails.
//
// The library is opened when the program runs (libcudnn.so.9, so LD_LIBRARY_PATH chooses), which
// keeps programs free of a link to it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/conv/problem.hpp"
#include "weft/gemm/arch/backend.hpp"

namespace weft::perf {

// The library and a handle on one stream.
class Cudnn {
 public:
  struct Api;  // cuDNN's functions and the handle

  // NotFound if there is no libcudnn.so.9; Internal if it refuses.
  static absl::StatusOr<std::unique_ptr<Cudnn>> Open(Stream stream);
  ~Cudnn();

  const std::string& version() const { return version_; }  // "9.19.0"
  const std::string& path() const { return path_; }
  const Api& api() const { return *api_; }

 private:
  explicit Cudnn(std::unique_ptr<Api> api);
  std::unique_ptr<Api> api_;
  std::string version_, path_;
};

// dst = clamp(relu(alpha * conv(src, filter) + bias)) for one problem.
class CudnnInt8x4 {
 public:
  // One way to run it: an algorithm and a reorder type.
  struct Plan {
    std::string name;
    int algorithm = 0;
    int reorder = 0;
    std::int64_t workspace_bytes = 0;
  };

  // Unimplemented where cuDNN's call cannot say the problem: unequal paddings, channels not in
  // fours, true convolution.
  static absl::StatusOr<std::unique_ptr<CudnnInt8x4>> Create(const Cudnn& cudnn,
                                                             const conv::Problem& problem);
  ~CudnnInt8x4();

  // Every algorithm for which cuDNN names a workspace. Filters are not reordered beforehand:
  // cuDNN's documentation knows reordering (cudnnReorderFilterAndBias) for INT8x32 only. Both
  // reorder types are listed all the same.
  std::vector<Plan> Plans() const;

  // Enqueues one run. src and dst in NCxHWx<4>; filter in (K, C/4, R, S, 4), which is NCxHWx<4>
  // with N = K; bias K floats; GPU addresses. Unimplemented if cuDNN does not support the plan.
  absl::Status Run(const Plan& plan, const std::int8_t* src, const std::int8_t* filter,
                   const float* bias, float alpha, void* workspace, std::int8_t* dst) const;

 private:
  struct Descriptors;
  CudnnInt8x4(const Cudnn& cudnn, std::unique_ptr<Descriptors> descriptors);
  const Cudnn& cudnn_;
  std::unique_ptr<Descriptors> d_;
};

}  // namespace weft::perf
