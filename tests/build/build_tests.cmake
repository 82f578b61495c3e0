# Tests of the build itself: wrong code gives one readable sentence, and an installed copy is usable.
# Sanitizers change nothing about them.
if(WEFT_SANITIZE)
  return()
endif()

# tests/compile_fail/<name>.cpp says what the compiler must answer; see compile_fail.sh.
set(compile_fail ${CMAKE_CURRENT_SOURCE_DIR}/build/compile_fail.sh)
set(compiler ${CMAKE_CXX_COMPILER} -std=c++20 -Wall -I${PROJECT_SOURCE_DIR}
             -I${PROJECT_SOURCE_DIR}/cmake/include)
file(GLOB sources CONFIGURE_DEPENDS compile_fail/*.cpp)
foreach(source IN LISTS sources)
  cmake_path(GET source STEM name)
  add_test(NAME compile_fail_${name} COMMAND ${compile_fail} ${source} ${compiler})
endforeach()
foreach(name accepted other_error)
  add_test(NAME compile_fail_harness_${name}
           COMMAND ${compile_fail} ${CMAKE_CURRENT_SOURCE_DIR}/build/harness_${name}.cpp ${compiler})
  set_tests_properties(compile_fail_harness_${name} PROPERTIES WILL_FAIL TRUE)
endforeach()

# Kernels that spill or lose their wgmma pipeline are refused.
if(WEFT_HAVE_CUDA)
  set(says_spills "Registers are spilled")
  set(says_serialises_wgmma "wgmma.mma_async instructions are serialized")
  foreach(name spills serialises_wgmma)
    add_test(NAME kernel_${name}
             COMMAND sh -c "\"$@\" && echo accepted" -
                     ${PROJECT_SOURCE_DIR}/cmake/strict_ptxas ${CMAKE_CUDA_COMPILER} -cubin
                     -gencode arch=compute_90a,code=sm_90a -Xptxas=-Werror,-warn-spills
                     -o kernel_${name}.cubin ${CMAKE_CURRENT_SOURCE_DIR}/build/kernel_${name}.cu)
    set_tests_properties(kernel_${name} PROPERTIES
      PASS_REGULAR_EXPRESSION "${says_${name}}" FAIL_REGULAR_EXPRESSION "accepted")
  endforeach()
  # The launcher that refuses them works whether there is a ccache or not.
  add_test(NAME kernel_launcher
           COMMAND ${CMAKE_COMMAND} -DWEFT_SOURCES=${PROJECT_SOURCE_DIR} -DGENERATOR=${CMAKE_GENERATOR}
                   -DCXX=${CMAKE_CXX_COMPILER} -DCUDA=${CMAKE_CUDA_COMPILER}
                   -DWORK=${CMAKE_CURRENT_BINARY_DIR}/kernel_launcher
                   -P ${CMAKE_CURRENT_SOURCE_DIR}/build/launcher.cmake)
endif()

# An installed copy, used by a project of its own.
set(cuda)
if(WEFT_HAVE_CUDA)
  set(cuda -DCUDA=${CMAKE_CUDA_COMPILER})
endif()
add_test(NAME install_consumer
         COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DGENERATOR=${CMAKE_GENERATOR}
                 -DCXX=${CMAKE_CXX_COMPILER} -DVERSION=${PROJECT_VERSION}
                 -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}/build/consumer ${cuda}
                 -P ${CMAKE_CURRENT_SOURCE_DIR}/build/install_consumer.cmake)
