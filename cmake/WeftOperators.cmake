# weft_add_operators(<target> <header> <Policy>...)       convolutions
# weft_add_family(<target> <header> <size> <Family>...)   every policy of families of <size> policies
# weft_add_gemms(<target> <header> <Policy>...)           matrix products
#
# Compiles each policy's kernels for CUDA into <target>. <header> (as <target> would include it) defines
# the policies. One .cu per policy, so that they compile in parallel and a change recompiles only what it
# must. The objects are linked whole, never picked from an archive: the host finds a policy's launcher
# through a weak symbol. Without CUDA there is nothing to do: the policies run on the CPU as they are.
include_guard(GLOBAL)

function(weft_add_operators target header)
  weft_add_instances(${target} ${header} conv WEFT_INSTANTIATE_CONVOLUTION ${ARGN})
endfunction()

# CMake cannot look into a C++ type, so it is told how many policies each family has; a wrong number is an
# error of the compiler.
function(weft_add_family target header size)
  set(policies)
  math(EXPR last "${size} - 1")
  foreach(family IN LISTS ARGN)
    foreach(i RANGE ${last})
      list(APPEND policies "weft::conv::PolicyOf<${family}, ${size}, ${i}>")
    endforeach()
  endforeach()
  weft_add_operators(${target} ${header} ${policies})
endfunction()

function(weft_add_gemms target header)
  weft_add_instances(${target} ${header} gemm WEFT_INSTANTIATE_GEMM ${ARGN})
endfunction()

function(weft_add_instances target header folder macro)
  if(NOT ARGN)
    message(FATAL_ERROR "weft: ${header} for ${target}: name at least one policy")
  endif()
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT "CUDA" IN_LIST languages)
    return()
  endif()
  set(sources)
  foreach(policy IN LISTS ARGN)
    string(MAKE_C_IDENTIFIER "${policy}" id)
    if(NOT id STREQUAL policy)  # keep A<1> and A<2> apart
      string(SHA1 hash "${policy}")
      string(SUBSTRING ${hash} 0 8 hash)
      string(SUBSTRING "${id}" 0 60 id)
      string(APPEND id "_${hash}")
    endif()
    set(source ${CMAKE_CURRENT_BINARY_DIR}/weft_operators/${target}/${id}.cu)
    file(CONFIGURE OUTPUT ${source} @ONLY CONTENT "// Made by cmake/WeftOperators.cmake for @target@.
#include \"weft/@folder@/instantiate.cuh\"

#include \"@header@\"

@macro@(@policy@);
")
    list(APPEND sources ${source})
  endforeach()

  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE" OR type STREQUAL "SHARED_LIBRARY" OR type STREQUAL "MODULE_LIBRARY"
     OR type STREQUAL "OBJECT_LIBRARY")
    target_sources(${target} PRIVATE ${sources})
    target_link_libraries(${target} PRIVATE weft::headers)
    return()
  endif()
  # An archive: its operators become a second one, which whatever links <target> takes whole.
  if(NOT TARGET ${target}_operators)
    add_library(${target}_operators STATIC)
    if(PROJECT_NAME STREQUAL "weft")
      weft_own(${target}_operators)
    endif()
    target_link_libraries(${target}_operators PRIVATE weft::headers)
    if(TARGET CUDA::cudart_static)  # for programs that do not enable the CUDA language themselves
      target_link_libraries(${target}_operators PUBLIC CUDA::cudart_static)
    endif()
    target_include_directories(${target}_operators PRIVATE
      $<BUILD_INTERFACE:$<TARGET_GENEX_EVAL:${target},$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>>>)
    target_link_libraries(${target} INTERFACE
      "$<LINK_LIBRARY:WHOLE_ARCHIVE,$<BUILD_INTERFACE:${target}_operators>$<INSTALL_INTERFACE:weft::operators>>")
  endif()
  target_sources(${target}_operators PRIVATE ${sources})
endfunction()
