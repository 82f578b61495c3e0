// What a chain reads on a GPU, and what each of its tensors must hold.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "perf/network/chain.hpp"
#include "perf/peers/peer.hpp"
#include "perf/support/cuda.hpp"
#include "perf/support/data_kernels.hpp"

namespace weft::perf {

// A layer for other libraries, which take all tensors for int8 and add residuals with factor 1.
PeerProblem PeerProblemOf(const Chain& chain, int layer, std::int64_t batch);

class ChainTensors {
 public:
  // What one layer reads besides tensors.
  struct Layer {
    DeviceBuffer kcrs, krsc, alpha, bias,
        sum_bias;      // bias: of floats; sum_bias: int32, in units of alpha
    ValueFacts facts;  // of what it makes, first image
  };

  // Gives each layer of *chain its scales, for what the first image's tensor before it holds, and computes all tensors by the
  // reference convolution. Waits.
  static absl::StatusOr<ChainTensors> Create(Chain* chain, std::int64_t batch, Stream stream);

  std::int64_t batch() const { return batch_; }
  // Floats, as the graph's inputs.
  const DeviceBuffer& input(int index) const { return inputs_[static_cast<std::size_t>(index)]; }
  // NCHW, by the graph's tensors; of the floats nothing.
  const DeviceBuffer& operator[](int tensor) const {
    return tensors_[static_cast<std::size_t>(tensor)];
  }
  const Layer& layer(int index) const { return layers_[static_cast<std::size_t>(index)]; }

 private:
  absl::Status MakeLayer(Chain* chain, int layer, Stream stream);

  std::int64_t batch_ = 1;
  std::vector<DeviceBuffer> inputs_, tensors_;
  std::vector<Layer> layers_;
};

}  // namespace weft::perf
