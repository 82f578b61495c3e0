# The kernels of nc4_bench, one for each tile that nc4_bench/tiles.hpp lists.
set(tiles ${PROJECT_SOURCE_DIR}/perf/nc4_bench/tiles.hpp)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${tiles})
file(READ ${tiles} text)
string(REGEX MATCHALL "Nc4<[0-9][0-9, ]*>" policies "${text}")
list(TRANSFORM policies PREPEND "weft::perf::")
weft_add_operators(nc4_bench "perf/nc4_bench/tiles.hpp" ${policies})

# cuDNN is looked for when the program runs; only its header is needed here.
if(WEFT_HAVE_CUDA)
  find_path(WEFT_CUDNN_INCLUDE cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  mark_as_advanced(WEFT_CUDNN_INCLUDE)
  if(WEFT_CUDNN_INCLUDE)
    target_compile_definitions(nc4_bench PRIVATE WEFT_HAVE_CUDNN=1)
    target_include_directories(nc4_bench SYSTEM PRIVATE ${WEFT_CUDNN_INCLUDE})
  endif()
  target_link_libraries(nc4_bench PRIVATE ${CMAKE_DL_LIBS})
endif()
