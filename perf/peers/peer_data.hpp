// Random tensors for peers, and what their results must be.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "perf/peers/peer.hpp"
#include "perf/support/cuda.hpp"
#include "perf/support/data_kernels.hpp"
#include "tests/reference/reference.hpp"

namespace weft::perf {

// The reference on the GPU: planar int8 at GPU addresses, scales and such in `epilogue`. Waits.
absl::Status ReferenceOnGpu(const PeerProblem& problem, const std::int8_t* src,
                            const std::int8_t* filter, const reference::EpilogueData& epilogue,
                            std::int8_t* dst, Stream stream);

class PeerData {
 public:
  // As many buffer sets as it takes for a round over them to find nothing in an L2 of `l2_bytes`;
  // one set if it is 0.
  static absl::StatusOr<std::unique_ptr<PeerData>> Create(const PeerProblem& problem,
                                                          std::int64_t l2_bytes, Stream stream);

  const PeerTensors& tensors() const { return tensors_; }

  // Runs `variant` on set 0 over a poisoned destination and compares with the reference, which is
  // computed on the GPU once for each way of scaling. Of large problems only the first images are
  // compared.
  absl::StatusOr<Differences> Check(Peer& peer, int variant, Stream stream);

 private:
  PeerData() = default;
  absl::StatusOr<const std::int8_t*> Expected(bool one_scale, Stream stream);

  PeerProblem problem_;
  PeerProblem checked_;  // the first images
  PeerTensors tensors_;
  DeviceBuffer src_, filter_, residual_, channel_alpha_, bias_;
  DeviceBuffer planar_src_, planar_filter_, planar_residual_;  // of checked_
  DeviceBuffer output_;                                        // NHWC
  DeviceBuffer expected_[2];                                   // NHWC, of checked_; by one_scale
};

}  // namespace weft::perf
