#include "tests/network/plain_network.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "weft/network/graph/names.hpp"

namespace weft::network {
namespace {

// An image at (n, c, h, w).
struct View {
  const Tensor& tensor;
  const PlainTensor& values;

  float At(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) const {
    return values[static_cast<std::size_t>(((n * tensor.c + c) * tensor.h + h) * tensor.w + w)];
  }
  float Zero() const { return static_cast<float>(tensor.quantization.zero_point); }
  float Scale() const { return tensor.quantization.scale; }
  bool Has(std::int64_t h, std::int64_t w) const {
    return h >= 0 && w >= 0 && h < tensor.h && w < tensor.w;
  }
};

float Saturated(const Tensor& t, float x) {
  const float low = t.element == Element::kInt8 ? -128.0f : 0.0f;
  return std::min(std::max(x, low), low + 255.0f);
}

class PlainNode {
 public:
  PlainNode(const Graph& graph, const Node& node, const std::vector<PlainTensor>& values)
      : graph_(graph),
        node_(node),
        filter_(NumbersOf<std::int8_t>(graph, node.filter)),
        scales_(NumbersOf<float>(graph, node.filter_scale)),
        bias_(NumbersOf<std::int32_t>(graph, node.bias)),
        out_(graph.tensors[static_cast<std::size_t>(node.output)]) {
    for (const int input : node.inputs) {
      in_.push_back({graph.tensors[static_cast<std::size_t>(input)],
                     values[static_cast<std::size_t>(input)]});
    }
  }

  PlainTensor Run(std::int64_t batch) const {
    PlainTensor all;
    for (std::int64_t n = 0; n < batch; ++n) {
      for (std::int64_t c = 0; c < out_.c; ++c) {
        for (std::int64_t h = 0; h < out_.h; ++h) {
          for (std::int64_t w = 0; w < out_.w; ++w) all.push_back(Element(n, c, h, w));
        }
      }
    }
    return all;
  }

 private:
  float Element(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) const {
    const View& a = in_[0];
    const float sy = out_.quantization.scale, zy = static_cast<float>(out_.quantization.zero_point);
    const auto steps = [&](float x) { return Saturated(out_, std::nearbyint(x) + zy); };
    switch (node_.kind) {
      case Kind::kQuantize:
        return steps(a.At(n, c, h, w) / sy);
      case Kind::kDequantize:
        return (a.At(n, c, h, w) - a.Zero()) * a.Scale();
      case Kind::kConvert:
        return steps((a.At(n, c, h, w) - a.Zero()) * a.Scale() / sy);
      case Kind::kTable:
        return Looked(a.At(n, c, h, w));
      case Kind::kAdd: {
        const View& b = in_[1];
        const float ra = a.Scale() / sy, rb = b.Scale() / sy;
        const float fixed = zy - std::fma(ra, a.Zero(), rb * b.Zero());
        return Saturated(out_, std::nearbyint(std::fma(a.At(n, c, h, w), ra,
                                                       std::fma(b.At(n, c, h, w), rb, fixed))));
      }
      case Kind::kConvolution:
        return Requantised(n, c, h, w, Convolution(n, c, h, w));
      case Kind::kFullyConnected:
        return Requantised(n, c, h, w, FullyConnected(n, c));
      case Kind::kMaxPool:
        return MaxPool(n, c, h, w);
      case Kind::kGlobalAveragePool: {
        const auto pixels = a.tensor.h * a.tensor.w;
        std::int64_t sum = 0;
        for (std::int64_t i = 0; i < pixels; ++i) {
          sum += static_cast<std::int64_t>(a.At(n, c, i / a.tensor.w, i % a.tensor.w) - a.Zero());
        }
        return steps(static_cast<float>(sum) * (a.Scale() / (sy * static_cast<float>(pixels))));
      }
      case Kind::kConcat: {
        std::size_t i = 0;
        for (; c >= in_[i].tensor.c; ++i) c -= in_[i].tensor.c;
        if (in_[i].tensor.quantization == out_.quantization &&
            in_[i].tensor.element == out_.element)
          return in_[i].At(n, c, h, w);
        return steps((in_[i].At(n, c, h, w) - in_[i].Zero()) * in_[i].Scale() / sy);
      }
      case Kind::kResize:
        return a.At(n, c, h / node_.factor_h, w / node_.factor_w);
      case Kind::kMultiply: {
        const View& b = in_[1];
        const bool all = b.tensor.h * b.tensor.w == 1;
        const float product =
            (a.At(n, c, h, w) - a.Zero()) * (b.At(n, c, all ? 0 : h, all ? 0 : w) - b.Zero());
        return Saturated(out_, std::nearbyint(a.Scale() * b.Scale() / sy * product + zy));
      }
      case Kind::kAveragePool:
        break;  // tests/network/operators has it
    }
    return std::nanf("");
  }

