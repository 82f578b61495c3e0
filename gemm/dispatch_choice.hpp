// How Dispatch (gemm/dispatch.hpp) chooses among the policies of a family, and starts what it chose. It asks the
// policies' plans, which need no kernel. The dispatch.cpp of each kind of operator instantiates Choice of its planner.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/gemm/choose/choice.hpp"
#include "weft/gemm/choose/tile_model.hpp"
#include "weft/gemm/choose/tuning.hpp"
#include "weft/gemm/dispatch.hpp"
#include "weft/gemm/policy/facts.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::gemm::internal {

// Refuses candidates without GPU code in this program, if it holds GPU code for others
// (has_code[i]). who, cmake: OperatorKind's kWho and kCMake.
void RefuseWithoutGpuCode(const char* who, const char* cmake, const bool* has_code,
                          std::vector<Candidate>* candidates);

// Refuses candidates that a Dispatch does not compile for the CPU (those whose on_cpu[i] is false).
void RefuseWithoutCpuCode(const char* who, const bool* on_cpu, std::vector<Candidate>* candidates);

// The error of RunOnCpu where all tiles that are compiled for the CPU refuse a problem, or
// addresses, that `tile` takes. status: why the first of them refuses.
absl::Status NoCpuCode(const char* who, const TileDescription& tile, const absl::Status& status);

// The index of the accepted candidate with the shortest predicted time, among those for which
// `counts` is true if it is given; -1 if there is none.
int Cheapest(const std::vector<Candidate>& candidates,
             const std::function<bool(int index)>& counts = nullptr);

// "mma_sm80 128x64x64, 3 stages"
std::string TileName(const TileDescription& config);

// The accepted candidate with the shortest predicted time among those that need less alignment of
// addresses than candidate `than` does; -1 if there is none. Narrower loads and stores need less; a
// wgmma_sm90 tile needs more than those of other mainloops.
int LessStrict(const std::vector<Candidate>& candidates, int than);

// Why `chosen` was chosen: its prediction, the runner-up and what decides between the two. machine:
// as MachineName says it.
std::string Why(const std::vector<Candidate>& candidates, int chosen, const std::string& machine);

// What a tuning table says of a problem.
struct Tuned {
  int index = -1;    // the policy that the table names; -1: the model is to choose
  std::string note;  // why, for Describe
};
Tuned LookUp(const TuningTable& table, const std::string& operator_name,
             const TunedProblem& problem, const GpuFacts& gpu,
             const std::vector<Candidate>& candidates);

// Whether policy i of the family has code for the back end: for that of the GPU where `gpu` is true.
// A program without any GPU code of the family plans as if it had all.
template <class Planner>
inline bool HasCode(const FamilyFacts<Planner>& family, std::size_t i, bool gpu) {
  if (!gpu) return family.on_cpu[i];
  const bool* const has = family.has_gpu_code;
  return has[i] || std::none_of(has, has + family.policies.size(), [](bool code) { return code; });
}

// A note for Describe on what a problem's extents cost the chosen policy in the width of its loads
// and stores: empty, or ending with "; ". device: null for the CPU. A kind of operator whose
// families have tiles of several widths has an overload for its Planner.
template <class Planner>
inline std::string AccessNote(const typename Planner::Problem&, const FamilyFacts<Planner>&,
                              const std::vector<Candidate>&, int /*chosen*/,
                              const arch::DeviceLimits* /*device*/) {
  return "";
}

