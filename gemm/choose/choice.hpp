// How Dispatch (gemm/dispatch.hpp) chooses among the policies of a family. It asks the policies'
// plans, which need no kernel, so that it is compiled once for each kind of operator.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/gemm/check/gemm_checks.hpp"
#include "weft/gemm/choose/tile_model.hpp"
#include "weft/gemm/choose/tuning.hpp"
#include "weft/gemm/policy/facts.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::gemm {

// One policy of a family, and what Dispatch found out about it.
struct Candidate {
  TileFacts facts;
  absl::Status status;    // OK, or why the policy refuses the problem or the machine
  Prediction prediction;  // where status is OK
};

struct DispatchOptions {
  // Measured choices, which Create asks before the model and reads no later. Null: the model alone
  // chooses.
  const TuningTable* tuning = nullptr;
};

namespace internal {

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

// Whether tile `a` accepts all problems and addresses that `b` accepts, as far as mainloop and
// alignment say: it is not the one of wgmma_sm90 if `b` is another's, and its loads and stores are
// no wider.
constexpr bool AsksNoMore(const TileDescription& a, const TileDescription& b) {
  return (a.mainloop == Mainloop::kWgmmaSm90) <= (b.mainloop == Mainloop::kWgmmaSm90) &&
         a.alignment.src <= b.alignment.src && a.alignment.dst <= b.alignment.dst;
}

// The tiles of a family that Dispatch::RunOnCpu is compiled for, where all tiles have the same
// results. One is the tile with the fewest rows among those that ask least of problems and
// addresses (AsksNoMore), which accepts whatever any tile of the family accepts. The other is the
// largest tile that is not wgmma_sm90's, for problems that fill it. A family has several of the
// first kind if no single tile asks least, because one has the narrowest loads and another the
// narrowest stores.
template <std::size_t kCount>
constexpr std::array<bool, kCount> TilesForCpu(const std::array<TileDescription, kCount>& tiles) {
  const auto area = [](const TileDescription& c) { return c.threadblock.m * c.threadblock.n; };
  // Plain tiles come before those with cluster split-K, ping-pong or packed output rows.
  const auto rank = [](const TileDescription& c) {
    return std::pair(c.cluster_split_k > 1 || c.ping_pong || c.packed_rows > 1, c.threadblock.m);
  };
  std::array<bool, kCount> on_cpu = {};
  std::size_t largest = kCount;
  for (std::size_t i = 0; i < kCount; ++i) {
    on_cpu[i] = true;
    for (std::size_t j = 0; j < kCount; ++j) {
      if (!AsksNoMore(tiles[j], tiles[i])) continue;
      const bool alike = AsksNoMore(tiles[i], tiles[j]);
      const bool before =
          rank(tiles[j]) < rank(tiles[i]) || (rank(tiles[j]) == rank(tiles[i]) && j < i);
      if (!alike || before) on_cpu[i] = false;
    }
    if (tiles[i].mainloop == Mainloop::kWgmmaSm90) continue;
    if (largest == kCount || area(tiles[i]) > area(tiles[largest])) largest = i;
  }
  if (largest < kCount) on_cpu[largest] = true;
  return on_cpu;
}

// What Choose needs to know of a family. Planner: that of the kind of operator, such as GemmPlanner
// (gemm/product/gemm_plan.hpp).
template <class Planner>
struct FamilyFacts {
  const char* who = "";             // OperatorKind's kWho
  const char* cmake = "";           // OperatorKind's kCMake
  std::string (*name)() = nullptr;  // OperatorName(), for tuning tables
  absl::Span<const typename Planner::Facts> policies;
  absl::Span<const bool> has_gpu_code;
  absl::Span<const bool> on_cpu;
};

// A policy of a family by its index and its plan for a problem.
template <class Plan>
struct PlannedPolicy {
  int index = 0;
  Plan plan;
};

// Whether policy i of the family has code for the back end: for that of the GPU where `gpu` is true.
// A program without any GPU code of the family plans as if it had all.
template <class Planner>
bool HasCode(const FamilyFacts<Planner>& family, std::size_t i, bool gpu) {
  if (!gpu) return family.on_cpu[i];
  const auto& has = family.has_gpu_code;
  return has[i] || std::none_of(has.begin(), has.end(), [](bool code) { return code; });
}

// A note for Describe on what a problem's extents cost the chosen policy in the width of its loads
// and stores: empty, or ending with "; ". device: null for the CPU. A kind of operator whose
// families have tiles of several widths has an overload for its Planner.
template <class Planner>
std::string AccessNote(const typename Planner::Problem&, const FamilyFacts<Planner>&,
                       const std::vector<Candidate>&, int /*chosen*/,
                       const arch::DeviceLimits* /*device*/) {
  return "";
}

template <class Planner>
struct Choice {
  using Planned = PlannedPolicy<typename Planner::Plan>;
  typename Planner::Problem problem;  // as it was given
  Planned chosen;
  std::vector<Planned> others;        // to be tried in this order for addresses that it refuses
  std::vector<Candidate> candidates;  // in the family's order
  bool measured = false;
  std::string why;
};

// The plan of each policy of the family, and for each a Candidate: its prediction, or why it is
// refused.
template <class Planner, class Machine>
std::pair<std::vector<typename Planner::Plan>, std::vector<Candidate>> ConsiderPlans(
    const typename Planner::Problem& problem, const Machine& machine,
    const FamilyFacts<Planner>& family) {
  const arch::DeviceLimits* device = nullptr;
  if constexpr (std::is_same_v<Machine, GpuFacts>) device = &machine.limits;
  std::vector<typename Planner::Plan> plans(family.policies.size());
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const auto& facts = family.policies[i];
    auto plan = Planner::Make(problem, facts, device);
    Candidate& candidate =
        candidates.emplace_back(Candidate{Planner::TileOf(facts), plan.status(), {}});
    if (!plan.ok()) continue;
    if (plan->counts.blocks() > 0) {
      candidate.prediction = Planner::Predict(*plan, facts, machine);
    }
    plans[i] = *std::move(plan);
  }
  if (device != nullptr) {
    RefuseWithoutGpuCode(family.who, family.cmake, family.has_gpu_code.data(), &candidates);
  } else {
    RefuseWithoutCpuCode(family.who, family.on_cpu.data(), &candidates);
  }
  return {std::move(plans), std::move(candidates)};
}

