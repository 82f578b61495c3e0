// cuBLASLt's algorithms for a product of gemm_bench.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "perf/bench/bench.hpp"
#include "perf/gemm_bench/elements.hpp"
#include "perf/gemm_bench/operands.hpp"
#include "perf/peers/lt_product.hpp"
#include "weft/gemm/check/gemm_checks.hpp"

namespace weft::perf {

// The fastest of the algorithms that cuBLASLt's heuristic offers for a type and its layouts. fast_sums: of 8-bit floats, whose
// sums then stay in the tensor cores, as ours do; without they are added up in float. `sets` outlive it.
template <class P>
absl::StatusOr<Way> FindAlgorithm(const Stopwatch& watch, const gemm::GemmProblem& problem,
                                  const std::vector<Set>& sets, bool fast_sums) {
  constexpr int kMostOffers = 32;
  using Element = typename P::Element;
  // In cuBLASLt's column-major words it is the transpose: C^T (n x m) = B^T (n x k) A^T (k x m). A row-major B is a
  // column-major B^T; a column-major A needs transposing to be A^T.
  WEFT_LET(LtProduct made,
           LtProduct::Create({.rows = problem.n,
                              .columns = problem.m,
                              .depth = problem.k,
                              .transpose_a = gemm::kKMajorB<P> || kPeerWantsKMajor<Element>,
                              .transpose_b = !gemm::kKMajorA<P> && !kPeerWantsKMajor<Element>,
                              .operand = Type<Element>::kCuda,
                              .result = Type<typename P::Epilogue::Output>::kCuda,
                              .half_sums = gemm::kHalfSums<P>,
                              .tf32 = std::is_same_v<Element, Tf32>,
                              .fast_sums = fast_sums,
                              .batch = static_cast<int>(problem.batch)},
                             kMostOffers));
  const auto product = std::make_shared<const LtProduct>(std::move(made));
  const auto run = [product, &sets, stream = watch.stream()](int algorithm, int set) {
    const Set& s = sets[set];
    return product->Run(algorithm, s.b.data(), s.a.data(), s.c.data(), stream);
  };
  const auto attempt = [&](int algorithm) {
    return watch.Short([&](int set) { return run(algorithm, set); }, static_cast<int>(sets.size()),
                       0);
  };
  WEFT_LET(const int best, FastestAnswer(product->algorithms(), "cuBLASLt", attempt));
  return Way{product->Name(best), [run, best](int set) { return run(best, set); }};
}

}  // namespace weft::perf
