// CondConv as one would build it from libraries: a matrix product of cuBLASLt's mixes the filters
// of all images, then cuDNN convolves each image with its own. Only with WEFT_HAVE_CUDNN and
// WEFT_HAVE_CUBLASLT.
#pragma once

#if WEFT_HAVE_CUDNN && WEFT_HAVE_CUBLASLT

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "perf/peers/lt_product.hpp"
#include "perf/peers/peer.hpp"
#include "perf/support/cuda.hpp"
#include "perf/support/stopwatch.hpp"

namespace weft::perf {

// What there is to mix and to convolve, planar on the host, with scale[k] and bias[k] and ReLU
// behind the convolution.
struct LibrariesProblem {
  conv::Problem problem;
  std::int64_t experts = 0;
  const std::vector<std::int8_t>* src = nullptr;      // NCHW
  const std::vector<std::int8_t>* bank = nullptr;     // [E][K][C][R][S]
  const std::vector<std::int8_t>* routing = nullptr;  // [N][E], in steps of 1 / 127
  float mixed_scale = 1.0f;  // of a mixed filter: round(mixed_scale / 127 * sum of products)
  std::vector<float> channel_alpha, bias;
};

class Libraries {
 public:
  // Tries every algorithm of the product and every plan of the convolution, of which `threads`
  // threads compile several at once; keeps the fastest of each. Enough images for all branches.
  static absl::StatusOr<std::unique_ptr<Libraries>> Create(const LibrariesProblem& problem,
                                                           const Stopwatch& watch, int threads);

  // The convolutions of several images side by side, in so many branches of a graph; or one by one.
  static constexpr int kBranches = 8;

  // All of it, to be captured: 1 or kBranches branches.
  absl::Status Enqueue(int branches, cudaStream_t stream) const;

  // cuBLASLt's algorithm and cuDNN's plan.
  const std::string& name() const { return name_; }
  // The mixed filters of the last run, [N][K][R][S][C]; its result, NHWC.
  const DeviceBuffer& mixed() const { return mixed_; }
  const DeviceBuffer& dst() const { return dst_; }

 private:
  absl::Status MakeProduct(const LibrariesProblem& p, const Stopwatch& watch);
  absl::Status MakeConvolutions(const LibrariesProblem& p, const Stopwatch& watch, int threads);

  struct Branch {
    std::unique_ptr<Peer> peer;  // image b + i kBranches is its buffer set i
    int variant = 0;
    CudaStream stream;
    CudaEvent done;
  };
  std::int64_t images_ = 0;
  DeviceBuffer src_, bank_, routing_, alpha_, bias_, mixed_, dst_;
  std::optional<LtProduct> product_;
  int algorithm_ = 0;
  float product_alpha_ = 1.0f;
  std::vector<std::unique_ptr<Branch>> branches_;
  CudaEvent fork_;
  std::string name_;
};

}  // namespace weft::perf

#endif
