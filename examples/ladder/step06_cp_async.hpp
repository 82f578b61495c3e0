// Step 6: cp.async copies from global to shared memory past the registers, two k tiles ahead
// (ring.hpp).
#pragma once
#include "examples/ladder/ring.hpp"

namespace ladder {
inline namespace WEFT_BACKEND {

// Which sums a thread has is step 7's matter.
template <class ThreadSums>
struct AsyncKernel {
  static constexpr int kTileM = 128, kTileN = 128, kThreads = 256, kMinBlocksPerSm = 2;
  static constexpr arch::Requires kRequires{.min = 80};
  // Rows as they lie in memory, for cp.async moves whole 16 bytes: a thread multiplies 16 bytes of
  // k at a time. The gap puts neighbouring rows into different banks.
  static constexpr int kPitch = kStageK + 16;
  using Params = Product;
  using SharedStorage = Ring<3, kPitch>;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& s, arch::Thread t) const {
    const int first_row = t.block_y() * kTileM;
    const int first_column = t.block_x() * kTileN;
    const ThreadSums of(t);
    std::int32_t sums[8][1][8] = {};  // [column][][row]
    const auto multiply = [&](const std::int8_t* a_k_tile, const std::int8_t* b_k_tile) {
      WEFT_NO_UNROLL  // or registers run out
          for (int k = 0; k < kStageK; k += 16) {
        Words a[8];
        WEFT_UNROLL
        for (int r = 0; r < 8; ++r) a[r] = Load(t, a_k_tile + of.row(r) * kPitch + k);
        WEFT_UNROLL
        for (int c = 0; c < 8; ++c) {
          const Words b = Load(t, b_k_tile + of.column(c) * kPitch + k);
          WEFT_UNROLL
          for (int w = 0; w < 4; ++w) {
            const std::uint32_t one[1] = {b.v[w]},
                                eight[8] = {a[0].v[w], a[1].v[w], a[2].v[w], a[3].v[w],
                                            a[4].v[w], a[5].v[w], a[6].v[w], a[7].v[w]};
            t.Dp4aOuter(sums[c], one, eight);
          }
        }
      }
    };
    ForEachKTile<kThreads>(
        t, p, first_row, first_column, s, [](int row, int byte) { return row * kPitch + byte; },
        multiply);
    WEFT_UNROLL
    for (int r = 0; r < 8; ++r) {
      WEFT_UNROLL
      for (int c = 0; c < 8; c += ThreadSums::kRun) {
        Pack<std::int32_t, ThreadSums::kRun> run;
        WEFT_UNROLL
        for (int i = 0; i < ThreadSums::kRun; ++i) run.v[i] = sums[c + i][0][r];
        StoreSums(t, p.c, first_row + of.row(r), first_column + of.column(c), run);
      }
    }
  }

 private:
  WEFT_DEVICE static Words Load(arch::Thread t, const std::int8_t* p) {
    return t.LoadShared(reinterpret_cast<const Words*>(p));
  }
};

// The 16 x 16 threads have every 16th row and column.
struct EverySixteenth {
  static constexpr int kRun = 1;  // neighbouring sums
  int y, x;
  WEFT_DEVICE explicit EverySixteenth(arch::Thread t) : y(t.tid() / 16), x(t.tid() % 16) {}
  WEFT_DEVICE int row(int i) const { return y + 16 * i; }
  WEFT_DEVICE int column(int j) const { return x + 16 * j; }
};

struct CpAsync : AsyncKernel<EverySixteenth> {
  static constexpr const char* kName = "cp.async";
};

}  // namespace WEFT_BACKEND
}  // namespace ladder
