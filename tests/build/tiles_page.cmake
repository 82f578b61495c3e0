# docs/tiles.md is what the table of tiles and the families say.
# `cmake -DWRITE=ON -P tests/build/tiles_page.cmake` writes the page.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/step.cmake)
if(NOT DEFINED WEFT_SOURCES)
  cmake_path(SET WEFT_SOURCES NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../..)
  string(REGEX REPLACE "/$" "" WEFT_SOURCES ${WEFT_SOURCES})
endif()
include(${WEFT_SOURCES}/cmake/WeftTiles.cmake)
weft_read_tiles(tile ${WEFT_SOURCES}/gemm/tile/tiles.def)
weft_read_tiles(tile ${WEFT_SOURCES}/conv/policy/tiles.def)

# What the page calls a family.
set(called_kNc4 "NCxHWx<4>")
set(called_kFirstLayer "NCxHWx<4> to wider layouts")
set(called_kNc32 "NCxHWx<32>")
set(called_kNhwc "NHWC")
set(called_kDepthwiseNc4 "depthwise NCxHWx<4>")
set(called_kDepthwiseNc32 "depthwise NCxHWx<32>")
set(called_kDepthwiseNhwc "depthwise NHWC")
set(called_kDepthwisePointwise "`DepthwisePointwise`")
set(called_kNc4Small "small NCxHWx<4>")
set(called_kNc32Small "small NCxHWx<32>")
set(called_kNhwcSmall "small NHWC")
set(called_kNhwcSmallToWide "small NHWC, to blocked layouts and of 2 bytes")
set(called_kNhwcAnyK "NHWC")
set(called_kNhwcToBlocks "NHWC to blocked layouts")
set(called_kNhwcOfEight "NHWC")

# A tile that stands once more as it is has another place in that family's order; its row says the family.
foreach(i IN LISTS tile_ROWS)
  set(at "${tile_${i}_SRC} ${tile_${i}_DST}")
  if(at STREQUAL "16 8" AND "kNhwc" IN_LIST tile_${i}_FAMILIES)
    list(APPEND more_${tile_${i}_TYPE} ${tile_${i}_FAMILIES})
  endif()
endforeach()

# The tables, and the members of each family: those of wgmma_sm90, and the others.
foreach(i IN LISTS tile_ROWS)
  set(type "${tile_${i}_TYPE}")
  set(config "${tile_${i}_CONFIG}")
  if(NOT config STREQUAL "")
    if(config MATCHES "([A-Za-z0-9]+Config)\\(")
      set(kind_${type} ${CMAKE_MATCH_1})
    endif()
    set(kind ${CMAKE_MATCH_1})
    if(type STREQUAL "")
      set(kind products)
    endif()
    if(NOT kind IN_LIST kinds)
      list(APPEND kinds ${kind})
    endif()
    set(families "")
    foreach(family IN LISTS tile_${i}_FAMILIES more_${type})
      if(NOT family STREQUAL "kNoFamily")
        list(APPEND families "${called_${family}}")
      endif()
    endforeach()
    list(JOIN families ", " families)
    set(names "`${tile_${i}_CONSTANT}`")
    if(NOT type STREQUAL "" AND names STREQUAL "``")
      set(names "`${type}`")
    elseif(NOT type STREQUAL "")
      set(names "`${type}`, ${names}")
    endif()
    if(kind STREQUAL "products")
      string(APPEND rows_${kind} "| ${names} | `${config}` | ${tile_${i}_WHEN} |\n")
    else()
      string(APPEND rows_${kind} "| ${names} | `${config}` | ${families} | ${tile_${i}_WHEN} |\n")
    endif()
  elseif(NOT "kNhwc" IN_LIST tile_${i}_FAMILIES)
    set(families "")
    foreach(family IN LISTS tile_${i}_FAMILIES)
      list(APPEND families "${called_${family}}")
    endforeach()
    list(JOIN families ", " families)
    string(APPEND rows_again "| `${type}` | ${tile_${i}_SRC} | ${tile_${i}_DST} | ${families} |\n")
  endif()
