// gemm::Block by wgmma on the CPU executor, and what does not need a kernel.
#include "tests/gemm/block/wgmma_cases.hpp"

namespace weft::gemm {

enum class BlockBug { kNone, kMissingWait, kMissingProxyFence, kMissingWgmmaFence };

inline namespace WEFT_BACKEND {

// One product, with a bug.
template <BlockBug kBug>
struct BuggyKernel {
  using B = Block<S8WgmmaRagged>;
  struct Params {
    layouts::Matrix<const std::int8_t> a, b;
    std::int32_t* sums;
  };
  using SharedStorage = B::SharedStorage;
  static constexpr int kThreads = B::kThreads;
  static constexpr arch::Requires kRequires = B::kRequires;
  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, arch::Thread t) const {
    using M = B::Mainloop;
    B::CopyA(t, p.a, B::ViewA(shared.a));
    B::CopyB(t, p.b, B::ViewB(shared.b));
    if constexpr (kBug != BlockBug::kMissingWait) B::WaitForCopies(t);
    B::Accumulators acc;
    if constexpr (kBug == BlockBug::kNone || kBug == BlockBug::kMissingWait) {
      B::Multiply(t, B::ViewA(shared.a), B::ViewB(shared.b), acc);
    } else {  // what that does, but for one line of Begin
      if constexpr (kBug != BlockBug::kMissingProxyFence) t.FenceProxyAsync();
      if constexpr (kBug != BlockBug::kMissingWgmmaFence) t.WgmmaFence();
      for (int s = 0; s < B::OperandA::kKTiles; ++s) {
        M::Multiply(t, t.SharedAddress(&shared.a) + s * M::kBytesA,
                    t.SharedAddress(&shared.b) + s * M::kBytesB, acc.registers);
      }
      M::End(t, acc.registers);
    }
    acc.StoreGlobal(t, layouts::MakeMatrix(p.sums, B::kM, B::kN, RowMajor{}));
  }
};

}  // namespace WEFT_BACKEND

namespace {

// Under every schedule with deferred copies: a report that holds `text`, or else wrong sums.
template <BlockBug kBug>
void ExpectCaught(const std::string& text) {
  constexpr TileShape s = S8WgmmaRagged::config.shape;
  Values source{std::mt19937(3), false};
  TestMatrix<std::int8_t> a(s.m, s.k, true, 16, &source), b(s.k, s.n, false, 16, &source);
  for (const arch::CpuOptions& options : arch::testing::AllSchedules()) {
    if (options.copies == arch::Copies::kEager) continue;
    std::vector<std::int32_t> sums(s.m * s.n);
    const arch::CpuReport report = arch::LaunchOnCpu<BuggyKernel<kBug>>(
        {1}, {a.On(a.values.data()), b.On(b.values.data()), sums.data()}, options);
    int wrong = 0;
    for (int i = 0; i < s.m * s.n; ++i) {
      wrong += sums[i] != Reference(a, b, i / s.n, i % s.n, Sums::kExact, 1).sum;
    }
    EXPECT_EQ(report.ok(), text.empty()) << report.error;
    EXPECT_NE(report.error.find(text), std::string::npos) << report.error;
    EXPECT_TRUE(!text.empty() || (wrong > 0) == (kBug != BlockBug::kNone));
  }
}

TEST(BlockWgmma, PlantedBugsAreCaught) {
  ExpectCaught<BlockBug::kNone>("");
  ExpectCaught<BlockBug::kMissingProxyFence>("");
  ExpectCaught<BlockBug::kMissingWgmmaFence>("WgmmaFence is missing");
#if !WEFT_TEST_TSAN  // which stops at the race
  ExpectCaught<BlockBug::kMissingWait>("");
#endif
}

// Stages lie as the descriptors say.
template <class Layout, int kRows, int kGroups>
void ExpectDescribed() {
  int different = 0;
  for (int row = 0; row < kRows; ++row) {
    for (int k = 0; k < 32 * kGroups; ++k) {
      const std::uint32_t start = 7 * Layout::kAlignment + k / 32 * 32;
      different += arch::WgmmaKMajorAddress(start, Layout::kDescriptor, row, k % 32) !=
                   7u * Layout::kAlignment + Layout::Offset(row, k / 32, k % 32 / 16) + k % 16;
    }
  }
  EXPECT_EQ(different, 0);
}

TEST(BlockWgmma, StagesLieAsDescribed) {
  ExpectDescribed<WgmmaKMajor<64, 1>, 64, 1>();
  ExpectDescribed<WgmmaKMajor<24, 2>, 24, 2>();
  ExpectDescribed<WgmmaKMajor<128, 4>, 128, 4>();
}

// Every division covers the product and leaves no warpgroup of it without work.
TEST(BlockWgmma, TilesCoverEveryShape) {
  for (int m = 1; m <= 300; m += 13) {
    for (int n = 1; n <= 256; n += 5) {
      for (int groups = 1; groups <= 4; ++groups) {
        for (const int bytes : {1, 2}) {
          for (const bool whole_rows : {false, true}) {
            const internal::BlockTiles tiles =
                internal::WgmmaTiles({m, n, 40}, bytes, groups, whole_rows);
            const int wm = tiles.block.m / tiles.warp.m, wn = tiles.block.n / tiles.warp.n;
            ASSERT_TRUE(arch::IsWgmmaN(tiles.warp.n));
            EXPECT_GE(tiles.block.m, m);
            EXPECT_GE(tiles.block.n, n);
            EXPECT_GT(m, 64 * (wm / 4 - 1));
            EXPECT_GT(n, tiles.block.n - tiles.warp.n);
            EXPECT_EQ(wm % 4, 0);
            EXPECT_EQ(wm * wn, tiles.warps);
            EXPECT_LE(tiles.warps, 4 * groups);
            EXPECT_EQ(tiles.warp.m * tiles.warp.n, 32 * tiles.sums);
            EXPECT_TRUE(!whole_rows || wn == 1);
          }
        }
      }
    }
  }
  EXPECT_EQ(Block<S8WgmmaMnMajor>::kThreads, 256);
  EXPECT_EQ(Block<S8WgmmaSmall>::Accumulators::kThreads, 128);
  EXPECT_EQ(Block<HalfWgmmaRagged>::Accumulators::kRows, 6);
  EXPECT_EQ(Block<Bfloat16WgmmaMnMajor>::Accumulators::kThreads, 512);
}

}  // namespace
}  // namespace weft::gemm
