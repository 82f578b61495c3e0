// A list of products as one would run it by cuBLASLt: a call each, in one graph. Only with
// WEFT_HAVE_CUBLASLT.
#pragma once

#if WEFT_HAVE_CUDA && WEFT_HAVE_CUBLASLT

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "perf/peers/lt_product.hpp"
#include "perf/support/stopwatch.hpp"
#include "weft/gemm/check/gemm_checks.hpp"

namespace weft::perf {

// Where the matrices of a product begin, in elements.
struct ListPlace {
  std::int64_t a = 0, b = 0, c = 0;
};

class ListByCalls {
 public:
  static constexpr int kBranches = 8;

  // The fastest of a few algorithms for each product. a, b, c: matrices to try it on.
  static absl::StatusOr<std::unique_ptr<ListByCalls>> Create(
      const std::vector<gemm::GemmProblem>& problems, cudaDataType_t operand, cudaDataType_t result,
      const Stopwatch& watch, const void* a, const void* b, void* c) {
    constexpr int kOffers = 8;
    constexpr double kTryMicroseconds = 200.0;
    auto made = std::make_unique<ListByCalls>();
    for (const gemm::GemmProblem& p : problems) {
      // In column-major words C^T = B^T A^T; B, column-major, needs transposing to be B^T. One with a
      // workspace of its own each, so that they can run side by side.
      WEFT_LET(LtProduct product, LtProduct::Create({.rows = p.n,
                                                     .columns = p.m,
                                                     .depth = p.k,
                                                     .transpose_a = true,
                                                     .operand = operand,
                                                     .result = result},
                                                    kOffers));
      int best = -1;
      double least = 0.0;
      for (int i = 0; i < product.algorithms(); ++i) {
        const auto us = watch.Short([&](int) { return product.Run(i, b, a, c, watch.stream()); }, 1,
                                    kTryMicroseconds);
        if (!us.ok()) (void)cudaGetLastError();
        if (us.ok() && (best < 0 || *us < least)) best = i, least = *us;
      }
      if (best < 0) return absl::NotFoundError("cuBLASLt has no algorithm that runs");
      made->calls_.push_back({std::move(product), best});
    }
    WEFT_TRY(made->fork_.Init());
    for (Branch& branch : made->branches_) {
      WEFT_TRY(branch.stream.Init());
      WEFT_TRY(branch.done.Init());
    }
    return made;
  }

  // One after the other; or in branches of the graph that it is captured in.
  template <class A, class C>
  absl::Status Run(bool branched, const std::vector<ListPlace>& places, const A* a, const A* b,
                   C* c, cudaStream_t stream) const {
    if (branched) {
      for (const Branch& to : branches_) WEFT_TRY(fork_.Order(stream, to.stream.get()));
    }
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      WEFT_TRY(calls_[i].product.Run(calls_[i].algorithm, b + places[i].b, a + places[i].a,
                                     c + places[i].c,
                                     branched ? branches_[i % kBranches].stream.get() : stream));
    }
    if (branched) {
      for (const Branch& from : branches_) WEFT_TRY(from.done.Order(from.stream.get(), stream));
    }
    return absl::OkStatus();
  }

  std::string name() const {
    return absl::StrCat(calls_.size(), " calls, the first ",
                        calls_[0].product.Name(calls_[0].algorithm));
  }

 private:
  struct Call {
    LtProduct product;
    int algorithm;
  };
  struct Branch {
    CudaStream stream;
    CudaEvent done;
  };
  std::vector<Call> calls_;
  Branch branches_[kBranches];
  CudaEvent fork_;
};

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA && WEFT_HAVE_CUBLASLT
