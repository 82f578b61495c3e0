// Inverses of many small matrices by Newton's iteration, X <- X (2 I - A X): a block has one matrix,
// which stays in shared memory for all steps.
#pragma once
#include "weft/gemm/block.hpp"

struct SmallProduct
    : weft::gemm::BlockTypes<float, weft::layouts::RowMajor, weft::layouts::RowMajor> {
  static constexpr weft::gemm::BlockConfig config{.shape = {24, 24, 24},
                                                  .mainloop = weft::gemm::Mainloop::kSimt,
                                                  .threads = 64,
                                                  .alignment = 16};
};

struct NewtonParams {
  const float *a, *guess;  // [matrix][24][24]
  float* x;                // likewise
  int steps;
};

inline namespace WEFT_BACKEND {
struct NewtonKernel {  // grid: matrices
  using Product = weft::gemm::Block<SmallProduct>;
  using Params = NewtonParams;
  static constexpr int kThreads = Product::kThreads;
  static constexpr weft::arch::Requires kRequires = Product::kRequires;
  struct SharedStorage {
    Product::SharedA a, x;      // operands on the left
    Product::SharedB x_too, r;  // on the right; R = 2 I - A X
  };

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& s, weft::arch::Thread t) const {
    const auto matrix = [&](auto* all) {
      return weft::layouts::MakeMatrix(all + t.block_x() * 24 * 24, 24, 24,
                                       weft::layouts::RowMajor{});
    };
    const auto a = Product::ViewA(s.a), x = Product::ViewA(s.x);
    const auto x_too = Product::ViewB(s.x_too), r = Product::ViewB(s.r);
    Product::CopyA(t, matrix(p.a), a);
    Product::CopyA(t, matrix(p.guess), x);
    Product::CopyB(t, matrix(p.guess), x_too);
    Product::CopyB(t, matrix(p.a), r);  // for the zeros around it
    Product::Accumulators result;
    for (int step = 0; step < p.steps; ++step) {
      Product::WaitForCopies(t);
      Product::Multiply(t, a, x_too).ForEach(t, [&](float sum, auto at) {
        t.StoreShared(&r(at.column, at.row), (at.row == at.column ? 2.0f : 0.0f) - sum);
      });
      t.SyncThreads();
      result = Product::Multiply(t, x, r);
      t.SyncThreads();
      result.ForEach(t, [&](float sum, auto at) {
        t.StoreShared(&x(at.row, at.column), sum);
        t.StoreShared(&x_too(at.column, at.row), sum);
      });
    }
    result.StoreGlobal(t, matrix(p.x));
  }
};
}  // namespace WEFT_BACKEND
