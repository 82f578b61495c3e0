#include "perf/network/chain.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "perf/support/random.hpp"
#include "weft/network/graph/names.hpp"

namespace weft::perf {
namespace {

using network::Constant, network::Element, network::Kind, network::Node;

constexpr std::uint64_t kSeed = 20261121;
// The mean square of a filter's values, -128 replaced by 0.
constexpr double kFilterMeanSquare = 2.0 * (127.0 * 128.0 * 255.0 / 6.0) / 256.0;
constexpr std::int64_t kImageChannels = 4;

}  // namespace

ValueFacts FactsOf(const std::vector<std::int8_t>& values) {
  ValueFacts facts;
  if (values.empty()) return facts;
  std::int64_t squares = 0, zeros = 0, saturated = 0;
  for (const std::int8_t value : values) {
    squares += int{value} * int{value};
    zeros += value == 0;
    saturated += value == 127 || value == -128;
  }
  const double count = static_cast<double>(values.size());
  facts.mean_square = static_cast<double>(squares) / count;
  facts.zeros = static_cast<double>(zeros) / count;
  facts.saturated = static_cast<double>(saturated) / count;
  return facts;
}

Chain::Chain(const std::string& name, std::int64_t pixels, const std::vector<Stage>& stages)
    : constants_(std::make_shared<std::string>()) {
  graph_.name = name;
  const std::int64_t width = stages[0].width, pooled = pixels / 4;
  AddInput("image", Element::kInt8, kImageChannels, pixels);
  AddInput("pooled", Element::kUint8, width, pooled);
  graph_.outputs.push_back(Add("conv1", quantised(0), width, 7, 2, true));
  int x = quantised(1);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    x = AddBottlenecks(absl::StrCat(i + 2), x, stages[i]);
  }
  graph_.outputs.push_back(x);
  graph_.constants = constants_;
}

int Chain::AddTensor(const std::string& name, Element element, std::int64_t c,
                     std::int64_t pixels) {
  graph_.tensors.push_back({.name = name, .element = element, .c = c, .h = pixels, .w = pixels});
  return static_cast<int>(graph_.tensors.size()) - 1;
}

void Chain::AddInput(const std::string& name, Element element, std::int64_t c,
                     std::int64_t pixels) {
  graph_.inputs.push_back(AddTensor(name, Element::kFloat, c, pixels));
  Node node;
  node.kind = Kind::kQuantize;
  node.name = absl::StrCat("quantize ", name);
  node.inputs = {graph_.inputs.back()};
  node.output = AddTensor(absl::StrCat("quantized ", name), element, c, pixels);
  graph_.outputs.push_back(node.output);
  graph_.nodes.push_back(std::move(node));
}

Constant Chain::AddConstant(const void* data, std::int64_t bytes) {
  constexpr std::size_t kAlignment = 64;
  const std::size_t at = (constants_->size() + kAlignment - 1) / kAlignment * kAlignment;
  constants_->resize(at + static_cast<std::size_t>(bytes));
  if (data != nullptr) std::memcpy(&(*constants_)[at], data, static_cast<std::size_t>(bytes));
  return {.at = static_cast<std::int64_t>(at), .bytes = bytes};
}

int Chain::Add(const std::string& name, int src, std::int64_t k, std::int64_t window,
               std::int64_t stride, bool relu, int residual) {
  const network::Tensor from = tensor(src);
  const std::int64_t pad = window / 2;
  const std::uint64_t seed = kSeed + 100 + static_cast<std::uint64_t>(layers());
  std::vector<std::int8_t> filter = RandomInt8s(k * from.c * window * window, seed);
  // Else sums over what ReLU left would have a mean below 0.
  std::replace(filter.begin(), filter.end(), std::int8_t{-128}, std::int8_t{0});
  Node node;
  node.kind = Kind::kConvolution;
  node.name = name;
  node.inputs = {src};
  if (residual >= 0) node.inputs.push_back(residual);
  node.output = AddTensor(name, relu ? Element::kUint8 : Element::kInt8, k,
                          (from.h + 2 * pad - window) / stride + 1);
  node.window = {.h = window,
                 .w = window,
                 .stride_h = stride,
                 .stride_w = stride,
                 .pad_top = pad,
                 .pad_left = pad,
                 .pad_bottom = pad,
                 .pad_right = pad};
  node.filter = AddConstant(filter.data(), static_cast<std::int64_t>(filter.size()));
  node.filter_scale = AddConstant(nullptr, 4 * k);
  node.bias = AddConstant(nullptr, 4 * k);
  graph_.nodes.push_back(std::move(node));
  return graph_.nodes.back().output;
}

