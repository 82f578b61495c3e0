// The order of filters for cuDNN is a permutation; cudnn_test.cu compares it with cuDNN's.
#include "tests/conv/cudnn_reorder.hpp"

#include <gtest/gtest.h>

#include <set>

namespace weft::conv {
namespace {

TEST(CudnnReorder, EveryElementHasAPlaceOfItsOwn) {
  const FilterExtents e{96, 64, 3, 2};
  std::set<std::int64_t> places;
  for (std::int64_t k = 0; k < e.k; ++k) {
    for (std::int64_t c = 0; c < e.c; ++c) {
      for (std::int64_t r = 0; r < e.r; ++r) {
        for (std::int64_t s = 0; s < e.s; ++s) {
          const std::int64_t place = CudnnFilterOffset(e, k, c, r, s);
          EXPECT_TRUE(place >= 0 && place < e.k * e.c * e.r * e.s);
          places.insert(place);
          // 8 output channels of one block of 32 channels stay together.
          EXPECT_EQ(place / 256, (((c / 32 * e.r + r) * e.s + s) * e.k + k) / 8);
        }
      }
    }
  }
  EXPECT_EQ(static_cast<std::int64_t>(places.size()), e.k * e.c * e.r * e.s);
  std::set<std::int64_t> biases;
  for (std::int64_t k = 0; k < 64; ++k) biases.insert(CudnnBiasOffset(k));
  EXPECT_EQ(biases.size(), 64u);
  EXPECT_EQ(*biases.rbegin(), 63);
}

TEST(CudnnReorder, Examples) {
  const FilterExtents e{32, 32, 1, 1};
  EXPECT_EQ(CudnnFilterOffset(e, 0, 0, 0, 0), 0);
  EXPECT_EQ(CudnnFilterOffset(e, 0, 1, 0, 0), 1);
  EXPECT_EQ(CudnnFilterOffset(e, 0, 4, 0, 0), 16);
  EXPECT_EQ(CudnnFilterOffset(e, 2, 0, 0, 0), 4);
  EXPECT_EQ(CudnnFilterOffset(e, 1, 0, 0, 0), 128);
  EXPECT_EQ(CudnnFilterOffset(e, 8, 0, 0, 0), 256);
  EXPECT_EQ(CudnnBiasOffset(4), 16);
  EXPECT_EQ(CudnnBiasOffset(8), 4);
}

}  // namespace
}  // namespace weft::conv
