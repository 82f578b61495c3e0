// Operators made of strings, on the CPU: exact against the plain reference and against the operators
// that a compiler makes of the same text; and what is said of bad strings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "tests/conv/harness.hpp"
#include "weft/conv/convolution.hpp"
#include "weft/conv/ready_made.hpp"
#include "weft/rtc/operator.hpp"

// What is compiled twice: with this file, and from kText.
#define BOTH(...) \
  __VA_ARGS__     \
  constexpr char kText[] = #__VA_ARGS__;

BOTH(
    struct SquaredRelu {
      float scale = 0.1f;
      constexpr float operator()(float x) const {
        return x > 0.0f ? weft::epilogues::Mul(scale, weft::epilogues::Mul(x, x)) : 0.0f;
      }
    };
    struct Squared : weft::epilogues::BiasActivation<SquaredRelu>{};
    struct SimtOp : weft::conv::S8Conv4<Squared, weft::NCHW>{};
    struct NhwcOp : weft::conv::S8ConvNhwc<Squared>{};
    struct WgmmaOp : weft::conv::S8Conv32<Squared, weft::NCxHWx<32>, weft::conv::Wgmma128x128>{};
    struct FirstOp : weft::conv::S8Conv4<Squared, weft::NCxHWx<32>, weft::conv::WgmmaFirst512x64>{};
    struct DepthwiseOp : weft::conv::S8Depthwise32<Squared>{};)

namespace weft::rtc {
namespace {

using conv::Problem;
using testing::HasSubstr;

constexpr float kScale = 0.25f;

Operator Compiled(const char* policy) {
  absl::StatusOr<Operator> op = Compile(kText, {.policy = policy});
  EXPECT_TRUE(op.ok()) << op.status();
  return *std::move(op);
}

// Random tensors for one policy, and what must come of them.
template <class PolicyT>
struct Case {
  using Packed =
      PackedFilter<typename PolicyT::FilterLayout, std::int8_t, typename PolicyT::Prologue>;
  using Typed = conv::ConvolutionArguments<std::int8_t, Packed, typename PolicyT::Epilogue>;

  explicit Case(const Problem& p)
      : problem(p), inputs(p, 1), results(p, inputs.tensors, conv::RunOptions{}) {
    inputs.Fill(&typed);
    results.Fill(&typed);
    typed.epilogue.template Get<SquaredRelu>().scale = kScale;
    args = {.src = typed.src,
            .filter = FilterOf(typed.filter),
            .bias = typed.bias,
            .dst = typed.dst,
            .alpha = typed.alpha,
            .channel_alpha = typed.channel_alpha,
            .beta = typed.beta,
            .output_scale = typed.output_scale};
  }
  void ExpectRight() const {
    const auto squared = [](float x) {
      const float square = x * x;
      return x > 0.0f ? kScale * square : 0.0f;
    };
    results.ExpectEqual(inputs.bank.which, squared, conv::FullRange<std::int8_t>());
  }

