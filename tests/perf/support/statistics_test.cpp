#include "perf/support/statistics.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "perf/support/random.hpp"

namespace weft::perf {
namespace {

TEST(Statistics, QuantilesInterpolate) {
  EXPECT_EQ(Quantile({}, 0.5), 0.0);
  EXPECT_EQ(Quantile({7.0}, 0.9), 7.0);
  EXPECT_EQ(Quantile({3.0, 1.0, 2.0}, 0.5), 2.0);
  EXPECT_EQ(Quantile({4.0, 1.0, 2.0, 3.0}, 0.5), 2.5);
  EXPECT_EQ(Quantile({4.0, 1.0}, 0.0), 1.0);
  EXPECT_EQ(Quantile({4.0, 1.0}, 1.0), 4.0);
}

TEST(Statistics, SummaryOfElevenValues) {
  const Summary s = Summarize({10, 0, 9, 1, 8, 2, 7, 3, 6, 4, 5});
  EXPECT_EQ(s.median, 5.0);
  EXPECT_EQ(s.p10, 1.0);
  EXPECT_EQ(s.p90, 9.0);
}

TEST(Statistics, HalvesDiffer) {
  EXPECT_EQ(HalvesDiffer({1.0, 2.0, 3.0}), 0.0);
  EXPECT_EQ(HalvesDiffer({5.0, 5.0, 5.0, 5.0}), 0.0);
  // Every other value: 10, 12 and 11, 11.
  EXPECT_EQ(HalvesDiffer({10.0, 11.0, 12.0, 11.0}), 0.0);
  // 10, 10 and 12, 12.
  EXPECT_DOUBLE_EQ(HalvesDiffer({10.0, 12.0, 10.0, 12.0}), 2.0 / 11.0);
}

TEST(Statistics, GeometricMean) {
  EXPECT_EQ(GeometricMean({}), 0.0);
  EXPECT_NEAR(GeometricMean({2.0, 0.5}), 1.0, 1e-12);
  EXPECT_NEAR(GeometricMean({1.0, 10.0, 100.0}), 10.0, 1e-9);
}

TEST(RandomData, DependsOnSeedAndIndexOnly) {
  EXPECT_EQ(RandomInt8s(100, 5), RandomInt8s(100, 5));
  EXPECT_NE(RandomInt8s(100, 5), RandomInt8s(100, 6));
  EXPECT_EQ(RandomInt8s(100, 5)[99], RandomInt8(5, 99));
}

TEST(RandomData, Int8IsUniform) {
  std::array<int, 256> counts = {};
  constexpr int kCount = 1 << 16;
  for (std::int8_t value : RandomInt8s(kCount, 1)) ++counts[value + 128];
  double chi_square = 0.0;
  for (int count : counts) chi_square += (count - 256.0) * (count - 256.0) / 256.0;
  EXPECT_LT(chi_square, 255.0 + 5 * 22.6);  // five standard deviations
}

TEST(RandomData, FloatsStayInRange) {
  for (float value : RandomFloats(1000, 3, -2.0f, 5.0f)) {
    EXPECT_GE(value, -2.0f);
    EXPECT_LT(value, 5.0f);
  }
}

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