// The plan of each policy, and for each a Candidate: its prediction, or why the policy or the machine refuses the
// problem. facts_of(i): the facts of policy i.
template <class Planner, class Machine, class FactsOf>
inline std::pair<std::vector<typename Planner::Plan>, std::vector<Candidate>> ConsiderPlans(
    const typename Planner::Problem& problem, const Machine& machine, std::size_t policies,
    const FactsOf& facts_of) {
  const arch::DeviceLimits* device = nullptr;
  if constexpr (std::is_same_v<Machine, GpuFacts>) device = &machine.limits;
  std::vector<typename Planner::Plan> plans(policies);
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < policies; ++i) {
    const auto& facts = facts_of(i);
    auto plan = Planner::Make(problem, facts, device);
    Candidate& candidate =
        candidates.emplace_back(Candidate{Planner::TileOf(facts), plan.status(), {}});
    if (!plan.ok()) continue;
    if (plan->counts.blocks() > 0) {
      candidate.prediction = Planner::Predict(*plan, facts, machine);
    }
    plans[i] = *std::move(plan);
  }
  return {std::move(plans), std::move(candidates)};
}

template <class Planner, class Machine>
inline absl::StatusOr<Choice<Planner>> Choose(const typename Planner::Problem& problem,
                                              const Machine& machine,
                                              const DispatchOptions& options,
                                              const FamilyFacts<Planner>& family) {
  if (absl::Status s = CheckFacts(family.who, machine); !s.ok()) return s;
  auto [plans, candidates] =
      ConsiderPlans<Planner>(problem, machine, family.policies.size(),
                             [&](std::size_t i) -> auto& { return family.policies[i]->facts; });
  if constexpr (std::is_same_v<Machine, GpuFacts>) {
    RefuseWithoutGpuCode(family.who, family.cmake, family.has_gpu_code, &candidates);
  } else {
    RefuseWithoutCpuCode(family.who, family.on_cpu, &candidates);
  }
  const int cheapest = Cheapest(candidates);
  if (cheapest < 0) return candidates[0].status;
  Tuned tuned;
  if constexpr (std::is_same_v<Machine, GpuFacts>) {
    if (options.tuning != nullptr) {
      tuned = LookUp(*options.tuning, family.name(), problem, machine, candidates);
    }
  }
  Choice<Planner> choice{.family = family, .problem = problem, .chosen = {}, .others = {}};
  choice.family.has_gpu_code = nullptr;
  choice.measured = tuned.index >= 0;
  const int chosen = choice.measured ? tuned.index : cheapest;
  choice.chosen = {chosen, std::move(plans[chosen])};
  const arch::DeviceLimits* device = nullptr;
  if constexpr (std::is_same_v<Machine, GpuFacts>) device = &machine.limits;
  choice.why = AccessNote(problem, family, candidates, chosen, device) + tuned.note;
  if (candidates[static_cast<std::size_t>(chosen)].prediction.blocks == 0) {
    absl::StrAppend(&choice.why, tuned.note.empty() ? "" : "; ", "there is nothing to do");
  } else if (!choice.measured) {
    absl::StrAppend(&choice.why, tuned.note.empty() ? "" : "; ",
                    Why(candidates, chosen, MachineName(machine)));
  }
  for (int i = chosen; (i = LessStrict(candidates, i)) >= 0;) {
    absl::StrAppend(&choice.why,
                    choice.others.empty() ? "; addresses that it refuses go to " : ", then to ",
                    TileName(candidates[i].facts.config));
    choice.others.push_back({i, std::move(plans[i])});
  }
  choice.candidates = std::move(candidates);
  return choice;
}

template <class Planner>
absl::StatusOr<Choice<Planner>> Choice<Planner>::Make(const Problem& problem, const GpuFacts& gpu,
                                                      const DispatchOptions& options,
                                                      const Family& family) {
  return Choose(problem, gpu, options, family);
}

template <class Planner>
absl::StatusOr<Choice<Planner>> Choice<Planner>::Make(const Problem& problem, const CpuFacts& cpu,
                                                      const DispatchOptions& options,
                                                      const Family& family) {
  return Choose(problem, cpu, options, family);
}

template <class Planner>
absl::StatusOr<Choice<Planner>> Choice<Planner>::Here(const Problem& problem,
                                                      const DispatchOptions& options,
                                                      const Family& family) {
  const arch::DeviceQuery device = arch::QueryDevice();
  if (device.result.ok()) {
    const std::string name = options.tuning == nullptr ? "" : arch::DeviceName();
    return Choose(problem, GpuFactsOf(device.limits, name), options, family);
  }
  const int threads = static_cast<int>(std::thread::hardware_concurrency());
  return Choose(problem, CpuFacts{(std::max)(1, threads)}, {}, family);
}

