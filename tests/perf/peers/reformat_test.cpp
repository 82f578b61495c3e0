// Reformats of int8 tensors, on the CPU.
#include "perf/peers/formats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "perf/support/random.hpp"
#include "tests/operator_memory.hpp"
#include "weft/gemm/arch/cpu_launch.hpp"
#include "weft/layouts/packing.hpp"

namespace weft::perf {
namespace {

constexpr int kBlocks = 2;

template <int kSrc, int kDst>
void Launch(const ReformatParams& params) {
  const auto report = arch::LaunchOnCpu<ReformatKernel<kSrc, kDst>>({kBlocks, 1, 1}, params);
  ASSERT_TRUE(report.ok()) << report.error;
}

template <class From, class To>
void Expect(TensorFormatName from, TensorFormatName to, const TensorExtents& e, int src_word,
            int dst_word) {
  SCOPED_TRACE(absl::StrCat(FormatText(from), " to ", FormatText(to), ", ", e.c, " channels"));
  const std::vector<std::int8_t> nhwc = RandomInt8s(NHWC::Size(e), 5);
  const auto src = *ConvertTensor<NHWC, From, std::int8_t>(e, nhwc);
  const auto want = *ConvertTensor<NHWC, To, std::int8_t>(e, nhwc);
  const OperatorMemory<std::int8_t> src_memory({src.begin(), src.end()});
  const OperatorMemory<std::int8_t> dst_memory(std::vector<std::int8_t>(want.size(), 0x77));
  absl::StatusOr<ReformatPlan> plan = PlanReformat(from, to, e);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->src_word, src_word);
  EXPECT_EQ(plan->dst_word, dst_word);
  plan->params.src = src_memory.get();
  plan->params.dst = dst_memory.get();
  plan->params.blocks = kBlocks;
  if (dst_word == 4) {
    Launch<4, 4>(plan->params);
  } else if (src_word == 4) {
    Launch<4, 16>(plan->params);
  } else {
    Launch<16, 16>(plan->params);
  }
  const std::vector<std::int8_t> got = dst_memory.Read();
  EXPECT_TRUE(std::equal(got.begin(), got.end(), want.begin(), want.end()));
}

using enum TensorFormatName;

TEST(Reformat, EveryPairOfFormats) {
  const TensorExtents whole{2, 64, 3, 5}, part{2, 48, 3, 5}, few{2, 4, 3, 5}, fours{1, 20, 9, 9};
  Expect<NHWC, NCxHWx<32>>(kNhwc, kNc32, whole, 16, 16);
  Expect<NCxHWx<32>, NHWC>(kNc32, kNhwc, whole, 16, 16);
  Expect<NCxHWx<4>, NCxHWx<32>>(kNc4, kNc32, whole, 4, 16);
  Expect<NCxHWx<32>, NCxHWx<4>>(kNc32, kNc4, whole, 4, 4);
  Expect<NCxHWx<4>, NHWC>(kNc4, kNhwc, whole, 4, 16);
  Expect<NHWC, NCxHWx<4>>(kNhwc, kNc4, whole, 4, 4);
  // Channels do not fill the last block: zeros.
  Expect<NHWC, NCxHWx<32>>(kNhwc, kNc32, part, 16, 16);
  Expect<NCxHWx<32>, NHWC>(kNc32, kNhwc, part, 16, 16);
  Expect<NHWC, NCxHWx<32>>(kNhwc, kNc32, fours, 4, 16);
  Expect<NCxHWx<32>, NHWC>(kNc32, kNhwc, fours, 4, 4);
  Expect<NCxHWx<4>, NCxHWx<32>>(kNc4, kNc32, few, 4, 16);
}

TEST(Reformat, SaysWhatItCannot) {
  EXPECT_THAT(std::string(PlanReformat(kNhwc, kNc32, {1, 3, 4, 4}).status().message()),
              testing::HasSubstr("3 channels; it takes fours"));
  EXPECT_FALSE(PlanReformat(kNhwc, kNc4, {1 << 10, 1 << 10, 1 << 10, 1 << 10}).ok());
}

TEST(Reformat, SomeFormatsAreTheSame) {
  EXPECT_TRUE(SameInMemory(kNhwc, kNhwc, 7));
  EXPECT_TRUE(SameInMemory(kNhwc, kNc4, 4));
  EXPECT_TRUE(SameInMemory(kNc32, kNhwc, 32));
  EXPECT_FALSE(SameInMemory(kNhwc, kNc4, 8));
  EXPECT_FALSE(SameInMemory(kNc4, kNc32, 4));
}

}  // namespace
}  // namespace weft::perf
