// Chains of convolutions as graphs of weft::network, with random numbers that keep their activations alive.
//
// Filters are uniform over -127..127, as quantisers make them. The products' sums then have mean 0 and a deviation that follows
// from the mean square of what the layer reads, so that a scale can be given that brings its outputs to a wanted deviation,
// whatever happened in the layers before.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "weft/conv/problem/problem.hpp"
#include "weft/network/graph/graph.hpp"

namespace weft::perf {

// What is known of a tensor's values.
struct ValueFacts {
  double mean_square = 0.0;
  double zeros = 0.0;      // fraction
  double saturated = 0.0;  // fraction at -128 or 127
};
ValueFacts FactsOf(const std::vector<std::int8_t>& values);

// Bottleneck blocks, as ResNet-50 is made of: `width` channels in the 3x3 and 4 * width at the end; the first one has a
// projection, and `stride` in its 3x3.
struct Stage {
  int blocks = 1;
  std::int64_t width = 64, stride = 1;
};

// A first 7x7 convolution of stride 2 to the width of the first stage, and stages. The graph has two inputs of floats that are
// integers: an image of 4 channels, and what stands for the max pooling behind the first convolution, which is left out. Both are
// quantised by nodes of their own, whose tensors are outputs too, so that they stay while only convolutions run again.
//
// All scales of tensors are 1 and all zero points 0. Behind a ReLU there is uint8, whose least value is the ReLU; behind a
// projection int8. Values stay below 128, so that other libraries may take all of them for int8.
class Chain {
 public:
  // pixels: rows and columns of the image.
  Chain(const std::string& name, std::int64_t pixels, const std::vector<Stage>& stages);
  // The 53 convolutions of ResNet-50 v1.5, whose stride is in the 3x3.
  static Chain ResNet50() {
    return {"resnet50", 224, {{3, 64, 1}, {4, 128, 2}, {6, 256, 2}, {3, 512, 2}}};
  }

  // It is complete once each layer has scales.
  const network::Graph& graph() const { return graph_; }
  const network::Tensor& tensor(int index) const {
    return graph_.tensors[static_cast<std::size_t>(index)];
  }

  // Layers are the nodes that are convolutions, in their order.
  int layers() const { return static_cast<int>(graph_.nodes.size()) - kQuantised; }
  const network::Node& layer(int index) const {
    return graph_.nodes[static_cast<std::size_t>(index + kQuantised)];
  }
  int src(int layer) const { return this->layer(layer).inputs[0]; }
  // A tensor; -1: there is none.
  int residual(int layer) const {
    return this->layer(layer).inputs.size() > 1 ? this->layer(layer).inputs[1] : -1;
  }
  int dst(int layer) const { return this->layer(layer).output; }
  bool HasRelu(int layer) const { return tensor(dst(layer)).element == network::Element::kUint8; }
  conv::Problem ProblemOf(int layer, std::int64_t batch) const;
  double macs(std::int64_t batch) const;

  // The tensors that are quantised inputs, and their values, NCHW. The image's fourth channel is random, too. The other one is what
  // ReLU makes: half of the values are zeros. The first image of any batch is the same.
  static constexpr int kQuantised = 2;
  int quantised(int input) const { return graph_.nodes[static_cast<std::size_t>(input)].output; }
  std::vector<std::int8_t> MakeInput(int input, std::int64_t batch) const;

  // Gives a layer scales and biases that suit the mean square of what it reads: scales within a quarter of the layer's, and biases
  // up to a quarter of the wanted deviation. Of the first layer scales are powers of two and biases multiples of 1/8, so that
  // half precision can compute the same. A function of its arguments.
  void SetScales(int layer, double mean_square);

  // KCRS; and of each output channel the scale, and the bias in units of it.
  std::vector<std::int8_t> filter(int layer) const;
  std::vector<float> scales(int layer) const;
  std::vector<std::int32_t> biases(int layer) const;

 private:
  int AddTensor(const std::string& name, network::Element element, std::int64_t c,
                std::int64_t pixels);
  void AddInput(const std::string& name, network::Element element, std::int64_t c,
                std::int64_t pixels);
  // A convolution whose padding keeps the image's extents but for the stride; returns its output.
  int Add(const std::string& name, int src, std::int64_t k, std::int64_t window,
          std::int64_t stride, bool relu, int residual = -1);
  int AddBottlenecks(const std::string& name, int src, const Stage& stage);
  network::Constant AddConstant(const void* data, std::int64_t bytes);

  network::Graph graph_;
  std::shared_ptr<std::string> constants_;  // the graph's
};

}  // namespace weft::perf
