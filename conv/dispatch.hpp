// Dispatch<Family>: an operator that chooses among policies which differ in their config only.
//
//     using Op = weft::conv::Dispatch<weft::conv::S8Conv4Family<weft::epilogues::BiasHSwish<>>>;
//     absl::StatusOr<Op> op = Op::Create(problem);       // for the GPU at hand, else for the CPU
//     op->Run({.src = x, .filter = w, .bias = b, .dst = y}, stream);
//     op->Describe();                                    // what was chosen, and why
//
// A model chooses, or a tuning table where one is given and holds the problem:
//
//     const auto table = weft::conv::TuningTable::Read("tuning.txt");
//     auto op = Op::Create(problem, {.tuning = &*table});
//
// Besides the choice it is a Convolution: the same arguments, checks and errors.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "weft/conv/convolution.hpp"
#include "weft/conv/family.hpp"
#include "weft/conv/tile_model.hpp"
#include "weft/conv/tuning.hpp"

namespace weft::conv {

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

namespace internal {

// If this program holds GPU code for some of the candidates (has_code[i]), the others are refused.
void RefuseWithoutGpuCode(const bool* has_code, std::vector<Candidate>* candidates);

// The index of the accepted candidate with the least prediction; -1 if there is none.
int Cheapest(const std::vector<Candidate>& candidates);

// "mma_sm80 128x64x64, 3 stages"
std::string TileName(const TileDescription& config);

// The accepted candidate with the least prediction among those that ask less of addresses than
// `chosen` does; -1 if there is none. A wgmma_sm90 tile asks for more than the others.
int LessStrict(const std::vector<Candidate>& candidates, int chosen);

// Why `chosen`: its prediction, the runner-up, what decides between the two. `machine`: "GPU of 132
// multiprocessors".
std::string Why(const std::vector<Candidate>& candidates, int chosen, const std::string& machine);

// What C and K, as they are, cost the chosen policy in the width of its loads and stores, and what
// padding would give; ends with "; ". Empty where the family has no wider ones.
std::string AccessNote(const Problem& problem, const std::vector<Candidate>& candidates,
                       int chosen);

// What a tuning table says of a problem.
struct Tuned {
  int index = -1;    // the policy it names; -1: the model is to choose
  std::string note;  // why, for Describe
};
Tuned LookUp(const TuningTable& table, const std::string& operator_name, const Problem& problem,
             const GpuFacts& gpu, const std::vector<Candidate>& candidates);

// InvalidArgument if the model cannot compute with them: counts that are not positive, a clock or a
// bandwidth that is not a positive number.
absl::Status CheckFacts(const GpuFacts& gpu);
absl::Status CheckFacts(const CpuFacts& cpu);

std::string MachineName(const GpuFacts& gpu);
std::string MachineName(const CpuFacts& cpu);

}  // namespace internal

template <class F>
class Dispatch {
  static_assert(sizeof(F) == 0,
                "weft: Dispatch takes a weft::conv::Family<policies...>; one policy is an operator "
                "by itself, weft::conv::Convolution<Policy>");
};

// As immutable and as cheap to copy as a Convolution, but for the text of Describe.
template <class... Policies>
class Dispatch<Family<Policies...>> {
  static_assert(CheckedFamily<Policies...>::kValid);
  using First = Convolution<std::tuple_element_t<0, std::tuple<Policies...>>>;
  using AnyOp = std::variant<Convolution<Policies>...>;

 public:
  using Element = typename First::Element;
  using Output = typename First::Output;
  using BiasElement = typename First::BiasElement;
  using ResidualElement = typename First::ResidualElement;
  using Filter = typename First::Filter;
  using Arguments = typename First::Arguments;

  static constexpr int kPolicies = sizeof...(Policies);

  // What tuning tables call the family's operator.
  static std::string FamilyName() {
    return OperatorName<std::tuple_element_t<0, std::tuple<Policies...>>>();
  }

  // The tiles to choose from, in the family's order.
  static constexpr std::array<TileDescription, kPolicies> Configs() {
    return {TileDescription(Policies::config)...};
  }

  // Chooses for `gpu` or for the CPU. Policies that refuse the problem or do not fit the GPU are
  // passed over; so are those that this program holds no GPU code for, if it holds some for
  // others. If all refuse, the first one's error, which is Convolution's. InvalidArgument for facts
  // that describe no machine.
  static absl::StatusOr<Dispatch> Create(const Problem& problem, const GpuFacts& gpu,
                                         const DispatchOptions& options = {}) {
    return Choose(problem, gpu, options, [&](auto type) {
      return Convolution<typename decltype(type)::type>::Create(problem, gpu.limits).status();
    });
  }
  static absl::StatusOr<Dispatch> Create(const Problem& problem, const arch::DeviceLimits& gpu) {
    return Create(problem, GpuFactsOf(gpu));
  }
  static absl::StatusOr<Dispatch> Create(const Problem& problem, const CpuFacts& cpu) {
    return Choose(problem, cpu, {}, [&](auto type) {
      return Convolution<typename decltype(type)::type>::Create(problem).status();
    });
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
    return Create(problem, CpuFacts{std::max(1, threads)});
  }

