// The steps of examples/ladder on the CPU executor, and what it refuses.
#include "tests/examples/ladder_cases.hpp"

namespace ladder {
namespace {

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
