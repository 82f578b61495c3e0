// What NVRTC says of a policy is what g++ says of it. No GPU is needed; where there is no NVRTC the tests
// that need it are skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/rtc/policies.hpp"
#include "weft/rtc/gpu/compile.hpp"

namespace weft::rtc {
namespace {

using testing::HasSubstr;
using testing::Not;

// Bytes of an object without padding that differs: both are made in memory that was zero.
template <class Type>
std::string Bytes(const Type& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(Type)};
}

// The probe of SquaredRelu::scale, as rtc/text writes it.
struct ScaleProbe {
  static constexpr const char* kName = "scale";
  template <class Object>
  static constexpr ValueRecord Of() {
    if constexpr (std::is_same_v<Object, rtc_cases::SquaredRelu>) {
      return internal::MemberAt<float>(WEFT_OFFSET(Object, scale));
    } else {
      return {};
    }
  }
};

template <class PolicyT>
void ExpectSameImage(const std::string& policy) {
  absl::StatusOr<Program> program =
      Program::Compile(kRtcCases, {.policy = "weft::rtc_cases::" + policy, .values = {"scale"}});
  if (absl::IsNotFound(program.status())) GTEST_SKIP() << program.status();
  ASSERT_TRUE(program.ok()) << program.status();
  const PolicyRecord& theirs = program->policy().record();
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
  static const PolicyData<PolicyT, ScaleProbe> data = {RecordOf<PolicyT, ScaleProbe>()};
  const absl::StatusOr<Policy> host = Policy::FromBytes(Bytes(data));
  ASSERT_TRUE(host.ok()) << host.status();
  EXPECT_TRUE(program->policy().IsSame(*host));
  EXPECT_EQ(theirs.asks_host, ours.asks_host);
  EXPECT_EQ(theirs.filters, ours.filters);
  EXPECT_STREQ(theirs.filter_layout, ours.filter_layout);
  EXPECT_EQ(theirs.bias, ours.bias);
  EXPECT_EQ(program->policy().part(Part::kEpilogue), host->part(Part::kEpilogue));
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
TEST(ProgramTest, FilterOfEachImageIsAsGxxSays) {
  ExpectSameImage<rtc_cases::EachImage>("EachImage");
}
TEST(ProgramTest, DepthwiseIsAsGxxSays) {
  ExpectSameImage<rtc_cases::Depthwise>("Depthwise");
}

// What the standard library's functions give where a compiler evaluates them: g++ here, and NVRTC below.
#define WEFT_BOTH(...) \
  __VA_ARGS__          \
  constexpr char kMathText[] = #__VA_ARGS__;
WEFT_BOTH(
    constexpr unsigned BitsOf(float x) {
      return std::bit_cast<unsigned>(x);
    } constexpr unsigned MathSum(int from, int to) {
      unsigned sum = 0;
      for (int i = from; i < to; ++i) {
        const float x = static_cast<float>(i) * 0.37f - (i % 2) * 0.5f;
        const float all[] = {std::floor(x),        std::ceil(x),          std::trunc(x),
                             std::round(x),        std::abs(x),           std::copysign(2.0f, x),
                             std::fma(x, x, 0.1f), std::sqrt(std::abs(x))};
        for (const float y : all) sum = sum * 31 + BitsOf(y);
      }
      return sum;
    })

TEST(ProgramTest, MathIsThatOfGxx) {
  constexpr unsigned kSum = MathSum(-400, 400);
  const absl::Status s =
      Program::Compile(absl::StrCat("#include <bit>\n#include <cmath>\n", kMathText,
                                    "static_assert(MathSum(-400, 400) == ", kSum, "u);\n",
                                    "struct Op : weft::conv::S8Conv4<> {};"),
                       {.policy = "Op"})
          .status();
  if (absl::IsNotFound(s)) GTEST_SKIP() << s;
  EXPECT_EQ(s, absl::OkStatus());
}

// The error of compiling `source`, whose policy is Op.
absl::Status ErrorOf(const std::string& source) {
  return Program::Compile(source, {.policy = "Op"}).status();
}

TEST(ProgramTest, AnErrorHasTheLineOfTheUser) {
  const absl::Status s = ErrorOf(
      "struct Mine {\n"
      "  constexpr float operator()(float x) const {\n"
      "    return undefined_name * x;\n"
      "  }\n"
      "};\n");
  if (absl::IsNotFound(s)) GTEST_SKIP() << s;
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(s.message()), HasSubstr("operator(3): error: identifier"));
  EXPECT_THAT(std::string(s.message()), Not(HasSubstr("weft(")));
}

TEST(ProgramTest, ASourceWithoutThePolicyIsRefused) {
  const absl::Status s = ErrorOf("struct Other {};");
  if (absl::IsNotFound(s)) GTEST_SKIP() << s;
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(s.message()), HasSubstr("options.policy=Op names no type of the source"));
}

