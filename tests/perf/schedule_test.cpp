#include "perf/support/schedule.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace weft::perf {
namespace {

// Who was sampled, each sample taking `us`.
std::vector<int> Order(int count, int rounds, double budget_us, double us) {
  std::vector<int> order;
  EXPECT_TRUE(Interleave(count, rounds, budget_us, [&](int i) -> absl::StatusOr<double> {
                order.push_back(i);
                return us;
              }).ok());
  return order;
}

TEST(Schedule, ContestantsTakeTurns) {
  EXPECT_EQ(Order(2, 3, 1e9, 1.0), (std::vector<int>{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(Order(3, 2, 1e9, 1.0), (std::vector<int>{0, 1, 2, 0, 1, 2}));
  EXPECT_TRUE(Order(0, 3, 1e9, 1.0).empty());
}

TEST(Schedule, EndsWithAWholeRoundOnceTheBudgetIsSpent) {
  // 2 of 10 us a round: 7 rounds take 140 us, which is more than 130.
  EXPECT_EQ(Order(2, 100, 130.0, 10.0).size(), 14u);
}

TEST(Schedule, LeastRoundsCostWhatTheyCost) {
  EXPECT_EQ(Order(2, 100, 1.0, 1000.0).size(), 2u * kLeastRounds);
  EXPECT_EQ(Order(2, 3, 1.0, 1000.0).size(), 6u);
}

TEST(Schedule, AnErrorEndsIt) {
  int calls = 0;
  const absl::Status status = Interleave(2, 10, 1e9, [&](int) -> absl::StatusOr<double> {
    if (++calls == 4) return absl::InternalError("lost");
    return 1.0;
  });
  EXPECT_EQ(status, absl::InternalError("lost"));
  EXPECT_EQ(calls, 4);
}

}  // namespace
}  // namespace weft::perf