endforeach()

# The families, those of one line of the same size, which a program says.
set(families
  "S8Conv4SmallFamily U8Conv4SmallFamily" "S8Conv4SmallFamily<BiasRelu<>,NCxHWx<32>> S8Conv4SmallFamily<BiasRelu<>,NHWC>"
  "S8Conv32SmallFamily U8Conv32SmallFamily" "S8ConvNhwcSmallFamily U8ConvNhwcSmallFamily"
  "S8ConvNhwcSmallFamily<BiasRelu<>,NCxHWx<32>>"
  "S8Conv4Family U8Conv4Family S8Deconv4Family U8Deconv4Family S8CondConv4Family"
  "S8Conv4Family<BiasRelu<>,NCxHWx<32>> S8Conv4Family<BiasRelu<>,NHWC>"
  "S8Conv32Family U8Conv32Family S8Deconv32Family U8Deconv32Family S8CondConv32Family"
  "S8ConvNhwcFamily U8ConvNhwcFamily S8DeconvNhwcFamily U8DeconvNhwcFamily S8CondConvNhwcFamily"
  "S4Conv64Family U4Conv64Family S4Mma64Family U4Mma64Family Int4FilterFamily<S8Conv32Family<>>"
  "S8Depthwise4Family U8Depthwise4Family" "S8Depthwise32Family U8Depthwise32Family"
  "S8DepthwiseNhwcFamily U8DepthwiseNhwcFamily"
  "S8DepthwisePointwise4Family S8DepthwisePointwise32Family S8DepthwisePointwiseNhwcFamily"
  "S8GemmFamily U8GemmFamily" "S8GemmFamily<BiasRelu<>,RowMajor,RowMajor> U8GemmFamily<BiasRelu<>,RowMajor,RowMajor>"
  "ListedFamily<S8GemmFamily<>> GroupedFamily<S8GemmFamily<>>"
  "HalfGemmFamily" "HalfGemmFamily<ToHalf,RowMajor,RowMajor>"
  "Bfloat16GemmFamily" "Bfloat16GemmFamily<ToHalf,RowMajor,RowMajor>"
  "E4m3GemmFamily E5m2GemmFamily" "E4m3GemmFamily<ToHalf,RowMajor,RowMajor>"
  "Tf32GemmFamily" "Tf32GemmFamily<ToHalf,RowMajor,RowMajor>" "HalfSumGemmFamily"
  "MixedGemmFamily<Half,std::int8_t> MixedGemmFamily<Half,Int4>" "MixedGemmFamily<std::int8_t,Half> MixedGemmFamily<Int4,Half>"
  "MixedGemmFamily<Half,Float8E4m3>" "MixedGemmFamily<Float8E4m3,Half>"
  "FloatGemmFamily" "DoubleGemmFamily" "ComplexGemmFamily<Complex<float>>" "ComplexGemmFamily<Complex<double>>")
