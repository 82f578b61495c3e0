// Dispatch<Family>: an operator that chooses among policies that differ in nothing but their
// config.
//
//     using Op = weft::gemm::Dispatch<weft::gemm::S8GemmFamily<weft::epilogues::BiasRelu<>>>;
//     absl::StatusOr<Op> op = Op::Create({.m = 512, .n = 256, .k = 1024});  // for the GPU at hand,
//     op->Run({.a = a, .b = b, .bias = bias, .c = c}, stream);              // else for the CPU
//     op->Describe();                                    // what was chosen, and why
//
// A performance model chooses, or a tuning table where one is given and has the problem:
//
//     const auto table = weft::gemm::TuningTable::Read("tuning.txt");
//     auto op = Op::Create(problem, {.tuning = &*table});
//
// Apart from the choice it behaves as the operator of its policies, a Gemm or a Convolution
// (include weft/conv/dispatch.hpp): arguments, checks and errors are the same.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/gemm/check/refused.hpp"
#include "weft/gemm/choose/choice.hpp"
#include "weft/gemm/gemm.hpp"
#include "weft/gemm/policy/family.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::gemm {

namespace internal {

WEFT_CHOOSE(extern, GemmPlanner)

// An operator with packed filters, such as a convolution; its Filter, or void.
template <class Op>
concept HasFilter = requires { typename Op::Filter; };
template <class Op>
struct FilterOf {
  using type = void;
};
template <HasFilter Op>
struct FilterOf<Op> {
  using type = typename Op::Filter;
};

}  // namespace internal

template <class Functor>
class Dispatch : public OperatorKind<Functor>::Operator {
  static_assert(sizeof(Functor) == 0,
                "weft: Dispatch takes a Family<policies...>; one policy is an operator by itself, "
                "weft::conv::Convolution<Policy> or weft::gemm::Gemm<Policy>");
};

// A Dispatch is immutable, as its operator is. Kernels are instantiated by RunOnCpu and Run only: a
// program that only asks for a choice compiles none.
template <class... Policies>
class Dispatch<Family<Policies...>> {
  static_assert(CheckedFamily<Policies...>::kValid);
  static_assert(
      !(kListed<Policies> || ...),
      "weft: Dispatch takes no Listed policies; a weft::gemm::Gemm<Listed<Policy>> runs a list");
  template <class PolicyT>
  using OperatorOf = typename OperatorKind<PolicyT>::Operator;
  using FirstPolicy = std::tuple_element_t<0, std::tuple<Policies...>>;
  using Kind = OperatorKind<FirstPolicy>;
  using First = OperatorOf<FirstPolicy>;
  using Planner = typename First::Planner;
  using Plan = typename Planner::Plan;
  using Planned = internal::PlannedPolicy<Plan>;

 public:
  using Problem = typename First::Problem;
  using Element = typename First::Element;
  using Output = typename First::Output;
  using BiasElement = typename First::BiasElement;
  using ResidualElement = typename First::ResidualElement;
  using Filter = typename internal::FilterOf<First>::type;
  using Arguments = typename First::Arguments;

  static constexpr int kPolicies = sizeof...(Policies);

  // The name of the family's operator in tuning tables.
  static std::string FamilyName() { return OperatorName<FirstPolicy>(); }

  // The tiles to choose from, in the family's order.
  static constexpr std::array<TileDescription, kPolicies> Configs() {
    return {TileDescription(Policies::config)...};
  }

  // Which tiles are compiled for the CPU. With int32 accumulators every tile has the same results,
  // and those of internal::TilesForCpu, mostly two, are enough; otherwise all are compiled.
  static constexpr std::array<bool, kPolicies> OnCpu() {
    std::array<bool, kPolicies> all;
    all.fill(true);
    return Kind::kIntegerSums ? internal::TilesForCpu(Configs()) : all;
  }

  // Chooses for `gpu` or for the CPU. Policies that refuse the problem or do not fit the GPU are
  // passed over; so are policies without GPU code in this program, if others have some, and for the
  // CPU those without CPU code. If all policies refuse, Create returns the error of the first, as
  // its operator would. InvalidArgument for facts that describe no machine.
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

  // Chooses for the calling thread's current GPU if there is one, else for all threads of the CPU,
  // for which tuning tables are not used.
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

  // Takes policy `index` of the family, without a choice. OutOfRange if there is none.
  static absl::StatusOr<Dispatch> CreateAt(const Problem& problem, int index) {
    if (index < 0 || index >= kPolicies) {
      return absl::OutOfRangeError(absl::StrCat(Kind::kWho, ": index=", index,
                                                " is not a policy of this family; give 0 to ",
                                                kPolicies - 1));
    }
    auto plan = Planner::Make(problem, kFacts[index], nullptr);
    if (!plan.ok()) return plan.status();
    return Dispatch({problem, {index, *std::move(plan)}, {}, {}, false, "chosen by index"});
  }

  const Problem& problem() const { return plan().problem; }
  // For operators that have these sizes.
  std::int64_t src_size() const { return First(plan()).src_size(); }
  std::int64_t dst_size() const { return First(plan()).dst_size(); }
  std::int64_t dst_bytes() const { return First(plan()).dst_bytes(); }

  // The chosen policy's place in the family and its tile.
  int index() const { return choice_.chosen.index; }
  TileDescription config() const { return Configs()[index()]; }

  // The policies that were considered, in the family's order; empty after CreateAt.
  const std::vector<Candidate>& candidates() const { return choice_.candidates; }

  // Whether a measurement of a tuning table decided the choice.
  bool measured() const { return choice_.measured; }

  // One line: what will run, and why it was chosen.
  std::string Describe() const {
    return absl::StrCat(Planner::Describe(plan(), kFacts[index()]), "; ", why());
  }
  // The second half of Describe: why it was chosen.
  const std::string& why() const { return choice_.why; }

