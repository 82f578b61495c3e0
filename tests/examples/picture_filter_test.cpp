// Reading pictures, and every filter against two plain loops. Test targets link the library alone,
// so the program's parts are compiled in here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "examples/picture_filter/apply.cpp"
#include "examples/picture_filter/filters.cpp"
#include "examples/picture_filter/picture_io.cpp"

namespace picture_filter {
namespace {

using ::testing::HasSubstr;

struct TemporaryFolder {
  TemporaryFolder() { std::filesystem::create_directory(path); }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  const std::string path =
      absl::StrCat(::testing::TempDir(), "weft_picture_filter_test.", getpid());
};

// A folder of this process's own: other builds may run the same test.
std::string Path(const std::string& name) {
  static const TemporaryFolder folder;
  return folder.path + "/" + name;
}

std::string Write(const std::string& name, const std::string& bytes) {
  std::ofstream(Path(name), std::ios::binary) << bytes;
  return Path(name);
}

void ExpectRefused(const std::string& bytes, const std::string& sentence) {
  const absl::Status status = ReadPicture(Write("refused.ppm", bytes)).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr(sentence));
  EXPECT_THAT(std::string(status.message()), HasSubstr("refused.ppm: "));
}

Picture TestCard(std::int64_t width, std::int64_t height) {
  Picture picture{width, height, {}};
  std::uint32_t state = 1;
  for (std::int64_t i = 0; i < width * height * 3; ++i) {
    state = state * 1664525 + 1013904223;
    // Long runs of black and white, so that results are clamped too.
    picture.rgb.push_back(i % 7 < 2 ? 0 : i % 7 < 4 ? 255 : static_cast<std::uint8_t>(state >> 24));
  }
  return picture;
}

TEST(ReadPicture, PpmWithCommentsAndAnyMaximum) {
  const auto picture = ReadPicture(Write("a.ppm", "P6 # made by hand\n2\t1 # size\n15\n" +
                                                      std::string("\x00\x01\x02\x0d\x0e\x0f", 6)));
  ASSERT_TRUE(picture.ok()) << picture.status();
  EXPECT_EQ(picture->width, 2);
  EXPECT_EQ(picture->height, 1);
  EXPECT_THAT(picture->rgb, ::testing::ElementsAre(0, 17, 34, 221, 238, 255));
}

TEST(ReadPicture, WhatWasWrittenComesBack) {
  const Picture picture = TestCard(5, 3);
  ASSERT_TRUE(WritePicture(Path("a.ppm"), picture).ok());
  const auto again = ReadPicture(Path("a.ppm"));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->width, 5);
  EXPECT_EQ(again->height, 3);
  EXPECT_EQ(again->rgb, picture.rgb);
}

TEST(ReadPicture, EveryTruncationIsRefused) {
  const std::string whole = "P6\n3 2\n255\n" + std::string(18, 'x');
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    const auto picture = ReadPicture(Write("a.ppm", whole.substr(0, bytes)));
    EXPECT_FALSE(picture.ok()) << bytes;
  }
  EXPECT_TRUE(ReadPicture(Write("a.ppm", whole)).ok());
}

TEST(ReadPicture, BadFilesAreRefusedByASentence) {
  ExpectRefused("", "is empty; accepted is binary PPM (P6");
  ExpectRefused("P3\n1 1\n255\n0 0 0\n", "is of no known format; accepted is binary PPM (P6");
  ExpectRefused("P61 1 255\nabc",
                "has a damaged or truncated PPM header; it must be: P6 WIDTH HEIGHT");
  ExpectRefused("P6\n1 x\n", "has a damaged or truncated PPM header; it must be: P6 WIDTH HEIGHT");
  ExpectRefused(
      "P6\n2 2\n255\nabc",
      "is truncated: 2 x 2 pixels are 12 bytes, 3 follow its header; give the whole file");
  ExpectRefused("P6\n0 2\n255\n", "is 0 x 2 pixels; accepted are 1 to 67108864 pixels in all");
  ExpectRefused("P6\n999999999 999999999\n255\n", "is 999999999 x 999999999 pixels; accepted are");
  ExpectRefused("P6\n99999999999999999999 1\n255\n", "is 1000000000000 x 1 pixels; accepted are");
  ExpectRefused("P6\n1 1\n65535\nabcdef", "has the PPM maximum 65535; accepted are 1 to 255");
  ExpectRefused("P6\n1 1\n3\n\x01\x02\x04", "holds the value 4, above its maximum 3");
  const absl::Status folder = ReadPicture(::testing::TempDir()).status();
  EXPECT_THAT(std::string(folder.message()), HasSubstr("is a folder; give a file"));
  const absl::Status missing = ReadPicture(Path("missing")).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.message()), HasSubstr("cannot be opened (No such file"));
}

TEST(WritePicture, NamesAndPlacesThatCannotBe) {
  const Picture picture = TestCard(1, 1);
  EXPECT_THAT(std::string(WritePicture("a.jpg", picture).message()),
              HasSubstr("a.jpg: the output's name must end in .ppm"));
  EXPECT_THAT(std::string(WritePicture("/no/such/folder/a.ppm", picture).message()),
              HasSubstr("cannot be written (No such file"));
}

class EveryFilter : public ::testing::TestWithParam<const char*> {};

// Every byte is what real arithmetic gives, rounded; the picture goes on beyond its border.
TEST_P(EveryFilter, EqualsPlainLoops) {
  const std::optional<Filter> filter = FilterByName(GetParam());
  ASSERT_TRUE(filter);
  for (const auto& [width, height] : {std::pair{1, 1}, {7, 2}, {23, 17}}) {
    const Picture picture = TestCard(width, height);
    const auto result = Apply(*filter, picture, examples::Backend::kCpu);
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_EQ(result->rgb.size(), picture.rgb.size());
    const std::int64_t side = filter->extents.r;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(picture.rgb.size()); ++i) {
      const std::int64_t y = i / 3 / width, x = i / 3 % width;
      double want[4] = {};
      for (std::int64_t t = 0; t < static_cast<std::int64_t>(filter->taps.size()); ++t) {
        const std::int64_t k = t / (3 * side * side), c = t / (side * side) % 3;
        const std::int64_t row =
            std::clamp<std::int64_t>(y + t / side % side - side / 2, 0, height - 1);
        const std::int64_t column = std::clamp<std::int64_t>(x + t % side - side / 2, 0, width - 1);
        want[k] += filter->taps[t] * picture.rgb[(row * width + column) * 3 + c];
      }
      for (double& value : want) {
        value = value * filter->scale + filter->offset;
        value = std::clamp(filter->edges ? std::fabs(value) : value, 0.0, 255.0);
      }
      const double wanted = filter->edges ? *std::max_element(want, want + 4) : want[i % 3];
      ASSERT_NEAR(result->rgb[i], wanted, 0.501)
          << width << " x " << height << ": colour " << i % 3 << " of (" << x << ", " << y << ")";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(PictureFilter, EveryFilter,
                         ::testing::Values("blur", "sharpen", "edges", "emboss"),
                         [](const auto& test) { return std::string(test.param); });

TEST(FilterByName, KnowsNoOther) {
  EXPECT_FALSE(FilterByName("blurr"));
}

}  // namespace
}  // namespace picture_filter
