// CondConv as one would build it from libraries: a matrix product of cuBLASLt's mixes the filters
// of all images, then cuDNN convolves each image with its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "perf/bench/branches.hpp"
#include "perf/peers/lt_product.hpp"
#include "perf/peers/peer.hpp"
#include "perf/support/stopwatch.hpp"

namespace weft::perf {

// What there is to mix and to convolve, planar on the host, with alpha, bias and ReLU behind the convolution.
struct LibrariesProblem {
  conv::Problem problem;
  std::int64_t experts = 0;
  const std::vector<std::int8_t>& src;      // NCHW
  const std::vector<std::int8_t>& bank;     // [E][K][C][R][S]
  const std::vector<std::int8_t>& routing;  // [N][E], in steps of 1 / 127
  float mixed_scale = 1.0f;  // of a mixed filter: round(mixed_scale / 127 * sum of products)
  float alpha = 1.0f, bias = 0.0f;
};

class Libraries {
 public:
  // Tries every algorithm of the product and every plan of the convolution; keeps the fastest of each.
  static absl::StatusOr<std::unique_ptr<Libraries>> Create(const LibrariesProblem& problem,
                                                           const Stopwatch& watch);

  // All of it, to be captured: convolutions of several images side by side, or one by one.
  absl::Status Enqueue(bool branched, cudaStream_t stream) const;

  // cuBLASLt's algorithm and cuDNN's plan.
  const std::string& name() const { return name_; }
  // The mixed filters of the last run, [N][K][R][S][C]; its result, NHWC.
  const DeviceBuffer& mixed() const { return mixed_; }
  const DeviceBuffer& dst() const { return dst_; }

 private:
  absl::Status MakeProduct(const LibrariesProblem& p, const Stopwatch& watch);
  absl::Status MakeConvolutions(const LibrariesProblem& p, const Stopwatch& watch);
  absl::Status Mix(const LtProduct& product, int algorithm, cudaStream_t stream) const {
    return product.Run(algorithm, bank_.data(), routing_.data(), mixed_.data(), stream,
                       product_alpha_);
  }

  std::int64_t images_ = 0;
  DeviceBuffer src_, bank_, routing_, alpha_, bias_, mixed_, dst_;
  std::optional<LtProduct> product_;
  int algorithm_ = 0;
  float product_alpha_ = 1.0f;
  // Of a branch, with a workspace of its own. Image i is buffer set i of all of them.
  struct Convolution {
    std::unique_ptr<Peer> peer;
    int plan = 0;  // among its variants
  };
  std::vector<Convolution> convolutions_;
  Branches branches_;
  std::string name_;
};

}  // namespace weft::perf