template <class Planner>
absl::StatusOr<Choice<Planner>> Choice<Planner>::At(const Problem& problem, int index,
                                                    const Family& family) {
  const int count = static_cast<int>(family.policies.size());
  if (index < 0 || index >= count) {
    return absl::OutOfRangeError(absl::StrCat(
        family.who, ": index=", index, " is not a policy of this family; give 0 to ", count - 1));
  }
  auto plan = Planner::Make(problem, family.policies[index]->facts, nullptr);
  if (!plan.ok()) return plan.status();
  return Choice{
      .family = family, .problem = problem, .chosen = {index, *std::move(plan)}, .others = {}};
}

// The policies with CPU code that accept `problem`, the quickest on one thread of the CPU first. If
// there is none, *refusal says why the first of them refuses it.
template <class Planner>
inline std::vector<PlannedPolicy<typename Planner::Plan>> PlansForCpu(
    const typename Planner::Problem& problem, const FamilyFacts<Planner>& family,
    absl::Status* refusal) {
  std::vector<PlannedPolicy<typename Planner::Plan>> order;
  std::vector<double> times;
  for (std::size_t i = 0; i < family.policies.size(); ++i) {
    if (!family.on_cpu[i]) continue;
    const auto& facts = family.policies[i]->facts;
    auto plan = Planner::Make(problem, facts, nullptr);
    if (!plan.ok()) {
      refusal->Update(plan.status());
      continue;
    }
    const double time =
        plan->counts.blocks() == 0 ? 0.0 : Planner::Predict(*plan, facts, CpuFacts{1}).microseconds;
    std::size_t place = 0;
    while (place < times.size() && times[place] <= time) ++place;
    times.insert(times.begin() + place, time);
    order.insert(order.begin() + place, {static_cast<int>(i), *std::move(plan)});
  }
  return order;
}

// Calls run(p) for the chosen policy p, and for the others as long as it returns InvalidArgument,
// which is about arguments and is returned before anything is started.
template <class Planner, class Function>
inline absl::Status Try(const Choice<Planner>& choice, const Function& run) {
  absl::Status status = run(choice.chosen);
  for (const auto& other : choice.others) {
    if (!absl::IsInvalidArgument(status)) break;
    status = run(other);
  }
  return status;
}

template <class Planner>
absl::Status Choice<Planner>::CheckRun(const Run& run) const {
  return Try(*this,
             [&](const auto& p) { return CheckArguments(*family.policies[p.index], p.plan, run); });
}

template <class Planner>
absl::Status Choice<Planner>::StartRun(const Run& run, const GpuBackEnd& on,
                                       const RunFunction<GpuBackEnd>* start) const {
  return Try(*this, [&](const auto& p) {
    return Start(*family.policies[p.index], p.plan, run, on, start[p.index]);
  });
}

template <class Planner>
absl::Status Choice<Planner>::StartRun(const Run& run, const CpuBackEnd& on,
                                       const RunFunction<CpuBackEnd>* start) const {
  if (absl::Status s = CheckRun(run); !s.ok()) return s;
  std::vector<Planned> order;
  if (family.on_cpu[chosen.index]) order.push_back(chosen);
  absl::Status refusal;
  const auto more = family.integer_sums ? PlansForCpu(problem, family, &refusal) : others;
  order.insert(order.end(), more.begin(), more.end());
  for (const Planned& p : order) {
    const auto& image = *family.policies[p.index];
    const absl::Status s = CheckArguments(image, p.plan, run);
    if (s.ok()) return Start(image, p.plan, run, on, start[p.index]);
    refusal.Update(s);
  }
  return NoCpuCode(family.who, Planner::TileOf(family.policies[chosen.index]->facts).config,
                   refusal);
}

}  // namespace weft::gemm::internal
