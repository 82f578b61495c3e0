// Lists of products, through every mainloop.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

// Before the tests' Launch, which has the name of a type of the library.
#include "weft/gemm/gemm_list.hpp"

#include "tests/gemm/product.hpp"
#include "tests/kinds.hpp"

namespace weft::gemm {

using ListToInt8 = Chain<Residual<std::int8_t>, Scale, Bias<>, ClampTo<std::int8_t>>;
using ListToHalf = Chain<Scale, Bias<>, Relu, RoundTo<Half>>;

using ListDp4a =
    TypedGemm<std::int8_t, RowMajor, ColumnMajor, RowMajor, ListToInt8, Dp4aTile<4, 4>>;
using ListFma =
    TypedGemm<float, RowMajor, RowMajor, ColumnMajor, Chain<ToSums<float>>, AsyncFmaTile<4, 4>>;
using ListMma = TypedGemm<std::int8_t, RowMajor, ColumnMajor, RowMajor, Chain<ToSums<std::int32_t>>,
                          MmaProductTile<16, 4>>;
using ListHalf = TypedGemm<Half, RowMajor, RowMajor, RowMajor, ListToHalf, HalfTile<16, 4>>;
using ListBfloat16 = TypedGemm<Bfloat16, ColumnMajor, ColumnMajor, ColumnMajor,
                               Chain<ToSums<float>>, HalfTile<8, 4>>;
using ListWgmma = TypedGemm<std::int8_t, RowMajor, ColumnMajor, RowMajor, ListToInt8,
                            WgmmaTile<64, 64, 128, 32, 64, 8>>;
// Two copies of A and of B to a k tile, of tiles that some products of the list do not fill.
using ListWgmmaDeep = TypedGemm<std::int8_t, RowMajor, ColumnMajor, RowMajor,
                                Chain<ToSums<std::int32_t>>, WgmmaTile<64, 64, 256, 64, 64, 4>>;
using ListWgmmaHalf = TypedGemm<Half, RowMajor, RowMajor, ColumnMajor, Chain<ToSums<float>>,
                                WgmmaTile<64, 128, 64, 64, 64, 4>>;
// Whose operands are transposed.
using ListWgmmaTf32 = TypedGemm<Tf32, ColumnMajor, RowMajor, RowMajor, Chain<ToSums<float>>,
                                WgmmaTile<64, 64, 32, 64, 64, 4>>;
using ListWgmmaBytes = TypedGemm<std::int8_t, ColumnMajor, RowMajor, RowMajor, ListToInt8,
                                 WgmmaTile<64, 64, 128, 64, 64, 8>>;

// Where it is, in seven bits.
struct ListPlace {
  constexpr float operator()(float, const epilogues::OutputCoord& at) const {
    return static_cast<float>((at.n * 29 + at.q * 5 + at.k + 64 * at.p) % 128);
  }
};
using ListPlaces = TypedGemm<std::int8_t, RowMajor, ColumnMajor, RowMajor,
                             Chain<Scale, ListPlace, ClampTo<std::int8_t>>, Dp4aTile<4, 4>>;

namespace {

// Runs the list as both back ends do: on the GPU from a table in its memory.
template <class Op>
void LaunchList(const Op& op, const std::vector<typename Op::Arguments>& args, int schedule) {
  using Piece = typename decltype(op.Table(args))::value_type::value_type;
  std::optional<OperatorMemory<Piece>> memory;  // until the list has run
  LaunchBy(op, args, schedule, [&] {
    const auto table = op.Table(args);
    if (!table.ok()) return table.status();
    memory.emplace(*table);
    return op.Run(memory->get(), nullptr);
  });
}

// Products of any m, n and k, dense and padded, some of no rows; each must be as it is alone. create(problems):
// an operator of P's types and layouts.
template <class P, class Create>
void ExpectListsOf(const Create& create, std::uint32_t seed, bool exact = true) {
  using Op = typename decltype(create(std::vector<GemmProblem>()))::value_type;
  using One = Product<typename P::Element, typename P::Epilogue>;
  constexpr int kLoad = P::config.alignment.src / static_cast<int>(sizeof(typename P::Element));
  constexpr int kStore =
      P::config.alignment.dst / static_cast<int>(sizeof(typename P::Epilogue::Output));
  std::mt19937 engine(seed);
  for (const int count : {1, 2, 5, 9}) {
    SCOPED_TRACE(absl::StrCat("seed ", seed, ", ", count, " products"));
    std::vector<GemmProblem> problems(count);
    for (GemmProblem& p : problems) {
      p = RandomProblem(engine, kOrdersOf<P>, kLoad, kStore, engine() % 2 == 1, 200);
      if (count > 1 && engine() % 3 == 0) p.m = 0;
    }
    if (count == 2) {
      problems[0].m = std::max<std::int64_t>(problems[0].m, 1);
      problems[0].k = 0;  // C is the epilogue of 0
    }
    if (count == 9) problems[3].k = 0;
    if (count == 5) problems[0].m = problems[1].m = problems[4].m = 0;
    const absl::StatusOr<Op> op = create(problems);
    ASSERT_TRUE(op.ok()) << op.status();
    std::vector<std::unique_ptr<One>> products;
    std::vector<typename Op::Arguments> args(count);  // of those without rows there are none
    for (int i = 0; i < count; ++i) {
      products.push_back(problems[i].m == 0
                             ? nullptr
                             : std::make_unique<One>(op->problem(i), kOrdersOf<P>, seed + 10 * i,
                                                     exact, i % 2 == 1));
      if (products[i]) args[i] = products[i]->template Args<typename Op::Arguments>();
    }
    LaunchList(*op, args, static_cast<int>(engine() % 100));
    if (testing::Test::HasFatalFailure()) return;
    for (int i = 0; i < count; ++i) {
      SCOPED_TRACE(absl::StrCat("product ", i, " m", problems[i].m, " n", problems[i].n, " k",
                                problems[i].k));
      if (products[i]) products[i]->ExpectResult();
    }
    if (testing::Test::HasFailure()) return;
  }
}

template <class P>
void ExpectLists(std::uint32_t seed, bool exact = true) {
  ExpectListsOf<P>(
      [](const std::vector<GemmProblem>& list) { return Gemm<Listed<P>>::Create(list); }, seed,
      exact);
}

TEST(GemmList, Dp4a) {
  ExpectLists<ListDp4a>(100);
}
TEST(GemmList, FmaAsync) {
  ExpectLists<ListFma>(200);
}
TEST(GemmList, TensorCores) {
  ExpectLists<ListMma>(300);
#if !WEFT_ONE_OF_EACH_KIND
  ExpectLists<ListHalf>(400);
  ExpectLists<ListBfloat16>(500);
  ExpectLists<ListBfloat16>(600, false);
#endif
}
TEST(GemmList, Wgmma) {
  ExpectLists<ListWgmma>(700);
#if !WEFT_ONE_OF_EACH_KIND
  ExpectLists<ListWgmmaDeep>(750);
  ExpectLists<ListWgmmaHalf>(800);
  ExpectLists<ListWgmmaHalf>(900, false);
  ExpectLists<ListWgmmaTf32>(950);
#endif
  ExpectLists<ListWgmmaBytes>(970);
}

// A coordinate's n is the product's number in the list. The experts of a mixture, whose rows follow one
// another in one A and one C, one of them without rows.
TEST(GemmList, CoordinatesOfExperts) {
  using Op = Gemm<Listed<ListPlaces>>;
  constexpr std::int64_t kN = 24, kK = 16, kM = 70;
  const std::vector<std::int32_t> group_offsets = {17, 17, 20, kM};
  const std::vector<std::int8_t> a(kM * kK), b(4 * kN * kK), before(kM * kN, 7);
  const OperatorMemory<std::int8_t> of_a(a), of_b(b), of_c(before);
  std::vector<GemmProblem> problems;
  std::vector<typename Op::Arguments> args;
  std::vector<std::int8_t> want = before;
  for (int e = 0; e < 4; ++e) {
    const std::int32_t first = e == 0 ? 0 : group_offsets[e - 1];
    problems.push_back({.m = group_offsets[e] - first, .n = kN, .k = kK});
    args.push_back({.a = of_a.get() + first * kK,
                    .b = of_b.get() + e * kN * kK,
                    .c = of_c.get() + first * kN});
    for (std::int64_t i = first; i < group_offsets[e]; ++i) {
      for (std::int64_t j = 0; j < kN; ++j) {
        want[i * kN + j] = static_cast<std::int8_t>((e * 29 + (i - first) * 5 + j) % 128);
      }
    }
  }
  const auto op = Op::Create(problems);
  ASSERT_TRUE(op.ok()) << op.status();
  LaunchList(*op, args, 3);
  EXPECT_EQ(of_c.Read(), want);
}

TEST(GemmList, NothingToDo) {
  using Op = Gemm<Listed<ListMma>>;
  const GemmProblem none = {.m = 0, .n = 16, .k = 16};
  const auto op = Op::Create({none, none});
  ASSERT_TRUE(op.ok()) << op.status();
  EXPECT_EQ(op->tiles(), 0);
  LaunchList(*op, {{}, {}}, 0);
}

TEST(GemmList, BadInput) {
  using Op = Gemm<Listed<ListHalf>>;
  const auto refusal = [](std::vector<GemmProblem> problems) {
    return std::string(Op::Create(problems).status().message());
  };
  const GemmProblem good = {.m = 8, .n = 8, .k = 8};
  EXPECT_EQ(refusal({}), "gemm: problems is empty; give one product or more");
  EXPECT_EQ(refusal({good, {.m = -1, .n = 8, .k = 8}}),
            "gemm: problem 1 of the list: m=-1 is negative; give 0 or more");
  EXPECT_EQ(refusal({good, good, {.m = 0, .n = -1, .k = 8}}),
            "gemm: problem 2 of the list: n=-1 is negative; give 0 or more");
  EXPECT_EQ(refusal({{.m = 8, .n = 8, .k = 8, .batch = 2}}),
            "gemm: problem 0 of the list: batch=2 is not 1; give each product a place in the list");
  const GemmProblem large = {.m = 1 << 28, .n = 1 << 13, .k = 8};
  EXPECT_THAT(refusal({large, large, large, large, large, large, large, large}),
              testing::HasSubstr("up to here exceed 2147483647; use a larger threadblock tile or "
                                 "split the list"));

  const auto op = Op::Create({good, good});
  ASSERT_TRUE(op.ok()) << op.status();
  EXPECT_THAT(op->Describe(),
              testing::HasSubstr("list of 2 products, 2 tiles; the first: mma_sm80"));
  alignas(64) Half a[64] = {}, b[64] = {}, c[128] = {};
  float bias[8] = {};
  const typename Op::Arguments first = {.a = a, .b = b, .bias = bias, .c = c};
  typename Op::Arguments second = {.a = a, .b = b, .bias = bias, .c = c + 64};
  const auto wrong = [&] { return std::string(op->CheckArguments({first, second}).message()); };
  EXPECT_EQ(wrong(), "");
  second.b = nullptr;
  EXPECT_EQ(wrong(), "gemm: problem 1 of the list: args.b is null; give the tensor's address");
  second.b = c;
  EXPECT_EQ(wrong(),
            "gemm: args[0].c overlaps args[1].b; products of a list run at the same time, so give "
            "c memory of its own");
  second.b = b, second.c = c + 56;
  EXPECT_THAT(wrong(), testing::HasSubstr("].c overlaps args["));
  EXPECT_EQ(
      op->CheckArguments({first}).message(),
      "gemm: args has 1 elements, but the list 2 products; give one for each, in the order of "
      "Create");
  EXPECT_EQ(op->Run(nullptr, nullptr).message(),
            "gemm: table is null; give the address of a copy of Table()'s in the GPU's memory");
  const void* const odd = reinterpret_cast<const std::uint8_t*>(a) + 4;
  EXPECT_THAT(std::string(op->Run(static_cast<const Op::Product*>(odd), nullptr).message()),
              testing::HasSubstr("-byte aligned; allocate it with that alignment"));
}

}  // namespace
}  // namespace weft::gemm
