// An operator whose facts NVRTC has told, and what is said where it cannot run on a GPU. Without NVRTC it is
// skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/rtc/cases.hpp"
#include "weft/rtc/bottleneck.hpp"
#include "weft/rtc/gpu/driver.hpp"
#include "weft/rtc/operator.hpp"

namespace weft::rtc {
namespace {

using testing::HasSubstr;

// What NVRTC says of the policy is what the run on the CPU goes by.
TEST(OperatorOfNvrtc, RunsOnTheCpu) {
  const absl::StatusOr<Operator> op = Compile(
      kRtcCases, {.policy = NameOf("EachImage"), .back_end = BackEnd::kGpu, .cache_bytes = 0});
  if (absl::IsNotFound(op.status())) GTEST_SKIP() << op.status();
  ASSERT_TRUE(op.ok()) << op.status();
  ExpectRightOnCpu<rtc_cases::EachImage>(*op, ProblemOf("EachImage"));
  if (ComputeCapability().ok()) return;
  const absl::StatusOr<conv::ConvPlan> plan = op->Plan(ProblemOf("EachImage"));
  const absl::Status s = op->Run(*plan, Case<rtc_cases::EachImage>(plan->problem).args, nullptr);
  EXPECT_EQ(s.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(s.message()), HasSubstr("no usable GPU"));
}

TEST(OperatorOfNvrtc, NeedsNoCompilerToPlan) {
  const absl::StatusOr<Operator> op = Compile(kRtcCases, {.policy = NameOf("Tma"),
                                                          .compiler = "/no/such/g++",
                                                          .back_end = BackEnd::kGpu,
                                                          .cache_bytes = 0});
  if (absl::IsNotFound(op.status())) GTEST_SKIP() << op.status();
  ASSERT_TRUE(op.ok()) << op.status();
  const absl::StatusOr<conv::ConvPlan> plan = op->Plan(kProblem);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(op->Describe(*plan), conv::Convolution<rtc_cases::Tma>::Create(kProblem)->Describe());
  EXPECT_THAT(op->values().names(), testing::ElementsAre("scale"));
  EXPECT_THAT(std::string(op->PrepareOnCpu().message()),
              HasSubstr("the C++ compiler /no/such/g++ is no program on the PATH"));
}

TEST(OperatorOfNvrtc, AnArchitectureThatThereIsNotIsRefused) {
  const absl::StatusOr<Operator> op =
      Compile("struct Op : weft::conv::S8Conv4<> {};",
              {.back_end = BackEnd::kGpu, .compute_capability = 12345, .cache_bytes = 0});
  if (absl::IsNotFound(op.status())) GTEST_SKIP() << op.status();
  EXPECT_EQ(op.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(op.status().message()),
              HasSubstr("compute_capability=12345 is not one of"));
}

// NVRTC and g++ agree about a bottleneck, of which NVRTC and the linker make a kernel without a GPU.
TEST(BottleneckOfNvrtc, IsThatOfTheTwin) {
  const absl::StatusOr<Bottleneck> op =
      CompileBottleneck(kRtcBottleneck, {.back_end = BackEnd::kGpu, .cache_bytes = 0});
  if (absl::IsNotFound(op.status())) GTEST_SKIP() << op.status();
  ASSERT_TRUE(op.ok()) << op.status();
  const auto plan = op->Plan({.n = 2, .h = 9, .w = 12, .c = 64, .k = 128});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(op->Describe(*plan), HasSubstr("with a projection"));
  EXPECT_TRUE(op->CompileFor(90).ok()) << op->CompileFor(90);
  EXPECT_TRUE(op->PrepareOnCpu().ok()) << op->PrepareOnCpu();
}

}  // namespace
}  // namespace weft::rtc
