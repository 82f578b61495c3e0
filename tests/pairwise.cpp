#include "tests/pairwise.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <utility>

namespace weft {

std::vector<std::vector<int>> PairwiseRows(const std::vector<int>& sizes) {
  const int columns = static_cast<int>(sizes.size());
  std::set<std::pair<std::pair<int, int>, std::pair<int, int>>> open;  // ((i, x), (j, y)), i < j
  for (int i = 0; i < columns; ++i) {
    for (int j = i + 1; j < columns; ++j) {
      for (int x = 0; x < sizes[i]; ++x) {
        for (int y = 0; y < sizes[j]; ++y) open.insert({{i, x}, {j, y}});
      }
    }
  }
  std::vector<std::vector<int>> rows;
  while (!open.empty()) {
    std::vector<int> row(columns, -1);
    const auto [first, second] = *open.begin();
    row[first.first] = first.second;
    row[second.first] = second.second;
    for (int i = 0; i < columns; ++i) {
      if (row[i] >= 0) continue;
      // The value of which most pairs with the row are open; of several, another one in each row.
      int best = 0, most = -1;
      for (int v = 0; v < sizes[i]; ++v) {
        const int x = (v + static_cast<int>(rows.size())) % sizes[i];
        int count = 0;
        for (int j = 0; j < columns; ++j) {
          if (row[j] < 0) continue;
          const std::pair<int, int> a = {i, x}, b = {j, row[j]};
          count += open.count({std::min(a, b), std::max(a, b)});
        }
        if (count > most) most = count, best = x;
      }
      row[i] = best;
    }
    for (int i = 0; i < columns; ++i) {
      for (int j = i + 1; j < columns; ++j) open.erase({{i, row[i]}, {j, row[j]}});
    }
    rows.push_back(row);
  }
  return rows;
}

std::vector<std::vector<int>> EachTimesRows(const std::vector<int>& sizes, int times) {
  const int count = times * *std::max_element(sizes.begin(), sizes.end());
  std::vector<std::vector<int>> rows(count);
  for (std::size_t column = 0; column < sizes.size(); ++column) {
    // A column goes through its values again and again, each time in another order, or columns of
    // sizes with a common factor would show few of their pairs.
    std::mt19937 random(static_cast<std::uint32_t>(column));
    std::vector<int> order(sizes[column]);
    std::iota(order.begin(), order.end(), 0);
    for (int i = 0; i < count; ++i) {
      const int place = i % sizes[column];
      if (place == 0) {
        for (std::size_t n = order.size(); n > 1; --n) std::swap(order[n - 1], order[random() % n]);
      }
      rows[i].push_back(order[place]);
    }
  }
  return rows;
}

std::vector<std::vector<int>> Combined(const std::vector<int>& sizes, Rows rows) {
  return rows == Rows::kPairwise ? PairwiseRows(sizes)
                                 : EachTimesRows(sizes, rows == Rows::kEachTwice ? 2 : 1);
}

}  // namespace weft
