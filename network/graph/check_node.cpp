#include "weft/network/graph/check_node.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "weft/network/graph/names.hpp"

namespace weft::network {
namespace {

// Products of a byte and an int8 that int32 holds, whatever they are.
constexpr std::int64_t kMostSum = 65793;
constexpr std::int64_t kMostExtent = std::numeric_limits<std::int32_t>::max();

std::string ShapeOf(const Tensor& t) {
  return absl::StrCat("(", t.c, ", ", t.h, ", ", t.w, ")");
}

// One node, whose places of tensors are right.
class NodeCheck {
 public:
  NodeCheck(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

  absl::Status Check() const {
    const std::size_t inputs = node_.inputs.size();
    const std::size_t wanted = node_.kind == Kind::kAdd || node_.kind == Kind::kMultiply ? 2 : 1;
    if (node_.kind == Kind::kConcat ? inputs < 1
        : Products()                ? inputs != 1 && inputs != 2
                                    : inputs != wanted) {
      return Error("has ", inputs, " inputs; it takes ",
                   node_.kind == Kind::kConcat ? "1 or more"
                   : Products()                ? "1, and a residual"
                                               : absl::StrCat(wanted));
    }
    if (absl::Status s = CheckElements(); !s.ok()) return s;
    if (absl::Status s = CheckUnread(); !s.ok()) return s;
    switch (node_.kind) {
      case Kind::kQuantize:
      case Kind::kDequantize:
      case Kind::kConvert:
        return CheckShape(in());
      case Kind::kTable:
        if (absl::Status s = CheckConstant("table", node_.table, 256, "a byte for each of 256");
            !s.ok())
          return s;
        return CheckShape(in());
      case Kind::kConvolution:
        return CheckConvolution();
      case Kind::kFullyConnected:
        return CheckFullyConnected();
      case Kind::kAdd:
        if (!SameShape(in(0), in(1)))
          return Error("adds ", ShapeOf(in(0)), " and ", ShapeOf(in(1)), "; give two of one shape");
        return CheckShape(in());
      case Kind::kMultiply:
        if (!SameShape(in(0), in(1)) && !(in(1).c == in(0).c && in(1).h == 1 && in(1).w == 1)) {
          return Error(
              "multiplies ", ShapeOf(in(0)), " by ", ShapeOf(in(1)),
              "; give two of one shape, or as the second one of one pixel with as many channels");
        }
        return CheckShape(in());
      case Kind::kMaxPool:
        if (!(in().quantization == out().quantization)) {
          return Error(
              "has a source and a destination of other scales or zero points; pooling by maximum "
              "keeps them");
        }
        return CheckPool();
      case Kind::kAveragePool:
        return CheckPool();
      case Kind::kGlobalAveragePool:
        return CheckShape({.name = {}, .c = in().c});
      case Kind::kConcat:
        return CheckConcat();
      case Kind::kResize:
        return CheckResize();
    }
    return Error("has an unknown kind");
  }

 private:
  template <class... Words>
  absl::Status Error(const Words&... words) const {
    return absl::InvalidArgumentError(
        absl::StrCat("network: node \"", node_.name, "\" (", NameOf(node_.kind), ") ", words...));
  }

  const Tensor& in(std::size_t i = 0) const {
    return graph_.tensors[static_cast<std::size_t>(node_.inputs[i])];
  }
  const Tensor& out() const { return graph_.tensors[static_cast<std::size_t>(node_.output)]; }
  bool Products() const {
    return node_.kind == Kind::kConvolution || node_.kind == Kind::kFullyConnected;
  }
  static bool SameShape(const Tensor& a, const Tensor& b) {
    return a.c == b.c && a.h == b.h && a.w == b.w;
  }

  absl::Status CheckElements() const {
    for (std::size_t i = 0; i < node_.inputs.size(); ++i) {
      const bool is_float = in(i).element == Element::kFloat;
      if (is_float != (node_.kind == Kind::kQuantize)) {
        return Error("reads \"", in(i).name, "\" of ", NameOf(in(i).element), "; it takes ",
                     is_float ? "int8 or uint8" : "float");
      }
    }
    const bool is_float = out().element == Element::kFloat;
    if (is_float && Products()) {
      if (node_.inputs.size() > 1)
        return Error("adds \"", in(1).name, "\" and writes floats; let it write int8 or uint8");
    } else if (is_float != (node_.kind == Kind::kDequantize)) {
      return Error("writes \"", out().name, "\" of ", NameOf(out().element), "; it makes ",
                   is_float ? "int8 or uint8" : "float");
    }
    if ((node_.kind == Kind::kMaxPool || node_.kind == Kind::kResize) &&
        in().element != out().element) {
      return Error("makes ", NameOf(out().element), " of ", NameOf(in().element),
                   "; it keeps the element");
    }
    return absl::OkStatus();
  }

  // What belongs to other kinds must not be there, or it would be ignored.
  absl::Status CheckUnread() const {
    const bool products = Products();
    const bool windows = node_.kind == Kind::kConvolution || node_.kind == Kind::kMaxPool ||
                         node_.kind == Kind::kAveragePool;
    const auto has = [](const Constant& c) { return c.exists() || c.at != 0; };
    const std::pair<const char*, bool> unread[] = {
        {"filter", !products && has(node_.filter)},
        {"filter_scale", !products && has(node_.filter_scale)},
        {"bias", !node_.bias.exists() && has(node_.bias)},
        {"bias", !products && has(node_.bias)},
        {"table", node_.kind != Kind::kTable && has(node_.table)},
        {"window", !windows && !(node_.window == Window{})},
        {"groups", node_.kind != Kind::kConvolution && node_.groups != 1},
        {"count_padding", node_.kind != Kind::kAveragePool && node_.count_padding},
        {"factors", node_.kind != Kind::kResize && (node_.factor_h != 1 || node_.factor_w != 1)}};
    for (const auto& [field, wrong] : unread) {
      if (wrong)
        return Error("has ", field, ", which it does not read, or which is empty; leave it out");
    }
    return absl::OkStatus();
  }

  absl::Status CheckShape(const Tensor& wanted) const {
    return SameShape(out(), wanted) ? absl::OkStatus()
                                    : Error("writes \"", out().name, "\" of shape ", ShapeOf(out()),
                                            "; it makes ", ShapeOf(wanted));
  }

  absl::Status CheckConstant(const char* field, const Constant& constant, std::int64_t bytes,
                             const char* what) const {
    const auto all =
        static_cast<std::int64_t>(graph_.constants == nullptr ? 0 : graph_.constants->size());
    if (constant.at < 0 || constant.at % 64 != 0 || constant.bytes < 0 || constant.at > all ||
        constant.bytes > all - constant.at) {
      return Error("has ", field, " in bytes ", constant.at, " to ", constant.at, " + ",
                   constant.bytes, " of ", all, "; give a multiple of 64 within the constants");
    }
    if (constant.bytes != bytes) {
      return Error("has ", constant.bytes, " bytes of ", field, "; it takes ", bytes, ", ", what);
    }
    return absl::OkStatus();
  }

  // filter, filter_scale and bias, of k output channels with `each` products.
  absl::Status CheckProducts(std::int64_t k, std::int64_t each) const {
    if (each > (std::int64_t{1} << 40) / k) return Error("has a filter of more than 2^40 bytes");
    if (absl::Status s =
            CheckConstant("filter", node_.filter, k * each, "an int8 for each product");
        !s.ok())
      return s;
    // |x - zero point| <= 255 and |filter| <= 128; a third of int32's range is the bias's.
    if (each > kMostExtent / (255 * 128) / 3 * 2) {
      return Error("adds ", each, " products, which may leave the range of int32; it takes up to ",
                   kMostExtent / (255 * 128) / 3 * 2);
    }
    const std::int64_t scales = node_.filter_scale.bytes == 4 ? 1 : k;
    if (absl::Status s = CheckConstant("filter_scale", node_.filter_scale, 4 * scales,
                                       "one float, or one for each output channel");
        !s.ok()) {
      return s;
    }
    for (const float scale : NumbersOf<float>(graph_, node_.filter_scale)) {
      if (!std::isfinite(scale) || !(scale > 0.0f))
        return Error("has filter_scale=", scale, "; give positive finite numbers");
    }
    if (!node_.bias.exists()) return absl::OkStatus();
    if (absl::Status s =
            CheckConstant("bias", node_.bias, 4 * k, "an int32 for each output channel");
        !s.ok())
      return s;
    for (const std::int32_t bias : NumbersOf<std::int32_t>(graph_, node_.bias)) {
      const std::int64_t most = kMostExtent - each * 255 * 128;
      if (bias > most || bias < -most)
        return Error("has bias=", bias, ", with which sums may leave the range of int32");
    }
    return absl::OkStatus();
  }

  absl::Status CheckWindow() const {
    const Window& w = node_.window;
    if (w.h < 1 || w.w < 1 || w.h > kMostExtent || w.w > kMostExtent) {
      return Error("has window=[", w.h, ", ", w.w, "]; give 1 or more");
    }
    if (w.stride_h < 1 || w.stride_w < 1 || w.stride_h > kMostExtent || w.stride_w > kMostExtent) {
      return Error("has stride=[", w.stride_h, ", ", w.stride_w, "]; give 1 or more");
    }
    if (w.dilation_h < 1 || w.dilation_w < 1 || w.dilation_h > kMostExtent / w.h ||
        w.dilation_w > kMostExtent / w.w) {
      return Error("has dilation=[", w.dilation_h, ", ", w.dilation_w,
                   "]; give 1 or more, and a window within 2^31 pixels");
    }
    for (const std::int64_t pad : {w.pad_top, w.pad_left, w.pad_bottom, w.pad_right}) {
      if (pad < 0 || pad > kMostExtent) return Error("has padding=", pad, "; give 0 or more");
    }
    return absl::OkStatus();
  }

  absl::Status CheckConvolution() const {
    if (absl::Status s = CheckWindow(); !s.ok()) return s;
    const std::int64_t groups = node_.groups;
    if (groups < 1 || in().c % groups != 0 || out().c % groups != 0) {
      return Error("has groups=", groups, "; give a divisor of ", in().c, " input and ", out().c,
                   " output channels");
    }
    const Window& w = node_.window;
    if (w.h > kMostExtent / w.w || in().c / groups > kMostExtent / (w.h * w.w))
      return Error("has a filter of more than 2^31 products");
    if (absl::Status s = CheckProducts(out().c, in().c / groups * w.h * w.w); !s.ok()) return s;
    if (groups != 1 && groups != in().c) {  // they become a filter for all channels
      const std::int64_t each = in().c * w.h * w.w;
      if (in().c > kMostSum / (w.h * w.w) || each > kMostExtent / out().c) {
        return Error("has groups=", groups, " over ", in().c,
                     " channels; give groups of one channel, or at most ", kMostSum,
                     " products of all channels and the window, and 2^31 of the whole filter");
      }
    }
    return CheckProductsShape(
        {.name = {},
         .c = out().c,
         .h = Windows(in().h, w.h, w.stride_h, w.pad_top + w.pad_bottom, w.dilation_h),
         .w = Windows(in().w, w.w, w.stride_w, w.pad_left + w.pad_right, w.dilation_w)});
  }

  absl::Status CheckFullyConnected() const {
    if (absl::Status s = CheckProducts(out().c, in().c * in().h * in().w); !s.ok()) return s;
    return CheckProductsShape({.name = {}, .c = out().c});
  }

  // Of a convolution or a fully connected layer; a residual has the output's shape.
  absl::Status CheckProductsShape(const Tensor& wanted) const {
    if (absl::Status s = CheckShape(wanted); !s.ok()) return s;
    if (node_.inputs.size() < 2 || SameShape(in(1), wanted)) return absl::OkStatus();
    return Error("adds \"", in(1).name, "\" of shape ", ShapeOf(in(1)), " to ", ShapeOf(wanted),
                 "; give a residual of the output's shape");
  }

  // A last window may begin inside the image and its leading padding, and end behind the trailing one
  // (ceil_mode of ONNX).
  absl::Status CheckPool() const {
    if (absl::Status s = CheckWindow(); !s.ok()) return s;
    const Window& w = node_.window;
    if (w.pad_top >= (w.h - 1) * w.dilation_h + 1 || w.pad_left >= (w.w - 1) * w.dilation_w + 1) {
      return Error("has padding=", w.pad_top, ", ", w.pad_left,
                   " before the image; give less than the window's ", (w.h - 1) * w.dilation_h + 1,
                   ", ", (w.w - 1) * w.dilation_w + 1, ", so that each window has a pixel");
    }
    const std::int64_t h = Windows(in().h, w.h, w.stride_h, w.pad_top + w.pad_bottom, w.dilation_h);
    const std::int64_t more_h = (h * w.stride_h < in().h + w.pad_top) ? 1 : 0;
    const std::int64_t width =
        Windows(in().w, w.w, w.stride_w, w.pad_left + w.pad_right, w.dilation_w);
    const std::int64_t more_w = (width * w.stride_w < in().w + w.pad_left) ? 1 : 0;
    if (out().c != in().c || out().h < h || out().h > h + more_h || out().w < width ||
        out().w > width + more_w) {
      return Error("writes \"", out().name, "\" of shape ", ShapeOf(out()), "; it makes (", in().c,
                   ", ", h, more_h != 0 ? absl::StrCat(" or ", h + 1) : "", ", ", width,
                   more_w != 0 ? absl::StrCat(" or ", width + 1) : "", ")");
    }
    return absl::OkStatus();
  }

  absl::Status CheckConcat() const {
    Tensor all = in();
    for (std::size_t i = 1; i < node_.inputs.size(); ++i) {
      if (in(i).h != all.h || in(i).w != all.w) {
        return Error("joins ", ShapeOf(in(0)), " and ", ShapeOf(in(i)),
                     "; give images of one height and width");
      }
      all.c += in(i).c;
    }
    return CheckShape(all);
  }

  absl::Status CheckResize() const {
    if (node_.factor_h < 1 || node_.factor_w < 1 || node_.factor_h > kMostExtent ||
        node_.factor_w > kMostExtent) {
      return Error("has factors=[", node_.factor_h, ", ", node_.factor_w, "]; give 1 or more");
    }
    if (!(in().quantization == out().quantization)) {
      return Error(
          "has a source and a destination of other scales or zero points; a resize keeps them");
    }
    return CheckShape(
        {.name = {}, .c = in().c, .h = in().h * node_.factor_h, .w = in().w * node_.factor_w});
  }

  // How many windows fit.
  static std::int64_t Windows(std::int64_t extent, std::int64_t window, std::int64_t stride,
                              std::int64_t padding, std::int64_t dilation) {
    const std::int64_t more = extent + padding - ((window - 1) * dilation + 1);
    return more < 0 ? 0 : more / stride + 1;
  }

  const Graph& graph_;
  const Node& node_;
};

}  // namespace

absl::Status CheckNode(const Graph& graph, const Node& node) {
  return NodeCheck(graph, node).Check();
}

}  // namespace weft::network
