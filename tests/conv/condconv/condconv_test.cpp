// On the CPU, under the executor's schedules too, and what is refused.
#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "tests/conv/condconv/condconv_cases.hpp"

namespace weft::conv {
namespace {

using testing::HasSubstr;
using Op = CondConv<Simple>;

TEST(CondConv, Schedules) {
  for (const arch::Schedule schedule : {arch::Schedule::kForward, arch::Schedule::kReverse,
                                        arch::Schedule::kPriority, arch::Schedule::kRandom}) {
    MixOptions options{.experts = 30, .constant = schedule == arch::Schedule::kReverse};
    options.run.cpu.schedule = schedule;
    options.run.cpu.workers = 2;
    ExpectMixed<Simple>(SquareProblem(35, 4, 2, 40, 2, 0, 1), options);
  }
}

// Blocks whose images have their weights at hand in turn, and scales of the channels that there
// are.
TEST(CondConv, BlocksOfManyImages) {
  constexpr std::int64_t kExperts = 32;
  const Problem p = SquareProblem(400, 4, 1, 5, 1, 0, 1);
  const MixPlan plan =
      PlanMixing(p, MixFormatOf<CxRSKx<4>>(p.filter()), kExperts, /*multiprocessors=*/1).value();
  EXPECT_GT(plan.params.group, 32);
  const RandomTensors t(p, 1, kExperts);
  const auto bank =
      PackFilters<prologues::Experts, CxRSKx<4>>(p.filter(), kExperts, t.filter).value();
  const std::vector<float> routing = RandomFloats(p.n * kExperts, -0.3f, 0.6f, 2);
  const std::vector<float> scale = RandomFloats(kExperts * p.k, 0.1f, 0.4f, 3);
  const std::vector<std::int8_t> want =
      reference::MixExperts(p, kExperts, t.filter.data(), routing.data(), scale.data());
  const auto packed = PackFilters<PerSample, CxRSKx<4>>(p.filter(), p.n, want).value();
  for (const arch::Schedule schedule : {arch::Schedule::kForward, arch::Schedule::kReverse,
                                        arch::Schedule::kPriority, arch::Schedule::kRandom}) {
    std::vector<std::int8_t> mixed(plan.workspace_bytes(), 0x55);
    MixParams params = plan.params;
    params.experts = bank.data(), params.mixed = mixed.data();
    params.routing = routing.data(), params.expert_scale = scale.data();
    arch::CpuOptions options;
    options.schedule = schedule;
    const absl::Status status = gemm::CpuBackEnd{options}.Run<MixFilters>(
        "conv", {}, {.kernel = plan.kernel, .params = &params, .grid = plan.grid});
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_TRUE(std::equal(mixed.begin(), mixed.end(), packed.data()));
  }
}

Problem Good() {
  return SquareProblem(3, 16, 5, 16, 3, 1, 1);
}

TEST(CondConv, RefusesNumbersOfExperts) {
  for (const std::int64_t experts : {-1, 0, 33}) {
    const absl::Status status = Op::Create(Good(), experts).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(absl::StrCat("conv: experts=", experts, " is not 1 to 32")));
  }
  Problem grouped = Good();
  grouped.groups = 2;
  EXPECT_THAT(std::string(Op::Create(grouped, 2).status().message()), HasSubstr("groups=2"));
}

TEST(CondConv, RefusesFiltersBeyondItsIndices) {
  const absl::Status status = Op::Create(SquareProblem(1, 131068, 1, 1 << 17, 1, 0, 1), 2).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("conv: bytes of one filter=17179344896 exceeds 8589932540; split K"));
}

// Arguments that run, to get one thing wrong.
struct Arguments {
  static constexpr std::int64_t kExperts = 4;
  Arguments() : op(Op::Create(Good(), kExperts).value()) {
    args.src = src, args.bias = bias, args.dst = dst, args.output_scale = 1.0f;
    args.experts = bank.view();
    args.routing = routing;
    args.workspace = workspace;
    args.workspace_bytes = op.workspace_size();
  }

  static PackedFilterBuffer<CxRSKx<4>, std::int8_t, prologues::Experts> Bank(const FilterExtents& e,
                                                                             std::int64_t count) {
    return PackFilters<prologues::Experts, CxRSKx<4>>(
               e, count, std::vector<std::int8_t>(count * KCRS::Size(e)))
        .value();
  }

  std::string Message(absl::StatusCode code = absl::StatusCode::kInvalidArgument) const {
    const absl::Status status = op.RunOnCpu(args);
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_EQ(op.Run(args, nullptr).message(), status.message());
    return std::string(status.message());
  }

