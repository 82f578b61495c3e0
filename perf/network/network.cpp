#include "perf/network/network.hpp"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace weft::perf {
namespace {

// Appends a layer whose padding keeps the image's extents but for the stride; returns its output.
int Add(Network* network, const std::string& name, int src, std::int64_t k, std::int64_t rs,
        std::int64_t stride, After after, int residual = -1) {
  const TensorExtents e = network->Extents(src);
  NetworkLayer layer;
  layer.name = name;
  layer.problem = conv::SquareProblem(e.n, e.c, e.h, k, rs, rs / 2, stride);
  layer.after = after;
  layer.src = src;
  layer.residual = residual;
  network->layers.push_back(layer);
  return network->tensors() - 1;
}

}  // namespace

TensorExtents Network::Extents(int tensor) const {
  const int count = static_cast<int>(inputs.size());
  return tensor < count ? inputs[tensor] : layers[tensor - count].problem.dst();
}

double Network::macs() const {
  double sum = 0.0;
  for (const NetworkLayer& layer : layers) sum += layer.problem.macs();
  return sum;
}

int AddBottlenecks(Network* network, const std::string& stage, int src, int blocks,
                   std::int64_t width, std::int64_t stride) {
  for (int block = 0; block < blocks; ++block) {
    const std::string name = absl::StrCat(stage, ".", block, ".");
    const std::int64_t step = block == 0 ? stride : 1;
    const int a = Add(network, name + "conv1", src, width, 1, 1, After::kRelu);
    const int b = Add(network, name + "conv2", a, width, 3, step, After::kRelu);
    int shortcut = src;
    if (block == 0) {
      shortcut = Add(network, name + "project", src, 4 * width, 1, step, After::kNothing);
    }
    src = Add(network, name + "conv3", b, 4 * width, 1, 1, After::kResidualRelu, shortcut);
  }
  return src;
}

Network ResNet50(std::int64_t batch) {
  Network network;
  network.name = "resnet50";
  network.inputs = {{batch, 4, 224, 224}, {batch, 64, 56, 56}};
  Add(&network, "conv1", 0, 64, 7, 2, After::kRelu);
  int x = AddBottlenecks(&network, "2", 1, 3, 64, 1);
  x = AddBottlenecks(&network, "3", x, 4, 128, 2);
  x = AddBottlenecks(&network, "4", x, 6, 256, 2);
  AddBottlenecks(&network, "5", x, 3, 512, 2);
  return network;
}

absl::StatusOr<Network> NetworkByName(const std::string& name, std::int64_t batch) {
  if (name == "resnet50") return ResNet50(batch);
  return absl::NotFoundError(
      absl::StrCat("network '", name, "' does not exist; there is resnet50"));
}

}  // namespace weft::perf
