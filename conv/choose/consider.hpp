// What the time model says of each of some policies, whose facts suffice for that: Dispatch chooses by the same, and
// compiles an operator of each policy besides.
//
//     constexpr weft::conv::ConvFacts facts[] = {weft::conv::FactsOf<Mine>(), weft::conv::FactsOf<MineOnHopper>()};
//     const auto candidates = weft::conv::Consider(problem, gpu, facts);  // (*candidates)[1].prediction.microseconds
//
// FactsOf is in weft/conv/plan/policy_facts.hpp.
#pragma once

#include <vector>

#include "weft/conv/choose/tile_model.hpp"
#include "weft/conv/policy/facts.hpp"
#include "weft/conv/problem/problem.hpp"
#include "weft/gemm/choose/choice.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

using gemm::Candidate;

// A Candidate for each policy, in their order: the time that the model predicts on the machine, or why the policy cannot
// run the problem there. The policies have integer sums, and so the same results: on the CPU, those that a Dispatch would
// not compile for it are refused. The error of the first policy if all are refused; InvalidArgument if there is none, or
// for facts that describe no machine.
absl::StatusOr<std::vector<Candidate>> Consider(const Problem& problem, const GpuFacts& gpu,
                                                absl::Span<const ConvFacts> policies);
absl::StatusOr<std::vector<Candidate>> Consider(const Problem& problem, const CpuFacts& cpu,
                                                absl::Span<const ConvFacts> policies);

}  // namespace weft::conv
