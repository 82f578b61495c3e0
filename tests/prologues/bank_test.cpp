// The tests' own arithmetic of banks against the prologues': whoever walks the batches of a
// prologue, pixel by pixel, must ask for the filters that the reference asks for, and for all of
// them.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>

#include "tests/conv/kernel/prologue_bank.hpp"
#include "weft/conv/problem/problem.hpp"
#include "weft/prologues/prologues.hpp"

namespace weft::conv {
namespace {

using prologues::BatchCoord;
using prologues::BatchExtents;
using prologues::BatchOf;
using prologues::Depends;

template <class Prologue>
void ExpectSameFilters(const Problem& problem) {
  SCOPED_TRACE(Prologue::kName);
  constexpr Depends depends = Prologue::kDepends;
  const PrologueBank<Prologue> bank(problem, 1);
  const std::int64_t P = problem.p(), Q = problem.q();
  const BatchExtents e = BatchOf(depends, problem.n, P, Q, problem.groups);
  EXPECT_EQ(Prologue::Filters(e), bank.filters);
  std::set<std::int64_t> used;
  for (std::int32_t n = 0; n < problem.n; ++n) {
    for (std::int32_t p = 0; p < P; ++p) {
      for (std::int32_t q = 0; q < Q; ++q) {
        for (std::int32_t g = 0; g < problem.groups; ++g) {
          BatchCoord at;
          if (depends.image) at.n = n;
          if (depends.OnPixel()) at.p = p / depends.block_h, at.q = q / depends.block_w;
          if (depends.group) at.g = g;
          ASSERT_TRUE(at.n < e.n && at.p < e.p && at.q < e.q && at.g < e.g);
          at.index = ((at.n * e.p + at.p) * e.q + at.q) * e.g + at.g;
          const std::int64_t filter = bank.prologue.Filter(at);
          ASSERT_EQ(filter, bank.which(n, p, q, g)) << n << " " << p << " " << q << " " << g;
          ASSERT_TRUE(filter >= 0 && filter < bank.filters);
          used.insert(filter);
        }
      }
    }
  }
  EXPECT_EQ(static_cast<std::int64_t>(used.size()), bank.filters);
}

TEST(PrologueBanks, AreTheSameWrittenTwice) {
  Problem problem = SquareProblem(3, 12, 7, 8, 3, 1, 1);
  problem.w = 10;
  ExpectSameFilters<prologues::SharedFilter>(problem);
  ExpectSameFilters<prologues::PerSample>(problem);
  ExpectSameFilters<prologues::LocalFilter>(problem);
  ExpectSameFilters<prologues::LocalBlock<1, 1>>(problem);
  ExpectSameFilters<prologues::LocalBlock<2, 3>>(problem);
  ExpectSameFilters<prologues::LocalBlock<7, 4>>(problem);
  ExpectSameFilters<prologues::LocalBlock<4, 16>>(problem);
  problem.groups = 4;
  ExpectSameFilters<prologues::Grouped>(problem);
}

}  // namespace
}  // namespace weft::conv
