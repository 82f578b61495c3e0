// What NVRTC says of a policy is what g++ says of it. No GPU is needed; where there is no NVRTC the tests
// that need it are skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "tests/rtc/gpu/program_cases.hpp"
#include "weft/rtc/gpu/compile.hpp"
#include "weft/rtc/gpu/module.hpp"

namespace weft::rtc {
namespace {

using testing::HasSubstr;
using testing::Not;

// Bytes of an object without padding that differs: both are made in memory that was zero.
template <class Type>
std::string Bytes(const Type& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(Type)};
}

template <class PolicyT>
void ExpectSameImage(const std::string& policy) {
  absl::StatusOr<Program> program =
      Program::Compile(std::string("namespace weft::rtc_cases {") + kRtcCases + "}",
                       {.policy = "weft::rtc_cases::" + policy});
  if (absl::IsNotFound(program.status())) GTEST_SKIP() << program.status();
  ASSERT_TRUE(program.ok()) << program.status();
  const PolicyRecord& theirs = program->owned_image().record();
  static const PolicyRecord ours = RecordOf<PolicyT>();
  EXPECT_STREQ(theirs.src_layout, ours.src_layout);
  EXPECT_STREQ(theirs.dst_layout, ours.dst_layout);
  EXPECT_STREQ(theirs.prologue, ours.prologue);
  const conv::ConvFacts &a = theirs.image.facts, &b = ours.image.facts;
  EXPECT_TRUE(Bytes(a.source) == Bytes(b.source) && Bytes(a.filter) == Bytes(b.filter) &&
              Bytes(a.output) == Bytes(b.output));
  EXPECT_EQ(a.threads, b.threads);
  EXPECT_EQ(a.blocks_by_registers, b.blocks_by_registers);
  EXPECT_EQ(a.shared_bytes, b.shared_bytes);
  EXPECT_EQ(a.resident_blocks, b.resident_blocks);
  EXPECT_EQ(a.largest_product, b.largest_product);
  EXPECT_EQ(a.wgmma.stage_bytes, b.wgmma.stage_bytes);
  EXPECT_EQ(a.wgmma.row_threads, b.wgmma.row_threads);
  EXPECT_EQ(a.wgmma.gathers, b.wgmma.gathers);
  EXPECT_EQ(a.store.activations, b.store.activations);
  EXPECT_EQ(std::string(a.config.name()), conv::ImageOf<PolicyT>().facts.config.name());
  EXPECT_EQ(Bytes(theirs.image.epilogue), Bytes(ours.image.epilogue));
  const conv::PolicyImage own = conv::ImageOf<PolicyT>();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Bytes(theirs.image.params[i].at), Bytes(ours.image.params[i].at)) << i;
    if (theirs.image.params[i].defaults == nullptr) continue;
    const auto size = static_cast<std::size_t>(own.params[i].at.bytes);
    EXPECT_EQ(std::memcmp(theirs.image.params[i].defaults, own.params[i].defaults, size), 0) << i;
  }
  EXPECT_NE(theirs.image.params[0].defaults, nullptr);
  ASSERT_EQ(theirs.kernels, ours.kernels);
  for (int i = 0; i < kMostKernels; ++i) {
    EXPECT_EQ(theirs.kernel[i].threads, ours.kernel[i].threads) << i;
    EXPECT_EQ(theirs.kernel[i].shared_bytes, ours.kernel[i].shared_bytes) << i;
    EXPECT_EQ(theirs.kernel[i].params_bytes, ours.kernel[i].params_bytes) << i;
    EXPECT_EQ(theirs.kernel[i].dependent, ours.kernel[i].dependent) << i;
    EXPECT_EQ(program->entry(i).empty(), ours.kernel[i].threads == 0) << i;
  }
}

TEST(ProgramTest, SimtIsAsGxxSays) {
  ExpectSameImage<rtc_cases::Simt>("Simt");
}
TEST(ProgramTest, TmaIsAsGxxSays) {
  ExpectSameImage<rtc_cases::Tma>("Tma");
}
TEST(ProgramTest, GatherIsAsGxxSays) {
  ExpectSameImage<rtc_cases::Gather>("Gather");
}
TEST(ProgramTest, FirstLayerIsAsGxxSays) {
  ExpectSameImage<rtc_cases::First>("First");
}
// Its producers have one thread less for rows: what NVRTC once took from a default.
TEST(ProgramTest, TransformIsAsGxxSays) {
  ExpectSameImage<rtc_cases::ZeroPoints>("ZeroPoints");
}
TEST(ProgramTest, DepthwiseIsAsGxxSays) {
  ExpectSameImage<rtc_cases::Depthwise>("Depthwise");
}

TEST(ProgramTest, AnErrorHasTheLineOfTheUser) {
  const absl::Status s = Program::Compile(
                             "struct Mine {\n"
                             "  constexpr float operator()(float x) const {\n"
                             "    return undefined_name * x;\n"
                             "  }\n"
                             "};\n",
                             {.policy = "Op"})
                             .status();
  if (absl::IsNotFound(s)) GTEST_SKIP() << s;
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(s.message()), HasSubstr("policy(3): error: identifier"));
  EXPECT_THAT(std::string(s.message()), Not(HasSubstr("weft(")));
}

TEST(ProgramTest, ASourceWithoutThePolicyIsRefused) {
  const absl::Status s = Program::Compile("struct Other {};", {.policy = "Op"}).status();
  if (absl::IsNotFound(s)) GTEST_SKIP() << s;
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(s.message()), HasSubstr("options.policy=Op names no type of the source"));
}

}  // namespace
}  // namespace weft::rtc