int Chain::AddBottlenecks(const std::string& name, int src, const Stage& stage) {
  const std::int64_t width = stage.width;
  for (int block = 0; block < stage.blocks; ++block) {
    const std::string prefix = absl::StrCat(name, ".", block, ".");
    const std::int64_t stride = block == 0 ? stage.stride : 1;
    const int a = Add(prefix + "conv1", src, width, 1, 1, true);
    const int b = Add(prefix + "conv2", a, width, 3, stride, true);
    const int shortcut =
        block == 0 ? Add(prefix + "project", src, 4 * width, 1, stride, false) : src;
    src = Add(prefix + "conv3", b, 4 * width, 1, 1, true, shortcut);
  }
  return src;
}

conv::Problem Chain::ProblemOf(int layer, std::int64_t batch) const {
  const network::Window& w = this->layer(layer).window;
  const network::Tensor& from = tensor(src(layer));
  return conv::SquareProblem(batch, from.c, from.h, tensor(dst(layer)).c, w.h, w.pad_top,
                             w.stride_h);
}

double Chain::macs(std::int64_t batch) const {
  double sum = 0.0;
  for (int i = 0; i < layers(); ++i) sum += ProblemOf(i, batch).macs();
  return sum;
}

std::vector<std::int8_t> Chain::MakeInput(int input, std::int64_t batch) const {
  const TensorExtents e = tensor(quantised(input)).Type(batch, network::Format::kNchw).extents;
  std::vector<std::int8_t> values =
      RandomInt8s(NCHW::Size(e), kSeed + static_cast<std::uint64_t>(input));
  if (input > 0) {
    // What ReLU leaves of values between -64 and 63.
    for (std::int8_t& value : values) value = static_cast<std::int8_t>(std::max(value / 2, 0));
  }
  return values;
}

void Chain::SetScales(int layer, double mean_square) {
  const conv::Problem p = ProblemOf(layer, 1);
  const bool first = p.c <= kImageChannels;
  // So that nothing leaves 0..127: sums of up to 6 blocks are added, and powers of two may be larger by half.
  const double wanted = first ? 8.0 : HasRelu(layer) && residual(layer) < 0 ? 10.0 : 6.0;
  const double deviation = std::sqrt(static_cast<double>(p.c * p.r * p.s) * kFilterMeanSquare *
                                     std::max(mean_square, 1e-3));
  const auto seed = kSeed + static_cast<std::uint64_t>(layer);
  const float scale = static_cast<float>(wanted / deviation);
  std::vector<float> scales = RandomFloats(p.k, seed + 200, 0.75f * scale, 1.25f * scale);
  const float most = static_cast<float>(wanted / 4.0);
  std::vector<std::int32_t> biases;
  for (std::int64_t k = 0; k < p.k; ++k) {
    float& alpha = scales[static_cast<std::size_t>(k)];
    float bias = RandomFloat(seed + 300, static_cast<std::uint64_t>(k), -most, most);
    if (first) {
      alpha = std::exp2(std::round(std::log2(alpha)));
      bias = std::round(8.0f * bias) / 8.0f;
    }
    biases.push_back(static_cast<std::int32_t>(std::lround(bias / alpha)));
  }
  const auto put = [this](const Constant& at, const void* data) {
    std::memcpy(&(*constants_)[static_cast<std::size_t>(at.at)], data,
                static_cast<std::size_t>(at.bytes));
  };
  put(this->layer(layer).filter_scale, scales.data());
  put(this->layer(layer).bias, biases.data());
}

std::vector<std::int8_t> Chain::filter(int layer) const {
  return network::NumbersOf<std::int8_t>(graph_, this->layer(layer).filter);
}
std::vector<float> Chain::scales(int layer) const {
  return network::NumbersOf<float>(graph_, this->layer(layer).filter_scale);
}
std::vector<std::int32_t> Chain::biases(int layer) const {
  return network::NumbersOf<std::int32_t>(graph_, this->layer(layer).bias);
}

}  // namespace weft::perf
