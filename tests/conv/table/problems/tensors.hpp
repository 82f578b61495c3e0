// What an operator of the table is run on, and the sums that must come out: the part of a test that knows no
// policy.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/conv/kernel/prologue_bank.hpp"
#include "weft/conv/problem/problem.hpp"

namespace weft::conv::table {

// The exact sums of products of every output, planar (NCHW): `src` is planar, and holds what the products are
// made of, so behind a SourceFunctor; `filters` are those of a bank one after the other, planar (KCRS), and
// `which` says which one an output uses.
std::vector<std::int64_t> ExactSums(const Problem& problem, const std::vector<std::int16_t>& src,
                                    const std::vector<std::int8_t>& filters, const FilterOf& which);

}  // namespace weft::conv::table
