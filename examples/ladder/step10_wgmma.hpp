// Step 10: TMA loads boxes, swizzled, without a thread's help; a warpgroup of four
// warps multiplies 64 x 256 sums with one instruction, both operands in shared memory.
#pragma once
#include "examples/ladder/product.hpp"
#include "weft/gemm/arch/isa/wgmma.hpp"

namespace ladder {

inline namespace WEFT_BACKEND {

struct Wgmma {
  static constexpr const char* kName = "TMA + wgmma";
  static constexpr int kTileM = 128, kTileN = 256, kTileK = 128, kStages = 4;
  static constexpr int kConsumers = 256, kThreads = kConsumers + 32;  // and a warp that copies
  static constexpr arch::Requires kRequires{.min = 90, .exact = true};
  using Params = MappedProduct;
  struct SharedStorage {
    alignas(1024) std::int8_t a[kStages][kTileM * kTileK], b[kStages][kTileN * kTileK];
    std::uint64_t full[kStages], empty[kStages];
  };

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& s, arch::Thread t) const {
    const int k_tiles = static_cast<int>((p.a.cols + kTileK - 1) / kTileK);
    const auto full = [&](int i) { return t.SharedAddress(&s.full[i % kStages]); };
    const auto empty = [&](int i) { return t.SharedAddress(&s.empty[i % kStages]); };
    if (t.tid() == 0) {
      for (int i = 0; i < kStages; ++i) t.MbarInit(full(i), 1), t.MbarInit(empty(i), 8);
      t.FenceMbarInit();
    }
    t.SyncThreads();
    if (t.tid() >= kConsumers) {
      for (int i = 0; i < k_tiles && t.tid() == kConsumers; ++i) {
        t.MbarWait(empty(i), i / kStages % 2 ^ 1);  // the warps have read what was there
        t.MbarArriveTx(full(i), (kTileM + kTileN) * kTileK);
        t.TmaLoad(t.SharedAddress(s.a[i % kStages]), p.a_map, full(i),
                  {i * kTileK, t.block_y() * kTileM});
        t.TmaLoad(t.SharedAddress(s.b[i % kStages]), p.b_map, full(i),
                  {i * kTileK, t.block_x() * kTileN});
      }
      return;
    }
    constexpr arch::WgmmaLayout kLayout{.swizzle = arch::SwizzleSpan::k128, .stride = 1024};
    const int group = t.WarpUniform(t.warp() / 4);  // has 64 of the tile's rows
    const auto release = [&](int i) {
      t.SyncWarp();
      if (t.ElectOne()) t.MbarArrive(empty(i));
    };
    std::int32_t sums[kTileN / 2];
    for (int i = 0; i < k_tiles; ++i) {
      t.MbarWait(full(i), i / kStages % 2);
      const auto a_start = t.SharedAddress(s.a[i % kStages]) + group * 64 * kTileK;
      const auto a = arch::WgmmaDescriptor(a_start, kLayout);
      const auto b = arch::WgmmaDescriptor(t.SharedAddress(s.b[i % kStages]), kLayout);
      t.KeepInPlace(sums);
      t.WgmmaFence();
      WEFT_UNROLL
      for (int k = 0; k < 4; ++k) t.WgmmaS8<kTileN>(sums, a + 2 * k, b + 2 * k, i > 0 || k > 0);
      t.WgmmaCommit();
      t.WgmmaWait<1>();  // the last k tile's products
      if (i > 0) release(i - 1);
    }
    t.WgmmaWait<0>();
    t.KeepInPlace(sums);
    const int row = t.block_y() * kTileM + t.warp() * 16 + t.lane() / 4;
    const int column = t.block_x() * kTileN + t.lane() % 4 * 2;
    WEFT_UNROLL
    for (int r = 0; r < kTileN / 2; r += 2) {  // arch::kWgmmaAccumulator
      StoreSums<2>(t, p.c, row + r / 2 % 2 * 8, column + r / 4 * 8, {{sums[r], sums[r + 1]}});
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace ladder
