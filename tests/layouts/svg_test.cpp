// Pictures: one cell for each element, escaped text, and what a thread-value picture shows of
// elements that nobody or several threads hold. The pictures themselves are compared with
// docs/images/ by readme_examples_test.cpp.
#include "weft/layouts/svg.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace weft::layouts {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

int Count(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(ToSvg, DrawsOneCellForEachElement) {
  const std::string svg = ToSvg(MakeLayout(MakeTuple(4, MakeTuple(2, 3)), RowMajor{}));
  EXPECT_EQ(Count(svg, "<rect"), 1 + 24);          // the background and the cells
  EXPECT_EQ(Count(svg, "<text"), 1 + 4 + 6 + 24);  // title, rows, columns, cells
  EXPECT_THAT(svg, HasSubstr(">(4,(2,3)):(6,(3,_1))<"));
  EXPECT_EQ(svg.rfind("<svg", 0), 0u);
  EXPECT_EQ(Count(svg, "</svg>"), 1);
}

TEST(ToSvg, EscapesTheTitleAndTakesOneOfYourOwn) {
  const auto swizzled = Composition(Swizzle<1, 0, 1>{}, MakeLayout(4));
  EXPECT_THAT(ToSvg(swizzled), HasSubstr("Swizzle&lt;1,0,1&gt; o _0 o 4:_1"));
  EXPECT_THAT(ToSvg(swizzled, {.title = "a & b"}), HasSubstr(">a &amp; b<"));
}

TEST(ToSvg, ColorsOffsetsByPeriod) {
  const std::string svg = ToSvg(MakeLayout(MakeTuple(2, 4)), {.color_period = 2});
  const auto first = svg.find("fill=\"#", svg.find("<rect x"));
  const std::string color = svg.substr(first, 14);
  EXPECT_EQ(Count(svg, color), 4);  // the even offsets
}

TEST(ThreadValueSvg, ShowsGapsAndSharedElements) {
  // Two threads with two values each on five elements: 0 1 | 1 2; elements 3 and 4 are nobody's.
  const auto tv = MakeLayout(MakeTuple(2, 2), MakeTuple(1, 1));
  const std::string svg = ThreadValueSvg(tv, MakeTuple(1, 5));
  EXPECT_EQ(Count(svg, "<rect"), 1 + 5);
  EXPECT_EQ(Count(svg, ">T0<"), 2);
  EXPECT_EQ(Count(svg, ">T1<"), 1);
  EXPECT_EQ(Count(svg, ">+1<"), 1);
  EXPECT_EQ(Count(svg, "fill=\"#ffffff\" stroke"), 2);
  EXPECT_THAT(svg, Not(HasSubstr(">T2<")));
}

}  // namespace
}  // namespace weft::layouts
