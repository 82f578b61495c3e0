#include "tests/pairwise.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace weft {
namespace {

TEST(Pairwise, RowsHoldEveryPair) {
  const std::vector<int> sizes = {6, 9, 7, 3, 3, 3, 3, 2};
  const std::vector<std::vector<int>> rows = PairwiseRows(sizes);
  EXPECT_LT(rows.size(), 70u);  // of which two columns alone want 54
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    for (std::size_t j = i + 1; j < sizes.size(); ++j) {
      std::set<std::pair<int, int>> pairs;
      for (const std::vector<int>& row : rows) pairs.insert({row[i], row[j]});
      EXPECT_EQ(pairs.size(), static_cast<std::size_t>(sizes[i] * sizes[j])) << i << " " << j;
    }
  }
}

TEST(Pairwise, FewerRowsHoldEachValueTwice) {
  const std::vector<int> sizes = {6, 9, 7, 3, 3, 3, 3, 2};
  const std::vector<std::vector<int>> rows = EachTimesRows(sizes, 2);
  EXPECT_EQ(rows.size(), 18u);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    for (int value = 0; value < sizes[i]; ++value) {
      EXPECT_GE(std::count_if(rows.begin(), rows.end(),
                              [&](const std::vector<int>& row) { return row[i] == value; }),
                2)
          << i << " " << value;
    }
  }
  // Of any two lists at least half of the pairs are seen that so many rows can show.
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    for (std::size_t j = i + 1; j < sizes.size(); ++j) {
      std::set<std::pair<int, int>> pairs;
      for (const std::vector<int>& row : rows) pairs.insert({row[i], row[j]});
      const std::size_t most = std::min<std::size_t>(rows.size(), sizes[i] * sizes[j]);
      EXPECT_GE(2 * pairs.size(), most) << i << " " << j;
    }
  }
}

}  // namespace
}  // namespace weft
