// Channel groups in a problem: what is accepted, what is counted, how it is called.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "weft/conv/problem/problem.hpp"
#include "weft/conv/problem/problem_checks.hpp"
#include "weft/conv/problem/problem_name.hpp"

namespace weft::conv {
namespace {

using testing::HasSubstr;

Problem WithGroups(std::int64_t c, std::int64_t k, std::int64_t groups) {
  Problem p = SquareProblem(2, c, 9, k, 3, 1, 2);
  p.groups = groups;
  return p;
}

std::string Message(const Problem& p) {
  const absl::Status s = CheckProblem(p);
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument) << s;
  return std::string(s.message());
}

TEST(ProblemGroups, OneFilterIsThatOfOneGroup) {
  EXPECT_TRUE((WithGroups(12, 20, 1).filter() == FilterExtents{20, 12, 3, 3}));
  EXPECT_TRUE((WithGroups(12, 20, 4).filter() == FilterExtents{5, 3, 3, 3}));
  EXPECT_TRUE((WithGroups(12, 20, 4).src() == TensorExtents{2, 12, 9, 9}));
  EXPECT_TRUE((WithGroups(12, 20, 4).dst() == TensorExtents{2, 20, 5, 5}));
}

TEST(ProblemGroups, MultiplyEachOutputWithItsGroupOnly) {
  EXPECT_EQ(WithGroups(12, 20, 1).macs(), 2.0 * 20 * 25 * 12 * 9);
  EXPECT_EQ(WithGroups(12, 20, 4).macs(), 2.0 * 20 * 25 * 3 * 9);
}

TEST(ProblemGroups, DivideTheChannels) {
  EXPECT_TRUE(CheckProblem(WithGroups(12, 20, 4)).ok());
  EXPECT_TRUE(CheckProblem(WithGroups(7, 7, 7)).ok());
  EXPECT_EQ(Message(WithGroups(12, 20, 0)), "conv: groups=0 is not positive; give 1 or more");
  EXPECT_EQ(Message(WithGroups(12, 20, -4)), "conv: groups=-4 is not positive; give 1 or more");
  EXPECT_EQ(Message(WithGroups(12, 20, 5)),
            "conv: c=12 is not a multiple of groups=5; each group has as many channels as the "
            "others");
  EXPECT_EQ(Message(WithGroups(12, 20, 3)),
            "conv: k=20 is not a multiple of groups=3; each group has as many channels as the "
            "others");
}

// The sums of one group are what can overflow.
TEST(ProblemGroups, AccumulatorLimitIsOfOneGroup) {
  Problem p = SquareProblem(1, 2 * 131071, 1, 2, 1, 0, 1);
  EXPECT_THAT(Message(p), HasSubstr("conv: c*r*s=262142 products"));
  p.groups = 2;
  EXPECT_TRUE(CheckProblem(p).ok());
  p.c = 2 * 131072;
  EXPECT_THAT(Message(p), HasSubstr("conv: c/groups*r*s=131072 products of two int8 values can "
                                    "overflow the int32 accumulator; at most 131071"));
}

TEST(ProblemGroups, ArePartOfTheName) {
  Problem p = WithGroups(12, 20, 4);
  EXPECT_EQ(ProblemName(p), "n2c12h9w9k20r3s2p1g4");
  p.dilation_w = 2, p.mode = Mode::kConvolution;
  EXPECT_EQ(ProblemName(p), "n2c12h9w9k20r3s2p1d1x2g4flipped");
  for (const std::int64_t groups : {1, 2, 4}) {
    p.groups = groups;
    const auto back = ParseProblemName(ProblemName(p));
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(*back, p);
  }
  const auto bad = ParseProblemName("n2c12h9w9k20r3s2p1g");
  EXPECT_THAT(std::string(bad.status().message()),
              HasSubstr("'g' stands where 'g' and the channel groups would be accepted"));
}

}  // namespace
}  // namespace weft::conv
