# The kernels of weft_perf and gemm_bench, from the lines of two lists.
option(WEFT_PERF_ALL_TILES "weft_perf: every tile, which takes minutes to compile" OFF)
target_link_libraries(weft_perf PRIVATE weft_perf_network)
if(WEFT_PERF_ALL_TILES)
  target_compile_definitions(weft_perf PRIVATE WEFT_PERF_ALL_TILES=1)
endif()

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/tiles.def
             ${CMAKE_CURRENT_LIST_DIR}/gemms.def)
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/tiles.def lines REGEX "^[A-Z]+\\(")
set(policies)
foreach(line IN LISTS lines)
  string(REGEX REPLACE "^([A-Z]+)\\(([A-Za-z0-9]+), (.*)\\)$" "\\1;\\2<\\3>" parts "${line}")
  list(GET parts 0 kind)
  list(GET parts 1 tile)
  if(NOT kind STREQUAL "BASIC" AND NOT WEFT_PERF_ALL_TILES)
    continue()
  endif()
  list(APPEND policies "weft::perf::${tile}")
  if(kind STREQUAL "BASIC" OR kind STREQUAL "NETWORK")
    list(APPEND policies "weft::perf::WithNothing<weft::perf::${tile}>")
    # Threads with 128 sums have no registers left for a residual before Hopper. A tile without GPU code
    # is passed over.
    if(NOT tile MATCHES ", 64, 64, [0-9]+>$" OR CMAKE_CUDA_ARCHITECTURES MATCHES "90a")
      list(APPEND policies "weft::perf::WithResidual<weft::perf::${tile}>")
    endif()
  endif()
  if(kind STREQUAL "BASIC")
    list(APPEND policies "weft::perf::WithHSwish<weft::perf::${tile}>")
  endif()
endforeach()
weft_add_operators(weft_perf "perf/weft_perf/tiles.hpp" ${policies})

file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/gemms.def gemms REGEX "^GEMM\\(")
list(TRANSFORM gemms REPLACE "^GEMM\\(([A-Za-z0-9]+), (.*)\\)$" "weft::perf::\\1<\\2>")
weft_add_gemms(gemm_bench "perf/gemm_bench/policies.hpp" ${gemms})
target_link_libraries(gemm_bench PRIVATE ${CMAKE_DL_LIBS})
foreach(tile Local16x64 Local16x64Deep Local16x128 Local16x32)
  list(APPEND local "weft::perf::${tile}")
endforeach()
weft_add_operators(local_bench "perf/local_bench/policies.hpp" ${local})

# What they measure was chosen for Hopper and compared there, and a tile of gemm_bench spills on older
# architectures; other GPUs are asked for with CMAKE_CUDA_ARCHITECTURES.
if(WEFT_HAVE_CUDA AND CMAKE_CUDA_ARCHITECTURES MATCHES "90a")
  set_target_properties(weft_perf gemm_bench local_bench PROPERTIES CUDA_ARCHITECTURES 90a-real)
endif()
