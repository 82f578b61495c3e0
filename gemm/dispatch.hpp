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
#include <cstdint>
#include <iterator>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/gemm/choose/choice.hpp"
#include "weft/gemm/gemm.hpp"
#include "weft/gemm/policy/family.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::gemm {

namespace internal {

WEFT_CHOOSE(extern, GemmPlanner)

// Of operators that have packed filters.
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
class Dispatch {
  static_assert(sizeof(Functor) == 0,
                "weft: Dispatch takes a Family<policies...>; one policy is an operator by itself, "
                "weft::conv::Convolution<Policy> or weft::gemm::Gemm<Policy>");
};

// As immutable as the operator. RunOnCpu and Run instantiate what they run; who only asks for a choice compiles no
// kernel.
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

  // What tuning tables call the family's operator.
  static std::string FamilyName() { return OperatorName<FirstPolicy>(); }

  // The tiles to choose from, in the family's order.
  static constexpr std::array<TileDescription, kPolicies> Configs() {
    return {TileDescription(Policies::config)...};
  }

  // Which of them are compiled for the CPU: all, but where sums are integers, so that every tile has the same
  // results, those of internal::TilesForCpu, mostly two.
  static constexpr std::array<bool, kPolicies> OnCpu() {
    std::array<bool, kPolicies> all;
    all.fill(true);
    return Kind::kIntegerSums ? internal::TilesForCpu(Configs()) : all;
  }

  // Chooses for `gpu` or for the CPU. Policies that refuse the problem or do not fit the GPU are
  // passed over; so are those that this program holds no GPU code for, if it holds some for
  // others, and for the CPU those without CPU code. If all refuse, the first one's error, which is the
  // operator's. InvalidArgument for facts that describe no machine.
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
    auto plan = Planner::Make(problem, kFacts[index], nullptr);
    if (!plan.ok()) return plan.status();
    return Dispatch({problem, {index, *std::move(plan)}, {}, {}, false, "chosen by index"});
  }

  const Problem& problem() const { return plan().problem; }
  // Of operators that have them.
  std::int64_t src_size() const { return First(plan()).src_size(); }
  std::int64_t dst_size() const { return First(plan()).dst_size(); }
  std::int64_t dst_bytes() const { return First(plan()).dst_bytes(); }

  // The chosen policy's place in the family and its tile.
  int index() const { return choice_.chosen.index; }
  TileDescription config() const { return Configs()[index()]; }

  // What was considered, in the family's order; empty after CreateAt.
  const std::vector<Candidate>& candidates() const { return choice_.candidates; }

  // Whether a tuning table's measurement decided.
  bool measured() const { return choice_.measured; }

  // One line: what will run, and why it was chosen.
  std::string Describe() const {
    return absl::StrCat(Planner::Describe(plan(), kFacts[index()]), "; ", why());
  }
  // The second half of it.
  const std::string& why() const { return choice_.why; }

  // As the operator's. Where addresses are not aligned as the chosen tile wants them, the best of the
  // tiles that ask less runs; Describe names it.
  absl::Status Run(const Arguments& args, Stream stream, const LaunchOptions& options = {}) const {
    constexpr RunFunction* kRun[] = {&RunWith<Policies>...};
    return Try([&](const Planned& p) { return kRun[p.index](p.plan, args, stream, options); });
  }
#if defined(WEFT_CPU_BACKEND)
  // The results that Run has, to the bit: of the chosen tile if it is compiled for the CPU (OnCpu), else of
  // another one. A given policy's kernel runs on the CPU by itself, as a Convolution<P> or a Gemm<P>.
  // FailedPrecondition if no tile that is compiled for the CPU takes a problem or addresses that the chosen one takes.
  absl::Status RunOnCpu(const Arguments& args,
                        const arch::CpuOptions& options = arch::CpuOptions::FromEnvironment(),
                        arch::CpuStats* stats = nullptr) const {
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
#else
  template <class... More>
  absl::Status RunOnCpu(const Arguments&, const More&...) const {
    return RunOnCpuInCu<More...>();
  }
#endif
  absl::Status CheckArguments(const Arguments& args) const {
    constexpr CheckFunction* kCheck[] = {&CheckFor<Policies>...};
    return Try([&](const Planned& p) { return kCheck[p.index](p.plan, args); });
  }

 private:
  static constexpr
      typename Planner::Facts kFacts[kPolicies] = {OperatorOf<Policies>::PlanFacts()...};

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

#if defined(WEFT_CPU_BACKEND)
  using CpuFunction = absl::Status(const Plan&, const Arguments&, const arch::CpuOptions&,
                                   arch::CpuStats*);
  template <class PolicyT>
  static constexpr CpuFunction* CpuFunctionOf() {
    constexpr bool kIs[] = {std::is_same_v<PolicyT, Policies>...};
    constexpr auto kIndex = std::find(std::begin(kIs), std::end(kIs), true) - std::begin(kIs);
    if constexpr (OnCpu()[kIndex]) {
      return [](const Plan& plan, const Arguments& args, const arch::CpuOptions& options,
                arch::CpuStats* stats) {
        return OperatorOf<PolicyT>(plan).RunOnCpu(args, options, stats);
      };
    } else {
      return nullptr;
    }
  }

  // What RunOnCpu tries, one after the other.
  std::vector<Planned> ForCpu(absl::Status* refusal) const {
    std::vector<Planned> order;
    if (OnCpu()[index()]) order.push_back(choice_.chosen);
    auto others = Kind::kIntegerSums
                      ? internal::PlansForCpu<Planner>(choice_.problem, FactsOfFamily({}), refusal)
                      : choice_.others;
    order.insert(order.end(), others.begin(), others.end());
    return order;
  }
#endif

  // run(p) for the chosen policy p and, after an InvalidArgument, which is one of arguments, before anything
  // was started, for the others.
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
    static constexpr std::array<bool, kPolicies> kOnCpu = OnCpu();
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

}  // namespace weft::gemm
