# examples/ and perf/: each <name>.cpp is a program; more of its sources may lie in a folder <name>/.
# <folder>/operators.cmake, if there, says weft_add_operators(<name> ...) for the programs that have
# operators of their own.
find_package(PNG QUIET)

foreach(folder examples perf)
  file(GLOB mains CONFIGURE_DEPENDS ${folder}/*.cpp)
  foreach(main IN LISTS mains)
    cmake_path(GET main STEM name)
    # Programs that measure need a GPU's compiler and the headers of the libraries that they compare with.
    if(folder STREQUAL "perf" AND NOT name STREQUAL "model_check")
      if(NOT WEFT_HAVE_CUDA
         OR (NOT WEFT_CUDNN_INCLUDE AND name MATCHES "^(condconv|deconv|network)_bench$")
         OR (NOT WEFT_CUBLASLT_INCLUDE AND name MATCHES "^(condconv|gemm|list|block)_bench$"))
        continue()
      endif()
    endif()
    file(GLOB more CONFIGURE_DEPENDS ${folder}/${name}/*.cpp)
    add_executable(${name} ${main} ${more})
    weft_own(${name})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
    # They run for less time than they compile, of which -Og saves a third.
    if(folder STREQUAL "examples")
      target_compile_options(${name} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-Og>)
    endif()
    # What only measures, without a GPU only by its name; but for two.
    if(folder STREQUAL "perf" AND NOT WEFT_GPU_TESTS AND NOT name MATCHES "^(weft_perf|gemm_bench)$")
      set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name} PRIVATE weft::weft weft_perf_peers weft_perf_support)
    if(name MATCHES "^(network|tensor|pool)_bench$")
      target_link_libraries(${name} PRIVATE weft_network)
    endif()
    if(TARGET weft_reference)
      target_link_libraries(${name} PRIVATE weft_reference)
    endif()
    if(PNG_FOUND)
      target_link_libraries(${name} PRIVATE PNG::PNG)
      target_compile_definitions(${name} PRIVATE WEFT_HAVE_PNG=1)
    endif()
  endforeach()
  include(${folder}/operators.cmake OPTIONAL)
endforeach()

# The demo, which is linked with less, and what `cmake --workflow --preset demo` ends with.
add_subdirectory(examples/weft_demo)
add_custom_target(run_demo COMMAND weft_demo USES_TERMINAL COMMENT "Running weft_demo")
