// What Dispatch (gemm/dispatch.hpp) chose, and of what. Who includes it compiles no choice: that is done once for
// each kind of operator, by gemm/choose/choose.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "weft/gemm/choose/tile_model.hpp"
#include "weft/gemm/launch/launch.hpp"
#include "weft/gemm/policy/facts.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::gemm {

class TuningTable;

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

// Whether tile `a` accepts all problems and addresses that `b` accepts, as far as mainloop and
// alignment say: it is not the one of wgmma_sm90 if `b` is another's, and its loads and stores are
// no wider.
constexpr bool AsksNoMore(const TileDescription& a, const TileDescription& b) {
  return (a.mainloop == Mainloop::kWgmmaSm90) <= (b.mainloop == Mainloop::kWgmmaSm90) &&
         a.alignment.src <= b.alignment.src && a.alignment.dst <= b.alignment.dst;
}

// Whether Dispatch::RunOnCpu is compiled for tile i of a family, where all tiles have the same results. It
// is for the largest tile that is not wgmma_sm90's, for problems that fill it, and for the tile with the
// fewest rows among those that ask least of problems and addresses (AsksNoMore), which accepts whatever
// any tile of the family accepts. There are several of the latter if no single tile asks least, because
// one has the narrowest loads and another the narrowest stores.
constexpr bool IsForCpu(absl::Span<const TileDescription> tiles, std::size_t i) {
  const auto area = [](const TileDescription& c) { return c.threadblock.m * c.threadblock.n; };
  // Plain tiles come before those with cluster split-K, ping-pong or packed output rows.
  const auto rank = [](const TileDescription& c) {
    return std::pair(c.cluster_split_k > 1 || c.ping_pong || c.packed_rows > 1, c.threadblock.m);
  };
  bool asks_least = true, largest = tiles[i].mainloop != Mainloop::kWgmmaSm90;
  for (std::size_t j = 0; j < tiles.size(); ++j) {
    const bool first = j < i;
    if (AsksNoMore(tiles[j], tiles[i])) {
      const bool alike = AsksNoMore(tiles[i], tiles[j]);
      const bool before =
          rank(tiles[j]) < rank(tiles[i]) || (rank(tiles[j]) == rank(tiles[i]) && first);
      if (!alike || before) asks_least = false;
    }
    const bool larger =
        area(tiles[j]) > area(tiles[i]) || (area(tiles[j]) == area(tiles[i]) && first);
    if (tiles[j].mainloop != Mainloop::kWgmmaSm90 && larger) largest = false;
  }
  return asks_least || largest;
}
template <std::size_t kCount>
constexpr std::array<bool, kCount> TilesForCpu(const std::array<TileDescription, kCount>& tiles) {
  std::array<bool, kCount> on_cpu = {};
  for (std::size_t i = 0; i < kCount; ++i) on_cpu[i] = IsForCpu(tiles, i);
  return on_cpu;
}

// A family of policies as values. Planner: that of the kind of operator, such as GemmPlanner
// (gemm/product/gemm_plan.hpp).
template <class Planner>
struct FamilyFacts {
  const char* who = "";             // OperatorKind's kWho
  const char* cmake = "";           // OperatorKind's kCMake
  std::string (*name)() = nullptr;  // OperatorName(), for tuning tables
  absl::Span<const typename Planner::Image* const> policies;
  const bool* has_gpu_code = nullptr;
  const bool* on_cpu = nullptr;
  bool integer_sums = false;  // all policies have the same results
};

// A policy of a family by its index and its plan for a problem.
template <class Plan>
struct PlannedPolicy {
  int index = 0;
  Plan plan;
};

template <class Planner>
struct Choice {
  using Problem = typename Planner::Problem;
  using Run = typename Planner::Run;
  using Family = FamilyFacts<Planner>;
  using Planned = PlannedPolicy<typename Planner::Plan>;
  Family family;    // without has_gpu_code
  Problem problem;  // as it was given
  Planned chosen;
  std::vector<Planned> others;  // to be tried in this order for addresses that it refuses
  std::vector<Candidate> candidates = {};  // in the family's order
  bool measured = false;
  std::string why = "chosen by index";

  // What Dispatch's Create and CreateAt do.
  static absl::StatusOr<Choice> Make(const Problem& problem, const GpuFacts& gpu,
                                     const DispatchOptions& options, const Family& family);
  static absl::StatusOr<Choice> Make(const Problem& problem, const CpuFacts& cpu,
                                     const DispatchOptions& options, const Family& family);
  static absl::StatusOr<Choice> Here(const Problem& problem, const DispatchOptions& options,
                                     const Family& family);
  static absl::StatusOr<Choice> At(const Problem& problem, int index, const Family& family);

  // Checks a run as the chosen policy does, and as the others do as long as that is InvalidArgument.
  absl::Status CheckRun(const Run& run) const;
  // Starts the first of these policies that accepts the run; on the CPU the first that is compiled for it.
  // start: for each policy of the family its back end's Run.
  absl::Status StartRun(const Run& run, const GpuBackEnd& on,
                        const RunFunction<GpuBackEnd>* start) const;
  absl::Status StartRun(const Run& run, const CpuBackEnd& on,
                        const RunFunction<CpuBackEnd>* start) const;
};

}  // namespace internal

}  // namespace weft::gemm
