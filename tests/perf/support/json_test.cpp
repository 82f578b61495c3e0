#include "perf/support/json.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace weft::perf {
namespace {

TEST(Json, Numbers) {
  EXPECT_EQ(Line(Rounded(1.0)), "1");
  EXPECT_EQ(Line(Rounded(99.7, 0)), "100");
  EXPECT_EQ(Line(Rounded(-0.12345)), "-0.123");
  EXPECT_EQ(Line(Rounded(2.50, 2)), "2.5");
  EXPECT_EQ(Line(Rounded(5.586)), "5.586");
  EXPECT_EQ(Line(Rounded(std::numeric_limits<double>::infinity())), "null");
}

TEST(Json, AResultFileHasOneLineARow) {
  const Json rows = {{{"x", 1}, {"y", "a \"b\"\n"}}, {{"x", 2}}};
  const std::string text = ResultText({{"device", "X"}}, {{"won", 1}}, rows);
  EXPECT_EQ(
      text,
      "{\n\"environment\": {\n \"device\": \"X\"\n},\n\"summary\": {\"won\":1},\n\"rows\": [\n"
      "{\"x\":1,\"y\":\"a \\\"b\\\"\\n\"},\n{\"x\":2}\n]}\n");
  EXPECT_EQ(Json::parse(text)["rows"], rows);
  EXPECT_TRUE(Json::parse(ResultText({{"a", 1}}, Json::object(), Json::array()))["rows"].empty());
}

TEST(Json, BytesThatAreNoTextAreReplaced) {
  EXPECT_EQ(Line({{"a", "\xff"}}), "{\"a\":\"\xEF\xBF\xBD\"}");
}

TEST(Files, ComeBackOrSayWhatIsWrong) {
  const std::string path = testing::TempDir() + "/file.txt";
  ASSERT_TRUE(WriteFile(path, "a\n\nb").ok());
  EXPECT_EQ(*ReadFile(path), "a\n\nb");
  EXPECT_TRUE(absl::IsNotFound(ReadFile(path + ".no").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ReadFile(testing::TempDir()).status()));  // a folder
  EXPECT_TRUE(absl::IsPermissionDenied(WriteFile(testing::TempDir(), "x")));
}

}  // namespace
}  // namespace weft::perf
