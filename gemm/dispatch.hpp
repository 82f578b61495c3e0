// Dispatch<Family>: an operator that chooses among policies which differ in their config only.
//
//     using Op = weft::gemm::Dispatch<weft::gemm::S8GemmFamily<weft::epilogues::BiasRelu<>>>;
//     absl::StatusOr<Op> op = Op::Create({.m = 512, .n = 256, .k = 1024});  // for the GPU at hand,
//     op->Run({.a = a, .b = b, .bias = bias, .c = c}, stream);              // else for the CPU
//     op->Describe();                                    // what was chosen, and why
//
// A model chooses, or a tuning table where one is given and holds the problem:
//
//     const auto table = weft::gemm::TuningTable::Read("tuning.txt");
//     auto op = Op::Create(problem, {.tuning = &*table});
//
// Besides the choice it is the operator that its policies are of, a Gemm or a Convolution (include
// weft/conv/dispatch.hpp): the same arguments, checks and errors.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "weft/gemm/family.hpp"
#include "weft/gemm/gemm.hpp"
#include "weft/gemm/tile_model.hpp"
#include "weft/gemm/tuning.hpp"
#include "weft/layouts/abseil.hpp"

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
// for Describe; ends with "; ". Other kinds of operators have an overload for their problems.
inline std::string AccessNote(const GemmProblem&, const std::vector<Candidate>&, int) {
  return "";
}

namespace internal {

// If this program holds GPU code for some of the candidates (has_code[i]), the others are refused.
// who, cmake: OperatorKind's.
void RefuseWithoutGpuCode(const char* who, const char* cmake, const bool* has_code,
                          std::vector<Candidate>* candidates);

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

// One policy and what becomes of it: the model asks the plan that the policy makes. *made: its
// operator, unless it refuses.
template <std::size_t kIndex, class AnyOp, class Problem, class Machine>
Candidate Consider(const Problem& problem, const Machine& machine, std::optional<AnyOp>* made) {
  using Op = std::variant_alternative_t<kIndex, AnyOp>;
  auto op = [&] {
    if constexpr (std::is_same_v<Machine, GpuFacts>) {
      return Op::Create(problem, machine.limits);
    } else {
      return Op::Create(problem);
    }
  }();
  Candidate candidate = {Op::Facts(), op.status(), {}};
  if (op.ok()) {
    candidate.prediction = Predict(op->counts(), candidate.facts, machine);
    made->emplace(std::in_place_index<kIndex>, *std::move(op));
  }
  return candidate;
}

// What became of all policies, in a family's order; AnyOp: their operators.
template <class AnyOp>
struct Considered {
  std::vector<std::optional<AnyOp>> ops;
  std::vector<Candidate> candidates;
};
template <class AnyOp, class... Policies, class Problem, class Machine>
Considered<AnyOp> ConsiderAll(const Problem& problem, const Machine& machine) {
  using Kind = OperatorKind<std::tuple_element_t<0, std::tuple<Policies...>>>;
  Considered<AnyOp> all = {std::vector<std::optional<AnyOp>>(sizeof...(Policies)), {}};
  [&]<std::size_t... kIndices>(std::index_sequence<kIndices...>) {
    all.candidates = {Consider<kIndices>(problem, machine, &all.ops[kIndices])...};
  }
  (std::index_sequence_for<Policies...>());
  if constexpr (std::is_same_v<Machine, GpuFacts>) {
    const bool has_code[] = {HasGpuCode<Policies>()...};
    RefuseWithoutGpuCode(Kind::kWho, Kind::kCMake, has_code, &all.candidates);
  }
  return all;
}

// Convolutions have a filter.
template <class Op>
struct FilterOf {
  using type = void;
};
template <class Op>
requires requires {
  typename Op::Filter;
}
struct FilterOf<Op> {
  using type = typename Op::Filter;
};

}  // namespace internal

template <class Functor>
class Dispatch {
  static_assert(sizeof(Functor) == 0,
                "weft: Dispatch takes a Family<policies...>; one policy is an operator by itself, "
                "weft::conv::Convolution<Policy> or weft::gemm::Gemm<Policy>");
};

