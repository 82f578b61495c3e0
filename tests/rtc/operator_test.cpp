// Operators made of strings, on the CPU: exact against the plain reference and against the operators
// that a compiler makes of the same text; and what is said of bad strings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "tests/rtc/cases.hpp"
#include "weft/conv/convolution.hpp"
#include "weft/conv/deconvolution.hpp"
#include "weft/conv/ready_made.hpp"
#include "weft/rtc/bottleneck.hpp"
#include "weft/rtc/operator.hpp"

namespace weft::rtc {
namespace {

using conv::Problem;
using testing::HasSubstr;

Operator Compiled(const std::string& policy) {
  absl::StatusOr<Operator> op = Compile(kRtcCases, {.policy = policy.empty() ? "" : NameOf(policy),
                                                    .back_end = BackEnd::kCpu,
                                                    .cache_bytes = 0});
  EXPECT_TRUE(op.ok()) << op.status();
  return *std::move(op);
}

TEST(OperatorOnCpu, NhwcMatchesReference) {
  ExpectRightOnCpu<rtc_cases::Nhwc>(Compiled("Nhwc"), ProblemOf("Nhwc"));
}
TEST(OperatorOnCpu, TmaMatchesReference) {
  ExpectRightOnCpu<rtc_cases::Tma>(Compiled("Tma"), ProblemOf("Tma"));
}
TEST(OperatorOnCpu, FirstLayerMatchesReference) {
  ExpectRightOnCpu<rtc_cases::First>(Compiled("First"), ProblemOf("First"));
}
TEST(OperatorOnCpu, DepthwiseMatchesReference) {
  // The last type of the source is the policy unless another one is named.
  const Operator op = Compiled("");
  EXPECT_EQ(op.policy(), "weft::rtc_cases::Depthwise");
  ExpectRightOnCpu<rtc_cases::Depthwise>(op, ProblemOf("Depthwise"));
}

TEST(OperatorOnCpu, IsTheTypedOperator) {
  const Operator op = Compiled("Simt");
  Problem problem = ProblemOf("Simt");
  ExpectRightOnCpu<rtc_cases::Simt>(op, problem);

  const auto typed = conv::Convolution<rtc_cases::Simt>::Create(problem);
  const absl::StatusOr<conv::ConvPlan> plan = op.Plan(problem);
  ASSERT_TRUE(typed.ok() && plan.ok());
  EXPECT_EQ(op.Describe(*plan), typed->Describe());
  EXPECT_EQ(op.src_bytes(*plan), typed->src_bytes());
  EXPECT_EQ(op.dst_bytes(*plan), typed->dst_bytes());
  problem.k = 0x7fffffff;
  EXPECT_EQ(op.Plan(problem).status(),
            conv::Convolution<rtc_cases::Simt>::Create(problem).status());

  Case<rtc_cases::Simt> c(typed->problem());
  Values values = op.values();
  ASSERT_TRUE(values.Set("scale", kScale).ok());
  c.args.values = &values;
  ASSERT_TRUE(typed->RunOnCpu(c.typed).ok());
  c.ExpectRight();
  c.typed.bias = nullptr, c.args.bias = nullptr;
  const absl::Status wanted = typed->RunOnCpu(c.typed);
  EXPECT_FALSE(wanted.ok());
  EXPECT_EQ(op.RunOnCpu(*plan, c.args), wanted);

  // What types would refuse.
  const Values others = Compiled("Simt").values();
  c.args.values = &others;
  EXPECT_THAT(op.RunOnCpu(*plan, c.args).message(), HasSubstr("args.values are of another"));
  c.args.values = &values;
  const std::vector<std::int8_t> zeros(64 * 64);
  const auto krsc = PackFilter<KRSC>(FilterExtents{.k = 64, .c = 64, .r = 1, .s = 1}, zeros);
  c.args.filter = FilterOf(krsc->view());
  EXPECT_THAT(op.RunOnCpu(*plan, c.args).message(),
              HasSubstr("filter is packed as KRSC of int8, and the policy takes CxRSKx<4>"));

  EXPECT_EQ(*op.values().Get("scale"), static_cast<double>(0.1f));
  EXPECT_EQ(*values.Get("scale"), static_cast<double>(kScale));
  EXPECT_THAT(values.names(), testing::ElementsAre("scale"));
  EXPECT_THAT(values.Set("scales", 1.0).message(), HasSubstr("has a member scales that can be set; "
                                                             "there are scale"));
  EXPECT_THAT(values.SetAddress("scale", &values).message(), HasSubstr("is not an address"));
}

TEST(OperatorOnCpu, ValuesOfSeveralFunctors) {
  const absl::StatusOr<Operator> op = Compile(
      R"(
    struct Add { float by = 1; int shift{}; const float* table = nullptr; float t[3];
      constexpr float operator()(float x) const { return x + by + shift; } };
    struct Times { float by = 2;
      constexpr float operator()(float x) const { return x * by; } };
    struct Mine : weft::conv::S8Conv4<weft::epilogues::Chain<weft::epilogues::Scale, Add, Times,
        weft::epilogues::ClampRange, weft::epilogues::OutputScale,
        weft::epilogues::ClampTo<std::int8_t>>> {};)",
      {.values = {"high", "Times.by", "Add.by"}, .back_end = BackEnd::kCpu, .cache_bytes = 0});
  ASSERT_TRUE(op.ok()) << op.status();
  Values values = op->values();
  EXPECT_THAT(values.Set("by", 1.0).message(), HasSubstr("2 functors of the policy have a member "
                                                         "by"));
  EXPECT_EQ(*values.Get("Add.by"), 1.0);
  EXPECT_EQ(*values.Get("Times.by"), 2.0);
  EXPECT_TRUE(values.Set("Times.by", 5.0).ok());
  EXPECT_EQ(*values.Get("Add.by"), 1.0);
  EXPECT_TRUE(values.Set("high", 5.0).ok());
  EXPECT_TRUE(values.SetAddress("table", &values).ok());
  EXPECT_THAT(values.Set("t", 5.0).message(), HasSubstr("an array"));
  EXPECT_THAT(values.Set("table", 5.0).message(), HasSubstr("SetAddress"));
  EXPECT_TRUE(values.Set("shift", -3).ok());
  EXPECT_EQ(values.Set("shift", 0.5).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(values.Set("shift", 1e10).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(*values.Get("shift"), -3.0);
}

// A functor that checks its numbers asks its own function, which the host has of g++ alone.
TEST(OperatorOnCpu, AFunctorChecksItsNumbers) {
  const absl::StatusOr<Operator> op =
      Compile("struct Op : weft::conv::S8Conv4<weft::epilogues::BiasHSwishOnSteps<>> {};",
              {.values = {"scale"}, .back_end = BackEnd::kCpu, .cache_bytes = 0});
  ASSERT_TRUE(op.ok()) << op.status();
  EXPECT_TRUE(op->facts().record().asks_host);
  const conv::Problem problem = {.n = 1, .h = 2, .w = 2, .c = 4, .k = 4};
  const absl::StatusOr<conv::ConvPlan> plan = op->Plan(problem);
  ASSERT_TRUE(plan.ok()) << plan.status();
  Values values = op->values();
  ASSERT_TRUE(values.Set("scale", 0.0).ok());
  const auto filter =
      PackFilter<CxRSKx<4>>({.k = 4, .c = 4, .r = 1, .s = 1}, std::vector<std::int8_t>(16, 1));
  std::vector<float> bias(4);
  alignas(16) std::int8_t src[16] = {}, dst[16] = {};
  const Arguments args = {.src = src,
                          .filter = FilterOf(filter->view()),
                          .bias = bias.data(),
                          .dst = dst,
                          .output_scale = 1.0f,
                          .values = &values};
  EXPECT_THAT(std::string(op->RunOnCpu(*plan, args).message()),
              HasSubstr("scale of OnSteps is not a finite number above 0"));
  ASSERT_TRUE(values.Set("scale", 0.5).ok());
  EXPECT_EQ(op->RunOnCpu(*plan, args), absl::OkStatus());
}

// The phases of a transposed convolution write, between them, what conv::Deconvolution does.
TEST(OperatorOnCpu, PhasesOfATransposedConvolution) {
  using Policy = conv::S8Deconv4<epilogues::BiasIdentity<>>;
  const absl::StatusOr<Operator> op =
      Compile("using Op = weft::conv::S8Deconv4<weft::epilogues::BiasIdentity<>>;",
              {.back_end = BackEnd::kCpu, .cache_bytes = 0});
  ASSERT_TRUE(op.ok()) << op.status();
  const conv::DeconvolutionProblem problem = {
      .h = 3, .w = 4, .c = 4, .k = 4, .r = 3, .s = 3, .stride_h = 2, .stride_w = 2};
  const auto typed = conv::Deconvolution<Policy>::Create(problem);
  ASSERT_TRUE(typed.ok()) << typed.status();
  std::vector<std::int8_t> weights(4 * 4 * 3 * 3);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<std::int8_t>(7 * i);
  const auto filter = conv::PackDeconvolutionFilter<CxRSKx<4>>(problem, weights);
  const std::vector<std::int64_t> offsets = conv::PartOffsets<CxRSKx<4>>(conv::PartsOf(problem));
  const std::vector<float> bias = {1, 2, 3, 4};
  const std::vector<std::int8_t> src(static_cast<std::size_t>(typed->src_size()), 3);
  std::vector<std::int8_t> wanted(static_cast<std::size_t>(typed->dst_size()), 99), dst = wanted;
  ASSERT_EQ(typed->RunOnCpu({.src = src.data(),
                             .filter = filter->view(),
                             .bias = bias.data(),
                             .dst = wanted.data(),
                             .alpha = 0.125f}),
            absl::OkStatus());
  for (const conv::Phase& phase : conv::PhasesOf(problem)) {
    const absl::StatusOr<conv::ConvPlan> plan = op->Plan(phase.problem);
    ASSERT_TRUE(plan.ok()) << plan.status();
    const FilterExtents extents = phase.problem.filter();
    Arguments args;
    args.src = src.data(), args.bias = bias.data(), args.dst = dst.data(), args.alpha = 0.125f;
    args.filter.layout = CxRSKx<4>::kName, args.filter.letter = 'b';
    args.filter.run.data = filter->data() + offsets[static_cast<std::size_t>(phase.part)];
    args.filter.run.bytes = CxRSKx<4>::Size(extents), args.filter.run.count = 1;
    args.filter.run.extents = extents;
    EXPECT_THAT(op->RunOnCpu(*plan, args).message(), HasSubstr("set phase to the place"));
    args.phase = &phase.place;
    ASSERT_EQ(op->RunOnCpu(*plan, args), absl::OkStatus());
  }
  EXPECT_EQ(dst, wanted);
}

// Each part of a bottleneck has functors of its own.
TEST(BottleneckOnCpu, PartsHaveValues) {
  const absl::StatusOr<Bottleneck> op = CompileBottleneck(
      kRtcBottleneck, {.policy = "Block", .back_end = BackEnd::kCpu, .cache_bytes = 0});
  ASSERT_TRUE(op.ok()) << op.status();
  const auto plan = op->Plan({.h = 3, .w = 4, .c = 64, .k = 64});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(op->Plan({.w = 5}).status().code(), absl::StatusCode::kInvalidArgument);
  // Filters that copy channel 0 of the pixel.
  const auto filter = [](const conv::Problem& p) {
    std::vector<std::int8_t> values(static_cast<std::size_t>(p.k * p.c * p.r * p.s));
    for (std::int64_t k = 0; k < p.k; ++k) {
      values[static_cast<std::size_t>(k * p.c * p.r * p.s + p.r * p.s / 2)] = 1;
    }
    return PackFilter<CxRSKx<32>>(p.filter(), values).value();
  };
  const auto first = filter(plan->problem.first()), second = filter(plan->problem.second()),
             third = filter(plan->problem.third());
  alignas(32) std::int8_t x[64 * 12], y[64 * 12];
  std::fill(std::begin(x), std::end(x), std::int8_t{2});
  Values of_first = op->values(BottleneckPart::kFirst),
         of_third = op->values(BottleneckPart::kThird);
  ASSERT_TRUE(of_first.Set("by", 3.0).ok() && of_third.Set("by", 2.0).ok());
  EXPECT_FALSE(op->values(BottleneckPart::kSecond).Set("by", 2.0).ok());
  BottleneckArguments args;
  args.first = {.src = x, .filter = FilterOf(first.view()), .values = &of_first};
  args.second = {.filter = FilterOf(second.view())};
  args.third = {.filter = FilterOf(third.view()), .dst = y, .gamma = 0.5f, .values = &of_third};
  ASSERT_EQ(op->RunOnCpu(*plan, args), absl::OkStatus());
  for (const std::int8_t value : y) EXPECT_EQ(value, (2 * 3 + 0.5 * 2) * 2);
  args.first.values = &of_third;
  EXPECT_THAT(op->RunOnCpu(*plan, args).message(), HasSubstr("args.values are of another"));
  args.first.values = nullptr, args.third.dst = x;
  EXPECT_THAT(op->RunOnCpu(*plan, args).message(), HasSubstr("src"));
}

TEST(BottleneckOnCpu, AConvolutionIsNone) {
  const auto op = CompileBottleneck("struct Op : weft::conv::S8Conv4<> {};",
                                    {.back_end = BackEnd::kCpu, .cache_bytes = 0});
  EXPECT_THAT(std::string(op.status().message()), HasSubstr("FirstEpilogue"));
}

std::string ErrorOf(const std::string& source, Options options = {}) {
  options.back_end = BackEnd::kCpu, options.cache_bytes = 0;
  const absl::StatusOr<Operator> op = Compile(source, options);
  EXPECT_FALSE(op.ok());
  return std::string(op.status().message());
}

TEST(BadStrings, DefineNothing) {
  for (const char* source : {"", "// struct A {};\n", "int x = 1;", "void f() { struct A {}; }"}) {
    EXPECT_THAT(ErrorOf(source), HasSubstr("the source defines no type")) << source;
  }
}

TEST(BadStrings, NamesThatAreNone) {
  EXPECT_THAT(ErrorOf("struct Op {};", {.values = {"a b"}}), HasSubstr("options.values has"));
  EXPECT_THAT(ErrorOf(std::string("struct Op {};\0", 14)), HasSubstr("has a zero byte"));
}

TEST(BadStrings, ErrorsShowTheUsersLine) {
  const std::string error = ErrorOf(
      "struct Mine {\n  constexpr float operator()(float x) const {\n    return undefined * x;\n"
      "  }\n};\nstruct Op : weft::conv::S8Conv4<weft::epilogues::BiasActivation<Mine>> {};\n");
  EXPECT_THAT(error, HasSubstr("the policy Op does not compile:\noperator:3:12: error: "));
  EXPECT_THAT(error, HasSubstr("undefined"));
}

TEST(BadStrings, WrongName) {
  EXPECT_EQ(ErrorOf("struct Op : weft::conv::S8Conv4<> {};", {.policy = "Opp"}),
            "rtc: options.policy=Opp names no type of the source; name the policy struct");
}

TEST(BadStrings, NoPolicy) {
  EXPECT_THAT(ErrorOf("struct Op { int x; };"), HasSubstr("weft: "));
}

TEST(BadStrings, NotConstexpr) {
  EXPECT_THAT(
      ErrorOf("float Twice(float x) { return x + x; }\n"
              "struct Mine { float operator()(float x) const { return Twice(x); } };\n"
              "struct Op : weft::conv::S8Conv4<weft::epilogues::BiasActivation<Mine>> {};\n"),
      HasSubstr("weft: an activation of this epilogue Chain is not constexpr all through"));
}

TEST(BadStrings, LargeFunctor) {
  EXPECT_THAT(
      ErrorOf("struct Mine { float table[9000] = {};\n"
              "  constexpr float operator()(float x) const { return x + table[3]; } };\n"
              "struct Op : weft::conv::S8Conv4<weft::epilogues::BiasActivation<Mine>> {};\n"),
      HasSubstr("weft: "));
}

// Gives an environment variable a value (null: none) as long as it exists.
class With {
 public:
  With(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    value == nullptr ? unsetenv(name) : setenv(name, value, 1);
  }
  ~With() { old_ ? setenv(name_, old_->c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

TEST(NoCompiler, IsSaid) {
  const char kGood[] = "struct Op : weft::conv::S8Conv4<> {};";
  const With no_path("PATH", "");
  {
    const With none("CXX", nullptr);
    EXPECT_THAT(ErrorOf(kGood), HasSubstr("rtc: there is no C++ compiler"));
  }
  EXPECT_THAT(ErrorOf(kGood, {.compiler = "no-such-compiler -v"}),
              HasSubstr("the C++ compiler no-such-compiler is no program on the PATH"));
  const With wrong("CXX", "/no/such/g++");
  EXPECT_THAT(ErrorOf(kGood), HasSubstr("the C++ compiler $CXX=/no/such/g++ is no program"));
}

TEST(NoFolder, IsSaid) {
  const With wrong("TMPDIR", "/proc");
  EXPECT_THAT(ErrorOf("struct Op : weft::conv::S8Conv4<> {};"),
              HasSubstr("set TMPDIR to a folder"));
}

}  // namespace
}  // namespace weft::rtc
