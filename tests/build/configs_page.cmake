# docs/configs.md: its table of named constants has each of the headers', and each is what the table says.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/step.cmake)

set(document ${WEFT_SOURCES}/docs/configs.md)
file(STRINGS ${document} rows REGEX "^\\| `k[A-Z]")
set(named)
set(checks)
foreach(row IN LISTS rows)
  if(NOT row MATCHES "^\\| `(k[A-Za-z0-9]+)` \\| `([^`]+)` \\| ")
    message(FATAL_ERROR "${document}: a row of the named constants is not read:\n${row}")
  endif()
  list(APPEND named ${CMAKE_MATCH_1})
  string(APPEND checks "static_assert(Same(${CMAKE_MATCH_1}, ${CMAKE_MATCH_2}), \"${CMAKE_MATCH_1}\");\n")
endforeach()

set(constants)
foreach(header gemm/config.hpp conv/depthwise_config.hpp conv/depthwise_pointwise_policy.hpp)
  file(STRINGS ${WEFT_SOURCES}/${header} lines REGEX "^inline constexpr [A-Za-z0-9:]+Config k")
  foreach(line IN LISTS lines)
    string(REGEX MATCH " (k[A-Za-z0-9]+)" name "${line}")
    list(APPEND constants ${CMAKE_MATCH_1})
    if(NOT CMAKE_MATCH_1 IN_LIST named)
      message(FATAL_ERROR "${document}: ${CMAKE_MATCH_1} of ${header} is not in the table of named constants")
    endif()
  endforeach()
endforeach()
list(LENGTH constants count)
if(count LESS 40)
  message(FATAL_ERROR "the headers have ${count} named constants, which are not read as they should be")
endif()

file(MAKE_DIRECTORY ${WORK})
file(WRITE ${WORK}/configs.cpp "#include \"weft/conv/depthwise_pointwise_policy.hpp\"
#include \"weft/conv/policy.hpp\"
using namespace weft::gemm;
using namespace weft::conv;
constexpr bool Same(const TileDescription& a, const TileDescription& b) { return a == b; }
${checks}")
step(${CXX} -std=c++20 -fsyntax-only -I${WEFT_SOURCES}/cmake/include ${WORK}/configs.cpp)
