// What a network reads and writes, and what it must hold.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "perf/network/parameters.hpp"
#include "perf/peers/peer.hpp"

namespace weft::perf {

PeerProblem ProblemOf(const conv::Problem& problem, After after);

class NetworkTensors {
 public:
  // Allocates every tensor, fills the inputs, makes the filters. `network` outlives this object.
  // format: of our tensors; those below 32 channels are NCxHWx<4>.
  absl::Status Init(const Network& network, TensorFormatName format, Stream stream);

  const DeviceBuffer& operator[](int tensor) const { return ours_[tensor]; }

  // Layers alike as sets over the tensors of one side, in that side's formats.
  PeerTensors Sets(const std::vector<int>& layers, const std::vector<DeviceBuffer>& side) const;
  PeerTensors Sets(const std::vector<int>& layers) const;

  // Scales and biases that suit the first image of what the layer's input holds now, so that they
  // are the same for every batch.
  absl::Status SetScales(int layer);
  // Of the first image of a tensor.
  absl::StatusOr<ValueFacts> Facts(int tensor) const;

  // How many outputs of a layer's first and last image are not what the reference says, given what
  // it reads now.
  absl::StatusOr<long long> Mismatches(int layer) const;

  // Enqueues a tensor in NHWC, to `nhwc`.
  absl::Status ToNhwc(int tensor, void* nhwc) const;

 private:
  struct Operands {
    DeviceBuffer kcrs, krsc, alpha, bias;
  };
  absl::StatusOr<DeviceBuffer> Planar(int tensor, std::int64_t image) const;

  TensorFormatName FormatOf(const TensorExtents& e) const;

  const Network* network_ = nullptr;
  TensorFormatName format_ = TensorFormatName::kNc32;
  Stream stream_ = nullptr;
  std::vector<DeviceBuffer> ours_;
  std::vector<Operands> operands_;  // of each layer
};

}  // namespace weft::perf
