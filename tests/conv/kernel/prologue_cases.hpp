// Prologues against the reference: the problems that every policy runs, and the banks of the users'
// own prologues.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/conv/harness.hpp"
#include "tests/conv/kernel/prologue_policies.hpp"
#include "tests/conv/table/check.hpp"
#include "tests/kinds.hpp"

namespace weft::conv {

// A bank of 3 filters, of which each image takes one at random.
template <>
struct PrologueBank<FromBank> {
  PrologueBank(const Problem& p, std::uint32_t seed)
      : index(RandomIndices(p.n, seed)), memory(index), prologue{memory.get()} {
    which = [this](std::int64_t n, auto...) { return index[n]; };
  }
  PrologueBank(const PrologueBank&) = delete;

  static std::vector<std::int32_t> RandomIndices(std::int64_t n, std::uint32_t seed) {
    std::mt19937 engine(seed);
    std::vector<std::int32_t> result(n);
    for (std::int32_t& i : result) i = static_cast<std::int32_t>(engine() % 3);
    return result;
  }

  std::int64_t filters = 3;
  std::vector<std::int32_t> index;
  OperatorMemory<std::int32_t> memory;
  FromBank prologue;
  FilterOf which;
};

template <>
struct PrologueBank<EverythingReversed> {
  PrologueBank(const Problem& p, std::uint32_t) {
    const std::int64_t down = (p.p() + 1) / 2, across = (p.q() + 2) / 3;
    filters = p.n * down * across * p.groups;
    prologue = {static_cast<std::int32_t>(p.n), static_cast<std::int32_t>(down),
                static_cast<std::int32_t>(across), static_cast<std::int32_t>(p.groups)};
    which = [=, last = filters - 1, groups = p.groups](std::int64_t n, std::int64_t row,
                                                       std::int64_t column, std::int64_t group) {
      return last - (((n * down + row / 2) * across + column / 3) * groups + group);
    };
  }

  std::int64_t filters = 0;
  EverythingReversed prologue;
  FilterOf which;
};

// Whether P's filters depend on the channel group, so that problems may have several.
template <class P>
constexpr bool kHasGroups = P::Prologue::kDepends.group;

// `p`, whose channels are those of one group, with `groups` of them and with channels that the
// loads and stores of P take.
template <class P>
Problem FitTo(Problem p, std::int64_t groups) {
  constexpr bool kNhwcSrc = std::is_same_v<typename P::SrcLayout, NHWC>;
  constexpr bool kNhwcDst = std::is_same_v<typename P::DstLayout, NHWC>;
  if (!kHasGroups<P>) groups = 1;
  if (kNhwcSrc || groups > 1) p.c = RoundUp(p.c, P::kChannelsOfLoad);
  if (kNhwcDst || groups > 1) p.k = RoundUp(p.k, P::kChannelsOfStore);
  p.groups = groups;
  p.c *= groups;
  p.k *= groups;
  return p;
}

// Corners; channels are those of one group.
inline std::vector<Problem> PrologueCorners() {
  std::vector<Problem> all;
  all.push_back(SquareProblem(1, 1, 1, 1, 1, 0, 1));
  Problem ragged = SquareProblem(5, 13, 7, 37, 3, 1, 1);  // 7 x 10 pixels: no multiple of a block
  ragged.w = 10;
  all.push_back(ragged);
  Problem uneven = SquareProblem(2, 9, 11, 21, 3, 0, 2);
  uneven.w = 8, uneven.s = 2, uneven.stride_w = 1;
  uneven.pad_top = 1, uneven.pad_bottom = 2, uneven.pad_right = 1;
  all.push_back(uneven);
  Problem flipped = SquareProblem(4, 6, 6, 10, 2, 1, 1);
  flipped.s = 3, flipped.dilation_h = 2, flipped.mode = Mode::kConvolution;
  all.push_back(flipped);
  all.push_back(SquareProblem(3, 33, 5, 40, 1, 0, 1));
  all.push_back(SquareProblem(2, 8, 9, 20, 1, 0, 2));
  all.push_back(SquareProblem(1, 4, 3, 5, 2, 3, 1));   // whole outputs see no input
  all.push_back(SquareProblem(4, 8, 5, 16, 5, 0, 1));  // one output pixel
  Problem line;
  line.n = 3, line.w = 14, line.c = 7, line.k = 12, line.s = 5, line.pad_left = 2;
  all.push_back(line);
  return all;
}

// Random problems of at most 5 images and few pixels: a LocalFilter has a filter for each.
template <class P>
Problem RandomPrologueProblem(std::mt19937& engine) {
  for (;;) {
    Problem p = RandomProblem(engine);
    if (p.p() * p.q() > 60) continue;
    p.n = 1 + static_cast<std::int64_t>(engine() % 5);
    if (engine() % 3 == 0) p.c += 40;  // several k tiles
    return FitTo<P>(p, 1 + static_cast<std::int64_t>(engine() % 4));
  }
}

// Numbers for an epilogue's stages.
template <class Epilogue>
RunOptions PrologueOptions(std::uint32_t seed = 1) {
  RunOptions options{.seed = seed};
  if (Epilogue::kHasResidual) options.gamma = 0.7f;
  if (std::is_same_v<typename Epilogue::Output, std::uint8_t>) {
    options.per_tensor_alpha = true, options.beta = 0.37f, options.zero_point = 128.0f;
  }
  return options;
}

template <class P>
using ActivationOf = typename table::ActivationOf<typename P::Epilogue>::type;

template <class P>
void RunPrologueCorners() {
  const ActivationOf<P> activation;
  const RunOptions options = PrologueOptions<typename P::Epilogue>();
  for (const Problem& corner : PrologueCorners()) {
    for (const std::int64_t groups : {1, 3}) {
      if (groups > 1 && !kHasGroups<P>) continue;
      ExpectMatchesReference<P>(FitTo<P>(corner, groups), activation, options);
      if (testing::Test::HasFailure()) return;
    }
  }
}

template <class P>
void RunRandomPrologue(int count, std::uint32_t seed) {
  const ActivationOf<P> activation;
  std::mt19937 engine(seed);
  for (int i = 0; i < ProblemsHere(count); ++i) {
    const Problem problem = RandomPrologueProblem<P>(engine);
    ExpectMatchesReference<P>(
        problem, activation,
        PrologueOptions<typename P::Epilogue>(static_cast<std::uint32_t>(engine())));
    if (testing::Test::HasFailure()) return;
  }
}

// "LocalBlock_2__3__to_NHWC", the type's part of a typed test's name.
struct PrologueTestName {
  static std::string Letters(std::string name) {
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
    return name;
  }
  template <class P>
  static std::string GetName(int) {
    return Letters(std::string(P::Prologue::kName) + "_to_" + P::DstLayout::kName);
  }
};

}  // namespace weft::conv
