// On the CPU; what the host decides; and schedules of the executor.
#include "tests/conv/hopper/wgmma_first_cases.hpp"

#include <gmock/gmock.h>

#include "tests/conv/run_schedules.hpp"
#include "weft/conv/choose/tile_model.hpp"

namespace weft::conv {
namespace {

using testing::HasSubstr;
using Nc4 = WgmmaFirstPolicy<NCxHWx<32>, BiasRelu<>, Tile2x96>;

// The copies of a window arrive when they like, warps run in any order, blocks take several tiles, and
// their filters change.
TEST(WgmmaFirst, Schedules) {
  using P = WgmmaFirstPolicy<NCxHWx<32>, BiasRelu<>, WgmmaTile<16, 64, 32, 8, 64, 2>>;
  for (const Problem& p :
       {SquareProblem(1, 3, 24, 40, 7, 3, 2), SquareProblem(1, 4, 9, 130, 3, 1, 1)}) {
    RunSchedules<P>(p, 2, {arch::Copies::kDeferred, arch::Copies::kEager});
  }
  using Four = WgmmaFirstPolicy<NCxHWx<32>, BiasRelu<>, WgmmaTile<32, 64, 32, 8, 64>>;
  const Problem p = SquareProblem(1, 4, 24, 80, 3, 1, 2);
  EXPECT_GT(std::get<FirstLayerPlan>(MakeConvPlan(p, FactsOf<Four>())->kernel).source_spec.rank, 0);
  RunSchedules<Four>(p, 2, {arch::Copies::kDeferred, arch::Copies::kEager});
}

ConvPlan PlanOf(const Problem& p) {
  const absl::StatusOr<ConvPlan> g = MakeConvPlan(p, FactsOf<Nc4>());
  EXPECT_TRUE(g.ok()) << g.status();
  return g.ok() ? *g : ConvPlan();
}

TEST(WgmmaFirst, PlanOfTheFirstLayerOfResNet) {
  const Problem p = SquareProblem(64, 4, 224, 64, 7, 3, 2);
  const ConvPlan g = PlanOf(p);
  ASSERT_TRUE(std::holds_alternative<FirstLayerPlan>(g.kernel));
  EXPECT_EQ(g.counts.tiles_m, 64 * 7 * 10);  // of two windows of 8 x 12 pixels
  EXPECT_EQ(g.counts.k_tiles, 1);
  EXPECT_EQ(std::get<FirstLayerPlan>(g.kernel).plan.steps, 7);  // one for a row of taps
  const SlidingWindowSource& a = std::get<FirstLayerPlan>(g.kernel).source;
  EXPECT_EQ(a.left, 4);  // a tap of zeros, so that windows begin at 16 (8) bytes
  EXPECT_EQ(a.lines, 11 * 2 + 7);
  EXPECT_EQ(a.line_bytes, 7 * 16 + 32);
  EXPECT_EQ(a.widest, 16);
  EXPECT_GE(std::get<FirstLayerPlan>(g.kernel).ring.stages, 4);
  EXPECT_LE(std::get<FirstLayerPlan>(g.kernel).ring.b_offset + 7 * 64 * 32,
            FactsOf<Nc4>().wgmma.stage_bytes);
  EXPECT_THAT(Convolution<Nc4>::Create(p)->Describe(), HasSubstr("sliding windows"));
}

struct Simt : Nc4 {
  static constexpr auto config = WithDstAlignment(kSimt128x64, 4);
};

// Between what the memory allows and the dp4a kernel.
TEST(WgmmaFirst, ModelOfTheFirstLayerOfResNet) {
  const Problem p = SquareProblem(64, 4, 224, 64, 7, 3, 2);
  const GpuFacts gpu;
  const Prediction windows = Predict(p, FactsOf<Nc4>(), gpu);
  EXPECT_GT(windows.microseconds, PlanOf(p).counts.bytes / gpu.bytes_per_us);
  EXPECT_LT(windows.microseconds, 0.3 * Predict(p, FactsOf<Simt>(), gpu).microseconds);
  EXPECT_LT(Predict(SquareProblem(1, 4, 224, 64, 7, 3, 2), FactsOf<Nc4>(), gpu).microseconds, 5.0);
}

// With an odd number of chunks a step has one of zeros; nothing lies outside of the window.
TEST(WgmmaFirst, StepsStayInTheWindow) {
  for (const std::int64_t r : {1, 3, 5}) {
    for (const std::int64_t c : {1, 5, 9}) {
      Problem p = SquareProblem(1, c, 20, 64, r, r / 2, 2);
      const ConvPlan g = PlanOf(p);
      const SlidingWindowSource& a = std::get<FirstLayerPlan>(g.kernel).source;
      const gemm::WgmmaPlan& plan = std::get<FirstLayerPlan>(g.kernel).plan;
      int taps = 0;
      EXPECT_EQ(std::get<FirstLayerPlan>(g.kernel).filter_chunks.chunks, 2 * plan.steps);
      for (int i = 0; i < std::get<FirstLayerPlan>(g.kernel).filter_chunks.chunks; ++i) {
        const int word = std::get<FirstLayerPlan>(g.kernel).filter_chunks.chunk[i].taps;
        taps += (word & 1) + (word >> 1 & 1) + (word >> 2 & 1) + (word >> 3 & 1);
      }
      EXPECT_EQ(taps, (c + 3) / 4 * r * r);
      for (int i = 0; i < plan.steps; ++i) {
        const auto start = static_cast<int>(plan.step_a[i] & 0xFFFF);
        const auto leading = static_cast<int>(plan.step_a[i] >> 16);
        const int rows = 96 / 8 - 1;  // the last one's first pixel
        EXPECT_LE((start + leading) * 16 + rows * 2 * a.line_pitch + 8 * 16,
                  a.blocks * a.lines * a.line_pitch);
      }
    }
  }
}

std::string ErrorOf(const Problem& p) {
  const absl::Status status = Convolution<Nc4>::Create(p).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  return std::string(status.message());
}

TEST(WgmmaFirst, Limits) {
  Problem p = SquareProblem(1, 4, 40, 64, 3, 1, 1);
  p.stride_w = 3;
  EXPECT_THAT(ErrorOf(p), HasSubstr("conv: stride_w=3 is not 1, 2 or 4"));
  p.stride_w = 1, p.dilation_w = 2;
  EXPECT_THAT(ErrorOf(p), HasSubstr("conv: dilation_w=2 is not 1"));
  EXPECT_THAT(ErrorOf(p), HasSubstr("use a SimtConfig"));
  EXPECT_THAT(ErrorOf(SquareProblem(1, 64, 40, 64, 7, 3, 2)),
              HasSubstr("c=64 r=7 s=7 are 224 chunks"));
  EXPECT_THAT(ErrorOf(SquareProblem(1, 128, 40, 64, 3, 1, 1)), HasSubstr("two stages of"));
  p = SquareProblem(1, 1, 300, 64, 1, 0, 1);
  p.s = 120;
  EXPECT_THAT(ErrorOf(p), HasSubstr("and 9 of a row"));
  using Local = WgmmaFirstPolicy<NCxHWx<32>, BiasRelu<>, Tile2x96, prologues::LocalFilter>;
  EXPECT_THAT(
      std::string(
          Convolution<Local>::Create(SquareProblem(1, 4, 8, 64, 1, 0, 1)).status().message()),
      HasSubstr("prologue LocalFilter depends on the output's position"));
}

// 2^32 windows of an image of one column, of which 32 bits hold nothing.
TEST(WgmmaFirst, MoreWindowsThanIndices) {
  using OneRow = WgmmaFirstPolicy<NCxHWx<32>, BiasRelu<>, WgmmaTile<8, 64, 32, 8, 64, 2>>;
  Problem p = SquareProblem(1, 4, 1, 64, 1, 0, 1);
  p.h = std::int64_t{1} << 30;
  EXPECT_EQ(Convolution<OneRow>::Create(p).status().message(),
            "conv: rows of one product=34359738368 exceeds 2147482623; split the batch");
}

// A source that is aligned to its pixels only.
TEST(WgmmaFirst, SourceAtAnyPixel) {
  const Problem p = SquareProblem(1, 4, 20, 32, 7, 3, 2);
  const auto op = Convolution<Nc4>::Create(p);
  ASSERT_TRUE(op.ok());
  const RandomTensors t(p, 3);
  const auto filter = PackFilter<CxRSKx<4>, KCRS, std::int8_t>(p.filter(), t.filter).value();
  const auto src = ConvertTensor<NCHW, NCxHWx<4>, std::int8_t>(p.src(), t.src).value();
  alignas(32) static std::int8_t memory[20 * 20 * 4 + 32], out[4][10 * 10 * 32];
  for (int i = 0; i < 4; ++i) {
    std::copy(src.begin(), src.end(), memory + 4 * i);
    const Convolution<Nc4>::Arguments args = {.src = memory + 4 * i,
                                              .filter = filter.view(),
                                              .bias = t.bias.data(),
                                              .dst = out[i],
                                              .alpha = 0.001f};
    ASSERT_TRUE(op->RunOnCpu(args).ok());
    EXPECT_TRUE(std::equal(out[0], out[0] + sizeof(out[0]), out[i])) << i;
  }
  EXPECT_TRUE(std::any_of(out[0], out[0] + sizeof(out[0]), [](std::int8_t x) { return x != 0; }));
}

}  // namespace
}  // namespace weft::conv
