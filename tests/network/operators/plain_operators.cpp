#include "tests/network/operators/plain_operators.hpp"

#include <algorithm>
#include <cmath>

namespace weft::network {
namespace {

std::size_t PlaceOf(const TensorExtents& e, std::int64_t n, std::int64_t c, std::int64_t h,
                    std::int64_t w) {
  return static_cast<std::size_t>(((n * e.c + c) * e.h + h) * e.w + w);
}

double Saturated(double x, Element element) {
  const double low = element == Element::kInt8 ? -128.0 : 0.0;
  return std::clamp(x, low, low + 255.0);
}

float ScaleOf(const TensorType& t) {
  return t.quantization.scale;
}
float ZeroOf(const TensorType& t) {
  return static_cast<float>(t.quantization.zero_point);
}

// x rounded, with the zero point added afterwards.
double RoundThenAdd(float x, const TensorType& dst) {
  if (std::isnan(x)) return Saturated(-1e9, dst.element);
  return Saturated(std::nearbyint(static_cast<double>(x)) + dst.quantization.zero_point,
                   dst.element);
}
double AddThenRound(float x, const TensorType& dst) {
  const float sum = x + ZeroOf(dst);
  return Saturated(std::nearbyint(static_cast<double>(sum)), dst.element);
}

double Averaged(const TensorProblem& p, const std::vector<double>& src, std::int64_t n,
                std::int64_t c, std::int64_t h, std::int64_t w) {
  const Window& win = p.window;
  const TensorExtents& e = p.src.extents;
  double most = -1e9;
  float sum = 0.0f;
  std::int64_t count = 0;
  for (std::int64_t r = 0; r < win.h; ++r) {
    for (std::int64_t s = 0; s < win.w; ++s) {
      const std::int64_t y = h * win.stride_h - win.pad_top + r * win.dilation_h;
      const std::int64_t x = w * win.stride_w - win.pad_left + s * win.dilation_w;
      if (y < 0 || y >= e.h || x < 0 || x >= e.w) continue;
      const double value = src[PlaceOf(e, n, c, y, x)];
      most = std::max(most, value);
      const float real = (static_cast<float>(value) - ZeroOf(p.src)) * ScaleOf(p.src);
      sum = sum + real;
      ++count;
    }
  }
  if (p.kind == Kind::kMaxPool) return most;
  const float average = sum / static_cast<float>(p.count_padding ? win.h * win.w : count);
  return AddThenRound(average / ScaleOf(p.dst), p.dst);
}

double GlobalAverage(const TensorProblem& p, const std::vector<double>& src, std::int64_t n,
                     std::int64_t c) {
  const TensorExtents& e = p.src.extents;
  double sum = 0;
  for (std::int64_t i = 0; i < e.h * e.w; ++i) {
    sum += src[PlaceOf(e, n, c, 0, 0) + static_cast<std::size_t>(i)] - ZeroOf(p.src);
  }
  const float ratio = ScaleOf(p.src) / (ScaleOf(p.dst) * static_cast<float>(e.h * e.w));
  return RoundThenAdd(static_cast<float>(sum) * ratio, p.dst);
}

double Sum(const TensorProblem& p, float a, float b) {
  const float ra = ScaleOf(p.src) / ScaleOf(p.dst), rb = ScaleOf(p.other) / ScaleOf(p.dst);
  const float of_other = rb * ZeroOf(p.other);
  const float constant = ZeroOf(p.dst) - std::fma(ra, ZeroOf(p.src), of_other);
  const float sum = std::fma(ra, a, std::fma(rb, b, constant));
  return Saturated(std::nearbyint(static_cast<double>(sum)), p.dst.element);
}

double Product(const TensorProblem& p, float a, float b) {
  const float scale = ScaleOf(p.src) * ScaleOf(p.other);
  const float ratio = scale / ScaleOf(p.dst);
  return AddThenRound(ratio * ((a - ZeroOf(p.src)) * (b - ZeroOf(p.other))), p.dst);
}

double Looked(const TensorProblem& p, double x) {
  const auto found =
      static_cast<std::uint8_t>(p.table[static_cast<std::size_t>(static_cast<int>(x) & 255)]);
  return p.dst.element == Element::kInt8 ? static_cast<std::int8_t>(found) : found;
}

}  // namespace

std::vector<double> Expected(const TensorProblem& p, const std::vector<double>& src,
                             const std::vector<double>& other) {
  const TensorExtents from = p.src.extents;
  TensorExtents to = p.dst.extents;
  to.c = from.c;
  std::vector<double> made(static_cast<std::size_t>(to.n * to.c * to.h * to.w));
  ForEach(to, [&](std::int64_t place, std::int64_t n, std::int64_t c, std::int64_t h,
                  std::int64_t w) {
    double& y = made[static_cast<std::size_t>(place)];
    const bool all = p.window.h == from.h && p.window.w == from.w && p.window.pad_top == 0 &&
                     p.window.pad_left == 0 && p.window.pad_bottom == 0 && p.window.pad_right == 0;
    if (p.kind == Kind::kGlobalAveragePool || (p.kind == Kind::kAveragePool && all)) {
      y = GlobalAverage(p, src, n, c);
      return;
    }
    if (p.kind == Kind::kMaxPool || p.kind == Kind::kAveragePool) {
      y = Averaged(p, src, n, c, h, w);
      return;
    }
    const double x = src[PlaceOf(from, n, c, h / p.factor_h, w / p.factor_w)];
    const float number = static_cast<float>(x);
    const float real = (number - ZeroOf(p.src)) * ScaleOf(p.src);
    if (p.kind == Kind::kQuantize) y = RoundThenAdd(number / ScaleOf(p.dst), p.dst);
    if (p.kind == Kind::kDequantize) y = real;
    if (p.kind == Kind::kResize) y = x;
    if (p.kind == Kind::kTable) y = Looked(p, x);
    if (p.kind == Kind::kConvert) {
      const bool same = p.src.element == p.dst.element && p.src.quantization == p.dst.quantization;
      y = same ? x : RoundThenAdd(real / ScaleOf(p.dst), p.dst);
    }
    if (p.kind != Kind::kAdd && p.kind != Kind::kMultiply) return;
    const TensorExtents& e = p.other.extents;
    const float factor =
        static_cast<float>(other[e.h * e.w == 1 ? PlaceOf(e, n, c, 0, 0) : PlaceOf(e, n, c, h, w)]);
    y = p.kind == Kind::kAdd ? Sum(p, number, factor) : Product(p, number, factor);
  });
  return made;
}

}  // namespace weft::network
