// Which tiles of the ready-made families Dispatch takes on which GPUs, and what small families accept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/conv/choose/machines.hpp"
#include "tests/conv/harness.hpp"
#include "tests/conv/own_relu.hpp"
#include "weft/conv/choose/consider.hpp"
#include "weft/conv/dispatch.hpp"
#include "weft/conv/plan/policy_facts.hpp"
#include "weft/conv/ready_made.hpp"

namespace weft::conv {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

using Relu = OwnRelu;
using Nc4 = Dispatch<S8Conv4Family<Relu>>;
using Nc32 = Dispatch<S8Conv32Family<Relu>>;
using Nhwc = Dispatch<S8ConvNhwcFamily<Relu>>;
using First = Dispatch<S8Conv4Family<Relu, NCxHWx<32>>>;

TEST(Dispatch, OlderGpusAreServed) {
  const Problem p = SquareProblem(1, 64, 56, 64, 3, 1, 1);
  EXPECT_TRUE(Nc4::Create(p, Turing()).ok());
  const auto nc32 = Nc32::Create(p, Turing());
  ASSERT_TRUE(nc32.ok()) << nc32.status();
  EXPECT_EQ(nc32->config().mainloop, gemm::Mainloop::kMmaSm75);
  for (const Candidate& c : nc32->candidates()) {
    EXPECT_EQ(c.status.ok(), c.facts.config.mainloop == gemm::Mainloop::kMmaSm75) << c.status;
  }
  // Where there is a choice of mainloop it is the newer one.
  EXPECT_EQ(Nc32::Create(p, GpuFacts())->config().mainloop, gemm::Mainloop::kWgmmaSm90);

  using Sm80Only = Dispatch<Family<S8Conv32<>>>;
  const auto refused = Sm80Only::Create(p, Turing());
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(refused.status().message(),
            "conv: config.mainloop needs compute capability 8.0, this GPU has 7.5; run on the CPU "
            "or choose an older mainloop");
}

template <class FamilyT>
struct FactsOfEach;
template <class... Policies>
struct FactsOfEach<Family<Policies...>> {
  static constexpr ConvFacts kFacts[] = {FactsOf<Policies>()...};
};

// Facts alone are enough for what Dispatch finds out about a family.
template <class FamilyT, class Machine>
void ExpectAsDispatch(const Problem& problem, const Machine& machine) {
  const auto op = Dispatch<FamilyT>::Create(problem, machine);
  const auto considered = Consider(problem, machine, FactsOfEach<FamilyT>::kFacts);
  ASSERT_EQ(considered.status(), op.status());
  if (!op.ok()) return;
  ASSERT_EQ(considered->size(), op->candidates().size());
  for (std::size_t i = 0; i < considered->size(); ++i) {
    const Candidate &alone = (*considered)[i], &of_dispatch = op->candidates()[i];
    EXPECT_EQ(alone.status, of_dispatch.status) << i;
    EXPECT_EQ(alone.prediction.microseconds, of_dispatch.prediction.microseconds) << i;
  }
}

TEST(Consider, SaysOfFactsWhatDispatchSays) {
  for (const Problem& p :
       {SquareProblem(8, 64, 28, 64, 3, 1, 1), SquareProblem(1, 20, 7, 20, 1, 0, 1),
        SquareProblem(64, 3, 224, 64, 7, 3, 2), SquareProblem(8, 0, 28, 64, 3, 1, 1),
        SquareProblem(8, 64, 28, 64, 3, 1, 0)}) {
    for (const arch::DeviceLimits& gpu : {Turing(), Gpu(86, 84, 99), Gpu(90, 132, 227)}) {
      ExpectAsDispatch<S8Conv32Family<Relu>>(p, GpuFactsOf(gpu));
      ExpectAsDispatch<S8ConvNhwcFamily<Relu>>(p, GpuFactsOf(gpu));
    }
    ExpectAsDispatch<S8Conv32Family<Relu>>(p, CpuFacts{4});
    ExpectAsDispatch<S8ConvNhwcFamily<Relu>>(p, CpuFacts{4});
  }
  ExpectAsDispatch<S8Conv32Family<Relu>>(SquareProblem(8, 64, 28, 64, 3, 1, 1), CpuFacts{0});
}

TEST(Consider, RefusesNoPolicies) {
  const absl::Status status =
      Consider(SquareProblem(1, 4, 4, 4, 1, 0, 1), CpuFacts{1}, {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "conv: policies is empty; give at least one");
}

// The families hold tiles that Hopper alone runs.
TEST(Dispatch, WgmmaTilesAreForHopperAlone) {
  const Problem p = SquareProblem(16, 128, 28, 128, 3, 1, 1);
  const Problem first = SquareProblem(16, 3, 224, 64, 7, 3, 2);
  for (const arch::DeviceLimits& gpu :
       {Gpu(80, 108, 163), Gpu(86, 84, 99), Gpu(89, 128, 99), Gpu(100, 148, 227)}) {
    const auto nc32 = Nc32::Create(p, gpu);
    const auto nhwc = Nhwc::Create(p, gpu);
    const auto nc4 = First::Create(first, gpu);
    ASSERT_TRUE(nc32.ok() && nhwc.ok() && nc4.ok()) << gpu.compute_capability;
    EXPECT_EQ(nc32->config().mainloop, gemm::Mainloop::kMmaSm80);
    EXPECT_EQ(nhwc->config().mainloop, gemm::Mainloop::kMmaSm80);
    EXPECT_EQ(nc4->config().mainloop, gemm::Mainloop::kSimt);
    EXPECT_TRUE(RefusesAllWgmma(*nc32));
    EXPECT_TRUE(RefusesAllWgmma(*nhwc));
    EXPECT_TRUE(RefusesAllWgmma(*nc4));
    EXPECT_THAT(nc32->Describe(), Not(HasSubstr("wgmma")));
    EXPECT_THAT(nhwc->Describe(), HasSubstr(" refused"));
  }
  const arch::DeviceLimits hopper = Gpu(90, 132, 227);
  const Nc32 nc32 = *Nc32::Create(p, hopper);
  EXPECT_TRUE(IsWgmma(nc32.config())) << nc32.Describe();
  EXPECT_TRUE(IsWgmma(Nhwc::Create(p, hopper)->config()));
  EXPECT_TRUE(IsWgmma(First::Create(first, hopper)->config()));
  // config.packed_rows has few channels.
  for (const Candidate& c : nc32.candidates()) {
    EXPECT_EQ(c.status.ok(), c.facts.config.packed_rows == 1) << c.status;
  }
  const int refused = WgmmaCandidates(nc32).second;
  EXPECT_GT(refused, 0);
  EXPECT_THAT(nc32.Describe(), MatchesRegex(absl::StrCat(
                                   "wgmma_sm90 .*; chosen of ", Nc32::kPolicies - refused,
                                   " tiles for a GPU of 132 multiprocessors: predicted .*; next "
                                   ".*; addresses that it refuses go to mma_sm80 .*")));
}

// What TMA does not serve, other tiles do.
// A small family takes and refuses what the whole one does, on every machine and in the same words.
template <class Small, class Whole>
void ExpectSameAccepted() {
  EXPECT_LE(Dispatch<Small>::kPolicies, 8);
  const arch::DeviceLimits gpus[] = {Turing(), Gpu(80, 108, 163), Gpu(89, 128, 99),
                                     Gpu(90, 132, 227), Gpu(100, 148, 227)};
  std::vector<Problem> problems = {SquareProblem(1, 32, 1 << 15, 32, 1, 0, 1),
                                   SquareProblem(1, 32, 8, 32, 3, 1 << 21, 1),
                                   SquareProblem(1 << 20, 32, 7, 32, 1, 0, 1)};
  for (const int c : {1, 3, 4, 8, 16, 20, 24, 32, 64}) {
    for (const int k : {1, 4, 7, 8, 16, 30, 32, 100}) {
      for (const int r : {1, 3}) {
        Problem p = SquareProblem(1 + (c + k) % 5, c, 14, k, r, r / 2, 1 + k % 3);
        p.dilation_h = 1 + c % 2;
        problems.push_back(p);
        p.c *= 2, p.k *= 2, p.groups = 2;
        problems.push_back(p);
      }
    }
  }
  int accepted = 0;
  for (const Problem& p : problems) {
    for (const arch::DeviceLimits& gpu : gpus) {
      const auto small = Dispatch<Small>::Create(p, gpu);
      const auto whole = Dispatch<Whole>::Create(p, gpu);
      EXPECT_EQ(small.status(), whole.status()) << ProblemName(p);
      accepted += small.ok();
    }
    EXPECT_EQ(Dispatch<Small>::Create(p, CpuFacts()).status(),
              Dispatch<Whole>::Create(p, CpuFacts()).status())
        << ProblemName(p);
  }
  EXPECT_GT(accepted, 400);
}

TEST(Dispatch, SmallFamiliesAcceptTheSameProblems) {
  ExpectSameAccepted<S8Conv4SmallFamily<Relu>, S8Conv4Family<Relu>>();
  ExpectSameAccepted<S8Conv32SmallFamily<Relu>, S8Conv32Family<Relu>>();
  ExpectSameAccepted<S8ConvNhwcSmallFamily<Relu>, S8ConvNhwcFamily<Relu>>();
  ExpectSameAccepted<S8ConvNhwcSmallFamily<Relu, NCxHWx<32>>, S8ConvNhwcFamily<Relu, NCxHWx<32>>>();
}

// How many policies of a family run through wgmma_sm90.
template <class FamilyT>
int OfWgmma() {
  const auto configs = Dispatch<FamilyT>::Configs();
  return static_cast<int>(std::count_if(configs.begin(), configs.end(),
                                        [](const TileDescription& c) { return IsWgmma(c); }));
}

// Where wgmma_sm90 would store fewer than 16 bytes of a pixel at once, families are without it.
TEST(Dispatch, FamiliesWithoutWgmma) {
  using Float =
      epilogues::Chain<epilogues::Scale, epilogues::Bias<>, epilogues::Relu, epilogues::ToFloat>;
  EXPECT_EQ((OfWgmma<S8Conv32Family<Relu, NCxHWx<4>>>()), 0);
  EXPECT_EQ((OfWgmma<S8Conv32Family<Relu, NHWC>>()), OfWgmma<S8Conv32Family<Relu>>());
  EXPECT_EQ((OfWgmma<S8Conv32Family<Float, NCHW>>()), 0);
  EXPECT_EQ((OfWgmma<S8ConvNhwcFamily<Float>>()), 0);
  EXPECT_EQ((OfWgmma<S8ConvNhwcFamily<Relu, NCxHWx<4>>>()), 0);
  EXPECT_EQ((OfWgmma<S8Conv4Family<Relu>>()), 0);
  EXPECT_GT((OfWgmma<S8Conv4Family<Relu, NHWC>>()), 0);
  // By themselves such operators exist.
  EXPECT_EQ((S8Conv32<Relu, NCxHWx<4>, Wgmma64x64>::config.alignment.dst), 4);
  EXPECT_EQ((S8Conv32<Float, NCHW, Wgmma64x64>::config.alignment.dst), 4);
  const Problem p = SquareProblem(1, 40, 7, 36, 3, 1, 1);
  ExpectMatchesReference<S8Conv32<Relu, NCxHWx<4>, Wgmma64x64>>(p, reference::ReluActivation());
  ExpectMatchesReference<S8Conv32<Float, NCHW, Wgmma64x64>>(p, reference::ReluActivation());
  ExpectMatchesReference<S8Conv4<Relu, NCxHWx<4>, WgmmaFirst64x64>>(
      SquareProblem(1, 3, 16, 36, 3, 1, 1), reference::ReluActivation());
}

}  // namespace
}  // namespace weft::conv