set(program "#include <cstdio>
#include \"weft/conv/ready_made_operators.hpp\"
#include \"weft/gemm/ready_made.hpp\"
using namespace weft;
using namespace weft::conv;
using namespace weft::gemm;
using epilogues::BiasRelu;
using layouts::RowMajor;
using ToHalf = epilogues::Chain<epilogues::Scale, epilogues::RoundTo<Half>>;
template <class... Policies>
constexpr int Size(gemm::Family<Policies...>) { return sizeof...(Policies); }
int main() {
")
foreach(line IN LISTS families)
  string(REPLACE " " ";" names "${line}")
  list(TRANSFORM names APPEND "<>" REGEX "[^>]$")
  list(GET names 0 first)
  foreach(name IN LISTS names)
    string(APPEND program "  static_assert(Size(${name}()) == Size(${first}()));\n")
  endforeach()
  string(APPEND program "  std::printf(\"%d \", Size(${first}()));\n")
endforeach()
if(NOT DEFINED CXX)
  set(CXX c++)
endif()
if(NOT DEFINED WORK)
  file(MAKE_DIRECTORY ${WEFT_SOURCES}/build)
  set(WORK ${WEFT_SOURCES}/build/tiles_page)
endif()
file(MAKE_DIRECTORY ${WORK})
file(WRITE ${WORK}/sizes.cpp "${program}}\n")
step(${CXX} -std=c++20 -I${WEFT_SOURCES}/cmake/include -o ${WORK}/sizes ${WORK}/sizes.cpp)
step(${WORK}/sizes)
string(REPLACE " " ";" sizes "${output}")
set(families_rows)
foreach(line size IN ZIP_LISTS families sizes)
  if(line)
    string(REPLACE " " "`, `" line "${line}")
    string(REPLACE "," ", " line "${line}")
    string(REPLACE ",  `" ", `" line "${line}")
    string(APPEND families_rows "| `${line}` | ${size} |\n")
  endif()
endforeach()

set(title_SimtConfig "simt")
set(title_MmaSm80Config "mma_sm80")
set(title_MmaSm75Config "mma_sm75")
set(title_WgmmaSm90Config "wgmma_sm90")
set(title_DepthwiseConfig "depthwise")
set(title_DepthwisePointwiseConfig "depthwise_pointwise")
set(page "# All named tiles

`cmake -DWRITE=ON -P tests/build/tiles_page.cmake` makes this page of the table of tiles, `gemm/tile/tiles.def` and
`conv/policy/tiles.def`, and a test (`documents_tiles`) compares them. [configs.md](configs.md) says what the numbers mean.

A tile is a type for policies that are templates over it, in `weft::conv` (`conv/ready_made_tiles.hpp`), and many are
constants too, in `weft::gemm` (`gemm/tile/config.hpp`) and `weft::conv`; those of depthwise convolutions and of
`DepthwisePointwise` in `weft::conv` alone. The column *families* says what `Dispatch` chooses it for: convolutions of int8
over a layout, and all that is made of them (uint8, deconvolutions, `CondConv`).

## Families

`weft_add_family()` must be told how many policies a family has. The small families come first, and one made of another by
`EachWith<Transposed, F>` (deconvolutions) or `EachWith<Conditional, F>` (`CondConv`) has as many. With another destination or
epilogue than these families have, tiles of wgmma_sm90 may be missing: they write at most 2 bytes an output, 16 bytes of a pixel
at once. `ToHalf` stands for any epilogue, and `RowMajor, RowMajor` for every order of A and B but row-major by column-major.

| family | policies |
| --- | ---: |
${families_rows}")
foreach(kind IN LISTS kinds)
  if(kind STREQUAL "products")
    continue()
  endif()
  string(APPEND page "
## Tiles of ${title_${kind}}

| tile | is | families | for |
| --- | --- | --- | --- |
${rows_${kind}}")
endforeach()
string(APPEND page "
## Over NHWC of any C and K

Families over NHWC have these tiles once more, with other loads and stores; C is a multiple of a load's bytes, K of a
store's channels.

| tile | bytes of a load | channels of a store | families |
| --- | ---: | ---: | --- |
${rows_again}
## Constants of matrix products

Tiles of products of bytes are those above; [gemm](../gemm/README.md) has their families.

| constant | is | for |
| --- | --- | --- |
${rows_products}")

set(document ${WEFT_SOURCES}/docs/tiles.md)
if(WRITE)
  file(WRITE ${document} "${page}")
  return()
endif()
file(READ ${document} there)
if(NOT there STREQUAL page)
  message(FATAL_ERROR "${document} is not what the table of tiles says; write it anew with
cmake -DWRITE=ON -P tests/build/tiles_page.cmake")
endif()
