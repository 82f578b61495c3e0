// What the table promises of its problems.
#include "tests/gemm/table/problems.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace weft::gemm::table {
namespace {

GemmFacts SomeFacts() {
  GemmFacts facts;
  facts.config = MmaSm80Config({64, 32, 64}, {32, 32, 64}, 3, {16, 4});
  facts.a.access = facts.b.access = 16;
  facts.store.element_bits = 32;
  return facts;
}

bool Has(const std::vector<Problem>& problems, const auto& is) {
  return std::any_of(problems.begin(), problems.end(),
                     [&](const Problem& p) { return is(p.product); });
}

TEST(TableProblems, ExtentsAtTheEdgesOfATileMeet) {
  const std::vector<Problem> problems = ProblemsFor(SomeFacts());
  for (const std::int64_t m : {1, 63, 64, 65, 131}) {
    for (const std::int64_t n : {1, 31, 32, 33, 67}) {
      EXPECT_TRUE(Has(problems, [&](const GemmProblem& p) { return p.m == m && p.n == n; }))
          << m << " " << n;
    }
    for (const std::int64_t k : {1, 63, 64, 65}) {
      EXPECT_TRUE(Has(problems, [&](const GemmProblem& p) { return p.m == m && p.k == k; }))
          << m << " " << k;
    }
  }
  // More k tiles than stages.
  EXPECT_TRUE(Has(problems, [](const GemmProblem& p) { return p.m > 1 && p.k == 257; }));
}

TEST(TableProblems, ExtentsOfZeroMeetOthersAndEachOther) {
  for (const Rows rows : {Rows::kPairwise, Rows::kEachTwice}) {
    const std::vector<Problem> problems = ProblemsFor(SomeFacts(), rows);
    const auto has = [&](const auto& is) { return Has(problems, is); };
    EXPECT_TRUE(has([](const GemmProblem& p) { return p.m == 0 && p.n > 0; }));
    EXPECT_TRUE(has([](const GemmProblem& p) { return p.m > 0 && p.n == 0; }));
    EXPECT_TRUE(has([](const GemmProblem& p) { return p.batch == 0; }));
    EXPECT_TRUE(has([](const GemmProblem& p) { return p.k == 0 && p.m > 64 && p.n > 32; }));
    EXPECT_TRUE(has([](const GemmProblem& p) { return p.k == 0 && p.IsEmpty(); }));
  }
  EXPECT_TRUE(Has(ProblemsFor(SomeFacts()),
                  [](const GemmProblem& p) { return p.k == 0 && !p.IsEmpty() && p.batch > 1; }));
}

TEST(TableProblems, OfListsAndGroups) {
  GemmFacts facts = SomeFacts();
  facts.listed = true;
  std::set<std::size_t> sizes;
  bool some_without_tiles = false;
  for (const std::vector<Problem>& list : ListsFor(facts)) {
    sizes.insert(list.size());
    int tiles = 0;
    for (const Problem& p : list) {
      EXPECT_EQ(p.product.batch, 1);
      tiles += !p.product.IsEmpty();
    }
    some_without_tiles = some_without_tiles || tiles == 0;
  }
  EXPECT_TRUE(some_without_tiles);
  EXPECT_THAT(sizes, testing::Contains(1u));
  EXPECT_GT(*sizes.rbegin(), 8u);

  facts.listed = false, facts.grouped = true;
  int groups_without_rows = 0, rows_of_none = 0;
  for (const Problem& p : ProblemsFor(facts)) {
    EXPECT_EQ(p.product.batch, static_cast<std::int64_t>(p.group_offsets.size()));
    std::int32_t begin = 0;
    for (const std::int32_t end : p.group_offsets) {
      EXPECT_LE(begin, end);
      EXPECT_LE(end, p.product.m);
      groups_without_rows += begin == end;
      begin = end;
    }
    rows_of_none += begin < p.product.m;
  }
  EXPECT_GT(groups_without_rows, 10);
  EXPECT_GT(rows_of_none, 10);
}

}  // namespace
}  // namespace weft::gemm::table
