// Operators that NVRTC compiles of a string, started by the driver: one of each kind of kernel, exact
// against the plain reference. They need a GPU and NVRTC; where either is missing they are skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/rtc/cases.hpp"
#include "tests/rtc/gpu/device_memory.hpp"
#include "weft/conv/zero_point/source_correction.hpp"
#include "weft/rtc/gpu/driver.hpp"
#include "weft/rtc/operator.hpp"

namespace weft::rtc {
namespace {

using testing::HasSubstr;

// An operator of a policy, and its plan.
struct Made {
  Operator op;
  conv::ConvPlan plan;
};

class RunTest : public testing::Test {
 protected:
  // Makes the GPU current in this thread, and skips the test where there is none.
  void SetUp() override {
    const absl::StatusOr<arch::DeviceLimits> device = CurrentDevice();
    if (!device.ok()) GTEST_SKIP() << device.status();
    device_ = *device;
  }

  // Nothing where the test is skipped or has failed.
  std::optional<Made> Make(const std::string& policy) {
    absl::StatusOr<Operator> op =
        Compile(kRtcCases, {.policy = NameOf(policy), .back_end = BackEnd::kGpu, .cache_bytes = 0});
    if (absl::IsNotFound(op.status())) {
      Skip(op.status());
      return std::nullopt;
    }
    EXPECT_TRUE(op.ok()) << op.status();
    if (!op.ok()) return std::nullopt;
    absl::StatusOr<conv::ConvPlan> plan = op->Plan(LargeProblemOf(policy));
    EXPECT_TRUE(plan.ok()) << plan.status();
    if (!plan.ok()) return std::nullopt;
    const absl::Status prepared = op->Prepare(*plan);
    if (absl::IsFailedPrecondition(prepared)) {  // a kernel of Hopper's on another GPU
      Skip(prepared);
      return std::nullopt;
    }
    EXPECT_TRUE(prepared.ok()) << prepared;
    if (!prepared.ok()) return std::nullopt;
    return Made{*std::move(op), *std::move(plan)};
  }
  static void Skip(const absl::Status& status) { GTEST_SKIP() << status; }

  arch::DeviceLimits device_;
};

// What a run reads and writes, in memory of the GPU.
template <class PolicyT>
struct OnDevice {
  explicit OnDevice(const Case<PolicyT>& c)
      : output(c.results.Read()),
        src(c.args.src, c.inputs.src.Read().size()),
        filter(c.args.filter.run.data, static_cast<std::size_t>(c.args.filter.run.bytes)),
        bias(c.args.bias, 4 * static_cast<std::size_t>(c.problem.k)),
        alpha(c.args.channel_alpha, 4 * static_cast<std::size_t>(c.problem.k)),
        dst(output.data(), output.size()),
        args(c.args) {
    args.src = src.get(), args.filter.run.data = filter.get(), args.bias = bias.get();
    args.channel_alpha = static_cast<const float*>(alpha.get());
    args.dst = dst.get();
  }

