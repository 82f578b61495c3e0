// softmax(scale Q K^T) V: a block has 64 queries of a head and its keys, at most 128. Scores become
// the second product's operand A in registers. kMmaSm80 wants sm_80 or newer, kWgmmaSm90 sm_90a.
#pragma once
#include <cmath>

#include "weft/gemm/block.hpp"

using weft::gemm::Mainloop;
using weft::layouts::ColumnMajor, weft::layouts::RowMajor;
template <Mainloop kMainloop, class LayoutB, int n, int k>
struct HeadProduct : weft::gemm::BlockTypes<weft::Half, RowMajor, LayoutB> {
  static constexpr weft::gemm::BlockConfig config{.shape = {64, n, k},
                                                  .mainloop = kMainloop,
                                                  .threads = 128,
                                                  .alignment = 16,
                                                  .whole_rows = true};
};

template <Mainloop kMainloop>  // a type for each kernel
struct AttentionParams {
  const weft::Half *q, *k, *v;  // [head][query or key][64]
  float* o;                     // likewise
  int queries, keys;
  float scale;
};

inline namespace WEFT_BACKEND {
template <Mainloop kMainloop>
struct AttentionKernel {  // grid: queries / 64, heads
  using Scores = weft::gemm::Block<HeadProduct<kMainloop, ColumnMajor, 128, 64>>;
  using Output = weft::gemm::Block<HeadProduct<kMainloop, RowMajor, 64, 128>>;
  using Params = AttentionParams<kMainloop>;
  static constexpr int kThreads = Scores::kThreads;
  static constexpr weft::arch::Requires kRequires = Scores::kRequires;
  struct SharedStorage {
    typename Scores::SharedStorage scores;
    typename Output::SharedB v;
  };
  WEFT_DEVICE void operator()(const Params& p, SharedStorage& s, weft::arch::Thread t) const {
    const auto rows = [&](auto* of, int count, int first) {  // of the head, from row `first` on
      auto* const data = of + (std::int64_t{t.block_y()} * count + first) * 64;
      return weft::layouts::MakeMatrix(data, count - first, 64, RowMajor{});
    };
    Scores::CopyA(t, rows(p.q, p.queries, t.block_x() * 64), Scores::ViewA(s.scores.a));
    Scores::CopyB(t, rows(p.k, p.keys, 0).Transposed(), Scores::ViewB(s.scores.b));
    Output::CopyB(t, rows(p.v, p.keys, 0), Output::ViewB(s.v));
    Scores::WaitForCopies(t);
    auto score = Scores::Multiply(t, Scores::ViewA(s.scores.a), Scores::ViewB(s.scores.b));
    score.ForEach(t, [&](float& x, auto at) { x = at.column < p.keys ? x * p.scale : -INFINITY; });
    const auto top = score.RowMax(t);
    score.ForEach(t, [&](float& x, auto at) { x = expf(x - top[at.own_row]); });
    const auto weight = score.RowSum(t);
    const auto weights = Output::template FromAccumulators<Scores>(t, score, weft::Half::FromFloat);
    typename Output::Accumulators sum;
    Output::Multiply(t, weights, Output::ViewB(s.v), sum);
    sum.ForEach(t, [&](float& x, auto at) { x /= weight[at.own_row]; });
    sum.template StoreGlobal<2>(t, rows(p.o, p.queries, t.block_x() * 64));
  }
};
}  // namespace WEFT_BACKEND
