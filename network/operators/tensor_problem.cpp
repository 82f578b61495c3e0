#include "weft/network/operators/tensor_problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "weft/network/operators/tensor_view.hpp"

namespace weft::network {
namespace {

// Kernels count pixels, channels and groups of these in 32 bits, a little beyond the last one.
constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max() - 8192;

std::string Shape(const TensorExtents& e) {
  return absl::StrCat(e.n, "x", e.c, "x", e.h, "x", e.w);
}

// Most pixels of a global average: 255 times as many are still a sum in 32 bits.
constexpr std::int64_t kMostPixels = std::numeric_limits<std::int32_t>::max() / 255;

// Checks of one problem, whose sentences begin with its kind.
class Checks {
 public:
  explicit Checks(const TensorProblem& problem) : p_(problem) {}

  absl::Status All() const {
    for (const auto& check : {&Checks::Kinds, &Checks::Tensors, &Checks::Shapes, &Checks::Windows,
                              &Checks::Quantizations}) {
      if (absl::Status s = (this->*check)(); !s.ok()) return s;
    }
    return absl::OkStatus();
  }

 private:
  bool Has(Kind kind) const { return p_.kind == kind; }
  bool HasFloats() const { return Has(Kind::kQuantize) || Has(Kind::kDequantize); }
  bool HasOther() const { return Has(Kind::kAdd) || Has(Kind::kMultiply); }
  bool HasWindow() const { return Has(Kind::kMaxPool) || Has(Kind::kAveragePool); }

  template <class... Parts>
  absl::Status Wrong(const Parts&... parts) const {
    return absl::InvalidArgumentError(absl::StrCat("network: ", NameOf(p_.kind), ": ", parts...));
  }

  absl::Status Kinds() const {
    if (Has(Kind::kConvolution) || Has(Kind::kFullyConnected) || Has(Kind::kConcat)) {
      return Wrong("kind=", NameOf(p_.kind),
                   " is no TensorOperator; use a convolution, or a convert for each input of a "
                   "concat");
    }
    if (Has(Kind::kTable) && p_.table.size() != 256) {
      return Wrong("table has ", p_.table.size(), " bytes; give 256, one for each byte of src");
    }
    if (HasFloats() && p_.first_channel != 0) {
      return Wrong("first_channel=", p_.first_channel, "; give 0, or a convert behind it");
    }
    if (!Has(Kind::kConvert) && p_.first_channel % kGroup != 0) {
      return Wrong("first_channel=", p_.first_channel, " is not a multiple of ", kGroup,
                   "; give one, or a convert behind it");
    }
    return absl::OkStatus();
  }

  absl::Status Tensors() const {
    const Element from = Has(Kind::kQuantize) ? Element::kFloat : Element::kInt8;
    const Element to = Has(Kind::kDequantize) ? Element::kFloat : Element::kInt8;
    if (absl::Status s = OneTensor("src", p_.src, from); !s.ok()) return s;
    if (absl::Status s = OneTensor("dst", p_.dst, to); !s.ok()) return s;
    return HasOther() ? OneTensor("other", p_.other, Element::kInt8) : absl::OkStatus();
  }

  // like: kFloat, or any integers.
  absl::Status OneTensor(const char* field, const TensorType& t, Element like) const {
    const TensorExtents& e = t.extents;
    if ((t.element == Element::kFloat) != (like == Element::kFloat)) {
      return Wrong(field, ".element=", NameOf(t.element), "; give ",
                   like == Element::kFloat ? "float" : "int8 or uint8");
    }
    const std::int64_t extents[] = {e.n, e.c, e.h, e.w};
    for (const std::int64_t extent : extents) {
      if (extent < 0) return Wrong(field, " is of ", Shape(e), "; give extents of 0 or more");
      if (extent > kMost) return TooLarge(field, e);
    }
    const std::int64_t pixels = e.h * e.w, groups = e.c / 16 + 2;
    if (pixels > kMost || (pixels > 0 && groups > kMost / pixels) ||
        (e.n > 0 && pixels > 0 && groups * pixels > kMost / e.n)) {
      return TooLarge(field, e);
    }
    if (t.element == Element::kFloat) return absl::OkStatus();
    const Quantization& q = t.quantization;
    if (!(q.scale > 0.0f) || !std::isfinite(q.scale)) {
      return Wrong(field, ".quantization.scale=", q.scale, "; give a finite number above 0");
    }
    const std::int32_t low = LeastOf(t.element);
    if (q.zero_point < low || q.zero_point > low + 255) {
      return Wrong(field, ".quantization.zero_point=", q.zero_point, " is no ", NameOf(t.element),
                   "; give ", low, " to ", low + 255);
    }
    return absl::OkStatus();
  }

