// Every row of gemm/product_tiles.def, once: a policy of the first family that has the tile there, on a product that
// reaches past one tile each way. A program has those of wgmma_sm90 (TABLE_WGMMA_TILES is true) or all others, and of each
// operator the one kernel that takes every problem.
#pragma once

#define WEFT_ONE_KERNEL 1

#include <gtest/gtest.h>

#include <bit>
#include <type_traits>

#include "tests/gemm/table/check.hpp"
#include "weft/gemm/ready_made.hpp"

// The families of a row, whose names are of this namespace.
namespace weft::gemm::internal::product_families {

#define PARTS_OF_LINE(families, line) inline constexpr unsigned kPartsOfLine##line = families;
#define PARTS_OF(families, line) PARTS_OF_LINE(families, line)
#define WEFT_PRODUCT_TILE(families, name, ...) PARTS_OF(families, __LINE__)
#define WEFT_PRODUCT_TILE_AGAIN(families, name) PARTS_OF(families, __LINE__)
#include "weft/gemm/product_tiles.def"
#undef PARTS_OF
#undef PARTS_OF_LINE

}  // namespace weft::gemm::internal::product_families

namespace weft::gemm::table {

// The policy for a part of families, a bit of a row's column: element types and layouts that only that part has.
template <unsigned kPart, class Tile>
struct OfPart;

template <class Element, class Tile, class Layouts = RowByColumn, class Epilogue = Sums>
using Tiled = TiledGemm<Element, typename EpilogueOf<Epilogue, typename SumOf<Element>::type>::type,
                        Tile, Layouts>;
using ColumnsByRows = LayoutsOf<ColumnMajor, RowMajor, RowMajor>;

#define OF_PART(part, ...)                                \
  template <class Tile>                                   \
  struct OfPart<internal::product_families::part, Tile> { \
    using type = __VA_ARGS__;                             \
  };
OF_PART(kNarrowBytes, Tiled<std::uint8_t, Tile, ColumnsByRows, ToUint8>)
OF_PART(kNarrowHalves, Tiled<Half, Tile, ColumnsByRows, ToHalf>)
OF_PART(kNarrow, Tiled<Bfloat16, Tile, ColumnsByRows, ToFloats>)
OF_PART(kSm75, Tiled<std::int8_t, Tile, RowByColumn, ToInt8>)
OF_PART(kLarge, Tiled<Half, Tile, RowByColumn, ToHalf>)
OF_PART(kMma, Tiled<std::int8_t, Tile, RowByColumn, ToInt8>)
OF_PART(kWgmma, Tiled<std::int8_t, Tile, RowByColumn, ToInt8>)
OF_PART(kTransposed, Tiled<Tf32, Tile, ColumnsByRows>)
OF_PART(kTransposedBytes, Tiled<std::int8_t, Tile, ColumnsByRows>)
OF_PART(kSliced, Tiled<std::int8_t, Tile, ColumnsByRows, ToHalf>)
OF_PART(kHalfSums, HalfSumGemm<Tiled<Half, Tile>>)
OF_PART(kMixed, LoadedGemm<Tiled<Half, Tile>, NoLoad, Upcast<Half, Int4>>)
OF_PART(kMixedA, LoadedGemm<Tiled<Half, Tile>, Upcast<Half, Int4>, NoLoad>)
OF_PART(kUpcastA, LoadedGemm<Tiled<Half, Tile>, Upcast<Half, std::int8_t>, NoLoad>)
OF_PART(kUpcastB, LoadedGemm<Tiled<Half, Tile>, NoLoad, Upcast<Half, Int4>>)
OF_PART(kFloat, Tiled<float, Tile>)
OF_PART(kDouble, Tiled<double, Tile>)
OF_PART(kComplexFloat, Tiled<Complex<float>, Tile>)
OF_PART(kComplexDouble, Tiled<Complex<double>, Tile>)
OF_PART(kComplexSliced, Tiled<Complex<double>, Tile>)
#undef OF_PART

template <unsigned kParts, class Tile>
using OfRow = typename OfPart<1u << std::countr_zero(kParts), Tile>::type;

// A row's test, in the program that has tiles of its mainloop.
template <unsigned kParts, class Tile>
struct RowTest : testing::Test {
  void TestBody() override {
    using P = OfRow<kParts, Tile>;
    ExpectProduct<P>(PastOneTile(GemmFactsOf<P>()), 7);
  }
};
template <unsigned kParts, class Tile>
bool Register(const char* name, int line) {
  constexpr bool kWgmma = std::is_same_v<decltype(Tile::kSizes), const WgmmaSizes>;
  if constexpr (kWgmma == TABLE_WGMMA_TILES) {
    testing::RegisterTest("ProductTiles", name, nullptr, nullptr, "gemm/product_tiles.def", line,
                          []() -> testing::Test* { return new RowTest<kParts, Tile>; });
  }
  return true;
}

#define TILE_TEST(tile, line)                                                        \
  [[maybe_unused]] const bool kRegistered##line =                                    \
      Register<internal::product_families::kPartsOfLine##line, product_tiles::tile>( \
          #tile "OfLine" #line, line);
#define TILE_TEST_OF(tile, line) TILE_TEST(tile, line)
#define WEFT_PRODUCT_TILE(families, name, ...) TILE_TEST_OF(name, __LINE__)
#define WEFT_PRODUCT_TILE_AGAIN(families, name) TILE_TEST_OF(name, __LINE__)
#include "weft/gemm/product_tiles.def"
#undef TILE_TEST
#undef TILE_TEST_OF

}  // namespace weft::gemm::table
