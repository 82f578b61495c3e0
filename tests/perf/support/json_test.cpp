#include "perf/support/json.hpp"

#include <gtest/gtest.h>

#include <filesystem>
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

TEST(Files, AFolderIsMadeBeforeAnythingIsMeasured) {
  const std::string folder = testing::TempDir() + "/prepared", path = folder + "/a/b.json";
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(PrepareToWrite(path).ok()) << PrepareToWrite(path);
  EXPECT_TRUE(
      absl::IsNotFound(ReadFile(path).status()));  // or --resume would take it for an earlier run's
  ASSERT_TRUE(WriteFile(path, "rows").ok());
  ASSERT_TRUE(PrepareToWrite(path).ok());
  EXPECT_EQ(*ReadFile(path), "rows");
  EXPECT_TRUE(absl::IsPermissionDenied(PrepareToWrite(folder)));  // a folder is no file
  const absl::Status below = PrepareToWrite(path + "/c.json");
  EXPECT_TRUE(absl::IsInvalidArgument(below));
  EXPECT_EQ(below.message(),
            "cannot write " + path + "/c.json: " + path + " is no folder and cannot be made one");
}

}  // namespace
}  // namespace weft::perf
