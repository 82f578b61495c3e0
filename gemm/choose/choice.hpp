// How Dispatch (gemm/dispatch.hpp) chooses among the policies of a family. It asks plans, which need no kernel, and
// is compiled once for each kind of operator.
#pragma once

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

// One policy of a family and what became of it.
struct Candidate {
  TileFacts facts;
  absl::Status status;    // why the policy refuses the problem or the machine
  Prediction prediction;  // if it does not
};

struct DispatchOptions {
  // Measured choices, asked before the model; read by Create only. Null: the model alone.
  const TuningTable* tuning = nullptr;
};

// What a problem's extents, as they are, cost the chosen policy in the width of its loads and stores,
// for Describe; ends with "; ". facts: of the chosen policy. Other kinds of operators have an overload for
// their problems.
inline std::string AccessNote(const GemmProblem&, const GemmFacts&, const std::vector<Candidate>&,
                              int) {
  return "";
}

namespace internal {

// If this program holds GPU code for some of the candidates (has_code[i]), the others are refused.
// who, cmake: OperatorKind's.
void RefuseWithoutGpuCode(const char* who, const char* cmake, const bool* has_code,
                          std::vector<Candidate>* candidates);

// Those candidates are refused that a Dispatch does not compile for the CPU (on_cpu[i]).
void RefuseWithoutCpuCode(const char* who, const bool* on_cpu, std::vector<Candidate>* candidates);

// What RunOnCpu says where the tiles that are compiled for the CPU refuse a problem, the first of them with `status`,
// or addresses that `tile` takes.
absl::Status NoCpuCode(const char* who, const TileDescription& tile, const absl::Status& status);

// The index of the accepted candidate with the least prediction, of those that count if that is given;
// -1 if there is none.
int Cheapest(const std::vector<Candidate>& candidates,
             const std::function<bool(int index)>& counts = nullptr);

// "mma_sm80 128x64x64, 3 stages"
std::string TileName(const TileDescription& config);

// The accepted candidate with the least prediction among those that ask less of addresses than `than`
// does; -1 if there is none. Narrower loads and stores ask less; a wgmma_sm90 tile asks for more than
// the others.
int LessStrict(const std::vector<Candidate>& candidates, int than);

// Why `chosen`: its prediction, the runner-up, what decides between the two. `machine`: "GPU of 132
// multiprocessors".
std::string Why(const std::vector<Candidate>& candidates, int chosen, const std::string& machine);

// What a tuning table says of a problem.
struct Tuned {
  int index = -1;    // the policy it names; -1: the model is to choose
  std::string note;  // why, for Describe
};
Tuned LookUp(const TuningTable& table, const std::string& operator_name,
             const TunedProblem& problem, const GpuFacts& gpu,
             const std::vector<Candidate>& candidates);

// Whether `a` asks no more of problems and addresses than `b`: the same mainloop or one with threads' own loads, and
// no wider loads and stores.
constexpr bool AsksNoMore(const TileDescription& a, const TileDescription& b) {
  return (a.mainloop == Mainloop::kWgmmaSm90) <= (b.mainloop == Mainloop::kWgmmaSm90) &&
         a.alignment.src <= b.alignment.src && a.alignment.dst <= b.alignment.dst;
}

// The tiles of a family that Dispatch::RunOnCpu is compiled for, where all have the same results: of those that ask
// least of problems and addresses one with the fewest rows, which serves whatever one of the family does; and the
// largest that threads load, for problems in which it is not mostly padding. A family whose tiles ask for less in
// different ways (narrow loads, or narrow stores) has more of the first.
template <std::size_t kCount>
constexpr std::array<bool, kCount> TilesForCpu(const std::array<TileDescription, kCount>& tiles) {
  const auto area = [](const TileDescription& c) { return c.threadblock.m * c.threadblock.n; };
  // Plain tiles before those that share or stack.
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

// What choosing asks of a family. Planner: of its kind of operators; see GemmPlanner
// (gemm/product/gemm_plan.hpp).
template <class Planner>
struct FamilyFacts {
  const char* who = "";  // OperatorKind's
  const char* cmake = "";
  std::string (*name)() = nullptr;  // for tuning tables
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

template <class Planner>
struct Choice {
  using Planned = PlannedPolicy<typename Planner::Plan>;
  typename Planner::Problem problem;  // as it was given
  Planned chosen;
  std::vector<Planned> others;        // for addresses that it refuses, one after the other
  std::vector<Candidate> candidates;  // in the family's order
  bool measured = false;
  std::string why;
};

// The plans of all policies, and what becomes of these.
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

// Errors as Dispatch::Create's.
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
  choice.why = AccessNote(problem, family.policies[chosen], candidates, chosen) + tuned.note;
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

// The policies with CPU code that accept `problem`, the quickest on one thread of the CPU first. If there is none,
// *refusal is the first one's.
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

// A kind of operators has these in its dispatch.cpp (WEFT_CHOOSE), and declares them where its Planner is known.
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