  absl::Status TooLarge(const char* field, const TensorExtents& e) const {
    return absl::OutOfRangeError(
        absl::StrCat("network: ", NameOf(p_.kind), ": ", field, " of ", Shape(e), " has more than ",
                     kMost, " groups of 16 channels of a pixel; split the batch"));
  }

  absl::Status Shapes() const {
    const TensorExtents &src = p_.src.extents, &dst = p_.dst.extents, &other = p_.other.extents;
    if (HasOther() && other != src) {
      const TensorExtents pixel = {src.n, src.c, 1, 1};
      if (!Has(Kind::kMultiply) || other != pixel) {
        return Wrong("other is of ", Shape(other), "; give ", Shape(src), " as src",
                     Has(Kind::kMultiply) ? absl::StrCat(", or ", Shape(pixel)) : "");
      }
    }
    TensorExtents want = src;
    if (!HasFloats() && (p_.first_channel != 0 || dst.c != src.c)) {
      if (p_.first_channel < 0 || p_.first_channel > dst.c - src.c) {
        return Wrong("first_channel=", p_.first_channel, " and src.c=", src.c,
                     " leave the channels of dst.c=", dst.c, "; give a first_channel of 0 to ",
                     std::max<std::int64_t>(dst.c - src.c, 0), " or a wider dst");
      }
      want.c = dst.c;
    }
    if (Has(Kind::kGlobalAveragePool)) want.h = want.w = 1;
    if (Has(Kind::kResize)) {
      for (const std::int64_t factor : {p_.factor_h, p_.factor_w}) {
        if (factor < 1 || factor > kMost) {
          return Wrong("factor_h=", p_.factor_h, " and factor_w=", p_.factor_w,
                       "; give 1 or more of each");
        }
      }
      want.h *= p_.factor_h, want.w *= p_.factor_w;
    }
    if (HasWindow()) want.h = dst.h, want.w = dst.w;  // Windows has their rules
    if (dst != want) return Wrong("dst is of ", Shape(dst), "; give ", Shape(want));
    return absl::OkStatus();
  }

  absl::Status Windows() const {
    const TensorExtents &src = p_.src.extents, &dst = p_.dst.extents;
    if (!HasWindow()) return absl::OkStatus();
    const Window& w = p_.window;
    if (absl::Status s = OneWindow("h", src.h, dst.h, w.h, w.stride_h, w.dilation_h, "pad_top",
                                   w.pad_top, "pad_bottom", w.pad_bottom);
        !s.ok()) {
      return s;
    }
    return OneWindow("w", src.w, dst.w, w.w, w.stride_w, w.dilation_w, "pad_left", w.pad_left,
                     "pad_right", w.pad_right);
  }

