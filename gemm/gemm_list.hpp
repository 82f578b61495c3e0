// Gemm<Listed<PolicyT>>: one launch of products whose extents and matrices are independent.
//
//     using Products = weft::gemm::Gemm<weft::gemm::Listed<MyGemm>>;
//     auto op = Products::Create({{.m = 37, .n = 512, .k = 256}, {.m = 5, .n = 1024, .k = 128}});
//     auto table = op->Table({{.a = a0, .b = b0, .c = c0}, {.a = a1, .b = b1, .c = c1}});
//     cudaMemcpyAsync(memory, table->data(), table->size() * sizeof(Products::Product), ...);
//     op->Run(memory, stream);  // on the GPU; repeat as long as the matrices stay where they are
//     op->RunOnCpu({{.a = a0, ...}, {.a = a1, ...}});  // the same kernel, on the CPU
//
// Tiles are computed in the order of the list. Put the products with the longest k first, so that
// no long tile is left running alone at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "weft/gemm/check/list_checks.hpp"
#include "weft/gemm/gemm.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::gemm {

template <class PolicyT>
class Gemm<Listed<PolicyT>> {
  static_assert(GemmKernel<Listed<PolicyT>>::kThreads > 0);  // its parts check the config
  using One = Gemm<PolicyT>;

 public:
  using Output = typename One::Output;
  using Element = typename One::Element;
  // The arguments of one product.
  using Arguments = typename One::Arguments;
  // The table entry from which the kernel reads one product.
  using Product = ListedProduct<PolicyT>;

  static constexpr GemmFacts Facts() { return kImage.facts; }

  // Errors are InvalidArgument or OutOfRange, and name the product, the field, its value and what
  // would be accepted. Refused are what Gemm<PolicyT>::Create refuses, batches, an empty list, and
  // more than 2^31 - 1 tiles.
  static absl::StatusOr<Gemm> Create(absl::Span<const GemmProblem> problems) {
    return Planned(MakeGemmListPlan(problems, kImage.facts, nullptr));
  }

  // The same, with FailedPrecondition or ResourceExhausted if `device` cannot run this policy.
  static absl::StatusOr<Gemm> Create(absl::Span<const GemmProblem> problems,
                                     const arch::DeviceLimits& device) {
    return Planned(MakeGemmListPlan(problems, kImage.facts, &device));
  }

  std::size_t size() const { return plan_.products.size(); }
  // The problem of product i < size(), with its leading dimensions filled in.
  const GemmProblem& problem(std::size_t i) const { return plan_.products[i].problem; }
  // The number of tiles of all products; without a persistent grid that is the number of blocks.
  std::int32_t tiles() const { return plan_.tiles(); }

  // One line: how many products and tiles there are, and tile, shared memory and layouts of the
  // first.
  std::string Describe() const {
    return absl::StrCat("list of ", size(), " products, ", tiles(), " tiles; the first: ",
                        DescribeGemm(plan_.products[tiles() > 0 ? plan_.some : 0], kImage.facts));
  }

  // What Table checks: each product's arguments as Gemm<PolicyT> does, and that no product writes
  // memory that another one reads or writes. The arguments of a product with an empty C are not
  // checked.
  absl::Status CheckArguments(absl::Span<const Arguments> args) const {
    return gemm::CheckArguments(kImage, plan_, RunsOf(args));
  }

  // Makes the table for Run, of args.size() == size() products, to be copied to the GPU byte by
  // byte: sizeof(Product) bytes each, 64-byte aligned. Errors are those of CheckArguments, and
  // Internal if CUDA refuses a tensor map. The table has addresses, not elements: it may be used as
  // long as the matrices stay where they are.
  absl::StatusOr<std::vector<Product>> Table(absl::Span<const Arguments> args) const {
    return MakeTable(args, GpuBackEnd::kMakeMap);
  }

  // Enqueues the kernel on `stream`. table: a copy of Table()'s result in GPU memory, which must
  // stay until the kernel has ended. Errors are those of conv::Convolution::Run, and
  // InvalidArgument for a null or misaligned table. Without tiles it does nothing.
  absl::Status Run(const Product* table, Stream stream, const LaunchOptions& options = {}) const {
    if (absl::Status s = CheckTable(table, alignof(Product)); !s.ok()) return s;
    return Start(table, GpuBackEnd{stream, options});
  }

  // Runs the same kernel on the CPU and returns when it is done.
  absl::Status RunOnCpu(absl::Span<const Arguments> args,
                        const CpuOptions& options = CpuOptions::FromEnvironment(),
                        CpuStats* stats = nullptr) const {
    const absl::StatusOr<std::vector<Product>> table = MakeTable(args, CpuBackEnd::kMakeMap);
    if (!table.ok()) return table.status();
    return Start(table->data(), CpuBackEnd{options, stats});
  }

 private:
  [[gnu::visibility("hidden")]] static constexpr GemmImage kImage = ImageOf<Listed<PolicyT>>();

  explicit Gemm(GemmListPlan plan) : plan_(std::move(plan)) {}
  static absl::StatusOr<Gemm> Planned(absl::StatusOr<GemmListPlan> plan) {
    if (!plan.ok()) return plan.status();
    return Gemm(*std::move(plan));
  }

  static std::vector<GemmRun> RunsOf(absl::Span<const Arguments> args) {
    std::vector<GemmRun> runs;
    runs.reserve(args.size());
    for (const Arguments& a : args) {
      runs.push_back(GemmRunOf<typename PolicyT::Epilogue>(a));
    }
    return runs;
  }
  absl::StatusOr<std::vector<Product>> MakeTable(absl::Span<const Arguments> args,
                                                 MakeTensorMap make) const {
    std::vector<Product> table(size());
    if (absl::Status s = PutTable(kImage, plan_, RunsOf(args), make, table.data()); !s.ok()) {
      return s;
    }
    return table;
  }

  template <class BackEnd>
  absl::Status Start(const Product* table, const BackEnd& on) const {
    return StartList(kImage, plan_, table, on, &BackEnd::template Run<Listed<PolicyT>>);
  }

  GemmListPlan plan_;
};

template <class PolicyT>
  requires(!CheckedGemmPolicy<Listed<PolicyT>>::kValid)
class Gemm<Listed<PolicyT>>
    : public RefusedOperator<Gemm<Listed<PolicyT>>, absl::Span<const GemmProblem>,
                             absl::Span<const RefusedArguments>> {};

}  // namespace weft::gemm