  float Looked(float x) const {
    const auto table = NumbersOf<std::uint8_t>(graph_, node_.table);
    const std::uint8_t byte = table[static_cast<std::uint8_t>(static_cast<int>(x))];
    return out_.element == network::Element::kInt8 ? static_cast<std::int8_t>(byte) : byte;
  }

  float Requantised(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w,
                    std::int64_t sum) const {
    if (!bias_.empty()) sum += bias_[static_cast<std::size_t>(c)];
    const float scale = scales_[scales_.size() == 1 ? 0 : static_cast<std::size_t>(c)];
    const float alpha = in_[0].Scale() * scale / out_.quantization.scale;
    if (out_.element == network::Element::kFloat) return static_cast<float>(sum) * alpha;
    float steps = 0.0f;
    if (in_.size() > 1) {
      const View& residual = in_[1];
      steps = (residual.At(n, c, h, w) - residual.Zero()) *
              (residual.Scale() / out_.quantization.scale);
    }
    return Saturated(out_, std::nearbyint(std::fma(static_cast<float>(sum), alpha, steps)) +
                               static_cast<float>(out_.quantization.zero_point));
  }

  std::int64_t Convolution(std::int64_t n, std::int64_t k, std::int64_t h, std::int64_t w) const {
    const View& a = in_[0];
    const Window& win = node_.window;
    const std::int64_t channels = a.tensor.c / node_.groups,
                       first = k / (out_.c / node_.groups) * channels;
    std::int64_t sum = 0;
    for (std::int64_t c = 0; c < channels; ++c) {
      for (std::int64_t r = 0; r < win.h; ++r) {
        for (std::int64_t s = 0; s < win.w; ++s) {
          const std::int64_t y = h * win.stride_h - win.pad_top + r * win.dilation_h;
          const std::int64_t x = w * win.stride_w - win.pad_left + s * win.dilation_w;
          if (!a.Has(y, x)) continue;
          const std::int8_t weight =
              filter_[static_cast<std::size_t>(((k * channels + c) * win.h + r) * win.w + s)];
          sum += static_cast<std::int64_t>(a.At(n, first + c, y, x) - a.Zero()) * weight;
        }
      }
    }
    return sum;
  }

  std::int64_t FullyConnected(std::int64_t n, std::int64_t k) const {
    const View& a = in_[0];
    const std::int64_t each = a.tensor.c * a.tensor.h * a.tensor.w;
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < each; ++i) {
      sum +=
          static_cast<std::int64_t>(a.values[static_cast<std::size_t>(n * each + i)] - a.Zero()) *
          filter_[static_cast<std::size_t>(k * each + i)];
    }
    return sum;
  }

  float MaxPool(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) const {
    const Window& win = node_.window;
    float most = -1000.0f;
    for (std::int64_t r = 0; r < win.h; ++r) {
      for (std::int64_t s = 0; s < win.w; ++s) {
        const std::int64_t y = h * win.stride_h - win.pad_top + r * win.dilation_h;
        const std::int64_t x = w * win.stride_w - win.pad_left + s * win.dilation_w;
        if (in_[0].Has(y, x)) most = std::max(most, in_[0].At(n, c, y, x));
      }
    }
    return most;
  }

  const Graph& graph_;
  const Node& node_;
  const std::vector<std::int8_t> filter_;
  const std::vector<float> scales_;
  const std::vector<std::int32_t> bias_;
  const Tensor& out_;
  std::vector<View> in_;
};

}  // namespace

std::vector<PlainTensor> RunPlainly(const Graph& graph, std::int64_t batch,
                                    const std::vector<PlainTensor>& inputs) {
  std::vector<PlainTensor> values(graph.tensors.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    values[static_cast<std::size_t>(graph.inputs[i])] = inputs[i];
  for (const Node& node : graph.nodes) {
    values[static_cast<std::size_t>(node.output)] = PlainNode(graph, node, values).Run(batch);
  }
  return values;
}

}  // namespace weft::network
