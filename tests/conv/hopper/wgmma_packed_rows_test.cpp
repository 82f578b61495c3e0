// Convolutions with packed rows on the CPU, and under its schedules; what the host refuses and
// chooses.
#include "tests/conv/hopper/wgmma_packed_rows_cases.hpp"

#include <gmock/gmock.h>

#include "tests/conv/own_relu.hpp"
#include "tests/conv/run_schedules.hpp"
#include "weft/conv/choose/tile_model.hpp"
#include "weft/conv/dispatch.hpp"
#include "weft/conv/ready_made.hpp"

namespace weft::conv {
namespace {

using testing::HasSubstr;
using Nc32 = WgmmaPolicy<NCxHWx<32>, BiasRelu<>, Wgmma160x64PackedRows>;

TEST(WgmmaPackedRows, Schedules) {
  using P = WgmmaPolicy<NCxHWx<32>, BiasRelu<>, PackedRows<WgmmaTile<16, 64, 64, 8, 64, 2>>>;
  using Residual = WgmmaPolicy<NCxHWx<32>, epilogues::ResidualBiasRelu<>, PackedRows32>;
  RunSchedules<P>(SquareProblem(1, 96, 9, 20, 3, 1, 1), 2,
                  {arch::Copies::kDeferred, arch::Copies::kEager});
  RunSchedules<Residual>(SquareProblem(2, 32, 7, 32, 3, 1, 1), 2, {arch::Copies::kDeferred});
}

Problem ManyRows(std::int64_t n) {
  Problem p = SquareProblem(n, 64, 92, 32, 3, 1, 1);
  p.w = 160;
  return p;
}

TEST(WgmmaPackedRows, Plan) {
  const absl::StatusOr<ConvPlan> g = MakeConvPlan(ManyRows(64), FactsOf<Nc32>());
  ASSERT_TRUE(g.ok()) << g.status();
  EXPECT_TRUE(std::get<TmaPlan>(g->kernel).patch);
  EXPECT_EQ(std::get<TmaPlan>(g->kernel).rows,
            64 * 47 * 161);  // pairs of output rows, one of zeros between images
  EXPECT_EQ(std::get<TmaPlan>(g->kernel).plan.steps, 12);  // of four rows of taps
  EXPECT_EQ(std::get<TmaPlan>(g->kernel).source.copies.of_k_tile,
            2);  // even and odd rows of the source
  EXPECT_EQ(std::get<TmaPlan>(g->kernel).filter.copies.of_k_tile, 1);
  EXPECT_EQ(std::get<TmaPlan>(g->kernel).filter.copy_bytes, 5 * 3 * 32 * 32);
  EXPECT_EQ(g->counts.tiles_n, 1);
  EXPECT_NEAR(g->counts.useful, 0.75, 0.03);  // 9 of 12 taps
  EXPECT_THAT(Convolution<Nc32>::Create(ManyRows(64))->Describe(),
              HasSubstr("a patch for all taps of two output rows"));
}

// Where there are few channels, and nowhere else.
TEST(WgmmaPackedRows, TheModelKnowsWhatItIsFor) {
  using Op = Dispatch<S8Conv32Family<OwnRelu>>;
  const auto stack = [](const Problem& p) {
    const absl::StatusOr<Op> op = Op::Create(p, GpuFacts());
    EXPECT_TRUE(op.ok()) << op.status();
    return op.ok() ? op->config().packed_rows : 0;
  };
  // With one image the two kinds of tile are within 5% of each other (perf/results/h200/anchors-n1.json).
  for (const std::int64_t n : {16, 64}) EXPECT_EQ(stack(ManyRows(n)), 2);
  EXPECT_EQ(stack(SquareProblem(64, 64, 56, 64, 3, 1, 1)), 1);
  EXPECT_EQ(stack(SquareProblem(64, 64, 56, 32, 1, 0, 1)), 1);
  const auto us = [](const ConvFacts& f) {
    return Predict(ManyRows(64), f, GpuFacts()).microseconds;
  };
  EXPECT_LT(us(FactsOf<Nc32>()),
            0.8 * us(FactsOf<S8Conv32<BiasRelu<>, NCxHWx<32>, Wgmma192x64>>()));
}

std::string ErrorOf(const Problem& p) {
  const absl::Status status = Convolution<Nc32>::Create(p).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  return std::string(status.message());
}

TEST(WgmmaPackedRows, Limits) {
  EXPECT_THAT(
      ErrorOf(SquareProblem(1, 32, 9, 33, 3, 1, 1)),
      HasSubstr("conv: k/groups=33 is more than the 32 channels of a tile, where the "
                "config.packed_rows of wgmma_sm90 is 2; take a config with packed_rows of 1"));
  EXPECT_THAT(ErrorOf(SquareProblem(1, 32, 9, 32, 1, 0, 1)),
              HasSubstr("conv: r=1 is not more than stride_h/dilation_h=1"));
  Problem p = SquareProblem(1, 32, 9, 32, 3, 2, 1);
  p.dilation_h = 2;
  EXPECT_THAT(ErrorOf(p), HasSubstr("conv: stride_h=1 is not a multiple of dilation_h=2"));
  p = SquareProblem(1, 32, 40, 32, 6, 0, 1);
  p.stride_h = 5;
  EXPECT_THAT(ErrorOf(p), HasSubstr("stride_h=10 is more than the 8 that TMA takes"));
  p = SquareProblem(1, 32, 20, 32, 9, 4, 1);
  EXPECT_THAT(ErrorOf(p), HasSubstr("two stages of a patch do not fit"));
}

}  // namespace
}  // namespace weft::conv