// As immutable and as cheap to copy as the operator, but for the text of Describe.
template <class... Policies>
class Dispatch<Family<Policies...>> {
  static_assert(CheckedFamily<Policies...>::kValid);
  static_assert(!(kListed<Policies> || ...),
                "weft: include weft/gemm/list_dispatch.hpp for a Dispatch of Listed policies");
  template <class PolicyT>
  using OperatorOf = typename OperatorKind<PolicyT>::Operator;
  using FirstPolicy = std::tuple_element_t<0, std::tuple<Policies...>>;
  using Kind = OperatorKind<FirstPolicy>;
  using First = OperatorOf<FirstPolicy>;
  using AnyOp = std::variant<OperatorOf<Policies>...>;

 public:
  using Problem = typename First::Problem;
  using Element = typename First::Element;
  using Output = typename First::Output;
  using BiasElement = typename First::BiasElement;
  using ResidualElement = typename First::ResidualElement;
  using Filter = typename internal::FilterOf<First>::type;
  using Arguments = typename First::Arguments;

  static constexpr int kPolicies = sizeof...(Policies);

  // What tuning tables call the family's operator.
  static std::string FamilyName() { return OperatorName<FirstPolicy>(); }

  // The tiles to choose from, in the family's order.
  static constexpr std::array<TileDescription, kPolicies> Configs() {
    return {TileDescription(Policies::config)...};
  }

  // Chooses for `gpu` or for the CPU. Policies that refuse the problem or do not fit the GPU are
  // passed over; so are those that this program holds no GPU code for, if it holds some for
  // others. If all refuse, the first one's error, which is the operator's. InvalidArgument for
  // facts that describe no machine.
  static absl::StatusOr<Dispatch> Create(const Problem& problem, const GpuFacts& gpu,
                                         const DispatchOptions& options = {}) {
    return Choose(problem, gpu, options);
  }
  static absl::StatusOr<Dispatch> Create(const Problem& problem, const arch::DeviceLimits& gpu) {
    return Create(problem, GpuFactsOf(gpu));
  }
  static absl::StatusOr<Dispatch> Create(const Problem& problem, const CpuFacts& cpu) {
    return Choose(problem, cpu, {});
  }

  // For the GPU that is current in this thread if there is one, else for all threads of the CPU,
  // for which nothing is looked up in tables.
  static absl::StatusOr<Dispatch> Create(const Problem& problem,
                                         const DispatchOptions& options = {}) {
    const arch::DeviceQuery device = arch::QueryDevice();
    if (device.result.ok()) {
      const std::string name = options.tuning == nullptr ? "" : arch::DeviceName();
      return Create(problem, GpuFactsOf(device.limits, name), options);
    }
    const int threads = static_cast<int>(std::thread::hardware_concurrency());
    return Create(problem, CpuFacts{(std::max)(1, threads)});
  }

  // No choice: policy `index` of the family.
  static absl::StatusOr<Dispatch> CreateAt(const Problem& problem, int index) {
    if (index < 0 || index >= kPolicies) {
      return absl::OutOfRangeError(absl::StrCat(Kind::kWho, ": index=", index,
                                                " is not a policy of this family; give 0 to ",
                                                kPolicies - 1));
    }
    absl::StatusOr<AnyOp> op = Make(problem, index, std::index_sequence_for<Policies...>());
    if (!op.ok()) return op.status();
    return Dispatch(*std::move(op), {}, false, "chosen by index");
  }

  const Problem& problem() const {
    return Visit([](const auto& op) -> const Problem& { return op.problem(); });
  }
  // Of convolutions.
  std::int64_t src_size() const {
    return Visit([](const auto& op) { return op.src_size(); });
  }
  std::int64_t dst_size() const {
    return Visit([](const auto& op) { return op.dst_size(); });
  }
  std::int64_t dst_bytes() const {
    return Visit([](const auto& op) { return op.dst_bytes(); });
  }

  // Of products: the most bytes of args.workspace that a tile which may run wants.
  std::int64_t workspace_size() const {
    const auto size = [](const auto& op) { return op.workspace_size(); };
    std::int64_t most = Visit(size);
    for (const AnyOp& other : others_) most = (std::max)(most, std::visit(size, other));
    return most;
  }

  // The chosen policy's place in the family and its tile.
  int index() const { return static_cast<int>(op_.index()); }
  TileDescription config() const { return Configs()[op_.index()]; }

  // What was considered, in the family's order; empty after CreateAt.
  const std::vector<Candidate>& candidates() const { return candidates_; }

  // Whether a tuning table's measurement decided.
  bool measured() const { return measured_; }

