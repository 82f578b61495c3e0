// The NHWC family: what Dispatch chooses for ragged channels, what it says, and that it is exact.
// Shared by both back ends.
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/conv/harness.hpp"
#include "tests/conv/own_relu.hpp"
#include "weft/conv/dispatch.hpp"
#include "weft/conv/ready_made.hpp"

namespace weft::conv {
namespace {

using testing::HasSubstr;
using testing::Not;

using NhwcRelu = OwnRelu;
using Nhwc = Dispatch<S8ConvNhwcFamily<NhwcRelu>>;
using NhwcToNc32 = Dispatch<S8ConvNhwcFamily<NhwcRelu, NCxHWx<32>>>;

template <class Family>
struct EachPolicy;
template <class... Policies>
struct EachPolicy<Family<Policies...>> {
  // Every policy of the family that takes `problem` and whose tile has up to `kMost` outputs; returns
  // how many take it.
  template <int kMost = 1 << 20>
  static int Run(const Problem& problem, std::uint32_t seed) {
    int count = 0;
    const auto one = [&](auto type) {
      using P = typename decltype(type)::type;
      if (!Convolution<P>::Create(problem).ok()) return;
      ++count;
      if constexpr (P::config.threadblock.m * P::config.threadblock.n <= kMost) {
        ExpectMatchesReference<P>(problem, reference::ReluActivation{}, {.seed = seed});
      }
    };
    (one(std::type_identity<Policies>()), ...);
    return count;
  }
};

// Those with two output rows to a row of the product, for at most 32 output channels.
constexpr int kStacked = 3;

Problem Channels(std::int64_t c, std::int64_t k) {
  return SquareProblem(2, c, 9, k, 3, 1, 1);
}

TEST(NhwcFamily, EveryPolicyIsExactOverRaggedChannels) {
  using Each = EachPolicy<S8ConvNhwcFamily<NhwcRelu>>;
  EXPECT_EQ(Each::Run(Channels(32, 64), 1), Nhwc::kPolicies - kStacked);
  EXPECT_EQ(Each::Run<160 * 64>(Channels(32, 32), 1), Nhwc::kPolicies);
  EXPECT_EQ(Each::Run(Channels(16, 21), 2), 2);
  EXPECT_EQ(Each::Run(Channels(20, 36), 3), 3);
  EXPECT_EQ(Each::Run(Channels(40, 70), 4), 1);
  EXPECT_EQ(Each::Run(Channels(72, 20), 5), 5);
  EXPECT_EQ(Each::Run(Channels(4, 1), 6), 1);
  EXPECT_EQ(Each::Run(Channels(6, 8), 7), 0);
}

// The large tiles were run above: how a store is laid out does not depend on the tile's size.
TEST(NhwcFamily, ToBlockedIsExactOverRaggedChannels) {
  using Each = EachPolicy<S8ConvNhwcFamily<NhwcRelu, NCxHWx<32>>>;
  EXPECT_EQ(Each::Run<64 * 64>(Channels(48, 70), 1), NhwcToNc32::kPolicies - kStacked);
  EXPECT_EQ(Each::Run<64 * 64>(Channels(24, 33), 2), 4);
  EXPECT_EQ(Each::Run<64 * 64>(Channels(20, 10), 3), 2);
}

// Runs what Dispatch chose, whichever it is.
TEST(NhwcFamily, ChoicesAreExactOverRandomProblems) {
  std::mt19937 engine(11);
  for (int i = 0; i < 24; ++i) {
    Problem p = RandomProblem(engine);
    p.c = RoundUp(p.c + (i % 3 == 0 ? 50 : 0), i % 2 == 0 ? 4 : 8);
    const auto op = Nhwc::Create(p, GpuFacts());
    ASSERT_TRUE(op.ok()) << op.status();
    const RandomTensors t(p, 100 + i);
    const OperatorMemory<std::int8_t> src(*ConvertTensor<NCHW, NHWC, std::int8_t>(p.src(), t.src));
    const auto packed = *PackFilter<KRSC, KCRS, std::int8_t>(p.filter(), t.filter);
    const OperatorMemory<std::int8_t> filter(
        std::vector<std::int8_t>(packed.data(), packed.data() + packed.size()));
    const OperatorMemory<float> bias(t.bias), alpha(t.channel_alpha);
    const OperatorMemory<std::int8_t> dst(std::vector<std::int8_t>(op->dst_size(), 0x77));
    Nhwc::Arguments args;
    args.src = src.get(), args.filter = packed.At(filter.get()), args.bias = bias.get();
    args.dst = dst.get(), args.channel_alpha = alpha.get();
    const absl::Status status = RunHere(*op, args);
    ASSERT_TRUE(status.ok()) << status;
    const auto want = reference::Convolve<std::int8_t>(
        p, t.src.data(), t.filter.data(),
        {.channel_alpha = t.channel_alpha.data(), .bias = t.bias.data()},
        reference::ReluActivation(), FullRange<std::int8_t>());
    EXPECT_EQ(dst.Read(),
              (*ConvertTensor<NCHW, NHWC, std::int8_t>(p.dst(), absl::MakeConstSpan(want))))
        << op->Describe();
  }
}

}  // namespace
}  // namespace weft::conv
