// What the tests need to know of a prologue: how large its bank is, its run-time values, and, for
// the reference, which filter each output uses. The arithmetic of prologues/ is written again here,
// so that a mistake there shows.
#pragma once

#include <cstdint>
#include <functional>

#include "weft/conv/problem/problem.hpp"
#include "weft/prologues/prologues.hpp"

namespace weft::conv {

using FilterOf =
    std::function<std::int64_t(std::int64_t n, std::int64_t p, std::int64_t q, std::int64_t group)>;

// A bank for `problem`. The prologues of tests have specialisations of their own; `seed` is for
// those with random indices.
template <class Prologue>
struct PrologueBank;

template <>
struct PrologueBank<prologues::SharedFilter> {
  PrologueBank(const Problem&, std::uint32_t /*seed*/) {}

  std::int64_t filters = 1;
  prologues::SharedFilter prologue;
  FilterOf which = [](auto...) { return 0; };
};

template <>
struct PrologueBank<prologues::PerSample> {
  PrologueBank(const Problem& p, std::uint32_t) : filters(p.n) {}

  std::int64_t filters;
  prologues::PerSample prologue;
  FilterOf which = [](std::int64_t n, auto...) { return n; };
};

template <>
struct PrologueBank<prologues::LocalFilter> {
  PrologueBank(const Problem& p, std::uint32_t) : filters(p.p() * p.q()) {
    which = [columns = p.q()](auto, std::int64_t row, std::int64_t column, auto) {
      return row * columns + column;
    };
  }

  std::int64_t filters;
  prologues::LocalFilter prologue;
  FilterOf which;
};

template <int h, int w>
struct PrologueBank<prologues::LocalBlock<h, w>> {
  PrologueBank(const Problem& p, std::uint32_t) {
    std::int64_t down = 0, across = 0;
    for (std::int64_t row = 0; row < p.p(); row += h) ++down;
    for (std::int64_t column = 0; column < p.q(); column += w) ++across;
    filters = down * across;
    which = [across](auto, std::int64_t row, std::int64_t column, auto) {
      return row / h * across + column / w;
    };
  }

  std::int64_t filters = 0;
  prologues::LocalBlock<h, w> prologue;
  FilterOf which;
};

template <>
struct PrologueBank<prologues::Grouped> {
  PrologueBank(const Problem& p, std::uint32_t) : filters(p.groups) {}

  std::int64_t filters;
  prologues::Grouped prologue;
  FilterOf which = [](auto, auto, auto, std::int64_t group) { return group; };
};

// For the reference a depthwise convolution has a filter of one input channel for each group.
template <>
struct PrologueBank<prologues::Depthwise> {
  PrologueBank(const Problem& p, std::uint32_t) : filters(p.groups) {}

  std::int64_t filters;
  prologues::Depthwise prologue;
  FilterOf which = [](auto, auto, auto, std::int64_t group) { return group; };
};

}  // namespace weft::conv
