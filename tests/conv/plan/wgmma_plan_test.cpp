// What the host decides for wgmma_sm90: how the source comes, and what TMA cannot do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/conv/harness.hpp"
#include "tests/conv/policy/wgmma_policies.hpp"
#include "weft/conv/choose/tile_model.hpp"
#include "weft/conv/convolution.hpp"
#include "weft/gemm/choose/tuning.hpp"

namespace weft::conv {
namespace {

using testing::HasSubstr;

template <class Src, class Filter, class PrologueT = prologues::SharedFilter>
struct Policy {
  using Element = std::int8_t;
  using SrcLayout = Src;
  using FilterLayout = Filter;
  using DstLayout = NCxHWx<32>;
  using Prologue = PrologueT;
  using Epilogue = epilogues::BiasRelu<>;
  static constexpr auto config = WgmmaSm90Config({224, 128, 128}, {224, 64, 128});
};
using Nc32 = Policy<NCxHWx<32>, CxRSKx<32>>;
using Nhwc = Policy<NHWC, KRSC>;

ConvPlan PlanOf(const Problem& p) {
  const absl::StatusOr<ConvPlan> g = MakeConvPlan(p, FactsOf<Nc32>());
  EXPECT_TRUE(g.ok()) << g.status();
  return g.ok() ? *g : ConvPlan();
}

template <class TileT, class EpilogueT>
struct OfTile : WgmmaPolicy<NCxHWx<32>, EpilogueT, TileT> {};

// A block has all shared memory that it may have: what its parts leave, its stages have. What is lost is less than
// a KB, and with cluster split-K, whose part is counted in whole KB as well, less than two.
TEST(WgmmaPlan, StagesHaveAllSharedMemoryThatIsLeft) {
  constexpr int kKilo = 1024;
  const auto lost = [](const ConvFacts& f) {
    const int blocks = f.config.blocks_per_sm;
    return (228 / blocks - 1) * kKilo - static_cast<int>(f.shared_bytes);
  };
  using namespace epilogues;  // NOLINT: their names alone
  using Tile = WgmmaTile<64, 64, 64, 64, 64>;
  using Two = WgmmaTile<64, 64, 64, 64, 64, 2>;
  using Zeros = Chain<SourceZeroPoint, Scale, Bias<>, Relu, ClampTo<std::int8_t>>;
  using Sums = Chain<Residual<>, Scale, Bias<>, Relu, ImageSums, ClampTo<std::int8_t>>;
  using Copied = Chain<Scale, Bias<>, Relu, Copy<Half>, ClampTo<std::int8_t>>;
  using Floats = Chain<Scale, ToFloat>;
  EXPECT_EQ(lost(FactsOf<OfTile<Tile, BiasRelu<>>>()), 0);
  EXPECT_EQ(lost(FactsOf<OfTile<Two, BiasRelu<>>>()), 0);
  EXPECT_EQ(lost(FactsOf<OfTile<PingPong<Tile>, Zeros>>()), 0);
  EXPECT_EQ(lost(FactsOf<OfTile<Tile, Sums>>()), 0);
  EXPECT_EQ(lost(FactsOf<OfTile<Tile, Copied>>()), 0);
  EXPECT_EQ(lost(FactsOf<OfTile<Tile, Floats>>()), 0);
  EXPECT_EQ(lost(FactsOf<Nhwc>()), 0);
  EXPECT_LT(lost(FactsOf<OfTile<SplitK<Tile, 2>, BiasRelu<>>>()), 2 * kKilo);
}

TEST(WgmmaPlan, PatchWhereItSavesMoreThanItWastes) {
  // A row of 56 wastes one position in 57; the patch loads a pixel once instead of nine times.
  const auto patch = [](const Problem& p) { return std::get<TmaPlan>(PlanOf(p).kernel).patch; };
  EXPECT_TRUE(patch(SquareProblem(16, 64, 56, 128, 3, 1, 1)));
  EXPECT_FALSE(patch(SquareProblem(16, 64, 56, 128, 1, 0, 1)));
  EXPECT_FALSE(patch(SquareProblem(16, 64, 56, 128, 9, 4, 1)));  // 81 steps
}

TEST(WgmmaPlan, CountsIm2colPositions) {
  const ConvPlan patch = PlanOf(SquareProblem(16, 64, 56, 128, 3, 1, 1));
  EXPECT_EQ(std::get<TmaPlan>(patch.kernel).rows, 16 * 57 * 57);
  EXPECT_EQ(patch.counts.tiles_m, gemm::CeilDiv(16 * 57 * 57, 224));
  EXPECT_EQ(patch.counts.k_tiles, 2);
  EXPECT_EQ(std::get<TmaPlan>(patch.kernel).plan.steps, 9);
  EXPECT_EQ(std::get<TmaPlan>(patch.kernel).source_spec.pixels,
            224 + 2 * 57 + 2 + 4);  // rounded up to 8
  const ConvPlan taps = PlanOf(SquareProblem(16, 96, 56, 128, 3, 1, 2));
  EXPECT_FALSE(std::get<TmaPlan>(taps.kernel)
                   .patch);  // four copies of 32-byte rows that do not lie side by side
  EXPECT_EQ(std::get<TmaPlan>(taps.kernel).rows, 16 * 28 * 28);
  EXPECT_EQ(taps.counts.k_tiles, 7);  // 27 steps, 4 to a k tile
  EXPECT_EQ(std::get<TmaPlan>(taps.kernel).plan.last_steps, 3);
  EXPECT_THAT(Convolution<Nc32>::Create(SquareProblem(16, 96, 56, 128, 3, 1, 2))->Describe(),
              HasSubstr("a copy for each tap"));
}

struct SplitK4 : Nc32 {
  static constexpr auto config =
      gemm::WithClusterSplitK(WgmmaSm90Config({64, 64, 256}, {64, 64, 256}), 4);
};

struct Alone : Nc32 {
  static constexpr auto config = WgmmaSm90Config({64, 64, 256}, {64, 64, 256});
};

// K tiles that a cluster shares are short enough for each block to have one, where there are
// channels.
TEST(WgmmaPlan, KTilesForEachBlockOfACluster) {
  const auto of = [](std::int64_t c) {
    return MakeConvPlan(SquareProblem(1, c, 8, 64, 1, 0, 1), FactsOf<SplitK4>())->counts.k_tiles;
  };
  EXPECT_EQ(of(32), 1);
  EXPECT_EQ(of(128), 4);
  EXPECT_EQ(of(512), 4);
  EXPECT_EQ(of(2048), 8);
  EXPECT_THAT(Convolution<SplitK4>::Create(SquareProblem(1, 512, 8, 64, 1, 0, 1))->Describe(),
              HasSubstr("1 x 1 clusters of 4 blocks of 256 threads"));
}

// Few tiles with long sums are worth an exchange, many tiles or short sums are not.
TEST(WgmmaPlan, TheModelKnowsWhatAClusterIsFor) {
  const auto gain = [](const Problem& p) {
    return Predict(p, FactsOf<Alone>(), GpuFacts()).microseconds -
           Predict(p, FactsOf<SplitK4>(), GpuFacts()).microseconds;
  };
  EXPECT_GT(gain(SquareProblem(1, 512, 7, 512, 3, 1, 1)), 1.0);
  EXPECT_LT(gain(SquareProblem(64, 512, 7, 512, 3, 1, 1)), -1.0);
  EXPECT_LT(gain(SquareProblem(1, 64, 56, 64, 1, 0, 1)), -0.5);
  const Prediction p =
      Predict(SquareProblem(1, 512, 7, 512, 3, 1, 1), FactsOf<SplitK4>(), GpuFacts());
  EXPECT_EQ(p.blocks, 4 * 8);
}

// Chunks of NHWC are as wide as wastes least.
TEST(WgmmaPlan, WidthOfChunks) {
  const auto span = [](std::int64_t c) {
    const auto plan = MakeConvPlan(SquareProblem(1, c, 8, 64, 1, 0, 1), FactsOf<Nhwc>());
    return std::get<TmaPlan>(plan->kernel).source_spec.channels;
  };
  EXPECT_EQ(span(16), 32);
  EXPECT_EQ(span(48), 64);
  EXPECT_EQ(span(96), 32);
  EXPECT_EQ(span(144), 32);
  EXPECT_EQ(span(256), 128);
}

template <class P = Nc32>
std::string ErrorOf(const Problem& p) {
  const absl::Status status = Convolution<P>::Create(p).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  return std::string(status.message());
}

TEST(WgmmaPlan, LimitsOfTma) {
  Problem p = SquareProblem(1, 32, 300, 64, 1, 0, 1);
  p.stride_w = 9;
  EXPECT_THAT(ErrorOf(p), HasSubstr("conv: stride_w=9 is more than the 8 that TMA takes"));
  p.stride_w = 1, p.stride_h = 10;
  EXPECT_THAT(ErrorOf(p), HasSubstr("stride_h=10"));
  p.stride_h = 1, p.pad_left = 128;
  EXPECT_THAT(ErrorOf(p), HasSubstr("pad_left=128 is more than the 127"));
  p.pad_left = 0, p.r = 2, p.dilation_h = 256;
  EXPECT_THAT(ErrorOf(p), HasSubstr("(r-1)*dilation_h=256 is more than the 255"));
  p.dilation_h = 200;
  EXPECT_THAT(ErrorOf(p), HasSubstr("(r-1)*dilation_h-pad_bottom=200 is more than the 128"));
  EXPECT_THAT(ErrorOf<Nhwc>(SquareProblem(1, 24, 8, 64, 1, 0, 1)),
              HasSubstr("c=24 is not a multiple of 16"));
  using Local = Policy<NCxHWx<32>, CxRSKx<32>, prologues::LocalFilter>;
  EXPECT_THAT(ErrorOf<Local>(SquareProblem(1, 32, 8, 64, 1, 0, 1)),
              HasSubstr("prologue LocalFilter depends on the output's position"));
}

// Patches of NHWC are columns of a whole row of a patch, and images of one row of patches each.
TEST(WgmmaPlan, PatchesHaveNoStride) {
  const Problem p = SquareProblem(64, 3, 224, 768, 16, 0, 16);
  const absl::StatusOr<ConvPlan> plan = MakeConvPlan(p, FactsOf<Nhwc>());
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->problem, p);
  const TmaPlan& tma = std::get<TmaPlan>(plan->kernel);
  EXPECT_EQ(tma.rows, 64 * 14 * 14);
  EXPECT_EQ(tma.pixels.image_pixels.divisor(), 14 * 14);
  EXPECT_THAT(tma.source_spec.dim, testing::ElementsAre(48, 14, 16, 64 * 14, testing::_));
  EXPECT_EQ(tma.source_spec.step[1] * tma.source_spec.step[2], 1);
  EXPECT_THAT(Convolution<Nhwc>::Create(p)->Describe(),
              HasSubstr("a copy for each tap, patches as columns of 48 channels, "));
  Problem other = p;  // the order of taps is not that of memory
  other.mode = Mode::kConvolution, other.c = 16;
  EXPECT_THAT(ErrorOf<Nhwc>(other), HasSubstr("stride_h=16 is more than the 8 that TMA takes"));
  other = p, other.w = 225, other.c = 16;
  EXPECT_FALSE(MakeConvPlan(other, FactsOf<Nhwc>()).ok());
  other = p, other.stride_h = 17, other.c = 16;
  EXPECT_FALSE(MakeConvPlan(other, FactsOf<Nhwc>()).ok());
  other.stride_h = 8;  // rows that overlap, of columns that do not
  EXPECT_TRUE(MakeConvPlan(other, FactsOf<Nhwc>()).ok());
  EXPECT_THAT(ErrorOf<Nhwc>(SquareProblem(1, 3, 28, 64, 14, 0, 14)),
              HasSubstr("c=3 is not a multiple of 16, the channels of one 16-byte load"));
  EXPECT_THAT(ErrorOf(SquareProblem(1, 32, 32, 64, 16, 0, 16)), HasSubstr("stride_h=16"));
}

TEST(WgmmaPlan, NeedsWholeBlocksOfTheSource) {
  const auto op = Convolution<Nc32>::Create(SquareProblem(1, 32, 8, 64, 1, 0, 1));
  ASSERT_TRUE(op.ok());
  std::vector<std::int8_t> memory(op->src_size() + 64);
  const auto base = reinterpret_cast<std::uintptr_t>(memory.data());
  Convolution<Nc32>::Arguments args;
  args.src = reinterpret_cast<std::int8_t*>((base + 31) / 32 * 32 + 16);
  EXPECT_THAT(std::string(op->CheckArguments(args).message()), HasSubstr("is not 32-byte aligned"));
}

TEST(WgmmaPlan, OnlyForHopper) {
  arch::DeviceLimits device{.compute_capability = 100,
                            .sm_count = 148,
                            .shared_memory_per_block = 227 * 1024,
                            .shared_memory_per_sm = 228 * 1024,
                            .registers_per_sm = 65536,
                            .max_threads_per_sm = 2048,
                            .l2_bytes = 60 << 20};
  const Problem p = SquareProblem(1, 32, 8, 64, 1, 0, 1);
  EXPECT_FALSE(Convolution<Nc32>::Create(p, device).ok());
  device.compute_capability = 90;
  EXPECT_TRUE(Convolution<Nc32>::Create(p, device).ok());
}

TEST(WgmmaPingPong, TheNameSaysSo) {
  constexpr auto config = PingPong<WgmmaTile<128, 128, 128, 128, 128>>::config;
  EXPECT_EQ(gemm::PolicyName(config), "wgmma_sm90_128x128x128_w128x128x128_b1_p2_a16_d16");
  using P = WgmmaPolicy<NCxHWx<32>, epilogues::BiasRelu<>, PingPong<SmallTile64>>;
  EXPECT_THAT(Convolution<P>::Create(SquareProblem(1, 32, 5, 64, 3, 1, 1))->Describe(),
              HasSubstr("ping-pong warpgroups"));
}

// Zeros of the filter hide integers that are loaded with others, but neither NaN nor infinity. No policy has such
// elements yet, so that these facts are a policy's of bytes with elements of 16 bits.
TEST(WgmmaPlan, FloatSumsMultiplyNoOtherPixelsByZeros) {
  ConvFacts facts = FactsOf<Policy<NHWC, KRSC, prologues::Grouped>>();
  EXPECT_TRUE(
      MakeConvPlan({.n = 1, .h = 8, .w = 8, .c = 96, .k = 64, .r = 3, .s = 3, .groups = 2}, facts)
          .ok());
  facts.largest_product = 0, facts.element_bytes = 2;
  facts.source.bits = facts.filter.bits = 16, facts.source.unit_channels = 8;
  Problem p{.n = 1, .h = 8, .w = 8, .c = 48, .k = 64, .r = 3, .s = 3, .groups = 2};
  EXPECT_THAT(
      std::string(MakeConvPlan(p, facts).status().message()),
      HasSubstr("conv: c/groups=24 is not a multiple of 16, the channels that TMA loads at once"));
  p.c = 64;
  EXPECT_TRUE(MakeConvPlan(p, facts).ok()) << MakeConvPlan(p, facts).status();
  p.c = 24, p.groups = 1;
  EXPECT_TRUE(MakeConvPlan(p, facts).ok()) << MakeConvPlan(p, facts).status();
  facts.config.packed_rows = 2;
  EXPECT_THAT(std::string(MakeConvPlan(p, facts).status().message()),
              HasSubstr("conv: packed output rows multiply pixels outside of a window by zeros"));
}

// With 16-bit elements k is counted in twice as many bytes as channels.
TEST(WgmmaPlan, IndicesCountBytes) {
  ConvFacts facts = FactsOf<Nhwc>();
  facts.config.mainloop = gemm::Mainloop::kMmaSm80, facts.kind = Kind::kMultistage;
  facts.largest_product = 0, facts.element_bytes = 2;
  facts.source.bits = facts.filter.bits = 16, facts.source.unit_channels = 8;
  Problem p{.n = 1, .h = 1, .w = 1, .c = (1 << 30) - 8, .k = 64};
  EXPECT_TRUE(MakeConvPlan(p, facts).ok()) << MakeConvPlan(p, facts).status();
  p.c = 1 << 30;
  EXPECT_THAT(std::string(MakeConvPlan(p, facts).status().message()),
              HasSubstr("conv: bytes of c/groups*r*s=2147483648 exceeds 2147483647"));
}

}  // namespace
}  // namespace weft::conv
