// Runs an operator of the table on its problems and compares every output with plain loops: exactly where the contract
// defines it to the bit, else within the bound that follows from one rounding of each product and partial sum. Compiled by
// g++ the operator runs on the CPU, under one schedule of the executor after the other; compiled by nvcc on the GPU.
#pragma once

// Before the tests' Launch, which has the name of a type of the library.
#include "weft/gemm/gemm_list.hpp"

#include "tests/gemm/table/product.hpp"

#if !defined(WEFT_CUDA_BACKEND)
#include "tests/gemm/arch/harness.hpp"
#endif

namespace weft::gemm::table {

// Whether warps add up doubles and complex doubles as the contract says: those of tensor cores do not everywhere.
template <class P>
constexpr Facts FactsFor() {
  using Element = typename P::Element;
  constexpr bool kMma = P::config.kMainloop == Mainloop::kMmaSm80;
  Facts f;
  f.a_k_major = kKMajorA<P>, f.b_k_major = kKMajorB<P>;
  f.row_major_c = std::is_same_v<typename P::LayoutC, RowMajor>;
  f.k_tile = P::config.threadblock.k, f.part = P::config.warp.k;
  if constexpr (std::is_same_v<Element, float>) {
    f.arithmetic = Arithmetic::kFloat;
  } else if constexpr (std::is_same_v<Element, double>) {
    f.arithmetic = Arithmetic::kDouble;
    if (kMma && kOnGpu) f.step = 0x1p-52;
  } else if constexpr (std::is_same_v<Element, Complex<float>>) {
    f.arithmetic = Arithmetic::kComplexFloat;
  } else if constexpr (std::is_same_v<Element, Complex<double>>) {
    f.arithmetic = Arithmetic::kComplexDouble;
    if (kMma) f.step = 0x1p-50;
  } else if constexpr (kHalfSums<P> && kMma) {
    f.small_values = true;
    f.step = 0x1p-10;
    if (!kOnGpu) f.arithmetic = Arithmetic::kHalf;
  } else if constexpr (!kByte<Element>) {
    f.step = sizeof(Element) == 1 ? 0x1p-12 : 0x1p-23;
    f.small_values = sizeof(Element) == 1;
  }
  return f;
}

template <class P>
using ProductOf =
    Product<typename P::Element, typename P::Epilogue, LoadOf<P, true>, LoadOf<P, false>>;

// run(): on the GPU.
template <class Op, class Arguments, class RunFunction>
void Launch([[maybe_unused]] const Op& op, [[maybe_unused]] const Arguments& args,
            [[maybe_unused]] std::uint32_t seed, [[maybe_unused]] const RunFunction& run) {
#if defined(WEFT_CUDA_BACKEND)
  const absl::Status status = run();
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
#else
  const auto all = arch::testing::AllSchedules();
  const absl::Status status = op.RunOnCpu(args, all[seed % all.size()]);
  ASSERT_TRUE(status.ok()) << status;
#endif
}

template <class P>
void ExpectProduct(const Problem& problem, std::uint32_t seed) {
  SCOPED_TRACE(absl::StrCat(ToString(problem), " seed ", seed));
  using Op = Gemm<P>;
  const absl::StatusOr<Op> op = Op::Create(problem.product);
  ASSERT_TRUE(op.ok()) << op.status();
  const ProductOf<P> product(op->problem(), problem, FactsFor<P>(), seed, 0);
  const auto args = product.template Args<typename Op::Arguments>();
  Launch(*op, args, seed, [&] { return op->Run(args, nullptr); });
  if (!testing::Test::HasFatalFailure()) product.ExpectResult();
}

// op: a list of P's products, or of tiles of its types and layouts.
template <class P, class Op>
void ExpectListOf(const absl::StatusOr<Op>& op, const std::vector<Problem>& problems,
                  std::uint32_t seed) {
  SCOPED_TRACE(absl::StrCat("a list of ", problems.size(), " products, seed ", seed));
  ASSERT_TRUE(op.ok()) << op.status();
  std::vector<std::unique_ptr<ProductOf<P>>> products;
  std::vector<typename Op::Arguments> args(
      problems.size());  // of those without tiles there are none
  for (std::size_t i = 0; i < problems.size(); ++i) {
    products.push_back(std::make_unique<ProductOf<P>>(op->problem(i), problems[i], FactsFor<P>(),
                                                      seed + static_cast<std::uint32_t>(i),
                                                      static_cast<int>(i)));
    if (!problems[i].product.IsEmpty()) {
      args[i] = products[i]->template Args<typename Op::Arguments>();
    }
  }
  using Line = typename decltype(op->Table(args))::value_type::value_type;
  std::optional<OperatorMemory<Line>> memory;  // until the list has run
  Launch(*op, args, seed, [&] {
    const auto table = op->Table(args);
    if (!table.ok()) return table.status();
    memory.emplace(*table);
    return op->Run(memory->get(), nullptr);
  });
  if (testing::Test::HasFatalFailure()) return;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    SCOPED_TRACE(absl::StrCat("product ", i, " ", ToString(problems[i])));
    products[i]->ExpectResult();
  }
}

template <class P>
void ExpectList(const std::vector<Problem>& problems, std::uint32_t seed) {
  std::vector<GemmProblem> list;
  for (const Problem& p : problems) list.push_back(p.product);
  ExpectListOf<P>(Gemm<Listed<P>>::Create(list), problems, seed);
}

// Every problem of the table; stops at the first that is wrong. Products, or batches of them:
template <class P>
void ExpectEveryBatch(Rows rows) {
  std::uint32_t seed = 1;
  for (const Problem& problem : ProblemsFor(GemmFactsOf<P>(), rows)) {
    ExpectProduct<P>(problem, seed++);
    if (testing::Test::HasFailure()) return;
  }
}
template <class P>
void ExpectEveryGroups(Rows rows) {
  ExpectEveryBatch<Grouped<P>>(rows);
}
template <class P>
void ExpectEveryList(Rows rows) {
  std::uint32_t seed = 1;
  for (const std::vector<Problem>& list : ListsFor(GemmFactsOf<Listed<P>>(), rows)) {
    ExpectList<P>(list, seed);
    seed += 100;
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace weft::gemm::table
