// The examples of docs/quantization.md: the code there is quoted from here, and the last test
// checks that it is. The others compare with the formulas of ONNX, exactly.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "weft/conv/convolution.hpp"
#include "weft/layouts/packed_filter.hpp"
#include "weft/layouts/packing.hpp"

namespace weft::conv {

using namespace epilogues;  // NOLINT: as the guide does

// clang-format off
// Rounds before the zero point is added, as ONNX, TFLite and PyTorch do.
struct RoundFirst {
  constexpr float operator()(float x) const {
    return static_cast<float>(RoundHalfEvenSmall(Clamp(x, -1024.0f, 1024.0f)));
  }
};

struct QLinearConv {
  using Element = std::int8_t;
  using SrcLayout = NCxHWx<4>;
  using FilterLayout = CxRSKx<4>;
  using DstLayout = NCxHWx<4>;
  using Prologue = prologues::SharedFilter;
  using Epilogue = Chain<SumBias, Scale, RoundFirst, ClampTo<std::uint8_t>>;
  static constexpr auto config = kSimt32x32;
};

struct FloatBiasConv : QLinearConv {
  using Epilogue = Chain<Scale, Bias<float>, RoundFirst, ClampTo<std::uint8_t>>;
};

// filter: K C R S. zx: the source's zero point.
std::vector<std::int32_t> FoldZeroPoint(std::vector<std::int32_t> bias, const std::vector<std::int8_t>& filter, std::int32_t zx) {
  const std::size_t taps = filter.size() / bias.size();  // C R S
  for (std::size_t i = 0; i < filter.size(); ++i) bias[i / taps] -= zx * filter[i];
  return bias;
}

// sx, sy: scales of source and destination; sw: the filter's, one per output channel.
std::vector<float> ChannelAlpha(float sx, const std::vector<float>& sw, float sy) {
  std::vector<float> alpha;
  for (const float s : sw) alpha.push_back(sx * s / sy);
  return alpha;
}

// x: N C H W, as uint8. Its zero point becomes zx - 128.
std::vector<std::int8_t> ToSigned(const std::vector<std::uint8_t>& x) {
  std::vector<std::int8_t> result;
  for (const std::uint8_t value : x) result.push_back(static_cast<std::int8_t>(value - 128));
  return result;
}

// x: N C H W of extents e, with `pad` rows and columns of `zx` around each image.
std::vector<std::int8_t> Pad(const std::vector<std::int8_t>& x, const TensorExtents& e, std::int64_t pad, std::int8_t zx) {
  const TensorExtents padded = {e.n, e.c, e.h + 2 * pad, e.w + 2 * pad};
  std::vector<std::int8_t> result(NCHW::Size(padded), zx);
  for (std::int64_t i = 0; i < NCHW::Size(e); ++i) {
    const std::int64_t w = i % e.w, h = i / e.w % e.h, c = i / (e.w * e.h) % e.c, n = i / (e.w * e.h * e.c);
    result[NCHW::Offset(padded, n, c, h + pad, w + pad)] = x[i];
  }
  return result;
}
// clang-format on

namespace {

template <class T>
std::vector<T> Random(std::mt19937& engine, std::size_t count, int low, int high) {
  std::uniform_int_distribution<int> pick(low, high);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(pick(engine));
  return values;
}

// ONNX's QLinearConv: saturate(round((x_scale w_scale / y_scale) (sum (x - zx) w + b)) + zy), where
// taps outside the image are zx. x is N C H W.
template <class X>
std::vector<std::uint8_t> Onnx(const Problem& p, const std::vector<X>& x, int zx,
                               const std::vector<std::int8_t>& w,
                               const std::vector<std::int32_t>& b, const std::vector<float>& scale,
                               int zy) {
  std::vector<std::uint8_t> y;
  for (std::int64_t i = 0; i < p.n * p.k * p.p() * p.q(); ++i) {
    const std::int64_t column = i % p.q(), row = i / p.q() % p.p();
    const std::int64_t k = i / (p.q() * p.p()) % p.k, n = i / (p.q() * p.p() * p.k);
    std::int32_t sum = b[k];
    for (std::int64_t t = 0; t < p.c * p.r * p.s; ++t) {
      const std::int64_t h = row + t / p.s % p.r - p.pad_top, q = column + t % p.s - p.pad_left;
      if (h < 0 || h >= p.h || q < 0 || q >= p.w) continue;
      const std::int64_t c = t / (p.s * p.r);
      sum += (int{x[((n * p.c + c) * p.h + h) * p.w + q]} - zx) * w[k * p.c * p.r * p.s + t];
    }
    const float rounded = std::nearbyint(static_cast<float>(sum) * scale[k]);
    y.push_back(static_cast<std::uint8_t>(
        std::min(std::max(rounded + static_cast<float>(zy), 0.0f), 255.0f)));
  }
  return y;
}

template <class P>
std::vector<std::uint8_t> RunHere(const Problem& p, const std::vector<std::int8_t>& x,
                                  const std::vector<std::int8_t>& w,
                                  const typename Convolution<P>::BiasElement* bias,
                                  const std::vector<float>& alpha, float zero_point) {
  const auto src = ConvertTensor<NCHW, NCxHWx<4>, std::int8_t>(p.src(), x);
  const auto filter = PackFilter<CxRSKx<4>, KCRS, std::int8_t>(p.filter(), w);
  const auto op = Convolution<P>::Create(p);
  EXPECT_TRUE(src.ok() && filter.ok() && op.ok()) << op.status();
  std::vector<std::uint8_t> dst(op->dst_size());
  const absl::Status s = op->RunOnCpu({.src = src->data(),
                                       .filter = filter->view(),
                                       .bias = bias,
                                       .dst = dst.data(),
                                       .channel_alpha = alpha.data(),
                                       .zero_point = zero_point});
  EXPECT_TRUE(s.ok()) << s;
  return *ConvertTensor<NCxHWx<4>, NCHW, std::uint8_t>(p.dst(), dst);
}

struct Layer {
  Problem problem{.n = 2, .h = 7, .w = 6, .c = 5, .k = 9, .r = 3, .s = 3};
  std::mt19937 engine{7};
  std::vector<std::int8_t> w = Random<std::int8_t>(engine, 9 * 5 * 9, -127, 127);
  std::vector<std::int32_t> b = Random<std::int32_t>(engine, 9, -9000, 9000);
  std::vector<float> sw = {0.5f, 0.25f, 1.0f, 0.3f, 0.7f, 0.11f, 0.9f, 0.0625f, 0.125f};
  std::vector<float> alpha = ChannelAlpha(0.02f, sw, 1.7f);
};

TEST(Quantization, SymmetricSourceWithPadding) {
  Layer l;
  Problem p = l.problem;
  p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = 1;
  const auto x = Random<std::int8_t>(l.engine, NCHW::Size(p.src()), -128, 127);
  for (const int zy : {0, 128, 131}) {
    EXPECT_EQ(RunHere<QLinearConv>(p, x, l.w, l.b.data(), l.alpha, static_cast<float>(zy)),
              Onnx(p, x, 0, l.w, l.b, l.alpha, zy));
  }
}

// A source of uint8 whose zero point is not 0: folded into the bias, the padding written out.
TEST(Quantization, AsymmetricSourceWithPadding) {
  Layer l;
  Problem p = l.problem;
  p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = 1;
  const auto x = Random<std::uint8_t>(l.engine, NCHW::Size(p.src()), 0, 255);
  const int zx = 113, zy = 7;
  // clang-format off
  const auto bias = FoldZeroPoint(l.b, l.w, zx - 128);
  const auto padded = Pad(ToSigned(x), p.src(), 1, zx - 128);
  Problem inside = p;
  inside.h += 2, inside.w += 2;
  inside.pad_top = inside.pad_left = inside.pad_bottom = inside.pad_right = 0;
  // clang-format on
  EXPECT_EQ(RunHere<QLinearConv>(inside, padded, l.w, bias.data(), l.alpha, zy),
            Onnx(p, x, zx, l.w, l.b, l.alpha, zy));
}

// Ties are where the order of rounding and zero point shows: 0.5 + 7 is 7 in ONNX, 8 without
// RoundFirst.
TEST(Quantization, TiesRoundBeforeTheZeroPoint) {
  const StageInputs in{.accumulator = 1, .alpha = 0.5f, .zero_point = 7.0f};
  EXPECT_EQ((Chain<SumBias, Scale, RoundFirst, ClampTo<std::uint8_t>>{}(in, {})), 7);
  EXPECT_EQ((Chain<SumBias, Scale, ClampTo<std::uint8_t>>{}(in, {})), 8);
}

// The real bias of a float model, in the output's steps: within one of the quantised bias.
TEST(Quantization, FloatBias) {
  Layer l;
  const auto x = Random<std::int8_t>(l.engine, NCHW::Size(l.problem.src()), -128, 127);
  std::vector<float> bias;
  const float sx = 0.02f, sy = 1.7f;
  for (std::size_t k = 0; k < l.b.size(); ++k) {
    const float real = static_cast<float>(l.b[k]) * (sx * l.sw[k]);
    bias.push_back(real / sy);
  }
  const auto got = RunHere<FloatBiasConv>(l.problem, x, l.w, bias.data(), l.alpha, 128.0f);
  const auto want = Onnx(l.problem, x, 0, l.w, l.b, l.alpha, 128);
  for (std::size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 1);
}

std::string Trimmed(const std::string& line) {
  const auto first = line.find_first_not_of(' ');
  return first == std::string::npos ? std::string() : line.substr(first);
}

TEST(Quantization, TheGuideQuotesThisFile) {
  std::set<std::string> lines;
  std::ifstream source(__FILE__);
  for (std::string line; std::getline(source, line);) lines.insert(Trimmed(line));
  std::ifstream guide(std::filesystem::path(__FILE__).parent_path() / "../../docs/quantization.md");
  bool in_code = false;
  int quoted = 0;
  for (std::string line; std::getline(guide, line);) {
    if (line.rfind("```", 0) == 0) {
      in_code = line == "```cpp";
    } else if (in_code && !Trimmed(line).empty()) {
      EXPECT_TRUE(lines.count(Trimmed(line))) << "not in quantization_test.cpp: " << line;
      ++quoted;
    }
  }
  EXPECT_GT(quoted, 30);
}

}  // namespace
}  // namespace weft::conv
