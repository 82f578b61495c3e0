// cuBLASLt's algorithms for a product of gemm_bench. Only with WEFT_HAVE_CUBLASLT.
#pragma once

#if WEFT_HAVE_CUDA && WEFT_HAVE_CUBLASLT

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "perf/gemm_bench/elements.hpp"
#include "perf/gemm_bench/operands.hpp"
#include "perf/peers/lt_product.hpp"
#include "perf/support/stopwatch.hpp"
#include "weft/gemm/check/gemm_checks.hpp"

namespace weft::perf {

inline constexpr int kMostOffers = 32;

struct Algorithm {
  std::shared_ptr<const LtProduct> product;
  int index = -1;  // -1: none
  double microseconds = 0.0;

  // In cuBLASLt's column-major words it is the transpose: C^T (n x m) = B^T (n x k) A^T (k x m). A
  // row-major B is a column-major B^T; a column-major A needs transposing to be A^T.
  absl::Status Run(const Set& s, cudaStream_t stream) const {
    return product->Run(index, s.b.data(), s.a.data(), s.c.data(), stream);
  }
  std::string Kernels(const std::vector<Set>& sets) const {
    return product->Kernels(index, sets[0].b.data(), sets[0].a.data(), sets[0].c.data());
  }
};

// What cuBLASLt has for a type and its layouts: `best` of what the heuristic offers, and `sm80`, if
// asked for, of all that run on sm_80 as well, of a product on tensor cores. Of 8-bit floats `best` keeps
// sums in the tensor cores, as ours do, and `full` adds them up in float.
struct Algorithms {
  Algorithm best, sm80, full;
};

inline bool RunsOnSm80(const std::string& kernels) {
  return absl::StrContains(kernels, "sm80") || absl::StrContains(kernels, "_80_") ||
         absl::StrContains(kernels, "ampere");
}

// Runs the algorithms of a product once over the sets; sm80: null for no interest in it.
inline absl::Status TimeAlgorithms(const Stopwatch& watch,
                                   const std::shared_ptr<const LtProduct>& product,
                                   const std::vector<Set>& sets, Algorithm* best, Algorithm* sm80) {
  for (int i = 0; i < product->algorithms(); ++i) {
    Contestant one;
    one.enqueue = [&](int set) { return Algorithm{product, i}.Run(sets[set], watch.stream()); };
    if (!watch.Prepare(one, static_cast<int>(sets.size()), 0).ok() || !watch.Sample(one).ok()) {
      (void)cudaGetLastError();
      continue;
    }
    const Algorithm timed = {product, i, one.samples[0]};
    const auto quicker = [&](const Algorithm& than) {
      return than.index < 0 || timed.microseconds < than.microseconds;
    };
    if (i < product->offered() && quicker(*best)) *best = timed;
    if (sm80 != nullptr && quicker(*sm80) && RunsOnSm80(timed.Kernels(sets))) *sm80 = timed;
  }
  return best->index >= 0 ? absl::OkStatus()
                          : absl::NotFoundError("cuBLASLt has no algorithm that runs");
}

template <class P>
absl::StatusOr<Algorithms> SearchAlgorithms(const Stopwatch& watch,
                                            const gemm::GemmProblem& problem,
                                            const std::vector<Set>& sets, bool with_sm80) {
  using Element = typename P::Element;
  constexpr bool kFloat8 = kPeerWantsLines<Element>;
  const bool on_sm80 =
      with_sm80 && !std::is_floating_point_v<Element> && !kFloat8 && !kIsComplex<Element>;
  LtShape shape = {.rows = problem.n,
                   .columns = problem.m,
                   .depth = problem.k,
                   .transpose_a = gemm::kKMajorB<P> || kPeerWantsLines<Element>,
                   .transpose_b = !gemm::kKMajorA<P> && !kPeerWantsLines<Element>,
                   .operand = Type<Element>::kCuda,
                   .result = Type<typename P::Epilogue::Output>::kCuda,
                   .half_sums = gemm::kHalfSums<P>,
                   .tf32 = std::is_same_v<Element, Tf32>,
                   .fast_sums = kFloat8,
                   .batch = static_cast<int>(problem.batch)};
  const auto create = [&]() -> absl::StatusOr<std::shared_ptr<const LtProduct>> {
    WEFT_LET(LtProduct product, LtProduct::Create(shape, kMostOffers));
    if (on_sm80) product.AddAll();
    return std::make_shared<const LtProduct>(std::move(product));
  };
  Algorithms found;
  WEFT_LET(const auto product, create());
  WEFT_TRY(TimeAlgorithms(watch, product, sets, &found.best, on_sm80 ? &found.sm80 : nullptr));
  if (kFloat8) {
    shape.fast_sums = false;
    WEFT_LET(const auto full, create());
    (void)TimeAlgorithms(watch, full, sets, &found.full,
                         nullptr);  // if there is none, there is none
  }
  return found;
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA && WEFT_HAVE_CUBLASLT
