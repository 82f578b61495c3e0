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
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/gemm/check/refused.hpp"
#include "weft/gemm/choose/choice.hpp"
#include "weft/gemm/choose/tuning.hpp"
#include "weft/gemm/gemm.hpp"
#include "weft/gemm/launch/planned_operator.hpp"
#include "weft/gemm/policy/family.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::gemm {

namespace internal {

// The arguments of a family's operator. What a sentence refuses, no policies or lists, has others.
template <class... Policies>
struct FamilyArguments {
  using type = RefusedArguments;
};
template <class PolicyT, class... Others>
  requires(!kListed<PolicyT>)
struct FamilyArguments<PolicyT, Others...> {
  using type = typename OperatorKind<PolicyT>::Operator::Arguments;
};

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
class Dispatch<Family<Policies...>>
    : public RunnableOperator<Dispatch<Family<Policies...>>,
                              typename internal::FamilyArguments<Policies...>::type> {
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
  using Choice = internal::Choice<Planner>;
  using FamilyFacts = internal::FamilyFacts<Planner>;

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
    return Chosen(
        [&](const FamilyFacts& family) { return Choice::Make(problem, gpu, options, family); });
  }
  static absl::StatusOr<Dispatch> Create(const Problem& problem, const arch::DeviceLimits& gpu) {
    return Create(problem, GpuFactsOf(gpu));
  }
  static absl::StatusOr<Dispatch> Create(const Problem& problem, const CpuFacts& cpu) {
    return Chosen(
        [&](const FamilyFacts& family) { return Choice::Make(problem, cpu, {}, family); });
  }

  // Chooses for the calling thread's current GPU if there is one, else for all threads of the CPU,
  // for which tuning tables are not used.
  static absl::StatusOr<Dispatch> Create(const Problem& problem,
                                         const DispatchOptions& options = {}) {
    return Chosen(
        [&](const FamilyFacts& family) { return Choice::Here(problem, options, family); });
  }

  // Takes policy `index` of the family, without a choice. OutOfRange if there is none.
  static absl::StatusOr<Dispatch> CreateAt(const Problem& problem, int index) {
    return Chosen([&](const FamilyFacts& family) { return Choice::At(problem, index, family); });
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
    return absl::StrCat(Planner::Describe(plan(), kImages[index()]->facts), "; ", why());
  }
  // The second half of Describe: why it was chosen.
  const std::string& why() const { return choice_.why; }

  // Run behaves as the operator's. If addresses are not aligned as the chosen tile needs, the best of the
  // tiles that need less alignment runs; Describe names it. RunOnCpu has the results of Run to the bit. It
  // runs the chosen tile if that is compiled for the CPU (OnCpu), else another one; to run a certain policy's
  // kernel on the CPU, use Convolution<P> or Gemm<P>. FailedPrecondition if the chosen tile takes the problem
  // and the addresses, but none that is compiled for the CPU does.
  auto RunOfArguments(const Arguments& args) const { return First::RunOf(plan(), args); }
  template <class RunT>
  absl::Status CheckRun(const RunT& run) const {
    return choice_.CheckRun(run);
  }
  template <class RunT, class BackEnd>
  absl::Status StartRun(const RunT& run, const BackEnd& on) const {
    const RunFunction<BackEnd> starts[] = {StartOf<BackEnd, Policies>()...};
    return choice_.StartRun(run, on, starts);
  }

 private:
  using Image = typename Planner::Image;
  [[gnu::visibility("hidden")]] static constexpr const Image* kImages[kPolicies] = {
      &OperatorOf<Policies>::kImage...};
  [[gnu::visibility("hidden")]] static constexpr std::array<bool, kPolicies> kOnCpu = OnCpu();
  // Without what of it this program has GPU code for.
  [[gnu::visibility("hidden")]] static constexpr FamilyFacts kFamily = {
      .who = Kind::kWho,
      .cmake = Kind::kCMake,
      .name = &FamilyName,
      .policies = kImages,
      .on_cpu = kOnCpu.data(),
      .integer_sums = Kind::kIntegerSums};
  explicit Dispatch(Choice choice) : choice_(std::move(choice)) {}
  // choose: what makes the choice among a family that knows for what this program has GPU code.
  template <class Function>
  static absl::StatusOr<Dispatch> Chosen(const Function& choose) {
    const bool has_gpu_code[] = {HasGpuCode<Policies>()...};
    FamilyFacts family = kFamily;
    family.has_gpu_code = has_gpu_code;
    absl::StatusOr<Choice> choice = choose(family);
    if (!choice.ok()) return choice.status();
    return Dispatch(*std::move(choice));
  }

  const Plan& plan() const { return choice_.chosen.plan; }

  // Null for what is not compiled for the CPU.
  template <class BackEnd, class PolicyT>
  static RunFunction<BackEnd> StartOf() {
    constexpr bool kIs[] = {std::is_same_v<PolicyT, Policies>...};
    constexpr auto kIndex = std::find(std::begin(kIs), std::end(kIs), true) - std::begin(kIs);
    if constexpr (std::is_same_v<BackEnd, CpuBackEnd> && !OnCpu()[kIndex]) {
      return nullptr;
    } else {
      return &BackEnd::template Run<PolicyT>;
    }
  }

  Choice choice_;
};

template <class PolicyT, class... Others>
  requires(!kListed<PolicyT> && !CheckedFamily<PolicyT, Others...>::kValid)
class Dispatch<Family<PolicyT, Others...>>
    : public RefusedOperator<Dispatch<Family<PolicyT, Others...>>,
                             typename OperatorKind<PolicyT>::Operator::Problem> {};

}  // namespace weft::gemm