  Problem problem;
  conv::Inputs<typename PolicyT::SrcLayout, typename PolicyT::FilterLayout,
               typename PolicyT::Prologue>
      inputs;
  conv::Results<typename PolicyT::Epilogue, typename PolicyT::DstLayout> results;
  Typed typed;
  Arguments args;
};

template <class PolicyT>
void ExpectMatchesReference(const Operator& op, const Problem& problem) {
  Case<PolicyT> c(problem);
  const absl::StatusOr<conv::ConvPlan> plan = op.Plan(problem);
  ASSERT_TRUE(plan.ok()) << plan.status();
  Values values = op.values();
  ASSERT_TRUE(values.Set("scale", kScale).ok());
  c.args.values = &values;
  const absl::Status status = op.RunOnCpu(*plan, c.args);
  ASSERT_TRUE(status.ok()) << status;
  c.ExpectRight();
}

const Problem kProblem = {.n = 2,
                          .h = 7,
                          .w = 6,
                          .c = 64,
                          .k = 64,
                          .r = 3,
                          .s = 3,
                          .pad_top = 1,
                          .pad_left = 1,
                          .pad_bottom = 1,
                          .pad_right = 1};

TEST(Twin, NhwcMatchesReference) {
  ExpectMatchesReference<NhwcOp>(Compiled("NhwcOp"), kProblem);
}
TEST(Twin, WgmmaMatchesReference) {
  ExpectMatchesReference<WgmmaOp>(Compiled("WgmmaOp"), kProblem);
}
TEST(Twin, FirstLayerMatchesReference) {
  Problem first = kProblem;
  first.c = 4, first.h = first.w = 17, first.stride_h = first.stride_w = 2;
  ExpectMatchesReference<FirstOp>(Compiled("FirstOp"), first);
}
TEST(Twin, DepthwiseMatchesReference) {
  Problem depthwise = kProblem;
  depthwise.groups = depthwise.c;
  // The last type of the source is the policy unless another one is named.
  const Operator op = Compiled("");
  EXPECT_EQ(op.policy(), "DepthwiseOp");
  ExpectMatchesReference<DepthwiseOp>(op, depthwise);
}

TEST(Twin, IsTheTypedOperator) {
  const Operator op = Compiled("SimtOp");
  Problem problem = kProblem;
  problem.c = 30, problem.k = 7;
  ExpectMatchesReference<SimtOp>(op, problem);

  const auto typed = conv::Convolution<SimtOp>::Create(problem);
  const absl::StatusOr<conv::ConvPlan> plan = op.Plan(problem);
  ASSERT_TRUE(typed.ok() && plan.ok());
  EXPECT_EQ(op.Describe(*plan), typed->Describe());
  problem.k = 0x7fffffff;
  EXPECT_EQ(op.Plan(problem).status(), conv::Convolution<SimtOp>::Create(problem).status());

  Case<SimtOp> c(typed->problem());
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

TEST(Twin, ValuesOfSeveralFunctors) {
  const absl::StatusOr<Operator> op = Compile(R"(
    struct Add { float by = 1; int shift{}; const float* table = nullptr; float t[3];
      constexpr float operator()(float x) const { return x + by + shift; } };
    struct Times { float by = 2;
      constexpr float operator()(float x) const { return x * by; } };
    struct Mine : weft::conv::S8Conv4<weft::epilogues::Chain<weft::epilogues::Scale, Add, Times,
        weft::epilogues::ClampRange, weft::epilogues::OutputScale,
        weft::epilogues::ClampTo<std::int8_t>>> {};)",
                                              {.values = {"high", "Times.by", "Add.by"}});
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

std::string ErrorOf(const std::string& source, const Options& options = {}) {
  const absl::StatusOr<Operator> op = Compile(source, options);
  EXPECT_FALSE(op.ok());
  return std::string(op.status().message());
}

TEST(BadStrings, DefineNothing) {
  for (const char* source : {"", "// struct A {};\n", "int x = 1;", "void f() { struct A {}; }"}) {
    EXPECT_THAT(ErrorOf(source), HasSubstr("the source defines no type")) << source;
  }
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

TEST(NoHeaders, IsSaid) {
  const char kGood[] = "struct Op : weft::conv::S8Conv4<> {};";
  EXPECT_THAT(ErrorOf(kGood, {.include = "/no/such"}),
              HasSubstr("options.include=/no/such has no weft/version.hpp"));
  const With wrong("WEFT_INCLUDE", "/no/such");
  EXPECT_THAT(ErrorOf(kGood), HasSubstr("$WEFT_INCLUDE=/no/such has no weft/version.hpp"));
  const With read_only("TMPDIR", "/no/such");
  EXPECT_FALSE(Compile(kGood).ok());
}

}  // namespace
}  // namespace weft::rtc
