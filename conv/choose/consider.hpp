// What Dispatch finds out about the policies of a family before it chooses, of policies of which only the facts are
// known: who asks compiles no operator.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "weft/conv/choose/tile_model.hpp"
#include "weft/conv/policy/facts.hpp"
#include "weft/conv/problem/problem.hpp"
#include "weft/gemm/choose/choice.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

using gemm::Candidate;

// A Candidate for each policy of integer sums, in their order: the time that the model predicts on the machine, or why
// the policy cannot run the problem there. On the CPU those are refused that a Dispatch would not compile for it, which
// have the results of the others. If all are refused, the error of the first; InvalidArgument for facts that describe
// no machine.
absl::StatusOr<std::vector<Candidate>> Consider(const Problem& problem, const GpuFacts& gpu,
                                                absl::Span<const ConvFacts> policies);
absl::StatusOr<std::vector<Candidate>> Consider(const Problem& problem, const CpuFacts& cpu,
                                                absl::Span<const ConvFacts> policies);

}  // namespace weft::conv
