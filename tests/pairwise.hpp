// How the lists of values that the tables of tests have are combined to problems.
#pragma once

#include <vector>

namespace weft {

// Rows of indices, one for each of `sizes`, below it; each pair of indices of two columns is in one row at
// least.
std::vector<std::vector<int>> PairwiseRows(const std::vector<int>& sizes);

// Fewer rows: each index of a column is in at least `times` of them.
std::vector<std::vector<int>> EachTimesRows(const std::vector<int>& sizes, int times);

// How a table combines its lists: every two values meet, or each value is in two rows, or in one.
enum class Rows { kPairwise, kEachTwice, kEachOnce };
std::vector<std::vector<int>> Combined(const std::vector<int>& sizes, Rows rows);

}  // namespace weft
