// Dispatch<Family> of convolutions (gemm/dispatch.hpp):
//
//     using Op = weft::conv::Dispatch<weft::conv::S8Conv4Family<weft::epilogues::BiasHSwish<>>>;
//     absl::StatusOr<Op> op = Op::Create(problem);       // for the GPU at hand, else for the CPU
//     op->Run({.src = x, .filter = w, .bias = b, .dst = y}, stream);
//     op->Describe();                                    // what was chosen, and why
//
// A model chooses the policy, or a tuning table where one is given and has the problem:
//
//     const auto table = weft::conv::TuningTable::Read("tuning.txt");
//     auto op = Op::Create(problem, {.tuning = &*table});
#pragma once

#include <string>
#include <vector>

#include "weft/conv/choose/tile_model.hpp"
#include "weft/conv/choose/tuning.hpp"
#include "weft/conv/convolution.hpp"
#include "weft/conv/policy/family.hpp"
#include "weft/gemm/dispatch.hpp"

namespace weft::conv {

using gemm::Candidate;
using gemm::Dispatch;
using gemm::DispatchOptions;

// Says what C and K cost the chosen policy in the width of its loads and stores, and what padding
// them would gain; ends with "; ". What it promises is true: a policy of the family with code for the
// machine (device; null: the CPU) takes the padded problem with accesses of that width. Empty where
// there is none.
std::string AccessNote(const Problem& problem,
                       const gemm::internal::FamilyFacts<ConvolutionPlanner>& family,
                       const std::vector<Candidate>& candidates, int chosen,
                       const arch::DeviceLimits* device);

namespace internal {

// The operator that runs the convolutions of PolicyT, which is a policy or a Family, and that
// policy, or the first of the family.
template <class PolicyT>
struct OperatorFor {
  static constexpr bool kValid = CheckedPolicy<PolicyT>::kValid;
  using First = PolicyT;
  using type = Convolution<PolicyT>;
};
template <class PolicyT, class... Others>
struct OperatorFor<Family<PolicyT, Others...>> : OperatorFor<PolicyT> {
  using type = Dispatch<Family<PolicyT, Others...>>;
};

}  // namespace internal

}  // namespace weft::conv
