// The steps of examples/ladder on the CPU executor, and what it refuses.
#include "examples/ladder/counts.hpp"
#include "tests/examples/ladder_cases.hpp"

namespace ladder {
namespace {

// What docs/ladder.md says the executor counts.
TEST(Ladder, Counts) {
  constexpr int kSize = 256, kBytes = kSize * kSize;
  const auto conflicts = []<class Kernel>(std::type_identity<Kernel>) {
    const Counts counts = Count<Kernel>(kSize);
    EXPECT_EQ(counts.error, "");
    return counts.wavefronts;
  };
  EXPECT_EQ(conflicts(std::type_identity<Naive>()), 0);  // no shared memory
  EXPECT_GT(conflicts(std::type_identity<BlockTiles>()), 4);
  EXPECT_GT(conflicts(std::type_identity<ThreadTiles>()), 8);
  EXPECT_EQ(conflicts(std::type_identity<VectorLoads>()), 1);
  EXPECT_EQ(conflicts(std::type_identity<WarpTiles>()), 1);
  EXPECT_EQ(conflicts(std::type_identity<TensorCores>()), 4);
  EXPECT_EQ(conflicts(std::type_identity<Swizzled>()), 1);

  const Counts naive = Count<Naive>(kSize);
  EXPECT_EQ(naive.asked_bytes, 2.0 * kSize * kBytes + 4 * kBytes);
  // A warp's 32 bytes of A are one sector's, those of B lie in 32.
  EXPECT_EQ(naive.moved_bytes, 33.0 * kSize * kBytes + 4 * kBytes);
  // Tiles of 128 x 128 read each operand twice; tiles of 128 x 256 B twice and A once.
  for (const Counts& counts : {Count<DoubleBuffering>(kSize), Count<Swizzled>(kSize)}) {
    EXPECT_EQ(counts.asked_bytes, 4 * kBytes + 4 * kBytes);
    EXPECT_EQ(counts.moved_bytes, counts.asked_bytes);
  }
  EXPECT_EQ(Count<Wgmma>(kSize).moved_bytes, 3 * kBytes + 4 * kBytes);
}

TEST(Ladder, Refuses) {
  EXPECT_EQ(Fault(128, 256, 128), "");
  EXPECT_EQ(Fault(0, 256, 128),
            "ladder: m=0 is not 1 to 524280, the rows of the naive step's largest grid");
  EXPECT_EQ(Fault(1, 30, 128),
            "ladder: n=30 is not a multiple of 4 up to 2^30: sums are stored by 16 bytes; pad B");
  EXPECT_EQ(Fault(1, 4, 100),
            "ladder: k=100 is not a multiple of 16 up to 131056: rows are read by 16 bytes, and "
            "larger sums overflow int32; pad A and B with zeros");
  EXPECT_NE(Fault(1, 4, 131072), "");
}

}  // namespace
}  // namespace ladder
