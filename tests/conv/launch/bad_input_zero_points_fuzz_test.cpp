// Random bad problems and arguments of convolutions with zero points, of what an epilogue writes
// beside its output, and of PooledAverage: each is refused with a sentence that names what is
// wrong.
#include <tuple>

#include "tests/conv/launch/fuzz.hpp"
#include "tests/conv/zero_point/zero_point_cases.hpp"
#include "weft/conv/pooled_average.hpp"

namespace weft::conv {
namespace {

template <class T>
std::vector<T> Zeros(std::int64_t count) {
  return std::vector<T>(static_cast<std::size_t>(count));
}
template <class T>
std::vector<T> Pattern(std::int64_t count) {
  return std::vector<T>(static_cast<std::size_t>(count), T{0x77});
}

// A policy with zero points, and a problem that it takes. Only the checks of depthwise ones are compiled: they have a
// kernel for each of seven shapes, which zero_point_depthwise_test runs.
template <class P, int c, int k, int groups = 1>
struct Case {
  using Policy = P;
  static constexpr bool kRuns = !CheckedPolicy<P>::kDepthwise;
  static Problem Good() {
    Problem p = SquareProblem(2, c, 6, k, 3, 1, 1);
    p.groups = groups;
    return p;
  }
};

template <class C>
class ZeroPointFuzz : public testing::Test {};
using Cases =
    testing::Types<Case<ZeroSimt, 8, 12>, Case<ZeroFilterSm80, 8, 12>, Case<ZeroWgmma, 8, 12>,
                   Case<UnsignedSource<S8Depthwise4<QLinearWithFilter<std::uint8_t>>>, 8, 16, 8>,
                   Case<S8Depthwise4<QLinear<std::int8_t>>, 8, 8, 8>>;
TYPED_TEST_SUITE(ZeroPointFuzz, Cases);

TYPED_TEST(ZeroPointFuzz, Problems) {
  using P = typename TypeParam::Policy;
  FuzzProblems(
      TypeParam::Good(), ProblemFields(), 7,
      [](const Problem& p) { return Convolution<P>::Create(p); },
      [](const auto&, const Problem& p) {
        if (!IsSmall(p)) return false;
        if constexpr (TypeParam::kRuns) ExpectExact<P>(p, 7);
        return true;
      });
}

TYPED_TEST(ZeroPointFuzz, Arguments) {
  using P = typename TypeParam::Policy;
  using Op = Convolution<P>;
  using Args = typename Op::Arguments;
  using Epilogue = typename P::Epilogue;
  using Element = typename P::Element;
  const Problem problem = TypeParam::Good();
  constexpr bool kDepthwise = CheckedPolicy<P>::kDepthwise;
  constexpr bool kFilterZeros = Epilogue::kFilterZeroPoint;
  const Op op = Op::Create(problem).value();
  const auto pack = [](const Problem& p) {
    return PackBank<typename P::Prologue, typename P::FilterLayout>(
        p, p.groups, Zeros<std::int8_t>(p.groups * KCRS::Size(p.filter())));
  };
  const auto packed = pack(problem);
  const auto zeros = Zeros<std::int32_t>(problem.k);
  const auto table = [&](const Problem& p, std::int32_t zero_point, bool with_filter) {
    using Span = absl::Span<const std::int32_t>;
    const auto of = Zeros<std::int32_t>(p.k);
    return MakeSourceCorrection(p, pack(p), zero_point, with_filter ? Span(of) : Span()).value();
  };
  constexpr bool kOfFilter = kDepthwise && kFilterZeros;
  const SourceCorrectionBuffer right = table(problem, 3, kOfFilter);
  const OperatorMemory<Element> src(Zeros<Element>(op.src_size()));
  const OperatorMemory<std::int32_t> bias(zeros), filter_zero_point(zeros);
  const OperatorMemory<std::int32_t> sums(
      Zeros<std::int32_t>(problem.n * problem.groups * problem.p() * problem.q()));
  const OperatorMemory<typename Op::Output> dst(Pattern<typename Op::Output>(op.dst_size()));
  const std::vector<float> alphas(static_cast<std::size_t>(problem.k), 1.0f);

  Args good;
  good.src = src.get(), good.dst = dst.get(), good.bias = bias.get();
  good.filter = packed.view(), good.source_correction = right.view();
  if (kFilterZeros) good.filter_zero_point = filter_zero_point.get();
  if (kFilterZeros && !kDepthwise) good.window_sums = sums.get();
  ASSERT_TRUE(op.CheckArguments(good).ok()) << op.CheckArguments(good);

  fuzz::Breaks<Args> breaks(dst.get(), op.dst_bytes());
  breaks.Pointer("src", good, &Args::src, op.src_bytes(), P::config.alignment.src);
  breaks.Pointer("dst", good, &Args::dst, 0, P::config.alignment.dst);
  AddEpilogue<Epilogue>(good, problem.k, 0, 4, alphas.data(), &breaks);
  breaks.Add("zero_point", [](Args& a, std::mt19937& engine) {  // integers of the output's type
    const float wrong[] = {0.5f, -1e-3f, 300.0f, 1e30f, std::numeric_limits<float>::infinity()};
    a.zero_point = wrong[engine() % 5];
  });
  breaks.Tensor("source_correction", right.data(), right.bytes(), 4, true,
                [&](Args& a, std::uintptr_t address) {
                  a.source_correction = right.At(reinterpret_cast<const void*>(address));
                });
  Problem wider = problem, padded = problem, more = problem;
  wider.w += 1, padded.pad_left = 2, more.k *= 2;
  std::vector<SourceCorrectionBuffer> others;
  for (const Problem& p : {wider, padded, more}) others.push_back(table(p, 3, kOfFilter));
  others.push_back(table(problem, std::is_signed_v<Element> ? 128 : -1, kOfFilter));
  if (kDepthwise) others.push_back(table(problem, 3, !kOfFilter));
  breaks.Add("source_correction", [&](Args& a, std::mt19937& engine) {
    a.source_correction = others[engine() % others.size()].view();
  });
  if constexpr (kFilterZeros) {
    breaks.Pointer("filter_zero_point", good, &Args::filter_zero_point, 4 * problem.k, 4);
  } else {
    breaks.Unread("filter_zero_point", &Args::filter_zero_point);
  }
  if constexpr (kFilterZeros && !kDepthwise) {
    breaks.Pointer("window_sums", good, &Args::window_sums, 4 * problem.n * 36, 4);
  } else {
    breaks.Unread("window_sums", &Args::window_sums);
  }
  const auto read = [&] { return dst.Read(); };
  if constexpr (TypeParam::kRuns) {
    fuzz::FuzzArguments(op, good, breaks, "conv: ", 21, read);
  } else {
    fuzz::FuzzArguments(fuzz::ChecksAlone<Op>{op}, good, breaks, "conv: ", 21, read);
  }
}

// Of the table itself. Those of images too large for a test are left out.
TEST(SourceCorrectionFuzz, ProblemsAndZeroPoints) {
  struct Tabled : Problem {
    std::int64_t zero_point = 3;
  };
  Tabled good;
  static_cast<Problem&>(good) = SquareProblem(2, 8, 6, 12, 3, 1, 1);
  const auto packed =
      PackFilter<CxRSKx<4>, KCRS>(good.filter(), Zeros<std::int8_t>(12 * 8 * 9)).value();
  auto fields = ProblemFields<Tabled>();
  fields.push_back({"zero_point", &Tabled::zero_point});
  std::mt19937 engine(5);
  int made = 0, refused = 0;
  for (int i = 0; i < 3000; ++i) {
    Tabled p = good;
    const auto changed = fuzz::Spoil(engine, fields, &p);
    p.zero_point = std::clamp<std::int64_t>(p.zero_point, INT32_MIN, INT32_MAX);
    SCOPED_TRACE(absl::StrCat("problem ", i, ": ", ToString(p), ", zero point ", p.zero_point));
    if (CheckProblem(p).ok() && p.p() + p.q() > 100000) continue;
    const auto table = MakeSourceCorrection(p, packed, static_cast<std::int32_t>(p.zero_point));
    if (table.ok()) {
      ++made;
      EXPECT_GE(table->bytes(), 4 * (p.p() + p.q() + 2 * p.k));
      EXPECT_EQ(table->view().zero_point(), p.zero_point);
    } else {
      ++refused;
      fuzz::ExpectRefusal(table.status(), "conv: ", p, fields, changed);
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(made, 100);
  EXPECT_GT(refused, 1000);
}

// Values of each channel, and auxiliary outputs.
TEST(BesideFuzz, Arguments) {
  using epilogues::ChannelRange, epilogues::Copy, epilogues::ImageSums, epilogues::PRelu;
  using Epilogue = Chain<Scale, epilogues::Bias<>, PRelu, Copy<float>, ChannelRange, ImageSums,
                         ClampTo<std::int8_t>>;
  using P = TestPolicy<NCxHWx<4>, Epilogue>;
  using Op = Convolution<P>;
  using Args = Op::Arguments;
  const Problem problem = SquareProblem(2, 8, 6, 12, 3, 1, 1);
  const Op op = Op::Create(problem).value();
  const Inputs<NCxHWx<4>, CxRSKx<4>, prologues::SharedFilter> inputs(problem, 1);
  const Results<Epilogue, NCxHWx<4>> results(problem, inputs.tensors,
                                             {.per_tensor_alpha = true, .alpha = 1.0f});
  const OperatorMemory<float> slopes(Zeros<float>(12)), copy(Pattern<float>(op.dst_size()));
  const OperatorMemory<float> low(Pattern<float>(12)), high(Pattern<float>(12));
  const OperatorMemory<std::int32_t> sums(Pattern<std::int32_t>(2 * 12));
  Args good;
  inputs.Fill(&good);
  results.Fill(&good);
  const auto of = []<class Stage>(Args& a, std::type_identity<Stage>) -> Stage& {
    return a.epilogue.template Get<Stage>();
  };
  constexpr std::type_identity<PRelu> kSlopes;
  constexpr std::type_identity<Copy<float>> kCopy;
  constexpr std::type_identity<ChannelRange> kRange;
  constexpr std::type_identity<ImageSums> kSums;
  of(good, kSlopes).slope = slopes.get(), of(good, kCopy).to = copy.get();
  of(good, kRange) = {low.get(), high.get()}, of(good, kSums).to = sums.get();
  ASSERT_TRUE(op.CheckArguments(good).ok()) << op.CheckArguments(good);

  fuzz::Breaks<Args> breaks(good.dst, op.dst_bytes());
  breaks.Pointer("src", good, &Args::src, op.src_bytes(), P::config.alignment.src);
  breaks.Pointer("dst", good, &Args::dst, 0, 4);
  const auto add = [&](const char* field, const void* at, std::int64_t bytes, int alignment,
                       const auto& set) { breaks.Tensor(field, at, bytes, alignment, true, set); };
  using Address = std::uintptr_t;
  add("epilogue's channel values", slopes.get(), 48, 4,
      [=](Args& a, Address x) { of(a, kSlopes).slope = reinterpret_cast<const float*>(x); });
  add("epilogue's copy", copy.get(), 4 * op.dst_size(), 16,
      [=](Args& a, Address x) { of(a, kCopy).to = reinterpret_cast<float*>(x); });
  add("epilogue's low", low.get(), 48, 4,
      [=](Args& a, Address x) { of(a, kRange).low = reinterpret_cast<float*>(x); });
  add("epilogue's high", high.get(), 48, 4,
      [=](Args& a, Address x) { of(a, kRange).high = reinterpret_cast<float*>(x); });
  add("epilogue's array of sums", sums.get(), 96, 4,
      [=](Args& a, Address x) { of(a, kSums).to = reinterpret_cast<std::int32_t*>(x); });
  // Each other's memory, and that of what is read.
  breaks.Add("epilogue's copy", [&](Args& a, std::mt19937& engine) {
    const void* const taken[] = {low.get(), good.src, sums.get(), inputs.filter.get(), good.bias};
    of(a, kCopy).to = static_cast<float*>(const_cast<void*>(taken[engine() % 5]));
  });
  breaks.Add("epilogue's high", [&](Args& a, std::mt19937& engine) {
    of(a, kRange).high = low.get() + engine() % 12;
  });
  AddEpilogue<Epilogue>(good, problem.k, 0, 4, slopes.get(), &breaks);
  fuzz::FuzzArguments(op, good, breaks, "conv: ", 31, [&] {
    return std::tuple(results.Read(), copy.Read(), low.Read(), high.Read(), sums.Read());
  });
}

TEST(PooledAverageFuzz, ProblemsAndArguments) {
  struct Sizes {
    std::int64_t n = 3, k = 20;
  };
  const std::vector<fuzz::Field<Sizes>> fields = {{"n", &Sizes::n}, {"k", &Sizes::k}};
  using Op = PooledAverage<std::int8_t, NCxHWx<32>>;
  std::mt19937 engine(3);
  int made = 0;
  for (int i = 0; i < 1000; ++i) {
    Sizes p;
    const auto changed = fuzz::Spoil(engine, fields, &p);
    SCOPED_TRACE(absl::StrCat("n ", p.n, " k ", p.k));
    const auto op = Op::Create(p.n, p.k);
    if (op.ok()) {
      ++made;
      EXPECT_EQ(op->sums_size(), p.n * p.k);
      EXPECT_GE(op->dst_size(), op->sums_size());
    } else {
      fuzz::ExpectRefusal(op.status(), "conv: ", p, fields, changed);
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(made, 100);

  const Op op = Op::Create(3, 20).value();
  const OperatorMemory<std::int32_t> sums(Pattern<std::int32_t>(op.sums_size()));
  const OperatorMemory<std::int8_t> dst(Pattern<std::int8_t>(op.dst_size()));
  const Op::Arguments good = {.sums = sums.get(), .dst = dst.get()};
  fuzz::Breaks<Op::Arguments> breaks(dst.get(), op.dst_size());
  breaks.Pointer("sums", good, &Op::Arguments::sums, 4 * op.sums_size(), 4);
  breaks.Pointer("dst", good, &Op::Arguments::dst, 0, 1);
  breaks.Number("alpha", &Op::Arguments::alpha, true);
  breaks.Number("zero_point", &Op::Arguments::zero_point, true);
  fuzz::FuzzArguments(op, good, breaks, "conv: ", 41,
                      [&] { return std::pair(sums.Read(), dst.Read()); });
}

}  // namespace
}  // namespace weft::conv
