// The examples of layouts/README.md: the code there is quoted from here, and the last test checks
// that it is, line by line, and that the pictures shown there are what the code draws today.
// WEFT_UPDATE_IMAGES=1 in the environment writes the pictures anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "weft/layouts/format_layouts.hpp"
#include "weft/layouts/matrix.hpp"
#include "weft/layouts/partition.hpp"
#include "weft/layouts/svg.hpp"

namespace weft::layouts {
namespace {

TEST(Readme, Layouts) {
  // clang-format off
  auto a = MakeLayout(MakeTuple(4, 8));                              // (4,8):(_1,4), column-major
  auto b = MakeLayout(MakeTuple(4, 8), RowMajor{});                  // (4,8):(8,_1)
  auto c = MakeLayout(MakeTuple(kInt<4>, 8), MakeTuple(10, 1));      // strides of your own
  auto d = MakeLayout(MakeTuple(2, 3, 4), Order<1, 2, 0>{});         // mode 2 fastest, then 0, 1
  EXPECT_EQ(b(1, 3), 11);
  EXPECT_EQ(b(1 + 4 * 3), 11);                                       // the same by linear index
  EXPECT_EQ(Size(c), 32);
  EXPECT_EQ(Cosize(c), 38);
  // clang-format on
  EXPECT_EQ(ToString(a), "(4,8):(_1,4)");
  EXPECT_EQ(ToString(b), "(4,8):(8,_1)");
  EXPECT_TRUE(d.stride() == MakeTuple(4, 8, 1));
}

TEST(Readme, NestedModes) {
  // Two 4 x 4 blocks side by side, each row-major: columns are the nested mode (4, 2).
  auto blocks = MakeLayout(MakeTuple(4, MakeTuple(4, 2)), MakeTuple(4, MakeTuple(1, 16)));
  EXPECT_EQ(blocks(2, 5), 25);                // column 5
  EXPECT_EQ(blocks(2, MakeTuple(1, 1)), 25);  // the same: column 1 of block 1
  EXPECT_TRUE(Get<1>(blocks) == MakeLayout(MakeTuple(4, 2), MakeTuple(1, 16)));
}

TEST(Readme, Static) {
  constexpr auto tile = MakeLayout(MakeTuple(kInt<16>, kInt<8>));
  static_assert(IsInt<decltype(tile(kInt<3>, kInt<2>)), 35>);  // an offset that is a type
  static_assert(std::is_empty_v<decltype(tile)>);              // takes no room in a kernel
  EXPECT_EQ(tile(3, 2), 35);
}

TEST(Readme, Slices) {
  auto b = MakeLayout(MakeTuple(4, 8), RowMajor{});
  EXPECT_TRUE(b(1, _) == MakeLayout(MakeTuple(8), MakeTuple(1)));  // row 1, from its own beginning
  EXPECT_EQ(SliceAndOffset(b, MakeTuple(1, _)).offset, 8);         // where that is
}

TEST(Readme, Coalesce) {
  constexpr auto a = MakeLayout(MakeTuple(kInt<2>, MakeTuple(kInt<1>, kInt<6>)),
                                MakeTuple(kInt<1>, MakeTuple(kInt<7>, kInt<2>)));
  static_assert(Coalesce(a) == MakeLayout(12, 1));
}

TEST(Readme, Composition) {
  // 20 elements that lie 2 apart, seen as 5 x 4, row-major.
  auto r = Composition(MakeLayout(20, 2), MakeLayout(MakeTuple(5, 4), MakeTuple(4, 1)));
  EXPECT_TRUE(r == MakeLayout(MakeTuple(5, 4), MakeTuple(8, 2)));
}

TEST(Readme, Complement) {
  constexpr auto a = MakeLayout(kInt<4>, kInt<2>);  // 0 2 4 6
  constexpr auto rest = Complement(a, kInt<24>);    // 0 1 8 9 16 17
  static_assert(rest == MakeLayout(MakeTuple(2, 3), MakeTuple(1, 8)));
}

TEST(Readme, Inverses) {
  constexpr auto rows = MakeLayout(MakeTuple(kInt<4>, kInt<8>), RowMajor{});
  static_assert(RightInverse(rows)(rows(13)) == 13);
  static_assert(LeftInverse(MakeLayout(kInt<4>, kInt<2>))(6) == 3);  // 6 is element 3 of 0 2 4 6
}

TEST(Readme, Divide) {
  auto matrix = MakeLayout(MakeTuple(64, 96), RowMajor{});
  auto tiles = ZippedDivide(matrix, MakeTuple(kInt<16>, kInt<8>));
  EXPECT_TRUE(tiles.shape() == MakeTuple(MakeTuple(16, 8), MakeTuple(4, 12)));
  EXPECT_EQ(tiles(MakeTuple(3, 2), MakeTuple(1, 5)), matrix(16 + 3, 5 * 8 + 2));
}

TEST(Readme, Product) {
  constexpr auto block = MakeLayout(MakeTuple(kInt<4>, kInt<4>), RowMajor{});
  constexpr auto grid = MakeLayout(MakeTuple(kInt<2>, kInt<3>));
  constexpr auto blocked = BlockedProduct(block, grid);  // 8 x 12, made of 2 x 3 blocks
  constexpr auto raked = RakedProduct(block, grid);      // the same blocks, interleaved
  static_assert(blocked(5, 9) == block(1, 1) + 16 * grid(1, 2));
  static_assert(raked(5, 9) == block(5 / 2, 9 / 3) + 16 * grid(5 % 2, 9 % 3));
}

TEST(Readme, Swizzle) {
  // Eight rows of eight 16-byte chunks: a column of the tile touches all eight columns of banks.
  constexpr auto tile = MakeLayout(MakeTuple(kInt<8>, kInt<8>), RowMajor{});
  constexpr auto swizzled = Composition(Swizzle<3, 0, 3>{}, tile);
  static_assert(swizzled(5, 3) == 5 * 8 + (3 ^ 5));
  std::set<int> columns;
  for (int row = 0; row < 8; ++row) columns.insert(swizzled(row, 0) % 8);
  EXPECT_EQ(columns.size(), 8u);
}

TEST(Readme, Views) {
  std::vector<float> memory(64 * 96);
  auto matrix = MakeTensorView(memory.data(), MakeLayout(MakeTuple(64, 96), RowMajor{}));
  auto tile = LocalTile(matrix, MakeTuple(kInt<16>, kInt<8>), MakeTuple(1, 5));  // 16 x 8
  auto row = LocalTile(matrix, MakeTuple(kInt<16>, kInt<8>), MakeTuple(1, _));   // 16 x 8 x 12
  tile(3, 2) = 7;
  EXPECT_EQ(matrix(19, 42), 7);
  EXPECT_EQ(row(3, 2, 5), 7);

  auto threads = MakeLayout(MakeTuple(kInt<8>, kInt<4>), RowMajor{});  // thread 4 * i + j
  auto mine = Partition(tile, threads, 14);                            // 2 x 2 elements
  EXPECT_EQ(mine(0, 0), 7);                                            // thread 14 is at (3, 2)
}

// ToSvg and ThreadValueSvg as the README shows them.
constexpr auto kAccumulator =
    MakeLayout(MakeTuple(MakeTuple(kInt<4>, kInt<8>), MakeTuple(kInt<2>, kInt<2>)),
               MakeTuple(MakeTuple(kInt<32>, kInt<1>), MakeTuple(kInt<16>, kInt<8>)));

TEST(Readme, ThreadValues) {
  std::vector<int> memory(16 * 8);
  auto tile = MakeTensorView(memory.data(), MakeLayout(MakeTuple(kInt<16>, kInt<8>), RowMajor{}));
  auto mine = PartitionValues(tile, kAccumulator, 14);  // four values of thread 14
  mine(1, 1) = 7;                                       // value 3
  EXPECT_EQ(tile(14 / 4 + 8, 14 % 4 * 2 + 1), 7);
}

TEST(Readme, Formats) {
  auto x = FormatLayout<NCxHWx<4>>({.n = 2, .c = 6, .h = 3, .w = 5});
  EXPECT_EQ(ToString(x), "(2,(_4,2),3,5):(120,(_1,60),20,_4)");
  EXPECT_EQ(x(1, 5, 2, 4), (NCxHWx<4>::Offset({.n = 2, .c = 6, .h = 3, .w = 5}, 1, 5, 2, 4)));
}

TEST(Readme, Matrices) {
  std::vector<float> memory(60);
  Matrix<float> m = MakeMatrix(memory.data(), 4, 5, RowMajor{}, 12);  // rows 12 apart
  m(2, 3) = 7;
  EXPECT_EQ(m.Transposed()(3, 2), 7);
  EXPECT_EQ(MakeTensorView(m.data, m.layout())(2, 3), 7);
}

const std::filesystem::path kRoot =
    std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << "cannot read " << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void CheckPicture(const std::string& name, const std::string& svg) {
  const auto path = kRoot / "docs" / "images" / name;
  if (std::getenv("WEFT_UPDATE_IMAGES") != nullptr) std::ofstream(path, std::ios::binary) << svg;
  EXPECT_EQ(ReadFile(path), svg) << name << " is stale; run with WEFT_UPDATE_IMAGES=1";
}

TEST(Readme, PicturesAreWhatTheCodeDraws) {
  constexpr auto block = MakeLayout(MakeTuple(kInt<4>, kInt<4>), RowMajor{});
  constexpr auto grid = MakeLayout(MakeTuple(kInt<2>, kInt<3>));
  CheckPicture("blocked_product.svg", ToSvg(BlockedProduct(block, grid)));
  constexpr auto tile = MakeLayout(MakeTuple(kInt<8>, kInt<8>), RowMajor{});
  CheckPicture("swizzle.svg", ToSvg(Composition(Swizzle<3, 0, 3>{}, tile), {.color_period = 8}));
  CheckPicture("accumulator.svg", ThreadValueSvg(kAccumulator, MakeTuple(16, 8)));
}

TEST(Readme, QuotesThisFile) {
  std::set<std::string> lines;
  const auto trimmed = [](const std::string& line) {
    const auto first = line.find_first_not_of(' ');
    return first == std::string::npos ? std::string() : line.substr(first);
  };
  std::stringstream source(ReadFile(__FILE__));
  for (std::string line; std::getline(source, line);) lines.insert(trimmed(line));
  std::stringstream readme(ReadFile(kRoot / "layouts" / "README.md"));
  bool in_code = false;
  int quoted = 0;
  for (std::string line; std::getline(readme, line);) {
    if (line.rfind("```", 0) == 0) {
      in_code = line == "```cpp";
    } else if (in_code && !trimmed(line).empty()) {
      EXPECT_TRUE(lines.count(trimmed(line))) << "not in readme_examples_test.cpp: " << line;
      ++quoted;
    }
  }
  EXPECT_GT(quoted, 40);
}

}  // namespace
}  // namespace weft::layouts