  // No choice: policy `index` of the family.
  static absl::StatusOr<Dispatch> CreateAt(const Problem& problem, int index) {
    if (index < 0 || index >= kPolicies) {
      return absl::OutOfRangeError(absl::StrCat("conv: index=", index, " is not a policy of this ",
                                                "family; give 0 to ", kPolicies - 1));
    }
    absl::StatusOr<AnyOp> op = Make(problem, index, std::index_sequence_for<Policies...>());
    if (!op.ok()) return op.status();
    return Dispatch(*std::move(op), {}, false, "chosen by index");
  }

  const Problem& problem() const {
    return Visit([](const auto& op) -> const Problem& { return op.problem(); });
  }
  std::int64_t src_size() const {
    return Visit([](const auto& op) { return op.src_size(); });
  }
  std::int64_t dst_size() const {
    return Visit([](const auto& op) { return op.dst_size(); });
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

  // As Convolution's. Where a wgmma_sm90 tile was chosen and its addresses are not aligned as the
  // copy engine wants them, the best of the other tiles runs; Describe names it.
  absl::Status Run(const Arguments& args, Stream stream) const {
    return Try([&](const auto& op) { return op.Run(args, stream); });
  }
#if defined(WEFT_CPU_BACKEND)
  absl::Status RunOnCpu(const Arguments& args, const arch::CpuOptions& options =
                                                   arch::CpuOptions::FromEnvironment()) const {
    return Try([&](const auto& op) { return op.RunOnCpu(args, options); });
  }
  absl::Status RunOnCpu(const Arguments& args, const arch::CpuOptions& options,
                        arch::CpuStats* stats) const {
    return Try([&](const auto& op) { return op.RunOnCpu(args, options, stats); });
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
    const absl::Status status = Visit(run);
    if (!other_.has_value() || !absl::IsInvalidArgument(status)) return status;
    return std::visit(run, *other_);
  }

  template <class Machine, class Check>
  static absl::StatusOr<Dispatch> Choose(const Problem& problem, const Machine& machine,
                                         const DispatchOptions& options, const Check& check) {
    if (absl::Status s = internal::CheckFacts(machine); !s.ok()) return s;
    std::vector<Candidate> candidates = {
        {FactsOf<Policies>(), check(std::type_identity<Policies>()), {}}...};
    if constexpr (std::is_same_v<Machine, GpuFacts>) {
      const bool has_code[] = {gemm::HasGpuCode<Policies>()...};
      internal::RefuseWithoutGpuCode(has_code, &candidates);
    }
    for (Candidate& c : candidates) {
      if (c.status.ok()) c.prediction = Predict(problem, c.facts, machine);
    }
    const int cheapest = internal::Cheapest(candidates);
    if (cheapest < 0) return candidates[0].status;
    std::string why = internal::Why(candidates, cheapest, internal::MachineName(machine));
    internal::Tuned tuned;
    if constexpr (std::is_same_v<Machine, GpuFacts>) {
      if (options.tuning != nullptr) {
        const std::string name = FamilyName();
        tuned = internal::LookUp(*options.tuning, name, problem, machine, candidates);
        why = tuned.index < 0 ? absl::StrCat(tuned.note, "; ", why) : tuned.note;
      }
    }
    const bool measured = tuned.index >= 0;
    const int chosen = measured ? tuned.index : cheapest;
    absl::StatusOr<AnyOp> op = Make(problem, chosen, std::index_sequence_for<Policies...>());
    if (!op.ok()) return op.status();
    why = internal::AccessNote(problem, candidates, chosen) + why;
    std::optional<AnyOp> other;
    if (const int index = internal::LessStrict(candidates, chosen); index >= 0) {
      absl::StatusOr<AnyOp> made = Make(problem, index, std::index_sequence_for<Policies...>());
      if (!made.ok()) return made.status();
      other = *std::move(made);
      absl::StrAppend(&why, "; addresses that it refuses go to ",
                      internal::TileName(Configs()[index]));
    }
    Dispatch dispatch(*std::move(op), std::move(candidates), measured, std::move(why));
    dispatch.other_ = std::move(other);
    return dispatch;
  }

  template <std::size_t kIndex>
  static absl::StatusOr<AnyOp> MakeAt(const Problem& problem) {
    auto op = Convolution<std::tuple_element_t<kIndex, std::tuple<Policies...>>>::Create(problem);
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
  std::optional<AnyOp> other_;  // for arguments that op_ refuses
  std::vector<Candidate> candidates_;
  bool measured_ = false;
  std::string why_;
};

}  // namespace weft::conv
