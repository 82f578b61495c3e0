// On the CPU: all layouts, the choice and what is said of it, tuning tables, and what is refused.
#include <gmock/gmock.h>

#include <string>

#include "tests/conv/depthwise_pointwise/ready_made_fused_cases.hpp"

namespace weft::conv {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

using Nc4 = Dispatch<S8DepthwisePointwise4Family<>>;
using Nc32 = Dispatch<S8DepthwisePointwise32Family<>>;
using Nhwc = Dispatch<S8DepthwisePointwiseNhwcFamily<>>;

TEST(ReadyMadeFused, ChoicesOfAllLayouts) {
  RunChoices<S8DepthwisePointwise4<>, Nc4>(GpuFacts());
  RunChoices<S8DepthwisePointwise32<>, Nc32>(GpuFacts());
  RunChoices<S8DepthwisePointwiseNhwc<>, Nhwc>(CpuFacts{2});
}

// Policies that are not for the CPU in Dispatch, of as many rows and warps as the family has.
template <class... Tiles>
void RunTiles() {
  using epilogues::BiasIdentity, epilogues::BiasRelu;
  (ExpectFused<Tested<S8DepthwisePointwise32<BiasRelu<>, BiasIdentity<>, NCxHWx<32>, Tiles>>>(
       SquareProblem(2, 100, 9, 40, 3, 1, 1)),
   ...);
}
TEST(ReadyMadeFused, Tiles) {
  RunTiles<Fused7x3x16, Fused4x6x16, Fused2x12x16>();
}

DepthwisePointwiseProblem Block(std::int64_t n, std::int64_t c, std::int64_t hw,
                                std::int64_t stride, std::int64_t k) {
  DepthwisePointwiseProblem p{SquareProblem(n, c, hw, c, 3, 1, stride), k};
  p.depthwise.groups = c;
  return p;
}

// rows x warps of the chosen config.
template <class Op>
std::pair<int, int> Choice(const DepthwisePointwiseProblem& p) {
  const TileDescription config = Op::Create(p, GpuFacts())->config();
  return {config.warp.m / 16, config.threadblock.n / config.warp.n};
}

// docs/depthwise_pointwise.md has the quickest tile of each of these layers.
TEST(ReadyMadeFused, ChoosesAsMeasured) {
  struct Layer {
    DepthwisePointwiseProblem problem;
    std::pair<int, int> quickest;
  };
  const Layer layers[] = {
      {Block(16, 32, 112, 1, 16), {7, 1}},  {Block(16, 96, 112, 2, 24), {7, 2}},
      {Block(16, 144, 56, 1, 24), {7, 3}},  {Block(16, 144, 56, 2, 32), {4, 6}},
      {Block(16, 192, 28, 1, 32), {2, 6}},  {Block(16, 192, 28, 2, 64), {4, 6}},
      {Block(16, 384, 14, 1, 64), {2, 12}}, {Block(16, 384, 14, 1, 96), {2, 12}},
      {Block(16, 576, 14, 1, 96), {1, 12}}, {Block(16, 576, 14, 2, 160), {1, 12}},
      {Block(16, 960, 7, 1, 160), {1, 12}}, {Block(16, 960, 7, 1, 320), {1, 12}},
      {Block(64, 32, 112, 1, 16), {7, 1}},  {Block(64, 96, 112, 2, 24), {7, 1}},
      {Block(64, 144, 56, 1, 24), {7, 3}},  {Block(64, 144, 56, 2, 32), {7, 2}},
      {Block(64, 192, 28, 1, 32), {7, 3}},  {Block(64, 192, 28, 2, 64), {7, 6}},
      {Block(64, 384, 14, 1, 64), {4, 6}},  {Block(64, 384, 14, 1, 96), {4, 6}},
      {Block(64, 576, 14, 1, 96), {4, 6}},  {Block(64, 576, 14, 2, 160), {1, 12}},
      {Block(64, 960, 7, 1, 160), {2, 12}}, {Block(64, 960, 7, 1, 320), {2, 12}}};
  int same = 0;
  for (const Layer& layer : layers) {
    const Nc32 op = *Nc32::Create(layer.problem, GpuFacts());
    same += Choice<Nc32>(layer.problem) == layer.quickest;
    // Where it is another one, the model expects the two to be nearly as quick.
    double quickest = 0.0;
    for (const Candidate& c : op.candidates()) {
      const TileDescription& config = c.facts.config;
      if (std::pair(config.warp.m / 16, config.threadblock.n / config.warp.n) == layer.quickest) {
        quickest = c.prediction.microseconds;
      }
    }
    EXPECT_LE(quickest, 1.04 * op.candidates()[op.index()].prediction.microseconds)
        << op.Describe();
  }
  EXPECT_EQ(same, 18);
}

TEST(ReadyMadeFused, SaysWhy) {
  EXPECT_THAT(
      Nc32::Create(Block(16, 384, 14, 1, 64), GpuFacts())->Describe(),
      MatchesRegex("depthwise 3x3 stride 1 of 384 channels, thread of 4 channels by 2x4 pixels, "
                   "then 1x1 to 64 channels, warp of 32x16; 112 blocks of 384 threads, 12288 bytes "
                   "shared, NCxHWx<32> -> NCxHWx<32>; chosen of [0-9]+ tiles for a GPU of 132 "
                   "multiprocessors: predicted [0-9.]+ us, 112 blocks in 0.[0-9]+ waves of [0-9]+ "
                   "a processor, [0-9]+% padding, 85% busy; next depthwise_pointwise "
                   "[0-9]+x[0-9]+x32, [0-9.]+ us: .*"));
}

// Tiles whose channels do not fit in shared memory are passed over.
TEST(ReadyMadeFused, PassesOverWhatDoesNotFit) {
  const Nc32 op = *Nc32::Create(Block(1, 2400, 7, 1, 64), GpuFacts());
  EXPECT_LT(Choice<Nc32>(op.problem()).first, 7);
  EXPECT_THAT(op.Describe(), HasSubstr(" refused"));
  for (const Candidate& c : op.candidates()) {
    EXPECT_TRUE(c.status.ok() || c.status.code() == absl::StatusCode::kResourceExhausted);
  }
}

TEST(ReadyMadeFused, TuningTables) {
  const DepthwisePointwiseProblem p = Block(16, 384, 14, 1, 64);
  EXPECT_EQ(Nc32::FamilyName(), "s8_NCxHWx<32>_depthwise_pointwise_to_s8_NCxHWx<32>_bias");
  EXPECT_EQ(ProblemName(p), "n16c384h14w14k384r3s1p1g384+k64");
  const std::string line = "device=\"NVIDIA H200\" sms=132 operator=" + Nc32::FamilyName() +
                           " problem=n16c384h14w14k384r3s1p1g384+k64 policy=" +
                           PolicyName(DepthwisePointwiseConfig(kFused7x6x16)) + " us=5.0\n";
  const auto table = TuningTable::Parse("mine", line);
  ASSERT_TRUE(table.ok()) << table.status();
  const Nc32 op = *Nc32::Create(p, GpuFacts(), {.tuning = &*table});
  EXPECT_TRUE(op.measured());
  EXPECT_EQ(op.config().warp.m, 7 * 16);
  EXPECT_THAT(op.why(), HasSubstr("measured: depthwise_pointwise_112x96x32"));

  const auto message = [&](const std::string& name) {
    std::string other = line;
    other.replace(other.find("n16c"), ProblemName(p).size(), name);
    return std::string(TuningTable::Parse("mine", other).status().message());
  };
  EXPECT_THAT(message("n16c384h14w14k384r3s1p1g384+n64"), HasSubstr("the output channels"));
  EXPECT_THAT(message("n16c384h14w14k384r3s1p1g384+k64x"), HasSubstr("as in k24"));
  // A problem without outputs, of which there is nothing to do, is one.
  EXPECT_EQ(message("n16c384h14w14k384r3s1p1g384+k0"), "");
  EXPECT_EQ(message("n0c384h14w14k384r3s1p1g384+k64"), "");
}

TEST(ReadyMadeFused, RefusesAsOnePolicy) {
  DepthwisePointwiseProblem p = Block(1, 40, 8, 1, 16);
  p.depthwise.stride_h = 3;
  for (const absl::Status& s :
       {Nc32::Create(p).status(), Nc32::Create(p, GpuFacts()).status(),
        Nc32::Create(p, CpuFacts{2}).status(), Nc32::CreateAt(p, 3).status()}) {
    EXPECT_EQ(s, DepthwisePointwise<S8DepthwisePointwise32<>>::Create(p).status());
    EXPECT_EQ(s.code(), absl::StatusCode::kUnimplemented);
    EXPECT_THAT(std::string(s.message()), HasSubstr("conv: r=3 s=3 stride 3x1 is not 3x3 or 5x5"));
  }
  p = Block(1, 40, 8, 1, 16);
  constexpr int kEnd = Nc32::kPolicies;
  EXPECT_EQ(
      Nc32::CreateAt(p, kEnd).status().message(),
      absl::StrCat("conv: index=", kEnd, " is not a policy of this family; give 0 to ", kEnd - 1));
  p.depthwise.groups = 1;
  EXPECT_THAT(std::string(Nc32::Create(p).status().message()), HasSubstr("groups=1 is not c=40"));
  EXPECT_THAT(std::string(Nhwc::Create(Block(1, 40, 8, 1, 6)).status().message()),
              HasSubstr("conv: k=6 is not a multiple of 4"));
  const arch::DeviceLimits turing = {.compute_capability = 75,
                                     .sm_count = 40,
                                     .shared_memory_per_block = 64 * 1024,
                                     .shared_memory_per_sm = 64 * 1024,
                                     .registers_per_sm = 65536,
                                     .max_threads_per_sm = 1024,
                                     .l2_bytes = 4 << 20};
  EXPECT_EQ(Nc32::Create(Block(1, 40, 8, 1, 16), turing).status().code(),
            absl::StatusCode::kFailedPrecondition);
  const Nc32 op = *Nc32::Create(Block(1, 40, 8, 1, 16));
  const absl::Status s = op.RunOnCpu({});
  EXPECT_THAT(std::string(s.message()), HasSubstr("conv: depthwise: args.src is null"));
  EXPECT_EQ(op.Run({}, nullptr), s);
}

// What weft_add_family() counts on.
static_assert(std::is_same_v<PolicyOf<S8DepthwisePointwise32Family<>,
                                      Dispatch<S8DepthwisePointwise32Family<>>::kPolicies, 0>,
                             S8DepthwisePointwise32<>>);

}  // namespace
}  // namespace weft::conv