  absl::Status OneWindow(const std::string& axis, std::int64_t src, std::int64_t dst,
                         std::int64_t window, std::int64_t stride, std::int64_t dilation,
                         const std::string& first, std::int64_t before, const std::string& last,
                         std::int64_t behind) const {
    const auto at_least = [&](const std::string& field, std::int64_t value, std::int64_t least) {
      if (value >= least && value <= kMost) return absl::OkStatus();
      return Wrong("window.", field, "=", value, "; give ", least, " to ", kMost);
    };
    for (const absl::Status& s : {at_least(axis, window, 1), at_least("stride_" + axis, stride, 1),
                                  at_least("dilation_" + axis, dilation, 1),
                                  at_least(first, before, 0), at_least(last, behind, 0)}) {
      if (!s.ok()) return s;
    }
    const std::int64_t reach = (window - 1) * dilation + 1, padded = src + before + behind;
    if (reach > kMost || padded + stride > kMost) {
      return Wrong("window.", axis, "=", window,
                   " with its stride, dilation and padding reaches over more than ", kMost,
                   " pixels");
    }
    if (src == 0 && dst == 0) return absl::OkStatus();
    const std::int64_t room = padded - reach;
    const std::int64_t floor = room < 0 ? 0 : room / stride + 1;
    const std::int64_t ceil = room < 0 ? 0 : (room + stride - 1) / stride + 1;
    if (dst != floor && dst != ceil) {
      return Wrong("dst.", axis, "=", dst, "; give ", floor,
                   floor == ceil ? "" : absl::StrCat(" or ", ceil), ", which src.", axis, "=", src,
                   " and the window make");
    }
    // Of a window that begins in src its first pixel is there.
    for (std::int64_t i = 0; i < dst; ++i) {
      const std::int64_t begin = i * stride - before;
      if (begin >= 0 && begin < src) {
        i = std::max(i, dst - 2);
        continue;
      }
      const std::int64_t tap = begin >= 0 ? 0 : (-begin + dilation - 1) / dilation;
      if (tap >= window || begin + tap * dilation >= src) {
        return Wrong("window.", first, "=", before, " and window.", last, "=", behind,
                     ": the window of dst.", axis, "'s ", i,
                     " has no pixel of src; give less padding, or a smaller dst");
      }
    }
    return absl::OkStatus();
  }

  absl::Status Quantizations() const {
    if (Has(Kind::kMaxPool) || Has(Kind::kResize)) {
      if (p_.src.element != p_.dst.element || p_.src.quantization != p_.dst.quantization) {
        return Wrong(
            "dst has another element, scale or zero point than src; give the same, and a "
            "convert behind it");
      }
    }
    const float src = p_.src.quantization.scale, dst = p_.dst.quantization.scale;
    const std::int64_t pixels = p_.src.extents.h * p_.src.extents.w;
    if (Has(Kind::kAdd) && !std::isfinite(src / dst * 255.0f)) return Ratio("src", src, dst);
    if (HasOther()) {
      const float other = p_.other.quantization.scale;
      const float ratio = Has(Kind::kAdd) ? other / dst : src * other / dst;
      if (!std::isfinite(ratio * 255.0f)) return Ratio("other", other, dst);
    }
    if (Has(Kind::kAveragePool)) {
      const float taps = static_cast<float>(p_.window.h) * static_cast<float>(p_.window.w);
      if (!std::isfinite(taps * 255.0f * src) || !std::isfinite(src / (dst * taps))) {
        return Ratio("src", src, dst);
      }
    }
    if (Has(Kind::kGlobalAveragePool) && p_.src.extents.n > 0 && p_.src.extents.c > 0) {
      if (pixels < 1 || pixels > kMostPixels) {
        return Wrong("src is of ", Shape(p_.src.extents), "; give 1 to ", kMostPixels, " pixels");
      }
      if (!std::isfinite(src / (dst * static_cast<float>(pixels)))) return Ratio("src", src, dst);
    }
    return absl::OkStatus();
  }

  absl::Status Ratio(const char* field, float scale, float dst) const {
    return Wrong(field, ".quantization.scale=", scale, " and dst.quantization.scale=", dst,
                 " are so far apart that floats do not reach; give scales nearer to each other");
  }

  const TensorProblem& p_;
};

}  // namespace

bool IsGlobal(const TensorProblem& p) {
  const Window& w = p.window;
  return w.h == p.src.extents.h && w.w == p.src.extents.w && w.h * w.w <= kMostPixels &&
         w.pad_top == 0 && w.pad_left == 0 && w.pad_bottom == 0 && w.pad_right == 0;
}

absl::Status CheckTensorProblem(const TensorProblem& problem) {
  return Checks(problem).All();
}

}  // namespace weft::network