  Op op;
  PackedFilterBuffer<CxRSKx<4>, std::int8_t, prologues::Experts> bank =
      Bank(Good().filter(), kExperts);
  alignas(64) std::int8_t src[3 * 16 * 25] = {}, dst[3 * 16 * 25] = {};
  alignas(64) std::int8_t workspace[3 * 16 * 16 * 9] = {};
  float bias[16] = {}, routing[3 * kExperts] = {};
  Op::Arguments args;
};

TEST(CondConv, GoodArgumentsRun) {
  Arguments good;
  const absl::Status status = good.op.RunOnCpu(good.args);
  EXPECT_TRUE(status.ok()) << status;
}

TEST(CondConv, RefusesExperts) {
  Arguments bad;
  bad.args.experts = {};
  EXPECT_THAT(bad.Message(), HasSubstr("conv: args.experts is not packed; call weft::PackFilters<"
                                       "weft::prologues::Experts, FilterLayout>"));
  const auto three = Arguments::Bank(Good().filter(), 3);
  bad.args.experts = three.view();
  EXPECT_THAT(bad.Message(), HasSubstr("conv: args.experts holds 3 filters, the operator was "
                                       "created for 4 experts"));
  const auto other = Arguments::Bank({16, 16, 1, 1}, 4);
  bad.args.experts = other.view();
  EXPECT_THAT(bad.Message(),
              HasSubstr("packed for k=16 c=16 r=1 s=1, this operator has k=16 c=16"));
}

TEST(CondConv, RefusesRoutingAndScale) {
  Arguments bad;
  bad.args.routing = nullptr;
  EXPECT_THAT(bad.Message(), HasSubstr("conv: args.routing is null; give a weight for each image"));
  bad.args.routing = bad.routing;
  bad.args.expert_scale = reinterpret_cast<const float*>(bad.src + 2);
  EXPECT_THAT(bad.Message(), HasSubstr("is not 4-byte aligned"));
}

TEST(CondConv, RefusesWorkspaces) {
  Arguments bad;
  EXPECT_EQ(bad.op.workspace_size(), 3 * 16 * 16 * 9);
  bad.args.workspace_bytes -= 1;
  EXPECT_THAT(bad.Message(absl::StatusCode::kResourceExhausted),
              HasSubstr("conv: args.workspace_bytes=6911 is less than the 6912 bytes of a filter "
                        "for each of 3 images; give workspace_size() bytes"));
  bad.args.workspace_bytes += 1;
  bad.args.workspace = nullptr;
  EXPECT_THAT(bad.Message(),
              HasSubstr("conv: args.workspace is null; give workspace_size() bytes"));
  bad.args.workspace = bad.workspace + 8;
  EXPECT_THAT(bad.Message(), HasSubstr("is not 16-byte aligned"));
}

TEST(CondConv, RefusesOverlaps) {
  Arguments bad;
  bad.args.dst = bad.workspace;
  EXPECT_THAT(bad.Message(), HasSubstr("conv: args.workspace overlaps args.dst"));
  bad.args.dst = bad.dst;
  bad.args.workspace = const_cast<std::int8_t*>(bad.bank.data());
  EXPECT_THAT(bad.Message(), HasSubstr("conv: args.workspace overlaps args.experts"));
  bad.args.workspace = bad.workspace;
  bad.args.dst = const_cast<std::int8_t*>(bad.bank.data());
  EXPECT_THAT(bad.Message(), HasSubstr("conv: args.dst overlaps args.experts"));
  bad.args.dst = bad.dst;
  bad.args.bias = reinterpret_cast<const float*>(bad.workspace + 6900);
  EXPECT_THAT(bad.Message(), HasSubstr("conv: args.workspace overlaps args.bias"));
}

// The rest is the convolution's to refuse.
TEST(CondConv, RefusesWhatTheConvolutionRefuses) {
  Arguments bad;
  bad.args.bias = nullptr;
  EXPECT_THAT(bad.Message(), HasSubstr("conv: args.bias is null"));
}

TEST(CondConv, Describes) {
  const std::string text = Op::Create(Good(), 8)->Describe();
  EXPECT_THAT(text, HasSubstr("8 experts mixed by 9 blocks of 128 threads, 1024 bytes of a filter "
                              "and 1 images each, into a workspace of 6912 bytes; then simt"));
  EXPECT_THAT(text, HasSubstr("PerSample, 3 batches"));
}

}  // namespace
}  // namespace weft::conv
