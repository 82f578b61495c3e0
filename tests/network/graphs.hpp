// Small graphs for tests of networks.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "weft/network/graph/graph.hpp"

namespace weft::network {

// A window of size x size pixels, with half of that as padding on all sides.
inline Window Around(std::int64_t size, std::int64_t stride = 1) {
  const std::int64_t pad = size / 2;
  return {.h = size,
          .w = size,
          .stride_h = stride,
          .stride_w = stride,
          .pad_top = pad,
          .pad_left = pad,
          .pad_bottom = pad,
          .pad_right = pad};
}

// Builds a graph node after node, with random constants.
class GraphBuilder {
 public:
  explicit GraphBuilder(std::uint32_t seed = 1) : random_(seed) { graph_.name = "test"; }

  int Add(const std::string& name, Element element, std::int64_t c, std::int64_t h, std::int64_t w,
          Quantization quantization = {}) {
    graph_.tensors.push_back(
        {.name = name, .element = element, .c = c, .h = h, .w = w, .quantization = quantization});
    return static_cast<int>(graph_.tensors.size()) - 1;
  }
  int Input(const std::string& name, Element element, std::int64_t c, std::int64_t h,
            std::int64_t w, Quantization quantization = {}) {
    graph_.inputs.push_back(Add(name, element, c, h, w, quantization));
    return graph_.inputs.back();
  }
  void Output(int tensor) { graph_.outputs.push_back(tensor); }

  // The node, until the next one is put.
  Node& Put(Kind kind, std::vector<int> inputs, int output) {
    Node node;
    node.kind = kind;
    node.name = "node" + std::to_string(graph_.nodes.size());
    node.inputs = std::move(inputs), node.output = output;
    graph_.nodes.push_back(std::move(node));
    return graph_.nodes.back();
  }

  template <class Number>
  Constant Keep(const std::vector<Number>& numbers) {
    constants_.resize((constants_.size() + 63) / 64 * 64);
    const Constant constant = {static_cast<std::int64_t>(constants_.size()),
                               static_cast<std::int64_t>(numbers.size() * sizeof(Number))};
    constants_.append(reinterpret_cast<const char*>(numbers.data()),
                      numbers.size() * sizeof(Number));
    return constant;
  }
  std::vector<std::int8_t> RandomBytes(std::int64_t count) {
    std::vector<std::int8_t> bytes(static_cast<std::size_t>(count));
    for (auto& byte : bytes)
      byte = static_cast<std::int8_t>(static_cast<int>(random_() % 255) - 127);
    return bytes;
  }
  std::int32_t Random(std::int32_t low, std::int32_t high) {
    return low + static_cast<std::int32_t>(random_() % static_cast<std::uint32_t>(high - low + 1));
  }

  // A filter, scales for each output channel, and a bias.
  void FillProducts(Node& node, std::int64_t k, std::int64_t each, float scale) {
    node.filter = Keep(RandomBytes(k * each));
    std::vector<float> scales;
    std::vector<std::int32_t> bias;
    for (std::int64_t i = 0; i < k; ++i) {
      scales.push_back(scale * (1.0f + 0.01f * static_cast<float>(i % 7)));
      bias.push_back(Random(-2000, 2000));
    }
    node.filter_scale = Keep(scales);
    node.bias = Keep(bias);
  }

  Graph Make() {
    Graph graph = graph_;
    graph.constants = std::make_shared<const std::string>(constants_);
    return graph;
  }

