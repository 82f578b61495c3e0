// The conversions that peers need, on the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "perf/support/format_kernels.hpp"
#include "perf/support/random.hpp"
#include "weft/gemm/arch/cpu_launch.hpp"
#include "weft/layouts/packing.hpp"

namespace weft::perf {
namespace {

constexpr TensorExtents kExtents{2, 40, 3, 5};  // 40 channels do not fill two blocks of 32
constexpr int kBlocks = 2;

template <class From, class To>
void Convert(const std::vector<From>& src, std::vector<To>* dst, const FormatStrides& from,
             const FormatStrides& to, const float* scale = nullptr) {
  const auto report = arch::LaunchOnCpu<ConvertKernel<From, To>>(
      {kBlocks, 1, 1}, {src.data(), dst->data(), kExtents, from, to, scale, kBlocks});
  ASSERT_TRUE(report.ok()) << report.error;
}

template <class Format>
void ThereAndBack() {
  const std::vector<std::int8_t> nhwc = RandomInt8s(NHWC::Size(kExtents), 5);
  std::vector<std::int8_t> other(Format::Size(kExtents)), back(nhwc.size());
  Convert(nhwc, &other, StridesOf<NHWC>(kExtents), StridesOf<Format>(kExtents));
  EXPECT_EQ(other, (*ConvertTensor<NHWC, Format, std::int8_t>(kExtents, nhwc))) << Format::kName;
  Convert(other, &back, StridesOf<Format>(kExtents), StridesOf<NHWC>(kExtents));
  EXPECT_EQ(back, nhwc) << Format::kName;
}

TEST(ConvertKernel, ChangesFormats) {
  ThereAndBack<NCHW>();
  ThereAndBack<NHWC>();
  ThereAndBack<NCxHWx<4>>();
  ThereAndBack<NCxHWx<32>>();
}

TEST(ConvertKernel, ScalesEachImageIntoHalves) {
  const std::vector<std::int8_t> nhwc = RandomInt8s(NHWC::Size(kExtents), 6);
  const std::vector<float> scale = {0.25f, 3.0f};
  std::vector<Half> half(nhwc.size());
  const FormatStrides same = StridesOf<NHWC>(kExtents);
  Convert(nhwc, &half, same, same, scale.data());
  for (std::size_t i = 0; i < nhwc.size(); ++i) {
    ASSERT_EQ(half[i].ToFloat(), nhwc[i] * scale[i < nhwc.size() / 2 ? 0 : 1]) << i;
  }
}

TEST(ConvertKernel, RoundsAndClampsHalves) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {0.5f,   1.5f,   2.5f,   -0.5f,    -1.5f,     0.25f,
                                     126.5f, 127.5f, 5000.f, -127.75f, -infinity, infinity};
  const std::vector<int> want = {0, 2, 2, 0, -2, 0, 126, 127, 127, -128, -128, 127};
  std::vector<Half> half(NHWC::Size(kExtents));
  for (std::size_t i = 0; i < values.size(); ++i) half[i] = Half::FromFloat(values[i]);
  std::vector<std::int8_t> rounded(half.size());
  const FormatStrides same = StridesOf<NHWC>(kExtents);
  Convert(half, &rounded, same, same);
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(rounded[i], want[i]) << values[i];
}

TEST(AsTensor, KrscIsAnNhwcTensor) {
  const FilterExtents e{6, 40, 3, 2};
  const FormatStrides strides = StridesOf<NHWC>(AsTensor(e));
  for (int r = 0; r < 3; ++r) {
    EXPECT_EQ(strides.Offset(5, 39, r * 2 + 1), KRSC::Offset(e, 5, 39, r, 1));
    EXPECT_EQ(StridesOf<NCHW>(AsTensor(e)).Offset(5, 39, r * 2 + 1), KCRS::Offset(e, 5, 39, r, 1));
  }
}

}  // namespace
}  // namespace weft::perf