  // One line: what will run, and why it was chosen.
  std::string Describe() const {
    return absl::StrCat(Visit([](const auto& op) { return op.Describe(); }), "; ", why_);
  }
  // The second half of it.
  const std::string& why() const { return why_; }

  // As the operator's. Where addresses are not aligned as the chosen tile wants them, the best of the
  // tiles that ask less runs; Describe names it.
  absl::Status Run(const Arguments& args, Stream stream, const LaunchOptions& options = {}) const {
    return Try([&](const auto& op) { return op.Run(args, stream, options); });
  }
#if defined(WEFT_CPU_BACKEND)
  absl::Status RunOnCpu(const Arguments& args,
                        const arch::CpuOptions& options = arch::CpuOptions::FromEnvironment(),
                        arch::CpuStats* stats = nullptr) const {
    return Try([&](const auto& op) { return op.RunOnCpu(args, options, stats); });
  }
#else
  template <class... More>
  absl::Status RunOnCpu(const Arguments&, const More&...) const {
    return RunOnCpuInCu<More...>();
  }
#endif
  absl::Status CheckArguments(const Arguments& args) const {
    return Try([&](const auto& op) { return op.CheckArguments(args); });
  }

 private:
  Dispatch(AnyOp op, std::vector<Candidate> candidates, bool measured, std::string why)
      : op_(std::move(op)),
        candidates_(std::move(candidates)),
        measured_(measured),
        why_(std::move(why)) {}

  template <class Function>
  decltype(auto) Visit(Function&& function) const {
    return std::visit(std::forward<Function>(function), op_);
  }

  // run(op): an InvalidArgument is one of arguments, before anything was started.
  template <class Function>
  absl::Status Try(const Function& run) const {
    absl::Status status = Visit(run);
    for (const AnyOp& other : others_) {
      if (!absl::IsInvalidArgument(status)) break;
      // nvcc takes the assignment for a Status that somebody drops.
      static_cast<void>(status = std::visit(run, other));
    }
    return status;
  }

  template <class Machine>
  static absl::StatusOr<Dispatch> Choose(const Problem& problem, const Machine& machine,
                                         const DispatchOptions& options) {
    if (absl::Status s = CheckFacts(Kind::kWho, machine); !s.ok()) return s;
    auto [ops, candidates] = internal::ConsiderAll<AnyOp, Policies...>(problem, machine);
    const int cheapest = internal::Cheapest(candidates);
    if (cheapest < 0) return candidates[0].status;
    internal::Tuned tuned;
    if constexpr (std::is_same_v<Machine, GpuFacts>) {
      if (options.tuning != nullptr) {
        tuned = internal::LookUp(*options.tuning, FamilyName(), problem, machine, candidates);
      }
    }
    const bool measured = tuned.index >= 0;
    const int chosen = measured ? tuned.index : cheapest;
    std::string why = AccessNote(problem, candidates, chosen) + tuned.note;
    if (!measured) {
      absl::StrAppend(&why, tuned.note.empty() ? "" : "; ",
                      internal::Why(candidates, chosen, MachineName(machine)));
    }
    std::vector<AnyOp> others;
    for (int i = chosen; (i = internal::LessStrict(candidates, i)) >= 0;) {
      absl::StrAppend(&why, others.empty() ? "; addresses that it refuses go to " : ", then to ",
                      internal::TileName(Configs()[i]));
      others.push_back(*std::move(ops[i]));
    }
    Dispatch dispatch(*std::move(ops[chosen]), std::move(candidates), measured, std::move(why));
    dispatch.others_ = std::move(others);
    return dispatch;
  }
  template <std::size_t kIndex>
  static absl::StatusOr<AnyOp> MakeAt(const Problem& problem) {
    auto op = std::variant_alternative_t<kIndex, AnyOp>::Create(problem);
    if (!op.ok()) return op.status();
    return AnyOp(std::in_place_index<kIndex>, *std::move(op));
  }
  template <std::size_t... kIndices>
  static absl::StatusOr<AnyOp> Make(const Problem& problem, int index,
                                    std::index_sequence<kIndices...>) {
    using Maker = absl::StatusOr<AnyOp>(const Problem&);
    constexpr Maker* kMakers[] = {&MakeAt<kIndices>...};
    return kMakers[index](problem);
  }

  AnyOp op_;
  std::vector<AnyOp> others_;  // for arguments that op_ refuses, one after the other
  std::vector<Candidate> candidates_;
  bool measured_ = false;
  std::string why_;
};

}  // namespace weft::gemm