 private:
  Graph graph_;
  std::string constants_;
  std::mt19937 random_;
};

// An image of 3 channels, two convolutions, an addition, pooling and a fully connected layer, as ResNets have.
inline Graph SmallResnet(std::int64_t channels = 40) {
  GraphBuilder b;
  const int x = b.Input("x", Element::kFloat, 3, 17, 17);
  const int q = b.Add("q", Element::kUint8, 3, 17, 17, {0.02f, 114});
  b.Put(Kind::kQuantize, {x}, q);
  const int a = b.Add("a", Element::kUint8, channels, 9, 9, {0.05f, 0});
  Node& first = b.Put(Kind::kConvolution, {q}, a);
  first.window = Around(7, 2);
  b.FillProducts(first, channels, 3 * 49, 0.003f);
  const int m = b.Add("m", Element::kUint8, channels, 5, 5, {0.05f, 0});
  b.Put(Kind::kMaxPool, {a}, m).window = Around(3, 2);
  const int c = b.Add("c", Element::kUint8, channels, 5, 5, {0.04f, 3});
  Node& second = b.Put(Kind::kConvolution, {m}, c);
  second.window = Around(3);
  b.FillProducts(second, channels, channels * 9, 0.001f);
  const int d = b.Add("d", Element::kUint8, channels, 5, 5, {0.06f, 130});
  Node& third = b.Put(Kind::kConvolution, {c}, d);
  third.window = Around(3);
  b.FillProducts(third, channels, channels * 9, 0.001f);
  const int s = b.Add("s", Element::kUint8, channels, 5, 5, {0.07f, 9});
  b.Put(Kind::kAdd, {d, m}, s);
  const int g = b.Add("g", Element::kUint8, channels, 1, 1, {0.05f, 9});
  b.Put(Kind::kGlobalAveragePool, {s}, g);
  const int l = b.Add("l", Element::kUint8, 10, 1, 1, {0.1f, 120});
  b.FillProducts(b.Put(Kind::kFullyConnected, {g}, l), 10, channels, 0.01f);
  const int y = b.Add("y", Element::kFloat, 10, 1, 1);
  b.Put(Kind::kDequantize, {l}, y);
  b.Output(y);
  return b.Make();
}

// Depthwise convolutions of images with multiples of 16 channels, a fully connected layer of images.
inline Graph Separable() {
  GraphBuilder b(8);
  const int x = b.Input("x", Element::kFloat, 3, 8, 9);
  const int q = b.Add("q", Element::kInt8, 3, 8, 9, {0.02f, -5});
  b.Put(Kind::kQuantize, {x}, q);
  const int a = b.Add("a", Element::kUint8, 48, 8, 9, {0.05f, 100});
  b.FillProducts(b.Put(Kind::kConvolution, {q}, a), 48, 3, 0.01f);
  const int d = b.Add("d", Element::kInt8, 48, 4, 9, {0.05f, 3});
  Node& depthwise = b.Put(Kind::kConvolution, {a}, d);
  depthwise.window = Around(3);
  depthwise.window.stride_h = 2;
  depthwise.groups = 48;
  b.FillProducts(depthwise, 48, 9, 0.004f);
  const int r = b.Add("r", Element::kInt8, 48, 8, 9, {0.05f, 3});
  Node& resize = b.Put(Kind::kResize, {d}, r);
  resize.factor_h = 2;
  const int s = b.Add("s", Element::kUint8, 48, 8, 9, {0.06f, 90});
  b.Put(Kind::kAdd, {a, r}, s);
  const int p = b.Add("p", Element::kUint8, 32, 8, 9, {0.05f, 100});
  b.FillProducts(b.Put(Kind::kConvolution, {s}, p), 32, 48, 0.003f);
  const int l = b.Add("l", Element::kUint8, 16, 1, 1, {0.1f, 120});
  b.FillProducts(b.Put(Kind::kFullyConnected, {p}, l), 16, 32 * 72, 0.0002f);
  const int y = b.Add("y", Element::kFloat, 16, 1, 1);
  b.Put(Kind::kDequantize, {l}, y);
  b.Output(y);
  return b.Make();
}

// Concats whose inputs others read as well. Of the inner one: `first` by the convolution that makes `second`; `second` by the one
// that makes `third`, and by the pooling. Of `all`: the inner concat by the convolution that makes `residual`; `third`, which `all` has
// twice, as what that one adds; `last` by a dequantize, which makes the second output.
inline Graph ReadConcats() {
  GraphBuilder b(19);
  const auto add = [&](const char* name, std::int64_t c) {
    return b.Add(name, Element::kUint8, c, 5, 6, {0.05f, 100});
  };
  const auto convolution = [&](std::vector<int> from, std::int64_t from_c, int to, std::int64_t c) {
    b.FillProducts(b.Put(Kind::kConvolution, std::move(from), to), c, from_c, 0.003f);
    return to;
  };
  const int x = b.Input("x", Element::kFloat, 7, 5, 6);
  const int q = b.Add("q", Element::kUint8, 7, 5, 6, {0.03f, 110});
  b.Put(Kind::kQuantize, {x}, q);
  const int first = convolution({q}, 7, add("first", 32), 32);
  const int second = convolution({first}, 32, add("second", 64), 64);
  const int inner = add("inner", 96);
  b.Put(Kind::kConcat, {first, second}, inner);
  const int third = convolution({second}, 64, add("third", 32), 32);
  const int residual = convolution({inner, third}, 96, add("residual", 32), 32);
  const int pooled = add("pooled", 64);
  b.Put(Kind::kMaxPool, {second}, pooled).window = Around(3);
  const int last = convolution({residual}, 32, add("last", 20), 20);
  const int all = add("all", 96 + 32 + 64 + 32 + 20);
  b.Put(Kind::kConcat, {inner, third, pooled, third, last}, all);
  const int y = b.Add("y", Element::kFloat, 244, 5, 6), z = b.Add("z", Element::kFloat, 20, 5, 6);
  b.Put(Kind::kDequantize, {all}, y);
  b.Put(Kind::kDequantize, {last}, z);
  b.Output(y);
  b.Output(z);
  return b.Make();
}

// A concat, `all`, of whose inputs others read none, and which lie in whole blocks of channels: a convolution with its scale, one with
// another scale, one with a table behind it, and another concat, `inner`, of an addition and of a convolution that fills no block. Then
// `copied`, whose first input a convolution reads as well and whose second one does not begin at a block.
inline Graph Concats() {
  GraphBuilder b(5);
  const auto add = [&](const char* name, std::int64_t c, Quantization q = {0.05f, 100},
                       Element element = Element::kUint8) {
    return b.Add(name, element, c, 5, 6, q);
  };
  const auto convolution = [&](int from, std::int64_t from_c, int to, std::int64_t c) {
    b.FillProducts(b.Put(Kind::kConvolution, {from}, to), c, from_c, 0.003f);
    return to;
  };
  const int x = b.Input("x", Element::kFloat, 7, 5, 6);
  const int q = add("q", 7, {0.03f, 110});
  b.Put(Kind::kQuantize, {x}, q);
  const int plain = convolution(q, 7, add("plain", 32), 32);
  const int scaled = convolution(q, 7, add("scaled", 64, {0.03f, -5}, Element::kInt8), 64);
  const int before = convolution(q, 7, add("before", 32, {0.04f, 3}), 32);
  const int table = add("table", 32);
  b.Put(Kind::kTable, {before}, table).table = b.Keep(b.RandomBytes(256));
  const int pooled = add("pooled", 32);
  b.Put(Kind::kMaxPool, {convolution(q, 7, add("source", 32), 32)}, pooled).window = Around(3);
  const int sum = add("sum", 32);
  b.Put(Kind::kAdd, {pooled, convolution(q, 7, add("operand", 32), 32)}, sum);
  const int ragged = convolution(q, 7, add("ragged", 20), 20);
  const int inner = add("inner", 52);
  b.Put(Kind::kConcat, {sum, ragged}, inner);
  const int all = add("all", 32 + 64 + 32 + 52);
  b.Put(Kind::kConcat, {plain, scaled, table, inner}, all);
  const int behind = convolution(all, 180, add("behind", 40), 40);
  const int second = convolution(behind, 40, add("second", 32), 32);
  const int copied = add("copied", 72);
  b.Put(Kind::kConcat, {behind, second}, copied);
  const int y = b.Add("y", Element::kFloat, 72, 5, 6);
  b.Put(Kind::kDequantize, {copied}, y);
  b.Output(y);
  return b.Make();
}

// What a block of a residual network is like.
struct BlockCase {
  Element element = Element::kUint8;
  bool projects = true;      // what is added is a convolution of x, not x itself
  bool sum_is_first = true;  // the third convolution is the first operand of the addition
  bool rounds_once = false;  // what is added is the third convolution's residual
  std::int64_t h = 5, w = 8, c = 64, k = 64, middle = 64;
  std::int64_t stride = 1;  // of the 3x3 convolution, and of the projection
};

// Floats, two convolutions that make x, and such a block.
inline Graph ResidualBlock(const BlockCase& of) {
  GraphBuilder b(21);
  const bool is_signed = of.element == Element::kInt8;
  const std::int64_t h = (of.h - 1) / of.stride + 1, w = (of.w - 1) / of.stride + 1;
  const auto add = [&](const char* name, std::int64_t c, bool whole, float scale,
                       std::int32_t zero) {
    return b.Add(name, of.element, c, whole ? of.h : h, whole ? of.w : w,
                 {scale, is_signed ? zero - 128 : zero});
  };
  const auto convolution = [&](std::vector<int> from, std::int64_t c, int to, std::int64_t k,
                               std::int64_t size, std::int64_t stride, float scale) {
    Node& n = b.Put(Kind::kConvolution, std::move(from), to);
    n.window = Around(size, stride);
    b.FillProducts(n, k, c * size * size, scale);
    return to;
  };
  const int input = b.Input("input", Element::kFloat, 5, of.h, of.w);
  const int q = add("q", 5, true, 0.03f, 117);
  b.Put(Kind::kQuantize, {input}, q);
  const int x = convolution({q}, 5, add("x", of.c, true, 0.05f, 7), of.c, 1, 1, 0.02f);
  const int t1 =
      convolution({x}, of.c, add("t1", of.middle, true, 0.06f, 11), of.middle, 1, 1, 0.004f);
  const int t2 = convolution({t1}, of.middle, add("t2", of.middle, false, 0.05f, 0), of.middle, 3,
                             of.stride, 0.001f);
  const int p = of.projects ? convolution({x}, of.c, add("p", of.k, false, 0.07f, 100), of.k, 1,
                                          of.stride, 0.004f)
                            : x;
  const int y = add("y", of.k, false, 0.08f, 90);
  if (of.rounds_once) {
    convolution({t2, p}, of.middle, y, of.k, 1, 1, 0.004f);
  } else {
    const int t3 =
        convolution({t2}, of.middle, add("t3", of.k, false, 0.06f, 120), of.k, 1, 1, 0.004f);
    b.Put(Kind::kAdd, of.sum_is_first ? std::vector<int>{t3, p} : std::vector<int>{p, t3}, y);
  }
  const int out = b.Add("out", Element::kFloat, of.k, h, w);
  b.Put(Kind::kDequantize, {y}, out);
  b.Output(out);
  return b.Make();
}

}  // namespace weft::network
