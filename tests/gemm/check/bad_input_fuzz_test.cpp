// Random bad problems and arguments of matrix products: each is refused with a sentence that names
// what is wrong, or is right and gives the plain loops' result.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/fuzz.hpp"
#include "tests/gemm/table/check.hpp"

namespace weft::gemm {

using FuzzedInt8 = Chain<Residual<std::int8_t>, Scale, Bias<>, ClampTo<std::int8_t>>;
using FuzzDp4a =
    TypedGemm<std::int8_t, RowMajor, ColumnMajor, RowMajor, FuzzedInt8, Dp4aTile<4, 4>>;
using FuzzHalf = TypedGemm<Half, RowMajor, RowMajor, RowMajor,
                           Chain<Scale, Bias<>, Relu, RoundTo<Half>>, HalfTile<16, 4>>;
using FuzzDouble =
    TypedGemm<double, ColumnMajor, ColumnMajor, ColumnMajor, Chain<ToSums<double>>, FmaTile<8, 8>>;
using FuzzWgmma = TypedGemm<std::int8_t, RowMajor, ColumnMajor, RowMajor, FuzzedInt8,
                            WgmmaTile<64, 64, 128, 32, 64, 8>>;

namespace {

std::vector<fuzz::Field<GemmProblem>> Fields() {
  using P = GemmProblem;
  return {{"m", &P::m},
          {"n", &P::n},
          {"k", &P::k},
          {"lda", &P::lda},
          {"ldb", &P::ldb},
          {"ldc", &P::ldc},
          {"batch", &P::batch},
          {"stride_a", &P::stride_a},
          {"stride_b", &P::stride_b},
          {"stride_c", &P::stride_c}};
}
table::Problem Integers(const GemmProblem& p, const std::vector<std::int32_t>& group_offsets = {}) {
  return {
      .product = p, .group_offsets = group_offsets, .values = {.exact = true, .in_place = false}};
}
std::string Text(const GemmProblem& p) {
  return absl::StrCat("m", p.m, " n", p.n, " k", p.k, " lda ", p.lda, " ldb ", p.ldb, " ldc ",
                      p.ldc, " batch ", p.batch, " strides ", p.stride_a, ", ", p.stride_b, ", ",
                      p.stride_c, p.own_bias ? " own bias" : "");
}

// A product, a batch, and one with strides and pitches of its own.
std::vector<GemmProblem> GoodProblems() {
  return {{.m = 16, .n = 16, .k = 16},
          {.m = 16, .n = 16, .k = 16, .batch = 3, .own_bias = true},
          {.m = 16,
           .n = 32,
           .k = 16,
           .lda = 32,
           .ldb = 48,
           .ldc = 64,
           .batch = 2,
           .stride_a = 1024,
           .stride_b = 2048,
           .stride_c = 4096}};
}

// The pitches and strides that are filled in are named with the value that they got.
void ExpectGemmRefusal(const absl::Status& status, const GemmProblem& p,
                       std::vector<std::string> changed) {
  const std::string message(status.message());
  GemmProblem filled = p;
  for (const auto& field : Fields()) {
    std::int64_t& value = filled.*field.value;
    const std::string text = absl::StrCat(field.name, "=");
    const std::size_t at = message.find(absl::StrCat(" ", text));
    if (at == std::string::npos || (value != 0 && value != GemmProblem::kPacked)) continue;
    if (std::string_view(field.name).size() < 3) continue;  // m, n, k
    value = std::atoll(message.c_str() + at + 1 + text.size());
    changed.push_back(field.name);
  }
  // What a stride must be depends on the extents and pitches.
  changed.insert(changed.end(), {"stride_a", "stride_b", "stride_c"});
  fuzz::ExpectRefusal(status, "gemm: ", filled, Fields(), changed);
}

bool IsSmall(const GemmProblem& p) {
  const auto elements = [&](std::int64_t lines, std::int64_t pitch, std::int64_t stride) {
    return static_cast<double>(p.batch - 1) * static_cast<double>(stride) +
           static_cast<double>(lines) * static_cast<double>(pitch);
  };
  const std::int64_t most = std::max({p.m, p.n, p.k});
  return !p.IsEmpty() && static_cast<double>(p.m) * p.n * p.k * p.batch < 3e5 &&
         elements(most, p.lda, p.stride_a) < 1e5 && elements(most, p.ldb, p.stride_b) < 1e5 &&
         elements(most, p.ldc, p.stride_c) < 1e5;
}

template <class P>
void FuzzProblems(std::uint32_t seed, int count = 3000, int runs = 5) {
  for (const GemmProblem& good : GoodProblems()) {
    std::mt19937 engine(seed++);
    int refused = 0, ran = 0;
    ASSERT_TRUE(Gemm<P>::Create(good).ok()) << Gemm<P>::Create(good).status();
    for (int i = 0; i < count; ++i) {
      GemmProblem p = good;
      const std::vector<std::string> changed = fuzz::Spoil(engine, Fields(), &p);
      SCOPED_TRACE(absl::StrCat("problem ", i, " of seed ", seed - 1, ": ", Text(p)));
      const absl::StatusOr<Gemm<P>> op = Gemm<P>::Create(p);
      if (!op.ok()) {
        ++refused;
        ExpectGemmRefusal(op.status(), p, changed);
      } else {
        EXPECT_FALSE(op->Describe().empty());
        EXPECT_EQ(op->CheckArguments({}).ok(), p.IsEmpty());
        if (ran < runs && IsSmall(op->problem())) {
          ++ran;
          table::ExpectProduct<P>(Integers(p), seed);
        }
      }
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_GT(refused, count / 4);
    EXPECT_LT(refused, count);
    EXPECT_EQ(ran, runs);
  }
}

// The second product of a list, whose first one stays as it is.
template <class P>
struct SecondOfList {
  using Arguments = typename Gemm<Listed<P>>::Arguments;
  absl::Status RunOnCpu(const Arguments& args) const { return list.RunOnCpu({first, args}); }
  absl::Status CheckArguments(const Arguments& args) const {
    return list.CheckArguments({first, args});
  }
  Gemm<Listed<P>> list;
  Arguments first;
};

// What can be wrong with a run.
template <class P>
void FuzzArguments(const GemmProblem& problem, std::uint32_t seed,
                   const std::vector<std::int32_t>& group_offsets = {}, bool listed = false) {
  using Op = Gemm<P>;
  using Args = typename Op::Arguments;
  using Epilogue = typename P::Epilogue;
  const Op op = Op::Create(problem).value();
  const GemmProblem& p = op.problem();
  const table::Problem integers = Integers(problem, group_offsets);
  const table::ProductOf<P> product(p, integers, table::FactsFor<P>(), seed, 0);
  Args good = product.template Args<Args>();
  ASSERT_TRUE(op.CheckArguments(good).ok()) << op.CheckArguments(good);

  // Of C its first line: between lines there may be other tensors.
  const std::int64_t line =
      (table::FactsFor<P>().row_major_c ? p.n : p.m) * sizeof(typename Op::Output);
  fuzz::Breaks<Args> breaks(good.c, line);
  constexpr int kElement = sizeof(typename P::Element);
  breaks.Pointer("a", good, &Args::a, p.m * p.k * kElement, kOperandAccess<P, true> * kElement);
  breaks.Pointer("b", good, &Args::b, p.n * p.k * kElement, kOperandAccess<P, false> * kElement);
  breaks.Pointer("c", good, &Args::c, 0, P::config.alignment.dst);
  if constexpr (Epilogue::kHasBias) {
    breaks.Pointer("bias", good, &Args::bias, 4 * p.n, 4);
  } else {
    breaks.Unread("bias", &Args::bias);
  }
  if constexpr (Epilogue::kHasResidual) {
    breaks.Pointer("residual", good, &Args::residual, line, 1);
  } else {
    breaks.Unread("residual", &Args::residual);
  }
  const std::vector<typename Args::Value> alphas(p.n * p.batch);
  if constexpr (!Epilogue::kHasScale) {
    breaks.Unread("channel_alpha", &Args::channel_alpha);
  } else {
    breaks.Add("channel_alpha",
               [&](Args& a, std::mt19937&) { a.channel_alpha = alphas.data(), a.alpha = 0.5f; });
  }
  if constexpr (std::is_same_v<typename Args::Value, float>) {
    breaks.Number("alpha", &Args::alpha, Epilogue::kHasScale);
    breaks.Number("gamma", &Args::gamma, Epilogue::kHasResidual);
  } else {
    breaks.Add("alpha", [](Args& a, std::mt19937& engine) {
      a.alpha = engine() % 2 == 0 ? 0.5 : std::numeric_limits<double>::quiet_NaN();
    });
  }
  breaks.Number("beta", &Args::beta, Epilogue::kHasBias);
  breaks.Number("output_scale", &Args::output_scale, Epilogue::kHasOutputScale);
  breaks.Number("zero_point", &Args::zero_point, Epilogue::OutputStage::kAddsZeroPoint);
  if constexpr (Epilogue::OutputStage::kAddsZeroPoint) {
    breaks.Add("zero_point", [](Args& a, std::mt19937& engine) {
      constexpr float kNone[] = {0.5f, -300.0f, 127.25f, 256.0f};
      a.zero_point = kNone[engine() % 4];
    });
  }
  // What belongs to other policies.
  std::vector<std::int32_t> wrong = group_offsets;
  if constexpr (kGrouped<P>) {
    breaks.Pointer("group_offsets", good, &Args::group_offsets, 4 * std::ssize(group_offsets), 4);
    breaks.Add("group_offsets", [&](Args& a,
                                    std::mt19937& engine) {  // descending, negative, beyond m
      wrong = group_offsets;
      std::int32_t& end = wrong[engine() % wrong.size()];
      const std::int32_t values[] = {-1, INT32_MIN, static_cast<std::int32_t>(p.m) + 1, INT32_MAX};
      end = values[engine() % 4];
      a.group_offsets = wrong.data();
    });
  } else {
    breaks.Unread("group_offsets", &Args::group_offsets);
  }
  const auto read = [&] { return product.Result(); };
  if constexpr (!kGrouped<P>) {
    if (listed) {
      const table::ProductOf<P> other(p, integers, table::FactsFor<P>(), seed, 0);
      const SecondOfList<P> second = {Gemm<Listed<P>>::Create({problem, problem}).value(),
                                      other.template Args<Args>()};
      fuzz::FuzzArguments(second, good, breaks, "gemm: problem 1 of the list: ", seed, read);
      return;
    }
  }
  fuzz::FuzzArguments(op, good, breaks, "gemm: ", seed, read);
}

TEST(GemmFuzz, Problems) {
  FuzzProblems<FuzzDp4a>(100);
  FuzzProblems<FuzzHalf>(200);
  FuzzProblems<FuzzDouble>(300);
  FuzzProblems<FuzzWgmma>(400);
}

TEST(GemmFuzz, Arguments) {
  for (const GemmProblem& p : GoodProblems()) {
    FuzzArguments<FuzzDp4a>(p, 1);
    FuzzArguments<FuzzHalf>(p, 2);
    FuzzArguments<FuzzDouble>(p, 3);
    FuzzArguments<FuzzWgmma>(p, 4);
  }
}

// Groups, of which some are empty.
TEST(GemmFuzz, Grouped) {
  const GemmProblem good = {.m = 40, .n = 16, .k = 32, .batch = 4};
  std::mt19937 engine(9);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    GemmProblem p = good;
    const std::vector<std::string> changed = fuzz::Spoil(engine, Fields(), &p);
    SCOPED_TRACE(absl::StrCat("problem ", i, ": ", Text(p)));
    const auto op = Gemm<Grouped<FuzzDp4a>>::Create(p);
    if (!op.ok()) {
      ++refused;
      ExpectGemmRefusal(op.status(), p, changed);
    } else {
      EXPECT_FALSE(op->Describe().empty());
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(refused, 500);
  table::ExpectProduct<Grouped<FuzzDp4a>>(Integers(good, {7, 7, 30, 40}), 6);
  FuzzArguments<Grouped<FuzzDp4a>>(good, 7, {7, 7, 30, 40});
}

// A bad product in a list is named by its place.
TEST(GemmFuzz, Listed) {
  using Op = Gemm<Listed<FuzzDp4a>>;
  std::mt19937 engine(17);
  int refused = 0, made = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<GemmProblem> list(1 + engine() % 5, GemmProblem{.m = 8, .n = 12, .k = 16});
    const std::size_t bad = engine() % list.size();
    const std::vector<std::string> changed = fuzz::Spoil(engine, Fields(), &list[bad]);
    SCOPED_TRACE(absl::StrCat("problem ", bad, " in list ", i, ": ", Text(list[bad])));
    const absl::StatusOr<Op> op = Op::Create(list);
    if (op.ok()) {
      ++made;
      EXPECT_EQ(op->size(), list.size());
      EXPECT_GE(op->tiles(), 0);
      EXPECT_FALSE(op->CheckArguments(std::vector<Op::Arguments>(list.size() + 1)).ok());
    } else {
      ++refused;
      const std::string place = absl::StrCat("gemm: problem ", bad, " of the list: ");
      EXPECT_TRUE(absl::StartsWith(op.status().message(), place));
      ExpectGemmRefusal(op.status(), list[bad], changed);
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(refused, 500);
  EXPECT_GT(made, 100);
  FuzzArguments<FuzzDp4a>({.m = 8, .n = 12, .k = 16}, 8, {}, /*listed=*/true);
}

}  // namespace
}  // namespace weft::gemm