TEST(ProgramTest, AFunctorThatIsNotConstexprIsRefused) {
  const absl::Status s = ErrorOf(
      "struct Mine { float operator()(float x) const { return x + x; } };\n"
      "struct Op : weft::conv::S8Conv4<weft::epilogues::BiasActivation<Mine>> {};\n");
  if (absl::IsNotFound(s)) GTEST_SKIP() << s;
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(s.message()),
              HasSubstr("is not constexpr all through, so it has no GPU code; write `constexpr"));
}

TEST(ProgramTest, AnAddressAsADefaultIsRefused) {
  const absl::Status s = ErrorOf(
      "inline constexpr float kTable[2] = {1, 2};\n"
      "struct Mine { const float* table = kTable;\n"
      "  constexpr float operator()(float x) const { return x + table[1]; } };\n"
      "struct Op : weft::conv::S8Conv4<weft::epilogues::BiasActivation<Mine>> {};\n");
  if (absl::IsNotFound(s)) GTEST_SKIP() << s;
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument) << s;
  EXPECT_THAT(std::string(s.message()), HasSubstr("has an address as the default of a member"));
}

TEST(ProgramTest, TheCacheKeepsProgramsAndKernels) {
  const std::string folder = testing::TempDir() + "weft_program_" + std::to_string(getpid());
  const Cache cache({.folder = folder});
  const char kSource[] = "struct Op : weft::conv::S8Conv4<> {};";
  const auto compile = [&] { return Program::Compile(kSource, {.policy = "Op"}, &cache); };
  const absl::StatusOr<Program> made = compile();
  if (absl::IsNotFound(made.status())) GTEST_SKIP() << made.status();
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_FALSE(made->from_cache());
  EXPECT_TRUE(made->cache_status().ok());
  const absl::StatusOr<std::string> cubin = made->Link(0, &cache);
  ASSERT_TRUE(cubin.ok()) << cubin.status();
  const absl::StatusOr<Program> kept = compile();
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_TRUE(kept->from_cache());
  EXPECT_TRUE(kept->policy().IsSame(made->policy()));
  EXPECT_EQ(kept->entry(0), made->entry(0));
  EXPECT_EQ(kept->Link(0, &cache).value(), *cubin);
  // An archive has the facts and the kernels that were linked, and then no compiler is asked.
  auto written = std::make_shared<Archive>();
  const absl::StatusOr<Program> noted =
      Program::Compile(kSource, {.policy = "Op"}, {&cache, written.get()});
  ASSERT_TRUE(noted.ok()) << noted.status();
  Archive without_kernels(*Archive::FromBytes(written->Bytes()));
  EXPECT_EQ(noted->Link(0, {&cache, written.get()}).value(), *cubin);
  Archive archive(*Archive::FromBytes(written->Bytes()));
  const absl::StatusOr<Program> found =
      Program::Compile(kSource, {.policy = "Op"}, {nullptr, &archive});
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_FALSE(found->from_cache());
  EXPECT_TRUE(found->policy().IsSame(made->policy()));
  EXPECT_EQ(found->Link(0, {nullptr, &archive}).value(), *cubin);
  EXPECT_EQ(archive.Bytes(), written->Bytes());
  // One that lacks the kernel is as if there were none.
  EXPECT_EQ(found->Link(0, {&cache, &without_kernels}).value(), *cubin);
  EXPECT_GT(without_kernels.Bytes().size(), cubin->size());
  // Code for another GPU is another one's.
  Archive empty(*Archive::FromBytes(written->Bytes()));
  EXPECT_FALSE(
      Program::Compile(kSource, {.policy = "Op", .compute_capability = 12345}, {nullptr, &empty})
          .ok());
  EXPECT_TRUE(empty.IsEmpty());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace weft::rtc