// Chooses among the policies of a family for a problem and a machine. Its errors are those of
// Dispatch::Create.
template <class Planner, class Machine>
absl::StatusOr<Choice<Planner>> Choose(const typename Planner::Problem& problem,
                                       const Machine& machine, const DispatchOptions& options,
                                       const FamilyFacts<Planner>& family) {
  if (absl::Status s = CheckFacts(family.who, machine); !s.ok()) return s;
  auto [plans, candidates] = ConsiderPlans<Planner>(problem, machine, family);
  const int cheapest = Cheapest(candidates);
  if (cheapest < 0) return candidates[0].status;
  Tuned tuned;
  if constexpr (std::is_same_v<Machine, GpuFacts>) {
    if (options.tuning != nullptr) {
      tuned = LookUp(*options.tuning, family.name(), problem, machine, candidates);
    }
  }
  Choice<Planner> choice;
  choice.problem = problem;
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

// The policies with CPU code that accept `problem`, the quickest on one thread of the CPU first. If
// there is none, *refusal says why the first of them refuses it.
template <class Planner>
std::vector<PlannedPolicy<typename Planner::Plan>> PlansForCpu(
    const typename Planner::Problem& problem, const FamilyFacts<Planner>& family,
    absl::Status* refusal) {
  std::vector<PlannedPolicy<typename Planner::Plan>> order;
  std::vector<double> times;
  for (std::size_t i = 0; i < family.policies.size(); ++i) {
    if (!family.on_cpu[i]) continue;
    const auto& facts = family.policies[i];
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

// Each kind of operator instantiates these in its dispatch.cpp, and declares them `extern` where
// its Planner is declared, so that programs do not compile them again.
#define WEFT_CHOOSE(extern_or_nothing, Planner)                                              \
  extern_or_nothing template absl::StatusOr<Choice<Planner>> Choose<Planner, GpuFacts>(      \
      const Planner::Problem&, const GpuFacts&, const DispatchOptions&,                      \
      const FamilyFacts<Planner>&);                                                          \
  extern_or_nothing template absl::StatusOr<Choice<Planner>> Choose<Planner, CpuFacts>(      \
      const Planner::Problem&, const CpuFacts&, const DispatchOptions&,                      \
      const FamilyFacts<Planner>&);                                                          \
  extern_or_nothing template std::vector<PlannedPolicy<Planner::Plan>> PlansForCpu<Planner>( \
      const Planner::Problem&, const FamilyFacts<Planner>&, absl::Status*);

}  // namespace internal

}  // namespace weft::gemm
