// The run-time half of the table of convolutions: the problems that every operator of operators.def runs.
//
// An operator's problems are made of the lists below and of what its facts say of channels: each value of a
// list, and each number of channels at and around a block, meets each value of every other list in one
// problem at least. The corners, which no such list has, follow. Operators that differ from others in what they do to a
// value take fewer problems on a CPU: each value of a list is in two of them.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/pairwise.hpp"
#include "weft/conv/policy/facts.hpp"
#include "weft/conv/problem/problem.hpp"

namespace weft::conv::table {

// Rows and columns of a filter, strides, dilations, or an image. The names are those of the first use.
struct Extents {
  std::int64_t h, w;
};
struct Padding {
  std::int64_t top, left, bottom, right;
};

// 1x1 is a matrix product where it is not strided or padded; 4x5 and 6x6 have more taps than the tables of
// source_iterators.hpp have for two half blocks (16) and for one (32).
inline constexpr Extents kFilters[] = {{1, 1}, {3, 3}, {1, 7}, {2, 2}, {4, 5}, {6, 6}};
inline constexpr Extents kStrides[] = {{1, 1}, {2, 2}, {3, 1}};
inline constexpr Extents kDilations[] = {{1, 1}, {2, 1}, {1, 3}};
inline constexpr Padding kPaddings[] = {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 0, 1, 3}};
inline constexpr Mode kModes[] = {Mode::kCrossCorrelation, Mode::kConvolution};
struct Images {
  std::int64_t n, h, w;
};
inline constexpr Images kImages[] = {{1, 5, 7}, {3, 9, 4}, {2, 8, 9}};

// Numbers of channels of a group that lie at and around each block of `blocks`, and beyond the largest:
// ascending, multiples of `multiple`.
std::vector<std::int64_t> ChannelsAround(const std::vector<std::int64_t>& blocks,
                                         std::int64_t multiple);

// The channels that an operator's source is cut into, and those of its destination and its tiles.
std::vector<std::int64_t> SourceBlocks(const ConvFacts& facts);
std::vector<std::int64_t> DestinationBlocks(const ConvFacts& facts);

// `p` as an operator with these facts accepts it: with whole accesses of channels, a filter within the image, and no
// more of what only some mainloops take.
Problem Fitted(const ConvFacts& facts, Problem p);

// What an operator with these facts must accept.
std::vector<Problem> ProblemsFor(const ConvFacts& facts, Rows rows = Rows::kPairwise);

}  // namespace weft::conv::table
