# The kernels of the programs that measure: perf/bench/policies/print.cpp says which, out of the tables in C++.
option(WEFT_PERF_ALL_TILES "The programs of perf/: every tile, which takes minutes to compile" OFF)
target_compile_definitions(model_check PRIVATE WEFT_PERF_ALL_TILES=1)
if(NOT WEFT_HAVE_CUDA)
  return()
endif()

# Configured anew when a table changes.
file(GLOB tables CONFIGURE_DEPENDS perf/*.def perf/*/*.def perf/*/policies.hpp gemm/*.def gemm/tile/*.def conv/policy/*.def)
set(print ${CMAKE_CURRENT_LIST_DIR}/bench/policies/print.cpp)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${tables} ${print} ${CMAKE_CURRENT_LIST_DIR}/bench/tiles.hpp
             ${CMAKE_CURRENT_LIST_DIR}/weft_perf/tiles.hpp ${PROJECT_SOURCE_DIR}/gemm/ready_made.hpp)
set(program ${PROJECT_BINARY_DIR}/perf/print_policies)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/perf)
set(all_tiles)
if(WEFT_PERF_ALL_TILES)
  set(all_tiles -DWEFT_PERF_ALL_TILES=1)
endif()
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -I${PROJECT_SOURCE_DIR} -I${PROJECT_SOURCE_DIR}/cmake/include
                        ${all_tiles} -o ${program} ${print} COMMAND_ERROR_IS_FATAL ANY)
set(hopper)
if(CMAKE_CUDA_ARCHITECTURES MATCHES "90a")
  set(hopper hopper)
endif()
execute_process(COMMAND ${program} ${hopper} OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "\n" ";" lines "${lines}")
foreach(line IN LISTS lines)
  if(line MATCHES "^([a-z_]+) (.*)$")
    list(APPEND policies_of_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
  endif()
endforeach()
set(header_of_weft_perf perf/weft_perf/tiles.hpp)
if(NOT WEFT_GPU_TESTS AND NOT WEFT_PERF_ALL_TILES)  # nothing can be measured
  list(SUBLIST policies_of_weft_perf 0 4 policies_of_weft_perf)
  set_target_properties(weft_perf PROPERTIES WEFT_OPERATORS_PER_FILE 4)
  set(policies_of_gemm_bench)
endif()
foreach(program weft_perf gemm_bench list_bench block_bench bottleneck_bench condconv_bench deconv_bench epilogue_bench fused_bench local_bench rtc_bench)
  if(NOT TARGET ${program})
    continue()
  endif()
  if(all_tiles)
    target_compile_definitions(${program} PRIVATE WEFT_PERF_ALL_TILES=1)
  endif()
  target_link_libraries(${program} PRIVATE ${CMAKE_DL_LIBS})
  set(header perf/${program}/policies.hpp)
  if(DEFINED header_of_${program})
    set(header ${header_of_${program}})
  endif()
  if(program MATCHES "^(gemm|list|block)_bench$" AND policies_of_${program})
    weft_add_gemms(${program} ${header} ${policies_of_${program}})
  elseif(policies_of_${program})
    weft_add_operators(${program} ${header} ${policies_of_${program}})
  endif()
  # What they measure was chosen for Hopper and compared there, and a tile of gemm_bench spills on older
  # architectures; other GPUs are asked for with CMAKE_CUDA_ARCHITECTURES.
  weft_only_architectures(${program})
endforeach()
if(TARGET block_bench)
  target_sources(block_bench PRIVATE perf/block_bench/launch.cu)
endif()

# made_file(<program> <name> <header> <line>): a source of the program that instantiates templates of the header.
function(made_file program name header line)
  string(MAKE_C_IDENTIFIER "${name}" id)
  set(source ${PROJECT_BINARY_DIR}/perf/${program}/${id}.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT "// Made by perf/operators.cmake.
#include \"@header@\"

namespace weft::perf {
@line@
}
")
  target_sources(${program} PRIVATE ${source})
endfunction()

# What weft_perf knows of its tiles. With all tiles there is a file for each epilogue and source layout, of 0.8 GB at most in
# the compiler's memory; in one they would be 3 GB.
set(content)
foreach(src NCxHWx<32> NHWC NCxHWx<4>)
  foreach(epilogue WithRelu WithResidual WithHSwish WithNothing)
    string(APPEND content "template void MakeTiles<${epilogue}, ${src}>(TilesByLayout*);\n")
    if(all_tiles)
      made_file(weft_perf "${epilogue}_${src}" perf/weft_perf/make_tiles_of.hpp "${content}")
      set(content)
    endif()
  endforeach()
endforeach()
if(NOT all_tiles)
  made_file(weft_perf basic perf/weft_perf/make_tiles_of.hpp "${content}")
endif()
if(TARGET epilogue_bench)
  foreach(kind activation layout zero_point output source type)
    made_file(epilogue_bench ${kind} perf/epilogue_bench/variants_of.hpp
              "template std::vector<Variant> VariantsOf<Kind::${kind}>();")
  endforeach()
endif()