  std::vector<std::int8_t> output;
  DeviceCopy src, filter, bias, alpha, dst;
  Arguments args;
};

template <class PolicyT>
void ExpectMatchesReference(const Made& made, const std::string& policy) {
  Case<PolicyT> c(LargeProblemOf(policy));
  OnDevice<PolicyT> on(c);
  Values values = made.op.values();
  ASSERT_TRUE(values.Set("scale", kScale).ok());
  on.args.values = &values;
  const absl::Status status = made.op.Run(made.plan, on.args, nullptr);
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(TestDriver::Get().synchronize(), 0);
  on.dst.CopyTo(c.args.dst);
  c.ExpectRight();
}

// Runs the operator on both back ends and compares all elements of the output, which has the values `before` first. args: in
// memory of the host, without source, filter and output. on_gpu: the source's correction there. g++ must be there.
template <class Element, class InputsT>
void ExpectMatchesTheCpu(const Made& made, const InputsT& inputs,
                         const std::vector<Element>& before, Arguments args,
                         const conv::SourceCorrection& on_gpu = {}) {
  const absl::Status prepared = made.op.PrepareOnCpu();
  if (absl::IsNotFound(prepared)) GTEST_SKIP() << prepared;
  ASSERT_TRUE(prepared.ok()) << prepared;
  OperatorMemory<Element> dst(before);
  args.src = inputs.src.get(), args.filter = FilterOf(inputs.packed.At(inputs.filter.get()));
  args.dst = dst.get();
  const absl::Status status = made.op.RunOnCpu(made.plan, args);
  ASSERT_TRUE(status.ok()) << status;

  const auto k = static_cast<std::size_t>(made.plan.problem.k);
  const DeviceCopy src(args.src, inputs.src.Read().size());
  const DeviceCopy filter(args.filter.run.data, static_cast<std::size_t>(args.filter.run.bytes));
  const DeviceCopy bias(args.bias, args.bias == nullptr ? 0 : 4 * k);
  const DeviceCopy alpha(args.channel_alpha, args.channel_alpha == nullptr ? 0 : 4 * k);
  const DeviceCopy out(before.data(), before.size() * sizeof(Element));
  args.src = src.get(), args.filter.run.data = filter.get(), args.dst = out.get();
  if (args.bias != nullptr) args.bias = bias.get();
  if (args.channel_alpha != nullptr) args.channel_alpha = static_cast<const float*>(alpha.get());
  args.source_correction = on_gpu;
  const absl::Status there = made.op.Run(made.plan, args, nullptr);
  ASSERT_TRUE(there.ok()) << there;
  std::vector<Element> got(before.size());
  out.CopyTo(got.data());
  EXPECT_EQ(got, dst.Read());
}

#define WEFT_RUN_TEST(policy)                                    \
  TEST_F(RunTest, policy##MatchesReference) {                    \
    if (const auto made = Make(#policy))                         \
      ExpectMatchesReference<rtc_cases::policy>(*made, #policy); \
  }

WEFT_RUN_TEST(Simt)
WEFT_RUN_TEST(Nhwc)
WEFT_RUN_TEST(Tma)
WEFT_RUN_TEST(PingPong)
WEFT_RUN_TEST(Gather)
WEFT_RUN_TEST(First)
WEFT_RUN_TEST(EachImage)
WEFT_RUN_TEST(Depthwise)

// Its transform warps write the padding; g++ must be there, since the CPU says what is right.
TEST_F(RunTest, ZeroPointsMatchesTheCpu) {
  const auto made = Make("ZeroPoints");
  if (!made.has_value()) return;
  const conv::Problem p = LargeProblemOf("ZeroPoints");
  const conv::Inputs<NCxHWx<32>, CxRSKx<32>, prologues::SharedFilter> inputs(p, 1);
  const auto correction = conv::MakeSourceCorrection(p, inputs.packed, 3);
  ASSERT_TRUE(correction.ok()) << correction.status();
  const DeviceCopy table(correction->view().data(),
                         static_cast<std::size_t>(correction->view().bytes()));
  const std::vector<std::int8_t> garbage(static_cast<std::size_t>(NCxHWx<32>::Size(p.dst())), 0x77);
  ExpectMatchesTheCpu(*made, inputs, garbage,
                      {.filter = {},
                       .bias = inputs.tensors.sum_bias.data(),
                       .channel_alpha = inputs.tensors.channel_alpha.data(),
                       .zero_point = -4.0f,
                       .source_correction = correction->view()},
                      correction->At(table.get()));
}

// A functor's product and sum are rounded one after the other, as g++ does, whatever the linker of code would make of them.
TEST_F(RunTest, AProductAndASumAreTwoRoundings) {
  const auto made = Make("Line");
  if (!made.has_value()) return;
  const conv::Problem p = LargeProblemOf("Line");
  const conv::Inputs<NCxHWx<4>, CxRSKx<4>, prologues::SharedFilter> inputs(p, 1);
  const std::vector<float> zeros(static_cast<std::size_t>(NCHW::Size(p.dst())));
  ExpectMatchesTheCpu(*made, inputs, zeros, {.filter = {}, .alpha = 0.7f});
}

// Two threads need the kernel at the same time, and have the GPU's primary context.
TEST_F(RunTest, ThreadsShareAnOperator) {
  absl::StatusOr<Operator> op =
      Compile(kRtcCases, {.policy = NameOf("Simt"), .back_end = BackEnd::kGpu, .cache_bytes = 0});
  if (absl::IsNotFound(op.status())) GTEST_SKIP() << op.status();
  ASSERT_TRUE(op.ok()) << op.status();
  const absl::StatusOr<conv::ConvPlan> plan = op->Plan(LargeProblemOf("Simt"));
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      ASSERT_TRUE(op->Prepare(*plan).ok());
      ExpectMatchesReference<rtc_cases::Simt>({*op, *plan}, "Simt");
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(RunTest, BadArgumentsAreRefused) {
  const auto made = Make("Simt");
  if (!made.has_value()) return;
  Case<rtc_cases::Simt> c(LargeProblemOf("Simt"));
  OnDevice<rtc_cases::Simt> on(c);
  on.args.bias = nullptr;
  const absl::Status s = made->op.Run(made->plan, on.args, nullptr);
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(s.message()), HasSubstr("bias"));
}

}  // namespace
}  // namespace weft::rtc
