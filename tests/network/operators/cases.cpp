#include "tests/network/operators/cases.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>

#include "absl/strings/str_cat.h"
#include "tests/network/operators/plain_operators.hpp"
#include "tests/pairwise.hpp"
#include "weft/network/graph/names.hpp"

namespace weft::network {
namespace {

std::int64_t OffsetOf(const TensorType& t, std::int64_t n, std::int64_t c, std::int64_t h,
                      std::int64_t w) {
  switch (t.format) {
    case Format::kNhwc:
      return NHWC::Offset(t.extents, n, c, h, w);
    case Format::kNc4:
      return NCxHWx<4>::Offset(t.extents, n, c, h, w);
    case Format::kNc32:
      return NCxHWx<32>::Offset(t.extents, n, c, h, w);
    case Format::kNchw:
      break;
  }
  return NCHW::Offset(t.extents, n, c, h, w);
}

// Writes the numbers of a tensor of type.extents.c channels from channel `first` of a wider one on.
void PackInto(const TensorType& wider, std::int64_t first, TensorExtents e,
              const std::vector<double>& values, std::vector<std::uint8_t>* bytes) {
  ForEach(e,
          [&](std::int64_t place, std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
            const auto at = static_cast<std::size_t>(OffsetOf(wider, n, first + c, h, w));
            const double value = values[static_cast<std::size_t>(place)];
            if (wider.element == Element::kFloat) {
              const float number = static_cast<float>(value);
              std::memcpy(bytes->data() + 4 * at, &number, 4);
            } else {
              (*bytes)[at] = static_cast<std::uint8_t>(static_cast<int>(value));
            }
          });
}

// Zeros in the channels that fill the last block.
void Fill(const TensorType& t, std::vector<std::uint8_t>* bytes) {
  TensorType filled = t;
  const std::int64_t block = t.format == Format::kNc4 ? 4 : t.format == Format::kNc32 ? 32 : 1;
  filled.extents.c = RoundUp(t.extents.c, block);
  TensorExtents filling = t.extents;
  filling.c = filled.extents.c - t.extents.c;
  const std::vector<double> zeros(
      static_cast<std::size_t>(filling.n * filling.c * filling.h * filling.w));
  PackInto(filled, t.extents.c, filling, zeros, bytes);
}

}  // namespace

void Pack(const TensorType& t, const std::vector<double>& values,
          std::vector<std::uint8_t>* bytes) {
  bytes->assign(static_cast<std::size_t>(t.bytes()), 0);
  PackInto(t, 0, t.extents, values, bytes);
}

std::string TensorCase::Name() const {
  const auto text = [](const TensorType& t) {
    return absl::StrCat(NameOf(t.element), " ", NameOf(t.format), " ", t.extents.n, "x",
                        t.extents.c, "x", t.extents.h, "x", t.extents.w, " (", t.quantization.scale,
                        ", ", t.quantization.zero_point, ")");
  };
  const Window& w = problem.window;
  return absl::StrCat(NameOf(problem.kind), " of ", text(problem.src), " and ", text(problem.other),
                      " to ", text(problem.dst), ", window ", w.h, "x", w.w, " stride ", w.stride_h,
                      "x", w.stride_w, " pads ", w.pad_top, ",", w.pad_left, ",", w.pad_bottom, ",",
                      w.pad_right, " from channel ", problem.first_channel, ", offset ", offset);
}

namespace {

constexpr Format kFormats[] = {Format::kNhwc, Format::kNc4, Format::kNc32, Format::kNchw};
constexpr Element kElements[] = {Element::kInt8, Element::kUint8};
constexpr std::int64_t kChannels[] = {1, 3, 4, 16, 20, 32, 48, 64, 67};
struct Image {
  std::int64_t n, h, w;
};
constexpr Image kImages[] = {{1, 1, 1}, {2, 5, 7}, {1, 8, 16}, {3, 9, 6}};
// Of src, other and dst, divided by that of src; equal ones and simple ratios make halves, which are rounded.
struct Scales {
  float src, other, dst;
  int zero;  // of src; others are next to it
};
constexpr Scales kScales[] = {{0.1f, 0.1f, 0.1f, 0},
                              {0.013f, 0.021f, 0.017f, 7},
                              {0.5f, 0.25f, 1.0f, -3},
                              {0.1f, 0.3f, 0.2f, 100}};
constexpr std::int64_t kOffsets[] = {0, 0, 4, 1};
constexpr Window kWindows[] = {
    {.h = 2, .w = 2, .stride_h = 2, .stride_w = 2},
    {.h = 3,
     .w = 3,
     .stride_h = 2,
     .stride_w = 2,
     .pad_top = 1,
     .pad_left = 1,
     .pad_bottom = 1,
     .pad_right = 1},
    {.h = 3, .w = 2, .stride_h = 1, .stride_w = 3, .pad_top = 2, .pad_right = 1, .dilation_h = 2},
    {.h = 1, .w = 1},
    {.h = 0, .w = 0},  // as large as the image
};
// How many channels of dst lie before those of src, and behind.
constexpr std::int64_t kAround[][2] = {{0, 0}, {16, 16}, {3, 0}, {32, 5}, {8, 24}, {0, 1}};

TensorType TypeOf(Element element, Format format, const Image& image, std::int64_t c, float scale,
                  int zero) {
  const int low = element == Element::kInt8 ? -128 : 0;
  TensorType t = {.element = element, .extents = {image.n, c, image.h, image.w}, .format = format};
  if (element != Element::kFloat) {
    t.quantization = {.scale = scale, .zero_point = std::clamp(zero, low, low + 255)};
  }
  return t;
}

std::int64_t Outputs(std::int64_t src, std::int64_t window, std::int64_t stride,
                     std::int64_t dilation, std::int64_t pads, bool ceil) {
  const std::int64_t room = src + pads - ((window - 1) * dilation + 1);
  return room < 0 ? 0 : (room + (ceil ? stride - 1 : 0)) / stride + 1;
}

// Each integer once, in another order.
std::string Table() {
  std::string table;
  for (int i = 0; i < 256; ++i) table.push_back(static_cast<char>(i * 37 + 11));
  return table;
}

// A problem of the kind of a row of choices. False: there is none.
bool MakeProblem(Kind kind, const std::vector<int>& row, TensorProblem* p) {
  const bool floats_in = kind == Kind::kQuantize, floats_out = kind == Kind::kDequantize;
  const Image& image = kImages[row[0]];
  const std::int64_t c = kChannels[row[1]];
  const Scales& scales = kScales[row[2]];
  const Element src = floats_in ? Element::kFloat : kElements[row[6]];
  const bool same = kind == Kind::kMaxPool || kind == Kind::kResize ||
                    (kind == Kind::kConvert && row[9] % 2 == 0);
  const Element dst = floats_out ? Element::kFloat : same ? src : kElements[row[7]];
  p->kind = kind;
  p->src = TypeOf(src, kFormats[row[3]], image, c, scales.src, scales.zero);
  p->other = TypeOf(kElements[row[8]], kFormats[row[5]], image, c, scales.other, scales.zero + 9);
  p->dst = TypeOf(dst, kFormats[row[4]], image, c, scales.dst, scales.zero - 20);
  if (same) p->dst.quantization = p->src.quantization;
  if (kind == Kind::kMultiply && row[9] % 2 == 1) p->other.extents.h = p->other.extents.w = 1;
  if (!floats_in && !floats_out) {
    const auto& around = kAround[kind == Kind::kConvert ? row[9] : (row[9] + row[10]) % 6];
    p->first_channel = kind == Kind::kConvert ? around[0] : RoundUp(around[0], 16);
    p->dst.extents.c += p->first_channel + around[1];
  }
  if (kind == Kind::kTable) p->table = Table();
  if (kind == Kind::kGlobalAveragePool) p->dst.extents.h = p->dst.extents.w = 1;
  if (kind == Kind::kResize) {
    p->factor_h = 1 + row[9] % 3, p->factor_w = 1 + row[9] / 2;
    p->dst.extents.h *= p->factor_h, p->dst.extents.w *= p->factor_w;
  }
  if (kind == Kind::kMaxPool || kind == Kind::kAveragePool) {
    Window& w = p->window = kWindows[row[9] % 5];
    if (w.h == 0) w.h = image.h, w.w = image.w;
    p->count_padding = row[9] % 2 == 1;
    const bool ceil = row[7] == 1;
    p->dst.extents.h =
        Outputs(image.h, w.h, w.stride_h, w.dilation_h, w.pad_top + w.pad_bottom, ceil);
    p->dst.extents.w =
        Outputs(image.w, w.w, w.stride_w, w.dilation_w, w.pad_left + w.pad_right, ceil);
  }
  // The last window of a ceil may lie in the padding.
  return CheckTensorProblem(*p).ok();
}

// The case of a problem, with random numbers.
TensorCase CaseOf(const TensorProblem& problem, std::int64_t offset, std::mt19937& random) {
  TensorCase c;
  c.problem = problem, c.offset = offset;
  const TensorProblem& p = c.problem;
  const auto numbers = [&](const TensorType& t) {
    const TensorExtents& e = t.extents;
    std::vector<double> values(static_cast<std::size_t>(e.n * e.c * e.h * e.w));
    const int low = t.element == Element::kInt8 ? -128 : 0;
    for (double& value : values) {
      value = low + static_cast<int>(random() % 256);
      if (t.element != Element::kFloat) continue;
      // Halves of steps of dst, and what is no number.
      constexpr double kOdd[] = {1e30, -1e30, std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN()};
      value = (value - 128) * 0.5 * static_cast<double>(p.dst.quantization.scale);
      if (random() % 16 == 0) value = kOdd[random() % 4];
      value = static_cast<double>(static_cast<float>(value));
    }
    return values;
  };
  const std::vector<double> src = numbers(p.src), other = numbers(p.other);
  Pack(p.src, src, &c.src);
  Pack(p.other, other, &c.other);
  c.dst.assign(static_cast<std::size_t>(p.dst.bytes()), 0x5a);
  c.want = c.dst;
  TensorExtents made = p.dst.extents;
  made.c = p.src.extents.c;
  PackInto(p.dst, p.first_channel, made, Expected(p, src, other), &c.want);
  if (p.first_channel + made.c == p.dst.extents.c) Fill(p.dst, &c.want);
  return c;
}

// Images of 1 to 4 channels in planes, whose pixels are multiples of 4 or are not, to blocks of 4 channels and to NHWC;
// scales with which a quotient is no normal number, or its divisor has no reciprocal.
void AddImages(std::mt19937& random, std::vector<TensorCase>* cases) {
  constexpr float kImageScales[] = {0.37f, 1.1754942e-38f, 1e-42f, 3e38f, 0.0019607843f};
  int row = 0;
  for (const std::int64_t c : {1, 2, 3, 4}) {
    for (const std::int64_t w : {6, 7, 34}) {
      for (const Format format : {Format::kNc4, Format::kNhwc}) {
        TensorProblem p;
        p.kind = Kind::kQuantize;
        p.src = {.element = Element::kFloat, .extents = {3, c, 34, w}, .format = Format::kNchw};
        p.dst = {.element = c % 2 == 0 ? Element::kInt8 : Element::kUint8,
                 .extents = p.src.extents,
                 .format = format,
                 .quantization = {.scale = 0.37f, .zero_point = c % 2 == 0 ? -7 : 130}};
        for (const std::int64_t offset : {0, 4, 16}) cases->push_back(CaseOf(p, offset, random));
        p.dst.quantization.scale = kImageScales[row++ % 5];
        cases->push_back(CaseOf(p, 0, random));
      }
    }
  }
}

// Images that take more than one row, or column, of a thread, in formats that it loads 16 channels of at a time; windows
// that kernels know.
void AddWide(Kind kind, std::mt19937& random, std::vector<TensorCase>* cases) {
  struct Case {
    std::int64_t window, stride, pad;
  };
  const bool pools = kind == Kind::kMaxPool || kind == Kind::kAveragePool;
  int row = 0;
  for (const Case& w : {Case{2, 2, 0}, {2, 2, 1}, {3, 2, 1}, {5, 1, 2}}) {
    for (const Image& image : {Image{2, 9, 13}, {1, 6, 8}, {3, 3, 5}, {1, 20, 30}}) {
      for (const Format format : {Format::kNhwc, Format::kNc32}) {
        const int zero = row % 3 == 0 ? 100 : -5;
        const std::int64_t c = row % 4 < 2 ? 64 : 32;
        const Element element = kElements[row % 2];
        TensorProblem p;
        p.kind = kind;
        p.src = p.other = p.dst = TypeOf(element, format, image, c, 0.1f, zero);
        if (pools) {
          p.window = {.h = w.window, .w = w.window, .stride_h = w.stride, .stride_w = w.stride};
          p.window.pad_top = p.window.pad_left = w.pad;
          p.window.pad_bottom = w.pad, p.window.pad_right = w.pad / 2;
          p.dst.extents.h = Outputs(image.h, w.window, w.stride, 1, 2 * w.pad, row % 3 == 0);
          p.dst.extents.w =
              Outputs(image.w, w.window, w.stride, 1, w.pad + w.pad / 2, row % 3 == 1);
        }
        if (kind != Kind::kMaxPool && kind != Kind::kResize) {
          p.dst = TypeOf(kElements[row / 2 % 2], row % 5 == 0 ? Format::kNc32 : format,
                         {image.n, p.dst.extents.h, p.dst.extents.w}, c,
                         row % 4 == 0 ? 0.07f
                         : row == 5   ? 1e-20f
                                      : 0.3f,
                         zero + 3);
        }
        if (kind == Kind::kMultiply && row % 2 == 0) p.other.extents.h = p.other.extents.w = 1;
        if (kind == Kind::kResize) {
          p.factor_h = 2 + row % 2, p.factor_w = 2;
          p.dst.extents.h *= p.factor_h, p.dst.extents.w *= p.factor_w;
        }
        if (kind == Kind::kGlobalAveragePool) p.dst.extents.h = p.dst.extents.w = 1;
        if (kind == Kind::kQuantize) p.src.element = Element::kFloat;
        if (kind == Kind::kDequantize) p.dst.element = Element::kFloat;
        if (kind == Kind::kTable) p.table = Table();
        ++row;
        if (CheckTensorProblem(p).ok()) cases->push_back(CaseOf(p, 0, random));
      }
    }
    if (!pools) break;
  }
}

}  // namespace

std::vector<TensorCase> CasesOf(Kind kind) {
  std::vector<TensorCase> cases;
  std::mt19937 random(static_cast<unsigned>(kind) + 1);
  for (const std::vector<int>& row : PairwiseRows({4, 9, 4, 4, 4, 4, 2, 2, 2, 6, 4})) {
    TensorProblem p;
    if (!MakeProblem(kind, row, &p)) continue;
    const bool has_floats = kind == Kind::kQuantize || kind == Kind::kDequantize;
    cases.push_back(CaseOf(p, kOffsets[row[10]] * (has_floats ? 4 : 1), random));
  }
  if (kind == Kind::kQuantize) AddImages(random, &cases);
  AddWide(kind, random, &cases);
  return cases;
}

}  // namespace weft::network
