// For each point the nearest of some centres, in int8: a product and a reduction of the user's own.
// |x - c|^2 = |x|^2 - 2 x c + |c|^2, of which the first does not matter. Exact.
#pragma once
#include "weft/gemm/block.hpp"

using weft::layouts::ColumnMajor, weft::layouts::RowMajor;
struct PointProduct : weft::gemm::BlockTypes<std::int8_t, RowMajor, ColumnMajor> {
  static constexpr weft::gemm::BlockConfig config{.shape = {64, 64, 64},
                                                  .mainloop = weft::gemm::Mainloop::kMmaSm80,
                                                  .threads = 128,
                                                  .alignment = 16,
                                                  .whole_rows = true};
};

struct NearestParams {
  const std::int8_t *points, *centres;  // [point or centre][64]
  const std::int32_t* norms;            // |c|^2 of each centre
  std::int32_t* nearest;                // of each point; of several the first
  int point_count, centre_count;
};

inline namespace WEFT_BACKEND {
struct NearestKernel {  // grid: points / 64
  using Product = weft::gemm::Block<PointProduct>;
  using Params = NearestParams;
  using SharedStorage = Product::SharedStorage;
  static constexpr int kThreads = Product::kThreads;
  static constexpr weft::arch::Requires kRequires = Product::kRequires;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& s, weft::arch::Thread t) const {
    const auto rows = [](auto* of, int count, int first) {
      return weft::layouts::MakeMatrix(of + first * 64, count - first, 64, RowMajor{});
    };
    const int first_point = t.block_x() * 64;
    Product::CopyA(t, rows(p.points, p.point_count, first_point), Product::ViewA(s.a));
    // The distance, and in the lower bits which centre that is.
    constexpr std::int64_t kFar = INT64_MAX;
    const auto least = [](std::int64_t x, std::int64_t y) { return x < y ? x : y; };
    Product::Accumulators::RowValues<std::int64_t> best;
    for (int i = 0; i < Product::Accumulators::kRows; ++i) best[i] = kFar;
    for (int first = 0; first < p.centre_count; first += 64) {
      t.SyncThreads();  // the last centres have been read
      Product::CopyB(t, rows(p.centres, p.centre_count, first).Transposed(), Product::ViewB(s.b));
      Product::WaitForCopies(t);
      auto dot = Product::Multiply(t, Product::ViewA(s.a), Product::ViewB(s.b));
      const auto distance = [&](std::int32_t sum, auto at) {
        const int centre = first + at.column;
        if (centre >= p.centre_count) return kFar;
        return (t.LoadGlobal(p.norms + centre) - 2 * sum) * (std::int64_t{1} << 32) + centre;
      };
      const auto now = dot.ReduceRows(t, kFar, distance, least);
      for (int i = 0; i < dot.kRows; ++i) best[i] = least(best[i], now[i]);
    }
    Product::Accumulators::ForEachRow(t, [&](int row, int own) {
      const int point = first_point + row;
      if (point < p.point_count) t.StoreGlobal(p.nearest + point, std::int32_t(best[own]));
    });
  }
};
}  // namespace WEFT_BACKEND
