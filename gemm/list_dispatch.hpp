// Dispatch of lists: one launch of independent products, with one tile that a performance model
// chooses for all of them.
//
//     using Op = weft::gemm::Dispatch<weft::gemm::ListedFamily<weft::gemm::HalfGemmFamily<>>>;
//     absl::StatusOr<Op> op = Op::Create(problems);  // for the GPU at hand, else for the CPU
//     auto table = op->Table(args);                  // args: the arguments of each product
//     cudaMemcpyAsync(memory, table->data(), table->size() * sizeof(Op::Line), ...);
//     op->Run(memory, stream);
//     op->RunOnCpu(args);                            // the same kernel, on the CPU
//
// Apart from the choice it behaves as a Gemm<Listed<P>> (gemm_list.hpp): arguments, checks and
// errors are the same.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "weft/gemm/dispatch.hpp"
#include "weft/gemm/gemm_list.hpp"

namespace weft::gemm {

// A Dispatch is immutable, as its operator is. Tuning tables are not used, as their entries are of
// single products.
template <class... Policies>
class Dispatch<Family<Listed<Policies>...>> {
  static_assert(CheckedFamily<Listed<Policies>...>::kValid);
  using AnyOp = std::variant<Gemm<Listed<Policies>>...>;
  using First = std::variant_alternative_t<0, AnyOp>;
  using Problems = absl::Span<const GemmProblem>;
  using Kind = OperatorKind<Listed<std::tuple_element_t<0, std::tuple<Policies...>>>>;

 public:
  using Element = typename First::Element;
  using Output = typename First::Output;
  using Arguments = typename First::Arguments;  // those of one product
  // 64 bytes of a table; how many of them an entry takes depends on the chosen policy.
  struct alignas(64) Line {
    std::byte bytes[64];
  };

  static constexpr int kPolicies = sizeof...(Policies);
  static constexpr std::array<TileDescription, kPolicies> Configs() {
    return {TileDescription(Policies::config)...};
  }

  // Chooses for `gpu` or for the CPU. Policies that refuse a product or do not fit the GPU are
  // passed over, as are those without GPU code if others have some. If all refuse, Create returns
  // the error of the first. InvalidArgument for facts that describe no machine.
  static absl::StatusOr<Dispatch> Create(Problems problems, const GpuFacts& gpu) {
    return Choose(problems, gpu);
  }
  static absl::StatusOr<Dispatch> Create(Problems problems, const arch::DeviceLimits& gpu) {
    return Create(problems, GpuFactsOf(gpu));
  }
  static absl::StatusOr<Dispatch> Create(Problems problems, const CpuFacts& cpu) {
    return Choose(problems, cpu);
  }
  // Chooses for the calling thread's current GPU if there is one, else for all threads of the CPU.
  static absl::StatusOr<Dispatch> Create(Problems problems) {
    const arch::DeviceQuery device = arch::QueryDevice();
    if (device.result.ok()) return Create(problems, device.limits);
    const int threads = static_cast<int>(std::thread::hardware_concurrency());
    return Create(problems, CpuFacts{(std::max)(1, threads)});
  }

  std::size_t size() const {
    return std::visit([](const auto& op) { return op.size(); }, op_);
  }
  const GemmProblem& problem(std::size_t i) const {
    return std::visit([&](const auto& op) -> const GemmProblem& { return op.problem(i); }, op_);
  }
  std::int32_t tiles() const {
    return std::visit([](const auto& op) { return op.tiles(); }, op_);
  }

  // The chosen policy's place in the family, its tile, and all policies considered, in the family's
  // order.
  int index() const { return static_cast<int>(op_.index()); }
  TileDescription config() const { return Configs()[op_.index()]; }
  const std::vector<Candidate>& candidates() const { return candidates_; }
  // One line: what will run, and why it was chosen.
  std::string Describe() const {
    return absl::StrCat(std::visit([](const auto& op) { return op.Describe(); }, op_), "; ", why_);
  }

  absl::Status CheckArguments(absl::Span<const Arguments> args) const {
    return std::visit([&](const auto& op) { return op.CheckArguments(args); }, op_);
  }

  // Makes the table for Run, to be copied to the GPU byte by byte.
  absl::StatusOr<std::vector<Line>> Table(absl::Span<const Arguments> args) const {
    return std::visit([&](const auto& op) { return LinesOf(op.Table(args)); }, op_);
  }

  // Enqueues the kernel. table: a copy of Table()'s result in GPU memory, which must stay until the
  // kernel has ended.
  absl::Status Run(const Line* table, Stream stream, const LaunchOptions& options = {}) const {
    return std::visit(
        [&]<class Op>(const Op& op) {
          return op.Run(reinterpret_cast<const typename Op::Product*>(table), stream, options);
        },
        op_);
  }
  absl::Status RunOnCpu(absl::Span<const Arguments> args,
                        const CpuOptions& options = CpuOptions::FromEnvironment(),
                        CpuStats* stats = nullptr) const {
    return std::visit([&](const auto& op) { return op.RunOnCpu(args, options, stats); }, op_);
  }

 private:
  Dispatch(AnyOp op, std::vector<Candidate> candidates, std::string why)
      : op_(std::move(op)), candidates_(std::move(candidates)), why_(std::move(why)) {}

  template <class Product>
  static absl::StatusOr<std::vector<Line>> LinesOf(
      const absl::StatusOr<std::vector<Product>>& table) {
    static_assert(alignof(Product) <= alignof(Line));
    if (!table.ok()) return table.status();
    const std::size_t bytes = table->size() * sizeof(Product);
    std::vector<Line> lines(CeilDiv(bytes, sizeof(Line)));
    std::memcpy(lines.data(), table->data(), bytes);
    return lines;
  }

  [[gnu::visibility("hidden")]] static constexpr GemmFacts kFacts[] = {
      Gemm<Listed<Policies>>::Facts()...};
  // All are compiled for the CPU.
  [[gnu::visibility("hidden")]] static constexpr bool kOnCpu[] = {(sizeof(Policies) > 0)...};

  template <class Machine>
  static absl::StatusOr<Dispatch> Choose(Problems problems, const Machine& machine) {
    if (absl::Status s = CheckFacts(Kind::kWho, machine); !s.ok()) return s;
    const bool has_gpu_code[] = {HasGpuCode<Listed<Policies>>()...};
    auto [plans, candidates] = internal::ConsiderPlans<GemmListPlanner>(
        problems, machine, {Kind::kWho, Kind::kCMake, nullptr, kFacts, has_gpu_code, kOnCpu});
    const int chosen = internal::Cheapest(candidates);
    if (chosen < 0) return candidates[0].status;
    std::string why = plans[chosen].tiles() == 0
                          ? "no product has rows"
                          : internal::Why(candidates, chosen, MachineName(machine));
    constexpr AnyOp (*kMake[])(GemmListPlan) = {&MakeOp<Policies>...};
    return Dispatch(kMake[chosen](std::move(plans[chosen])), std::move(candidates), std::move(why));
  }
  template <class PolicyT>
  static AnyOp MakeOp(GemmListPlan plan) {
    return Gemm<Listed<PolicyT>>(std::move(plan));
  }

  AnyOp op_;
  std::vector<Candidate> candidates_;
  std::string why_;
};

}  // namespace weft::gemm
