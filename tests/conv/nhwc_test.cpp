// The NHWC family: what Dispatch chooses for ragged channels and what it says. That its operators are exact,
// the rows of table/operators.def show.
#include <gmock/gmock.h>

#include <string>

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
  // How many of the family's policies take `problem`.
  static int Count(const Problem& problem) {
    return (int{Convolution<Policies>::Create(problem).ok()} + ...);
  }
};

// Those with two output rows to a row of the product, for at most 32 output channels.
constexpr int kPacksRows = [] {
  int count = 0;
  for (const TileDescription& c : Nhwc::Configs()) count += c.packed_rows > 1;
  return count;
}();

Problem Channels(std::int64_t c, std::int64_t k) {
  return SquareProblem(2, c, 9, k, 3, 1, 1);
}

TEST(NhwcFamily, PoliciesThatTakeRaggedChannels) {
  using Each = EachPolicy<S8ConvNhwcFamily<NhwcRelu>>;
  EXPECT_EQ(Each::Count(Channels(32, 64)), Nhwc::kPolicies - kPacksRows);
  EXPECT_EQ(Each::Count(Channels(32, 32)), Nhwc::kPolicies);
  EXPECT_EQ(Each::Count(Channels(16, 21)), 2);
  EXPECT_EQ(Each::Count(Channels(20, 36)), 3);
  EXPECT_EQ(Each::Count(Channels(40, 70)), 1);
  EXPECT_EQ(Each::Count(Channels(72, 20)), 5);
  EXPECT_EQ(Each::Count(Channels(4, 1)), 1);
  EXPECT_EQ(Each::Count(Channels(6, 8)), 0);
  using ToNc32 = EachPolicy<S8ConvNhwcFamily<NhwcRelu, NCxHWx<32>>>;
  EXPECT_EQ(ToNc32::Count(Channels(48, 70)), NhwcToNc32::kPolicies - kPacksRows);
  EXPECT_EQ(ToNc32::Count(Channels(24, 33)), 4);
  EXPECT_EQ(ToNc32::Count(Channels(20, 10)), 2);
}

Alignment Chosen(std::int64_t c, std::int64_t k) {
  const auto op = Nhwc::Create(Channels(c, k), GpuFacts());
  EXPECT_TRUE(op.ok()) << op.status();
  const auto cpu = Nhwc::Create(Channels(c, k), CpuFacts{2});
  EXPECT_TRUE(cpu.ok()) << cpu.status();
  EXPECT_LE(cpu->config().alignment.src, op->config().alignment.src) << "c=" << c << " k=" << k;
  return op->config().alignment;
}

TEST(NhwcFamily, TakesTheWidestAccessThatFits) {
  for (const std::int64_t k : {8, 64, 256}) {
    // Half of what wgmma_sm90 reads of a pixel at once, where the model may find narrower loads quicker.
    EXPECT_GE(Nhwc::Create(Channels(16, k), GpuFacts())->config().alignment.src, 8);
    for (const std::int64_t c : {32, 48, 256}) {
      EXPECT_EQ(Chosen(c, k).src, 16) << c;
      EXPECT_EQ(Chosen(c, k).dst, k == 8 ? 8 : 16) << c;  // 16 through wgmma_sm90
    }
    for (const std::int64_t c : {8, 24, 40, 264}) EXPECT_EQ(Chosen(c, k).src, 8) << c;
    for (const std::int64_t c : {4, 12, 20, 260}) EXPECT_EQ(Chosen(c, k).src, 4) << c;
  }
  EXPECT_EQ(Chosen(64, 20).dst, 4);
  EXPECT_EQ(Chosen(64, 21).dst, 1);
  EXPECT_EQ(Chosen(20, 20).dst, 4);
  EXPECT_EQ(Chosen(20, 21).dst, 1);
}

