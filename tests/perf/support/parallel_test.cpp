#include "perf/support/parallel.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace weft::perf {
namespace {

TEST(Parallel, PartsCoverEachIndexOnce) {
  for (const std::int64_t count : {0, 1, 63, 64, 65, 1000, 4097}) {
    std::vector<int> visits(count);
    std::vector<int> calls(MostParts());
    ForEachPart(count, [&](int part, std::int64_t begin, std::int64_t end) {
      ASSERT_LT(part, MostParts());
      EXPECT_EQ(begin % 64, 0);
      EXPECT_LT(begin, end);
      ++calls[part];
      for (std::int64_t i = begin; i < end; ++i) ++visits[i];
    });
    for (const int n : visits) EXPECT_EQ(n, 1);
    for (const int n : calls) EXPECT_LE(n, 1);
  }
}

TEST(Parallel, IndicesAreVisitedOnce) {
  std::vector<int> visits(1000);
  ForEachIndex(1000, [&](std::int64_t i) { ++visits[i]; });
  for (const int n : visits) EXPECT_EQ(n, 1);
}

}  // namespace
}  // namespace weft::perf
