#include "weft/network/operators/tensor_plan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <variant>

#include "weft/gemm/tile/tile.hpp"
#include "weft/network/operators/tensor_kernels.hpp"

namespace weft::network {
namespace {

constexpr std::int64_t kMostFlat = std::numeric_limits<std::int32_t>::max() - 8192;

std::int32_t Int(std::int64_t value) {
  return static_cast<std::int32_t>(value);
}
gemm::FastDivmod Divmod(std::int64_t value) {
  return gemm::FastDivmod(Int(value));
}
Divisor DivisorOf(float value) {
  return {.divisor = value, .reciprocal = 1.0f / value};
}
// Whether steps of quotients by a scale, which kernels of wide accesses take apart, are normal numbers.
bool IsUsual(float scale) {
  return scale > 0x1p-60f && scale < 0x1p60f;
}

int ZeroOf(const TensorType& t) {
  return t.quantization.zero_point;
}
// zero_point: 0 where numbers are asked for, not what they stand for.
ByteNumbers NumbersOf(Element element, int zero_point) {
  const bool is_signed = element == Element::kInt8;
  return {.flip = is_signed ? 0x80808080u : 0u,
          .base = 32768.0f + static_cast<float>((is_signed ? 128 : 0) + zero_point)};
}

// Of floats that have the zero point already.
ByteResult ResultOf(Element element) {
  const auto low = static_cast<float>(LeastOf(element));
  return {.is_signed = element == Element::kInt8, .low = low, .high = low + 255.0f, .add = 0.0f};
}
// Of floats that are rounded before the zero point is added.
ByteResult RoundedFirst(const TensorType& t) {
  ByteResult to = ResultOf(t.element);
  to.low -= static_cast<float>(ZeroOf(t));
  to.high -= static_cast<float>(ZeroOf(t));
  to.add = static_cast<float>(ZeroOf(t));
  return to;
}

std::int64_t StoredChannels(const TensorType& t) {
  return VisitFormat(t.format, [&]<class Layout>() { return Layout::PaddedC(t.extents.c); });
}

TensorView ViewOf(const TensorType& t) {
  TensorView v;
  VisitFormat(t.format, [&]<class Layout>() {
    constexpr auto kRun = static_cast<unsigned>(Layout::kChannelRun);  // 0: all channels
    v.image = Layout::ImageStride(t.extents), v.pixel = Layout::PixelStride(t.extents);
    v.block_stride = kRun == 0 ? 0 : Layout::ChannelOffset(t.extents, kRun);
    v.shift = kRun == 0 ? 31 : std::countr_zero(kRun);
  });
  v.channels = Int(StoredChannels(t));
  for (const int width : {4, 16}) {
    if (width > 4 && t.element == Element::kFloat) break;
    const bool fits = (t.extents.n == 1 || v.image % width == 0) && v.block_stride % width == 0 &&
                      (t.extents.h * t.extents.w == 1 || v.pixel % width == 0) &&
                      width <= std::int64_t{1} << v.shift;
    if (fits) v.width = width;
  }
  return v;
}

// Whether QuantizeImageKernel makes it, of addresses that are multiples of 16.
bool IsImage(const TensorProblem& p) {
  const TensorExtents& e = p.src.extents;
  return p.kind == Kind::kQuantize && p.src.format == Format::kNchw && e.h * e.w % 4 == 0 &&
         ((p.dst.format == Format::kNc4 && e.c <= 4) ||
          (p.dst.format == Format::kNhwc && e.c == 3));
}

// The tensors of a problem as a run sees them: as one row of elements, where they all lie in the same way and
// nothing fills their blocks; an image as one or two rows of pixels.
struct Tensors {
  TensorType src, other, dst;
  bool flat = false;
};

Tensors TensorsOf(const TensorProblem& p, bool has_other) {
  Tensors t = {.src = p.src, .other = has_other ? p.other : p.src, .dst = p.dst};
  const auto like_dst = [&](const TensorType& a) {
    return a.extents == t.dst.extents && a.format == t.dst.format;
  };
  const bool pools = p.kind == Kind::kMaxPool || p.kind == Kind::kAveragePool ||
                     p.kind == Kind::kGlobalAveragePool || p.kind == Kind::kResize;
  t.flat = !pools && like_dst(t.src) && like_dst(t.other) &&
           StoredChannels(t.dst) == t.dst.extents.c && t.dst.size() <= kMostFlat;
  if (IsImage(p)) {
    for (TensorType* tensor : {&t.src, &t.other, &t.dst}) {
      TensorExtents& e = tensor->extents;
      const std::int64_t pixels = e.h * e.w;
      e.h = pixels % 8 == 0 ? 2 : 1, e.w = pixels / e.h;
    }
  }
  if (!t.flat) return t;
  for (TensorType* tensor : {&t.src, &t.other, &t.dst}) {
    tensor->extents = {.n = 1, .c = tensor->size(), .h = 1, .w = 1};
    tensor->format = Format::kNhwc;
  }
  return t;
}

Channels ChannelsOf(const TensorProblem& p, const Tensors& t) {
  Channels c;
  c.count = Int(t.src.extents.c);
  c.begin = Int(p.first_channel);
  c.end = c.begin + c.count;
  if (c.end == t.dst.extents.c) c.end = Int(StoredChannels(t.dst));
  return c;
}

Units UnitsOf(const Tensors& t, const Channels& made, const Share& share) {
  Units u;
  u.share = share, u.end = made.end;
  u.first = made.begin / share.channels * share.channels;
  const std::int64_t groups =
      RoundUp(std::int64_t{made.end} - u.first, share.channels) / share.channels;
  const TensorExtents& e = t.dst.extents;
  const auto has = [&](Format format) {
    return t.src.format == format || t.other.format == format || t.dst.format == format;
  };
  // Where channels are apart neighbours make the next pixel; where all lie side by side, the next channels.
  std::int64_t inner = u.first % 32 == 0 && groups % 2 == 0 ? 2 : 1, outer = 0, rows = e.h;
  if (has(Format::kNhwc)) inner = groups;
  if (has(Format::kNchw) || has(Format::kNc4)) inner = 1;
  outer = groups / inner;
  u.row_pixels = Int(e.w), u.pixels = Int(e.h * e.w);
  if (t.flat) {
    inner = kFlatGroups, outer = 1, rows = gemm::CeilDiv(groups, inner);
    u.row_channels = kFlatGroups * share.channels, u.row_pixels = 0;
  }
  const std::int64_t columns = gemm::CeilDiv(e.w, std::int64_t{share.columns});
  rows = gemm::CeilDiv(rows, std::int64_t{share.rows});
  u.inner = Divmod(inner), u.columns = Divmod(columns), u.rows = Divmod(rows);
  u.outer = Divmod(outer), u.count = Int(e.n * rows * columns * inner * outer);
  return u;
}

bool IsWide(const TensorView& v, Element element) {
  return v.width == (element == Element::kFloat ? 4 : kGroup);
}

// Writes the parts that all parameters have, and says whether accesses are of 16 channels.
template <class Params>
bool Place(const TensorProblem& problem, const Tensors& t, Params* p) {
  p->src = ViewOf(t.src), p->dst = ViewOf(t.dst);
  p->channels = ChannelsOf(problem, t);
  // What a thread loads begins `begin` channels before what it stores.
  while (p->channels.begin % p->src.width != 0) p->src.width = p->src.width == kGroup ? 4 : 1;
  return IsWide(p->src, t.src.element) && IsWide(p->dst, t.dst.element) &&
         p->channels.count % kGroup == 0 && p->channels.begin % kGroup == 0 &&
         p->channels.end % kGroup == 0;
}

TensorPlan PlanPointwise(const TensorProblem& problem) {
  const bool has_other = problem.kind == Kind::kAdd || problem.kind == Kind::kMultiply;
  const Tensors t = TensorsOf(problem, has_other);
  PointwiseParams p;
  TensorPlan plan;
  plan.wide = Place(problem, t, &p);
  plan.in_place = t.flat;
  if (has_other) {
    p.other = ViewOf(t.other);
    if (problem.other.extents != problem.src.extents) p.other.pixel = 0;
    plan.wide = plan.wide && IsWide(p.other, t.other.element);
  }
  const float src = t.src.quantization.scale, other = t.other.quantization.scale,
              dst = t.dst.quantization.scale;
  const float src_zero = static_cast<float>(ZeroOf(t.src)),
              other_zero = static_cast<float>(ZeroOf(t.other)),
              dst_zero = static_cast<float>(ZeroOf(t.dst));
  p.to_dst = ResultOf(t.dst.element);
  std::string table;
  switch (problem.kind) {
    case Kind::kQuantize:
      plan.kernel = TensorKernel::kQuantize;
      if (IsImage(problem)) plan.kernel = TensorKernel::kQuantizeImage, plan.wide = true;
      plan.wide = plan.wide && IsUsual(dst);
      plan.in_place = false;
      p.to_dst = RoundedFirst(t.dst);
      p.least = p.to_dst.low * dst, p.most = p.to_dst.high * dst;
      p.scale = DivisorOf(dst);
      break;
    case Kind::kDequantize:
      plan.kernel = TensorKernel::kDequantize;
      plan.in_place = false;
      p.from_src = NumbersOf(t.src.element, ZeroOf(t.src));
      p.ratio = src;
      break;
    case Kind::kAdd:
      plan.kernel = TensorKernel::kAdd;
      p.from_src = NumbersOf(t.src.element, 0);
      p.from_other = NumbersOf(t.other.element, 0);
      p.ratio = src / dst, p.other_ratio = other / dst;
      p.constant = dst_zero - std::fma(p.ratio, src_zero, p.other_ratio * other_zero);
      break;
    case Kind::kMultiply:
      plan.kernel = TensorKernel::kMultiply;
      p.from_src = NumbersOf(t.src.element, ZeroOf(t.src));
      p.from_other = NumbersOf(t.other.element, ZeroOf(t.other));
      p.ratio = src * other / dst;
      p.constant = dst_zero;
      break;
    case Kind::kResize: {
      plan.kernel = TensorKernel::kResize;
      p.factor_h = Divmod(problem.factor_h), p.factor_w = Divmod(problem.factor_w);
      p.src_w = Int(t.src.extents.w);
      break;
    }
    default:
      table = problem.kind == Kind::kTable ? problem.table : ConvertTable(t.src, t.dst);
      plan.kernel = table.empty() ? TensorKernel::kCopy : TensorKernel::kTable;
      for (std::size_t i = 0; i < table.size(); ++i) {
        p.table[i / 4] |= std::uint32_t{static_cast<unsigned char>(table[i])} << 8 * (i % 4);
      }
      break;
  }
  plan.params = p;
  return plan;
}

// The kernel of a window whose extents it knows, or `any`.
TensorKernel WindowKernel(const TensorProblem& p, TensorKernel any) {
  const Window& w = p.window;
  const bool dilated = (w.dilation_h > 1 && w.h > 1) || (w.dilation_w > 1 && w.w > 1);
  const std::int64_t pixels = p.src.extents.h * p.src.extents.w;
  if (w.h != w.w || w.stride_h != w.stride_w || dilated ||
      pixels * StoredChannels(p.src) > std::numeric_limits<std::int32_t>::max()) {
    return any;
  }
  const auto is = [&](std::int64_t window, std::int64_t stride) {
    return w.h == window && w.stride_h == stride;
  };
  if (p.kind == Kind::kMaxPool) {
    if (is(2, 2)) return TensorKernel::kMaxPool2By2;
    if (is(3, 2)) return TensorKernel::kMaxPool3By3;
    if (is(5, 1)) return TensorKernel::kMaxPool5By5;
    return any;
  }
  const bool inside = w.pad_top == 0 && w.pad_left == 0 && 2 * p.dst.extents.h <= p.src.extents.h &&
                      2 * p.dst.extents.w <= p.src.extents.w;
  return is(2, 2) && inside ? TensorKernel::kAveragePool2By2 : any;
}

TensorPlan PlanPool(const TensorProblem& problem) {
  const Tensors t = TensorsOf(problem, false);
  const Window& w = problem.window;
  PoolParams p;
  TensorPlan plan;
  plan.wide = Place(problem, t, &p);
  plan.kernel =
      problem.kind == Kind::kMaxPool ? TensorKernel::kMaxPool : TensorKernel::kAveragePool;
  if (problem.kind == Kind::kAveragePool) {
    plan.wide = plan.wide && IsUsual(t.src.quantization.scale) && IsUsual(t.dst.quantization.scale);
  }
  if (plan.wide) plan.kernel = WindowKernel(problem, plan.kernel);
  p.src_h = Int(t.src.extents.h), p.src_w = Int(t.src.extents.w);
  p.window_h = Int(w.h), p.window_w = Int(w.w);
  p.stride_h = Int(w.stride_h), p.stride_w = Int(w.stride_w);
  p.pad_top = Int(w.pad_top), p.pad_left = Int(w.pad_left);
  p.dilation_h = Int(w.dilation_h), p.dilation_w = Int(w.dilation_w);
  p.from_src = NumbersOf(t.src.element, ZeroOf(t.src));
  // Of a maximum the least integer, of a sum of real numbers 0.
  p.neutral = problem.kind == Kind::kMaxPool
                  ? p.from_src.flip
                  : 0x01010101u * static_cast<std::uint8_t>(ZeroOf(t.src));
  p.to_dst = ResultOf(t.dst.element);
  p.src_scale = t.src.quantization.scale, p.dst_scale = DivisorOf(t.dst.quantization.scale);
  p.zero_point = static_cast<float>(ZeroOf(t.dst));
  p.taken = {.divisor = 0.0f, .reciprocal = 0.0f};
  if (problem.count_padding || plan.kernel == TensorKernel::kAveragePool2By2) {
    p.taken = DivisorOf(static_cast<float>(w.h * w.w));
  }
  plan.params = p;
  return plan;
}

TensorPlan PlanGlobalAverage(const TensorProblem& problem) {
  const Tensors t = TensorsOf(problem, false);
  GlobalAverageParams p;
  TensorPlan plan;
  plan.wide = Place(problem, t, &p);
  plan.kernel = TensorKernel::kGlobalAverage;
  p.pixels = Int(t.src.extents.h * t.src.extents.w);
  p.flip = NumbersOf(t.src.element, 0).flip;
  // As many threads as fill a GPU, where a thread has four pixels.
  constexpr std::int64_t kThreads = 1 << 16;
  const std::int64_t groups = gemm::CeilDiv(StoredChannels(t.dst), std::int64_t{kGroup});
  while (p.log_parts < kMostLogParts && (4 << p.log_parts) < p.pixels &&
         t.dst.extents.n * groups << p.log_parts < kThreads) {
    ++p.log_parts;
  }
  p.subtract = p.pixels * ((t.src.element == Element::kInt8 ? 128 : 0) + ZeroOf(t.src));
  p.ratio = t.src.quantization.scale / (t.dst.quantization.scale * static_cast<float>(p.pixels));
  p.to_dst = RoundedFirst(t.dst);
  plan.params = p;
  return plan;
}

}  // namespace

std::string ConvertTable(const TensorType& src, const TensorType& dst) {
  if (src.element == dst.element && src.quantization == dst.quantization) return "";
  const ByteResult to = RoundedFirst(dst);
  std::string table(256, '\0');
  for (int byte = 0; byte < 256; ++byte) {
    const int x = src.element == Element::kInt8 && byte >= 128 ? byte - 256 : byte;
    const float real = static_cast<float>(x - ZeroOf(src)) * src.quantization.scale;
    const float steps = std::clamp(real / dst.quantization.scale, to.low, to.high);
    const int rounded = static_cast<int>(std::nearbyint(steps) + to.add);
    table[static_cast<std::size_t>(byte)] = static_cast<char>(rounded);
  }
  return table;
}

namespace {

TensorPlan PlanKind(const TensorProblem& problem) {
  switch (problem.kind) {
    case Kind::kMaxPool:
      return PlanPool(problem);
    case Kind::kAveragePool:
      return IsGlobal(problem) ? PlanGlobalAverage(problem) : PlanPool(problem);
    case Kind::kGlobalAveragePool:
      return PlanGlobalAverage(problem);
    default:
      return PlanPointwise(problem);
  }
}

}  // namespace

TensorPlan PlanTensorOperator(const TensorProblem& problem) {
  TensorPlan plan = PlanKind(problem);
  const Tensors t =
      TensorsOf(problem, problem.kind == Kind::kAdd || problem.kind == Kind::kMultiply);
  const Channels channels = std::visit([](const auto& p) { return p.channels; }, plan.params);
  for (const bool wide : {false, true}) {
    gemm::VisitKernel<TensorKernels>(NumberOf(plan.kernel, wide), [&]<class Kernel>() {
      plan.units[wide ? 1 : 0] = UnitsOf(t, channels, Kernel::kShare);
    });
  }
  return plan;
}

}  // namespace weft::network