TEST(NhwcFamily, SaysWhatPaddingWouldGive) {
  const auto why = [](std::int64_t c, std::int64_t k) {
    return Nhwc::Create(Channels(c, k), GpuFacts())->why();
  };
  EXPECT_THAT(why(20, 64), testing::StartsWith("c=20 is not a multiple of 16: 4-byte loads, pad C "
                                               "to 32 for 16-byte ones; chosen of "));
  EXPECT_THAT(why(8, 64), testing::StartsWith("c=8 is not a multiple of 16: 8-byte loads, pad C to "
                                              "16 for 16-byte ones; chosen of "));
  EXPECT_THAT(why(64, 20), testing::StartsWith("k=20 is not a multiple of 16: 4-byte stores, pad "
                                               "K to 32 for 16-byte ones; chosen of "));
  GpuFacts ampere;  // whose widest stores are of 8 channels
  ampere.limits.compute_capability = 80;
  EXPECT_THAT(Nhwc::Create(Channels(64, 20), ampere)->why(),
              testing::StartsWith("k=20 is not a multiple of 8: 4-byte stores, pad K to 24 for "
                                  "8-byte ones; chosen of "));
  EXPECT_THAT(Nhwc::Create(Channels(64, 24), ampere)->why(), Not(HasSubstr("pad K")));
  EXPECT_THAT(why(20, 21), HasSubstr("c=20 is not a multiple of 16: 4-byte loads"));
  EXPECT_THAT(why(20, 21), HasSubstr("k=21 is not a multiple of 16: 1-byte stores"));
  EXPECT_THAT(why(64, 64), testing::StartsWith("chosen of "));
  EXPECT_THAT(Nhwc::Create(Channels(20, 64), CpuFacts{2})->why(), HasSubstr("4-byte loads, pad C"));
  // Blocked outputs pad K by themselves.
  EXPECT_THAT(NhwcToNc32::Create(Channels(64, 21), GpuFacts())->why(), Not(HasSubstr("pad K")));
  EXPECT_THAT(NhwcToNc32::Create(Channels(20, 21), GpuFacts())->why(), HasSubstr("pad C to 32"));
}

TEST(NhwcFamily, RefusesWhatNoLoadFits) {
  for (const std::int64_t c : {1, 3, 6, 17, 30}) {
    for (const absl::Status& s : {Nhwc::Create(Channels(c, 64), GpuFacts()).status(),
                                  Nhwc::Create(Channels(c, 64), CpuFacts{2}).status(),
                                  NhwcToNc32::Create(Channels(c, 64), GpuFacts()).status()}) {
      EXPECT_EQ(s, absl::InvalidArgumentError(absl::StrCat(
                       "conv: c=", c,
                       " is not a multiple of 4, the channels of the narrowest load from NHWC; pad "
                       "C to ",
                       RoundUp(c, 4),
                       " with zeros, in src and filter, or use SrcLayout NCxHWx<32> or NCxHWx<4>, "
                       "which pad by themselves")));
    }
  }
}

TEST(NhwcFamily, OlderGpusAreRefusedInASentence) {
  GpuFacts turing;
  turing.limits.compute_capability = 75;
  EXPECT_EQ(Nhwc::Create(Channels(64, 64), turing).status().message(),
            "conv: config.mainloop needs compute capability 8.0, this GPU has 7.5; run on the CPU "
            "or choose an older mainloop");
}

// Stores are counted in channels: floats of 4 channels fill 16 bytes.
TEST(NhwcFamily, FloatOutputs) {
  using E =
      epilogues::Chain<epilogues::Scale, epilogues::Bias<>, epilogues::Relu, epilogues::ToFloat>;
  EXPECT_EQ((S8ConvNhwc<E>::config.alignment.dst), 16);
  EXPECT_EQ((S8ConvNhwc<E, NHWC, Mma64x64, 4, 1>::config.alignment.dst), 4);
  EXPECT_EQ((S8ConvNhwc<E, NCHW>::config.alignment.dst), 4);
}

}  // namespace
}  // namespace weft::conv
