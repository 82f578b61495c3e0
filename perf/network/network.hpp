// Networks as chains of convolutions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "weft/conv/problem/problem.hpp"

namespace weft::perf {

// What follows the convolution, besides scale per channel and bias: nothing, ReLU, or the addition
// of a residual and ReLU.
enum class After { kNothing, kRelu, kResidualRelu };

// One convolution. Tensors are numbered: the network's inputs first, then the outputs of its
// layers.
struct NetworkLayer {
  std::string name;  // "conv1", "2.0.conv3": stage, block, convolution
  conv::Problem problem;
  After after = After::kRelu;
  int src = 0;        // tensor
  int residual = -1;  // tensor; of After::kResidualRelu only
};

struct Network {
  std::string name;
  std::vector<TensorExtents> inputs;
  std::vector<NetworkLayer> layers;  // in the order in which they run

  int tensors() const { return static_cast<int>(inputs.size() + layers.size()); }
  int OutputOf(int layer) const { return static_cast<int>(inputs.size()) + layer; }
  TensorExtents Extents(int tensor) const;
  double macs() const;
};

// The network there is: resnet50. NotFound says so.
absl::StatusOr<Network> NetworkByName(const std::string& name, std::int64_t batch);

// All 53 convolutions of ResNet-50 v1.5: the stride of a block is in its 3x3. The image has 4
// channels. The 3x3/2 max pooling after conv1 is left out: the second input stands for its output.
Network ResNet50(std::int64_t batch);

// Bottleneck blocks, as ResNet-50 is made of: `blocks` of them with `width` channels in the 3x3 and
// 4 * width at the end, the first with stride `stride` and a projection. `src` is the tensor read.
// Appends to `network`; `stage` is the first part of the layers' names. Returns the output's
// tensor.
int AddBottlenecks(Network* network, const std::string& stage, int src, int blocks,
                   std::int64_t width, std::int64_t stride);

}  // namespace weft::perf
