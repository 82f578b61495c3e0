// Random layouts for property tests. Every case has a seed of its own, shown when it fails.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "weft/layouts/algebra.hpp"
#include "weft/layouts/print.hpp"

namespace weft::layouts::testing {

using Rng = std::mt19937;

inline int Uniform(Rng& rng, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(rng);
}

// The nestings that random layouts have.
using Profiles = Tuple<int, Tuple<int, int>, Tuple<int, int, int>, Tuple<Tuple<int, int>, int>,
                       Tuple<int, Tuple<int, int>>, Tuple<Tuple<int, Tuple<int, int>>, int>>;

// Profiles for the right-hand sides of binary operations: fewer, to keep compile times low.
using SmallProfiles = Tuple<int, Tuple<int, int>, Tuple<int, Tuple<int, int>>>;

template <class Profile, std::size_t N>
auto Nested(const std::array<int, N>& leaves) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return Unflatten(MakeTuple(leaves[I]...), Profile{});
  }(std::make_index_sequence<N>{});
}

enum class Kind {
  kCompact,    // a bijection onto [0, size), modes in any order
  kGapped,     // gaps between modes, in any order; complementable
  kBroadcast,  // the same with some strides 0
  kArbitrary,  // any strides from 0 to 12
};

template <class Profile>
auto RandomLayout(Rng& rng, Kind kind, int largest_extent = 5) {
  constexpr std::size_t kCount = kLeaves<Profile>;
  std::array<int, kCount> extent, stride, order;
  for (int& s : extent) s = Uniform(rng, 1, largest_extent);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), rng);
  int unit = 1;
  for (const int k : order) {
    if (kind != Kind::kCompact && Uniform(rng, 0, 2) == 0) unit *= Uniform(rng, 1, 3);
    stride[k] = unit;
    unit *= extent[k];
    if (kind == Kind::kBroadcast && Uniform(rng, 0, 2) == 0) stride[k] = 0;
    if (kind == Kind::kArbitrary) stride[k] = Uniform(rng, 0, 12);
  }
  return MakeLayout(Nested<Profile>(extent), Nested<Profile>(stride));
}

inline Kind RandomKind(Rng& rng) {
  return static_cast<Kind>(Uniform(rng, 0, 3));
}

// body.operator()<Profile>(rng) for `cases` seeds and each profile in the list.
template <class List = Profiles, class Body>
void ForRandomCases(int cases, Body body) {
  ForEach(List{}, [&](auto profile) {
    for (int seed = 1; seed <= cases; ++seed) {
      Rng rng(seed);
      SCOPED_TRACE("profile " + ToString(profile) + ", seed " + std::to_string(seed));
      body.template operator()<decltype(profile)>(rng);
      if (::testing::Test::HasFailure()) return;
    }
  });
}

// The values on [0, size).
template <class L>
std::vector<std::int64_t> Values(const L& layout) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < Size(layout); ++i) values.push_back(layout(i));
  return values;
}

template <class L>
std::set<std::int64_t> Image(const L& layout) {
  const auto values = Values(layout);
  return {values.begin(), values.end()};
}

template <class L>
bool IsInjective(const L& layout) {
  return static_cast<std::int64_t>(Image(layout).size()) == Size(layout);
}

}  // namespace weft::layouts::testing