  // Behaves as the operator's Run. If addresses are not aligned as the chosen tile needs, the best
  // of the tiles that need less alignment runs; Describe names it.
  absl::Status Run(const Arguments& args, Stream stream, const LaunchOptions& options = {}) const {
    constexpr RunFunction* kRun[] = {&RunWith<Policies>...};
    return Try([&](const Planned& p) { return kRun[p.index](p.plan, args, stream, options); });
  }
  // Has the results of Run to the bit. It runs the chosen tile if that is compiled for the CPU
  // (OnCpu), else another one; to run a certain policy's kernel on the CPU, use Convolution<P> or
  // Gemm<P>. FailedPrecondition if the chosen tile takes the problem and the addresses, but none
  // that is compiled for the CPU does.
  absl::Status RunOnCpu(const Arguments& args,
                        const CpuOptions& options = CpuOptions::FromEnvironment(),
                        CpuStats* stats = nullptr) const {
    if (absl::Status s = CheckArguments(args); !s.ok()) return s;
    constexpr CheckFunction* kCheck[] = {&CheckFor<Policies>...};
    constexpr CpuFunction* kRun[] = {CpuFunctionOf<Policies>()...};
    absl::Status refusal;
    for (const Planned& p : ForCpu(&refusal)) {
      absl::Status s = kCheck[p.index](p.plan, args);
      if (s.ok()) return kRun[p.index](p.plan, args, options, stats);
      refusal.Update(s);
    }
    return internal::NoCpuCode(Kind::kWho, config(), refusal);
  }
  absl::Status CheckArguments(const Arguments& args) const {
    constexpr CheckFunction* kCheck[] = {&CheckFor<Policies>...};
    return Try([&](const Planned& p) { return kCheck[p.index](p.plan, args); });
  }

 private:
  [[gnu::visibility("hidden")]] static constexpr
      typename Planner::Facts kFacts[kPolicies] = {OperatorOf<Policies>::PlanFacts()...};
  [[gnu::visibility("hidden")]] static constexpr std::array<bool, kPolicies> kOnCpu = OnCpu();

  explicit Dispatch(internal::Choice<Planner> choice) : choice_(std::move(choice)) {}

  const Plan& plan() const { return choice_.chosen.plan; }

  using RunFunction = absl::Status(const Plan&, const Arguments&, Stream, const LaunchOptions&);
  template <class PolicyT>
  static absl::Status RunWith(const Plan& plan, const Arguments& args, Stream stream,
                              const LaunchOptions& options) {
    return OperatorOf<PolicyT>(plan).Run(args, stream, options);
  }
  using CheckFunction = absl::Status(const Plan&, const Arguments&);
  template <class PolicyT>
  static absl::Status CheckFor(const Plan& plan, const Arguments& args) {
    return OperatorOf<PolicyT>(plan).CheckArguments(args);
  }

  using CpuFunction = absl::Status(const Plan&, const Arguments&, const CpuOptions&, CpuStats*);
  template <class PolicyT>
  static constexpr CpuFunction* CpuFunctionOf() {
    constexpr bool kIs[] = {std::is_same_v<PolicyT, Policies>...};
    constexpr auto kIndex = std::find(std::begin(kIs), std::end(kIs), true) - std::begin(kIs);
    if constexpr (OnCpu()[kIndex]) {
      return
          [](const Plan& plan, const Arguments& args, const CpuOptions& options, CpuStats* stats) {
            return OperatorOf<PolicyT>(plan).RunOnCpu(args, options, stats);
          };
    } else {
      return nullptr;
    }
  }

  // The plans that RunOnCpu tries, in this order.
  std::vector<Planned> ForCpu(absl::Status* refusal) const {
    std::vector<Planned> order;
    if (OnCpu()[index()]) order.push_back(choice_.chosen);
    auto others = Kind::kIntegerSums
                      ? internal::PlansForCpu<Planner>(choice_.problem, FactsOfFamily({}), refusal)
                      : choice_.others;
    order.insert(order.end(), others.begin(), others.end());
    return order;
  }

  // Calls run(p) for the chosen policy p, and for the others as long as it returns InvalidArgument,
  // which is about arguments and is returned before anything is started.
  template <class Function>
  absl::Status Try(const Function& run) const {
    absl::Status status = run(choice_.chosen);
    for (const Planned& other : choice_.others) {
      if (!absl::IsInvalidArgument(status)) break;
      // nvcc takes the assignment for a Status that somebody drops.
      static_cast<void>(status = run(other));
    }
    return status;
  }

  static internal::FamilyFacts<Planner> FactsOfFamily(absl::Span<const bool> has_gpu_code) {
    return {Kind::kWho, Kind::kCMake, &FamilyName, kFacts, has_gpu_code, kOnCpu};
  }

  template <class Machine>
  static absl::StatusOr<Dispatch> Choose(const Problem& problem, const Machine& machine,
                                         const DispatchOptions& options) {
    const bool has_gpu_code[] = {HasGpuCode<Policies>()...};
    auto choice = internal::Choose<Planner>(problem, machine, options, FactsOfFamily(has_gpu_code));
    if (!choice.ok()) return choice.status();
    return Dispatch(*std::move(choice));
  }

  internal::Choice<Planner> choice_;
};

template <class PolicyT, class... Others>
  requires(!kListed<PolicyT> && !CheckedFamily<PolicyT, Others...>::kValid)
class Dispatch<Family<PolicyT, Others...>>
    : public RefusedOperator<Dispatch<Family<PolicyT, Others...>>,
                             typename OperatorKind<PolicyT>::Operator::Problem> {};

}  // namespace weft::gemm
