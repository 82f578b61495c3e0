// The examples of docs/quantization.md: the code there is quoted from here and from
// tests/onnx/{run_node,activation_forms}.hpp, and the last test checks that it is. The others compare with the formulas
// of ONNX, exactly.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/onnx/run_node.hpp"
#include "weft/conv/convolution.hpp"
#include "weft/layouts/packed_filter.hpp"
#include "weft/layouts/packing.hpp"

namespace weft::conv {

using namespace epilogues;  // NOLINT: as the guide does

// clang-format off
struct QLinearConv {
  using Element = std::uint8_t;
  using SrcLayout = NCxHWx<4>;
  using FilterLayout = CxRSKx<4>;
  using DstLayout = NCxHWx<4>;
  using Prologue = prologues::SharedFilter;
  using Epilogue = Chain<SourceZeroPoint, SumBias, Scale, RoundFirst, ClampTo<std::uint8_t>>;
  static constexpr auto config = kSimt32x32;
};

struct WithFilterZeroPoint : QLinearConv {
  using Epilogue = Chain<SourceZeroPoint, FilterZeroPoint, SumBias, Scale, RoundFirst, ClampTo<std::uint8_t>>;
};

struct SymmetricConv : QLinearConv {
  using Element = std::int8_t;
  using Epilogue = Chain<SumBias, Scale, RoundFirst, ClampTo<std::uint8_t>>;
};

struct FloatBiasConv : SymmetricConv {
  using Epilogue = Chain<Scale, Bias<float>, RoundFirst, ClampTo<std::uint8_t>>;
};

struct Int4Conv : SymmetricConv {
  using FilterLayout = PackedInt4<CxRSKx<4>>;
};

struct Int4Output : Int4Conv {
  using DstLayout = PairedInt4<NCxHWx<64>>;
  using Epilogue = Chain<SumBias, Scale, RoundFirst, ClampTo<std::uint8_t, 0, 15>>;
  static constexpr auto config = WithDstAlignment(kSimt32x32, 2);  // 4 channels a store
};

using FirstOf4Bits = U4Conv64<Chain<SumBias, Scale, RoundFirst, ClampTo<std::uint8_t, 0, 15>>>;
using LastOf4Bits = U4Conv64<Chain<SumBias, Scale, RoundFirst, ClampTo<std::uint8_t>>, NCxHWx<4>>;

// w: [K][C][R][S]. Of each output channel the value of greatest magnitude becomes 7 or -7.
inline std::vector<std::int8_t> ToInt4(const std::vector<float>& w, std::vector<float>* sw) {
  std::vector<std::int8_t> result;
  const std::size_t channel = w.size() / sw->size();
  for (std::size_t k = 0; k < sw->size(); ++k) {
    float greatest = 0.0f;
    for (std::size_t i = 0; i < channel; ++i) greatest = std::fmax(greatest, std::fabs(w[k * channel + i]));
    (*sw)[k] = greatest > 0.0f ? greatest / 7.0f : 1.0f;
    for (std::size_t i = 0; i < channel; ++i) result.push_back(static_cast<std::int8_t>(std::nearbyint(w[k * channel + i] / (*sw)[k])));
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
template <class X, class W>
std::vector<std::uint8_t> Onnx(const Problem& p, const std::vector<X>& x, int zx,
                               const std::vector<W>& w, int zw, const std::vector<std::int32_t>& b,
                               const std::vector<float>& scale, int zy) {
  std::vector<std::uint8_t> y;
  for (std::int64_t i = 0; i < p.n * p.k * p.p() * p.q(); ++i) {
    const std::int64_t column = i % p.q(), row = i / p.q() % p.p();
    const std::int64_t k = i / (p.q() * p.p()) % p.k, n = i / (p.q() * p.p() * p.k);
    std::int32_t sum = b[k];
    for (std::int64_t t = 0; t < p.c * p.r * p.s; ++t) {
      const std::int64_t h = row + t / p.s % p.r - p.pad_top, q = column + t % p.s - p.pad_left;
      if (h < 0 || h >= p.h || q < 0 || q >= p.w) continue;
      const std::int64_t c = t / (p.s * p.r);
      sum += (int{x[((n * p.c + c) * p.h + h) * p.w + q]} - zx) *
             (int{w[k * p.c * p.r * p.s + t]} - zw);
    }
    const float rounded = std::nearbyint(static_cast<float>(sum) * scale[k]);
    y.push_back(static_cast<std::uint8_t>(
        std::min(std::max(rounded + static_cast<float>(zy), 0.0f), 255.0f)));
  }
  return y;
}

template <class P>
std::vector<std::uint8_t> RunHere(const Problem& p, const std::vector<typename P::Element>& x,
                                  const std::vector<std::int8_t>& w,
                                  const typename Convolution<P>::BiasElement* bias,
                                  const std::vector<float>& alpha, float zero_point) {
  const auto src = ConvertTensor<NCHW, typename P::SrcLayout>(p.src(), x);
  const auto filter = PackFilter<typename P::FilterLayout, KCRS, std::int8_t>(p.filter(), w);
  const auto op = Convolution<P>::Create(p);
  EXPECT_TRUE(src.ok() && filter.ok() && op.ok()) << op.status();
  EXPECT_EQ(static_cast<std::size_t>(op->src_bytes()), src->size());
  const OperatorMemory<typename P::Element> memory(*src);  // aligned as operators want it
  std::vector<std::uint8_t> dst(static_cast<std::size_t>(op->dst_bytes()));
  const absl::Status s = op->RunOnCpu({.src = memory.get(),
                                       .filter = filter->view(),
                                       .bias = bias,
                                       .dst = dst.data(),
                                       .channel_alpha = alpha.data(),
                                       .zero_point = zero_point});
  EXPECT_TRUE(s.ok()) << s;
  return *ConvertTensor<typename P::DstLayout, NCHW, std::uint8_t>(p.dst(), dst);
}

struct Layer {
  Problem problem{.n = 2, .h = 7, .w = 6, .c = 5, .k = 9, .r = 3, .s = 3};
  std::mt19937 engine{7};
  std::vector<std::int8_t> w = Random<std::int8_t>(engine, 9 * 5 * 9, -127, 127);
  std::vector<std::int32_t> b = Random<std::int32_t>(engine, 9, -9000, 9000);
  std::vector<float> sw = {0.5f, 0.25f, 1.0f, 0.3f, 0.7f, 0.11f, 0.9f, 0.0625f, 0.125f};
  std::vector<float> alpha = onnx_test::ChannelAlpha(0.02f, sw, 1.7f);
};

TEST(Quantization, SymmetricSourceWithPadding) {
  Layer l;
  Problem p = l.problem;
  p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = 1;
  const auto x = Random<std::int8_t>(l.engine, NCHW::Size(p.src()), -128, 127);
  for (const int zy : {0, 128, 131}) {
    EXPECT_EQ(RunHere<SymmetricConv>(p, x, l.w, l.b.data(), l.alpha, static_cast<float>(zy)),
              Onnx(p, x, 0, l.w, 0, l.b, l.alpha, zy));
  }
}

// The same numbers in half the bytes.
TEST(Quantization, FilterOfInt4) {
  Layer l;
  const Problem p = l.problem;
  const auto x = Random<std::int8_t>(l.engine, NCHW::Size(p.src()), -128, 127);
  std::vector<float> w, sw(static_cast<std::size_t>(p.k));
  for (const std::int8_t value : l.w) w.push_back(static_cast<float>(value) * 0.01f);
  w[3] = 5.0f;  // of channel 0, whose step it decides
  const std::vector<std::int8_t> int4 = ToInt4(w, &sw);
  EXPECT_EQ(int4[3], 7);
  EXPECT_EQ(sw[0], 5.0f / 7.0f);
  for (std::size_t i = 0; i < w.size(); ++i) {
    ASSERT_NEAR(static_cast<float>(int4[i]) * sw[i / 45], w[i], 0.5001f * sw[i / 45]);
  }
  const std::vector<float> alpha = onnx_test::ChannelAlpha(0.02f, sw, 0.05f);
  const auto y = RunHere<Int4Conv>(p, x, int4, l.b.data(), alpha, 128.0f);
  EXPECT_EQ(y, Onnx(p, x, 0, int4, 0, l.b, alpha, 128));
  EXPECT_GT(std::set<std::uint8_t>(y.begin(), y.end()).size(), 20u);

  // Outputs of 4 bits too: those of 8, limited to 15.
  const std::vector<float> coarse = onnx_test::ChannelAlpha(0.02f, sw, 1.0f);
  std::vector<std::uint8_t> want = Onnx(p, x, 0, int4, 0, l.b, coarse, 8);
  for (std::uint8_t& value : want) value = std::min<std::uint8_t>(value, 15);
  EXPECT_EQ(RunHere<Int4Output>(p, x, int4, l.b.data(), coarse, 8.0f), want);
  EXPECT_EQ(std::set<std::uint8_t>(want.begin(), want.end()).size(), 16u);
}

// Two layers whose source, filter and output are of 4 bits; of the last, the output is of 8.
TEST(Quantization, NetworkOf4Bits) {
  Layer l;
  Problem p = l.problem;
  const auto x = Random<std::uint8_t>(l.engine, NCHW::Size(p.src()), 0, 15);
  const auto w = Random<std::int8_t>(l.engine, KCRS::Size(p.filter()), -8, 7);
  for (std::int32_t& value : l.b) value /= 20;
  const std::vector<float> alpha = onnx_test::ChannelAlpha(0.25f, l.sw, 1.7f);
  const auto y = RunHere<FirstOf4Bits>(p, x, w, l.b.data(), alpha, 2.0f);
  std::vector<std::uint8_t> want = Onnx(p, x, 0, w, 0, l.b, alpha, 2);
  for (std::uint8_t& value : want) value = std::min<std::uint8_t>(value, 15);
  EXPECT_EQ(y, want);
  EXPECT_EQ(std::set<std::uint8_t>(y.begin(), y.end()).size(), 16u);

  p.h = p.p(), p.w = p.q(), p.c = p.k;
  const auto last = Random<std::int8_t>(l.engine, KCRS::Size(p.filter()), -8, 7);
  EXPECT_EQ(RunHere<LastOf4Bits>(p, y, last, l.b.data(), l.alpha, 128.0f),
            Onnx(p, y, 0, last, 0, l.b, l.alpha, 128));
}

// A source of uint8 whose zero point is not 0; then a filter of uint8 too.
TEST(Quantization, AsymmetricSourceAndFilter) {
  Layer l;
  Problem p = l.problem;
  p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = 1;
  const auto x = Random<std::uint8_t>(l.engine, NCHW::Size(p.src()), 0, 255);
  const int zx = 113, zy = 7;
  onnx_test::Node<std::uint8_t> node{.problem = p, .x = x, .w = l.w};
  node.x_zero_point = zx, node.y_zero_point = zy;
  node.x_scale = 0.02f, node.y_scale = 1.7f, node.w_scale = l.sw;
  node.b = l.b;
  const auto y = onnx_test::RunNode<QLinearConv>(node);
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(*y, Onnx(p, x, zx, l.w, 0, l.b, l.alpha, zy));

  const auto w = Random<std::uint8_t>(l.engine, KCRS::Size(p.filter()), 0, 255);
  const int zw = 140;
  node.w = onnx_test::ToSigned(w);
  node.w_zero_point.assign(static_cast<std::size_t>(p.k), zw - 128);
  const auto both = onnx_test::RunNode<WithFilterZeroPoint>(node);
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_EQ(*both, Onnx(p, x, zx, w, zw, l.b, l.alpha, zy));
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
  const auto want = Onnx(l.problem, x, 0, l.w, 0, l.b, l.alpha, 128);
  for (std::size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 1);
}

std::string Trimmed(const std::string& line) {
  const auto first = line.find_first_not_of(' ');
  return first == std::string::npos ? std::string() : line.substr(first);
}

TEST(Quantization, TheGuideQuotesThisCode) {
  const std::filesystem::path here = std::filesystem::path(__FILE__).parent_path();
  std::set<std::string> lines;
  for (const std::filesystem::path& file :
       {std::filesystem::path(__FILE__), here / "../onnx/run_node.hpp",
        here / "../onnx/activation_forms.hpp"}) {
    std::ifstream source(file);
    for (std::string line; std::getline(source, line);) lines.insert(Trimmed(line));
  }
  std::ifstream guide(here / "../../docs/quantization.md");
  bool in_code = false;
  int quoted = 0;
  for (std::string line; std::getline(guide, line);) {
    if (line.rfind("```", 0) == 0) {
      in_code = line == "```cpp";
    } else if (line.rfind("#include", 0) == 0) {
      in_code = false;  // a whole program, which documents_custom_operators compiles and runs
    } else if (in_code && !Trimmed(line).empty()) {
      EXPECT_TRUE(lines.count(Trimmed(line)))
          << "not in quantization_test.cpp, run_node.hpp or activation_forms.hpp: " << line;
      ++quoted;
    }
  }
  EXPECT_GT(quoted, 30);
}

}  // namespace
}  // namespace weft::conv
