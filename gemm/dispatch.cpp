#include "weft/gemm/dispatch_choice.hpp"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"

namespace weft::gemm::internal {
namespace {

std::string Time(double microseconds) {
  if (microseconds < 1000.0) return absl::StrFormat("%.1f us", microseconds);
  return absl::StrFormat("%.1f ms", microseconds * 1e-3);
}

int Percent(double part) {
  return static_cast<int>(std::lround(100.0 * part));
}

// The share of the processors' time that goes to the blocks' work, whatever that is: what is left
// of a prediction when padding and the balance of blocks are taken out.
double Rate(const Prediction& p) {
  return 1.0 / (p.microseconds * p.useful * p.busy);
}

// What makes `best` faster than `next`: the factor of the two predictions in which they differ
// most.
std::string Reason(const Prediction& best, const Prediction& next) {
  if (best.memory_bound && next.memory_bound) {
    return "memory's bandwidth limits both";
  }
  const double padding = best.useful / next.useful;
  const double balance = best.busy / next.busy;
  const double rate = Rate(best) / Rate(next);
  if (padding >= balance && padding >= rate) {
    return absl::StrFormat("its padding is %d%% of the work, the other's %d%%",
                           Percent(1.0 - best.useful), Percent(1.0 - next.useful));
  }
  if (balance >= rate) {
    return absl::StrFormat("its blocks keep %d%% of the processors busy, the other's %d%%",
                           Percent(best.busy), Percent(next.busy));
  }
  return absl::StrFormat("a processor does %.2f times as much, latency and copies counted", rate);
}

}  // namespace

void RefuseWithoutGpuCode(const char* who, const char* cmake, const bool* has_code,
                          std::vector<Candidate>* candidates) {
  const std::size_t count = candidates->size();
  if (std::none_of(has_code, has_code + count, [](bool has) { return has; })) return;
  for (std::size_t i = 0; i < count; ++i) {
    Candidate& c = (*candidates)[i];
    if (has_code[i] || !c.status.ok()) continue;
    c.status = absl::FailedPreconditionError(absl::StrCat(
        who, ": this program holds no GPU code for the policy; name it in ", cmake, "() in CMake"));
  }
}

void RefuseWithoutCpuCode(const char* who, const bool* on_cpu, std::vector<Candidate>* candidates) {
  for (Candidate& c : *candidates) {
    if (*on_cpu++ || !c.status.ok()) continue;
    c.status = absl::FailedPreconditionError(absl::StrCat(
        who,
        ": of this family Dispatch compiles other tiles for the CPU, which have the same results; "
        "run the policy by itself"));
  }
}

absl::Status NoCpuCode(const char* who, const TileDescription& tile, const absl::Status& status) {
  return absl::FailedPreconditionError(absl::StrCat(
      who, ": no tile of the family that is compiled for the CPU takes what ", TileName(tile),
      " takes; run that policy on the CPU by itself, or give the family one that takes it (",
      status.message(), ")"));
}

int Cheapest(const std::vector<Candidate>& candidates, const std::function<bool(int)>& counts) {
  int best = -1;
  for (int i = 0; i < static_cast<int>(candidates.size()); ++i) {
    const Candidate& c = candidates[i];
    if (!c.status.ok() || (counts != nullptr && !counts(i))) continue;
    if (best < 0 || c.prediction.microseconds < candidates[best].prediction.microseconds) best = i;
  }
  return best;
}

int LessStrict(const std::vector<Candidate>& candidates, int than) {
  const TileDescription& most = candidates[than].facts.config;
  const auto is_strict = [](const TileDescription& c) {
    return c.mainloop == Mainloop::kWgmmaSm90;
  };
  return Cheapest(candidates, [&](int i) {
    const TileDescription& c = candidates[i].facts.config;
    const Alignment &its = c.alignment, &limit = most.alignment;
    const bool no_more =
        is_strict(c) <= is_strict(most) && its.src <= limit.src && its.dst <= limit.dst;
    const bool less = is_strict(c) < is_strict(most) || its.src < limit.src || its.dst < limit.dst;
    return no_more && less;
  });
}

std::string TileName(const TileDescription& c) {
  const bool has_stages = c.mainloop != Mainloop::kSimt && c.mainloop != Mainloop::kOther;
  std::string name =
      absl::StrFormat("%s %dx%dx%d", c.name(), c.threadblock.m, c.threadblock.n, c.threadblock.k);
  if (c.mainloop == Mainloop::kWgmmaSm90) {
    absl::StrAppend(&name, ", ", c.blocks_per_sm, " to a multiprocessor");
    if (c.cluster_split_k > 1) absl::StrAppend(&name, ", clusters of ", c.cluster_split_k);
    if (c.packed_rows > 1) absl::StrAppend(&name, ", of ", c.packed_rows, " output rows");
    if (c.ping_pong) absl::StrAppend(&name, ", ping-pong");
  } else if (has_stages) {
    absl::StrAppend(&name, ", ", c.stages, " stages");
  }
  if (has_stages && c.alignment.src < 16) {
    absl::StrAppend(&name, ", ", c.alignment.src, "-byte loads");
  }
  return name;
}

std::string Why(const std::vector<Candidate>& candidates, int chosen, const std::string& machine) {
  const Prediction& best = candidates[chosen].prediction;
  const auto accepted = std::count_if(candidates.begin(), candidates.end(),
                                      [](const Candidate& c) { return c.status.ok(); });
  std::string why = absl::StrFormat(
      "chosen of %d tiles for %s: predicted %s, %d blocks in %.2f "
      "waves of %d a processor, %d%% padding, %d%% busy%s",
      accepted, machine, Time(best.microseconds), best.blocks, best.waves, best.blocks_per_sm,
      Percent(1.0 - best.useful), Percent(best.busy), best.memory_bound ? ", memory bound" : "");
  const auto is_other = [&](int i) { return i != chosen; };
  if (const int next = Cheapest(candidates, is_other); next >= 0) {
    const Prediction& other = candidates[next].prediction;
    absl::StrAppend(&why, "; next ", TileName(candidates[next].facts.config), ", ",
                    Time(other.microseconds), ": ", Reason(best, other));
  }
  if (const auto refused = static_cast<std::int64_t>(candidates.size()) - accepted; refused > 0) {
    absl::StrAppend(&why, "; ", refused, " refused");
  }
  return why;
}

Tuned LookUp(const TuningTable& table, const std::string& operator_name,
             const TunedProblem& problem, const GpuFacts& gpu,
             const std::vector<Candidate>& candidates) {
  if (gpu.name.empty()) {
    return {-1, "the tuning table was not asked, since GpuFacts has no name; give gpu.name"};
  }
  const std::string machine =
      absl::StrCat(gpu.name, " of ", gpu.limits.sm_count, " multiprocessors");
  const TuningRecord* record = table.Find(gpu.name, gpu.limits.sm_count, operator_name, problem);
  if (record == nullptr) {
    return {-1, absl::StrCat("not measured: the tuning table holds no ", problem.name, " of ",
                             operator_name, " for ", machine)};
  }
  const auto place = std::find_if(candidates.begin(), candidates.end(), [&](const Candidate& c) {
    return PolicyName(c.facts.config) == record->policy;
  });
  if (place == candidates.end()) {
    return {-1, absl::StrCat("the tuning table's policy ", record->policy,
                             " is not in this family, so the model chose")};
  }
  if (!place->status.ok()) {
    return {-1,
            absl::StrCat("the tuning table's policy ", record->policy,
                         " cannot be used, so the model chose (", place->status.message(), ")")};
  }
  const int index = static_cast<int>(place - candidates.begin());
  std::string note = absl::StrCat("measured: ", record->policy, " was the quickest on ", machine,
                                  ", ", Time(record->microseconds));
  if (const int model = Cheapest(candidates); model == index) {
    note += "; the model says so too";
  } else {
    absl::StrAppend(&note, "; the model, which predicts ", Time(place->prediction.microseconds),
                    ", would take ", TileName(candidates[model].facts.config), ", ",
                    Time(candidates[model].prediction.microseconds));
  }
  return {index, note};
}

template struct Choice<GemmPlanner>;

}  // namespace weft::gemm::internal
