# Tests of the build itself: wrong code gives one readable sentence, and what the documents say about using
# Weft works.
# Sanitizers change nothing about them.
if(WEFT_SANITIZE)
  return()
endif()

include(GNUInstallDirs)

# build_test(<name> <script> -D... [ONCE <file>...]): a test that runs build/<script>.cmake, once with the files if
# there is nothing of CUDA in it.
function(build_test name script)
  set(cuda)
  if(WEFT_HAVE_CUDA)
    string(REPLACE ";" "," archs "${CMAKE_CUDA_ARCHITECTURES}")
    set(cuda -DCUDA=${CMAKE_CUDA_COMPILER} -DARCHITECTURES=${archs})
  endif()
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" ONCE)
  set(run_once)
  if(arg_ONCE)
    file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/build)
    set(run_once ${once} ${CMAKE_CURRENT_BINARY_DIR}/build/${name}.passed ${arg_ONCE} --)
    set(cuda)
  endif()
  add_test(NAME ${name}
           COMMAND ${run_once} ${CMAKE_COMMAND} -DWEFT_SOURCES=${PROJECT_SOURCE_DIR} -DBUILD=${PROJECT_BINARY_DIR}
                   -DWORK=${CMAKE_CURRENT_BINARY_DIR}/build/${name} -DGENERATOR=${CMAKE_GENERATOR}
                   -DCXX=${CMAKE_CXX_COMPILER} ${cuda} -DVERSION=${PROJECT_VERSION}
                   -DLIBDIR=${CMAKE_INSTALL_LIBDIR} ${arg_UNPARSED_ARGUMENTS}
                   -P ${CMAKE_CURRENT_SOURCE_DIR}/build/${script}.cmake)
  set_tests_properties(${name} PROPERTIES COST 8)  # some compile a user's project: early, so that none of them is last
endfunction()

# tests/compile_fail/<name>.cpp says what the compiler must answer; see compile_fail.sh, which gives it many of them at
# once.
set(compile_fail ${CMAKE_CURRENT_SOURCE_DIR}/build/compile_fail.sh)
set(compiler ${CMAKE_CXX_COMPILER} -std=c++20 -Wall -I${PROJECT_SOURCE_DIR}
             -I${PROJECT_SOURCE_DIR}/cmake/include)
# Nearly all of their time is for the same headers, so these are compiled once, by a test that the others need.
# Without its result the file beside it is included, and all is the same but slower.
set(headers ${CMAKE_CURRENT_BINARY_DIR}/compile_fail/headers.hpp)
string(CONCAT includes
  "#include \"weft/conv/bottleneck.hpp\"\n"
  "#include \"weft/conv/condconv.hpp\"\n"
  "#include \"weft/conv/convolution.hpp\"\n"
  "#include \"weft/conv/deconvolution.hpp\"\n"
  "#include \"weft/conv/depthwise_pointwise.hpp\"\n"
  "#include \"weft/conv/dispatch.hpp\"\n"
  "#include \"weft/conv/ready_made.hpp\"\n"
  "#include \"weft/gemm/block.hpp\"\n"
  "#include \"weft/gemm/dispatch.hpp\"\n"
  "#include \"weft/gemm/gemm.hpp\"\n"
  "#include \"weft/gemm/ready_made.hpp\"\n")
file(WRITE ${headers} "${includes}")
set(passed ${CMAKE_CURRENT_BINARY_DIR}/compile_fail)
add_test(NAME compile_fail_headers COMMAND ${once} ${passed}/headers.passed ${once_headers} -- ${compiler} -x c++-header ${headers} -o ${headers}.gch)
list(APPEND compiler -fsyntax-only)
set_tests_properties(compile_fail_headers PROPERTIES FIXTURES_SETUP compile_fail_headers)
file(GLOB sources CONFIGURE_DEPENDS compile_fail/*.cpp)
set(compile_fail_gemm ${sources})
list(FILTER compile_fail_gemm INCLUDE REGEX "/(block|gemm|layouts|tiled)_[^/]*$")
set(compile_fail_conv ${sources})
list(FILTER compile_fail_conv EXCLUDE REGEX "/(block|gemm|layouts|tiled)_[^/]*$")
set(names compile_fail_gemm compile_fail_conv)
# What must compile is alone.
foreach(source IN LISTS sources)
  file(STRINGS ${source} success REGEX "^// EXPECT_SUCCESS$")
  if(success)
    cmake_path(GET source STEM name)
    list(REMOVE_ITEM compile_fail_gemm ${source})
    list(REMOVE_ITEM compile_fail_conv ${source})
    set(compile_fail_${name} ${source})
    list(APPEND names compile_fail_${name})
  endif()
endforeach()
foreach(name IN LISTS names)
  add_test(NAME ${name} COMMAND ${once} ${passed}/${name}.passed ${once_headers} ${${name}} ${compile_fail} --
                                ${compile_fail} ${${name}} -- ${compiler} -include ${headers})
  set_tests_properties(${name} PROPERTIES FIXTURES_REQUIRED compile_fail_headers)
endforeach()
# The same for nvcc: what is wrong in device code only.
if(WEFT_HAVE_CUDA)
  set(cuda_compiler ${CMAKE_CUDA_COMPILER} -std=c++20 --expt-relaxed-constexpr -arch=sm_80 -ptx
                    -o ${CMAKE_CURRENT_BINARY_DIR}/compile_fail.ptx -I${PROJECT_SOURCE_DIR}/cmake/include)
  file(GLOB sources CONFIGURE_DEPENDS compile_fail/*.cu)
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    add_test(NAME compile_fail_${name} COMMAND ${compile_fail} ${source} -- ${cuda_compiler})
  endforeach()
endif()
# No macro that a program may have, and no warning that it asks for, meets a header: all of them in one file.
set(content "#include \"tests/build/macros.hpp\"\n")
foreach(folder layouts gemm prologues epilogues conv rtc network)
  file(GLOB_RECURSE paths RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.hpp)
  list(FILTER paths EXCLUDE REGEX "/cuda_[^/]*$|/cuda/|^rtc/standard/")
  list(TRANSFORM paths REPLACE "(.+)" "#include \"weft/\\1\"\n")
  string(APPEND content ${paths})
endforeach()
set(strict ${CMAKE_CURRENT_BINARY_DIR}/compile_fail/headers_strict.cpp)
file(WRITE ${strict} "${content}")
add_test(NAME headers_strict COMMAND ${once} ${passed}/headers_strict.passed ${once_headers} -- ${compiler} -Wextra -Wshadow -Wpedantic -Werror -fno-exceptions ${strict})
set(two ${CMAKE_CURRENT_SOURCE_DIR}/compile_fail/policy_layout.cpp)
add_test(NAME compile_fail_harness_one_of_two
         COMMAND ${compile_fail} ${CMAKE_CURRENT_SOURCE_DIR}/build/harness_accepted.cpp ${two} -- ${compiler})
set_tests_properties(compile_fail_harness_one_of_two PROPERTIES
  PASS_REGULAR_EXPRESSION "harness_accepted.cpp: should not compile")
foreach(name accepted other_error)
  add_test(NAME compile_fail_harness_${name}
           COMMAND ${compile_fail} ${CMAKE_CURRENT_SOURCE_DIR}/build/harness_${name}.cpp -- ${compiler})
  set_tests_properties(compile_fail_harness_${name} PROPERTIES WILL_FAIL TRUE)
endforeach()

# Flags with which results would not be exact, and an older C++, are refused in a sentence.
foreach(flag -std=c++17 -ffast-math -funsafe-math-optimizations -ffinite-math-only -freciprocal-math -fno-signed-zeros
             -mfpmath=387)
  set(source fast_math)
  if(flag STREQUAL "-std=c++17")
    set(source cxx17)
  endif()
  add_test(NAME refused${flag}
           COMMAND ${compile_fail} ${CMAKE_CURRENT_SOURCE_DIR}/build/refused_${source}.cpp -- ${compiler} ${flag})
endforeach()
if(WEFT_HAVE_CUDA)
  foreach(flag --use_fast_math -ftz=true -prec-div=false)
    if(flag STREQUAL "-prec-div=false" AND CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 13)
      continue()
    endif()
    add_test(NAME refused${flag}
             COMMAND ${compile_fail} ${CMAKE_CURRENT_SOURCE_DIR}/build/refused_use_fast_math.cu -- ${CMAKE_CUDA_COMPILER}
                     -std=c++20 --expt-relaxed-constexpr -arch=sm_80 -cubin -o refused.cubin
                     -I${PROJECT_SOURCE_DIR}/cmake/include ${flag})
  endforeach()
endif()

# Kernels that spill, keep an array in local memory or lose their wgmma pipeline are refused.
if(WEFT_HAVE_CUDA)
  set(says_spills "Registers are spilled")
  set(says_uses_local_memory "Local memory used")
  set(says_serialises_wgmma "wgmma.mma_async instructions are serialized")
  foreach(name spills uses_local_memory serialises_wgmma)
    add_test(NAME kernel_${name}
             COMMAND sh -c "\"$@\" && echo accepted" -
                     ${PROJECT_SOURCE_DIR}/cmake/strict_ptxas ${CMAKE_CUDA_COMPILER} -cubin
                     -gencode arch=compute_90a,code=sm_90a -Xptxas=-Werror,-warn-spills,-warn-lmem-usage
                     -o kernel_${name}.cubin ${CMAKE_CURRENT_SOURCE_DIR}/build/kernel_${name}.cu)
    set_tests_properties(kernel_${name} PROPERTIES
      PASS_REGULAR_EXPRESSION "${says_${name}}" FAIL_REGULAR_EXPRESSION "accepted")
  endforeach()
  add_test(NAME kernel_without_remarks
           COMMAND ${CMAKE_CUDA_COMPILER} -std=c++20 --expt-relaxed-constexpr -cubin -gencode arch=compute_90a,code=sm_90a
                   -I${PROJECT_SOURCE_DIR}/cmake/include -o kernel_without_remarks.cubin
                   ${CMAKE_CURRENT_SOURCE_DIR}/build/kernel_without_remarks.cu)
  set_tests_properties(kernel_without_remarks PROPERTIES FAIL_REGULAR_EXPRESSION "ptxas info")
  # The launcher that refuses them works whether there is a ccache or not.
  build_test(kernel_launcher launcher)
endif()

# What configuring says where a package or the compiler is missing.
build_test(configure_without_packages configure -DCASE=packages)
find_program(WEFT_CLANG NAMES clang++ clang++-14 clang++-15 clang++-16 clang++-18 clang++-19)
mark_as_advanced(WEFT_CLANG)
if(WEFT_CLANG)
  build_test(configure_with_clang configure -DCASE=clang -DCXX=${WEFT_CLANG})
  add_test(NAME refused_clang COMMAND ${WEFT_CLANG} -std=c++20 -fsyntax-only -I${PROJECT_SOURCE_DIR}/cmake/include
                                      ${PROJECT_SOURCE_DIR}/epilogues/numerics.hpp)
  set_tests_properties(refused_clang PROPERTIES
    PASS_REGULAR_EXPRESSION "Weft needs g.. 11 or newer, also as the host compiler of nvcc")
endif()

# The names that documents list.
build_test(documents_ready_made ready_made)
build_test(documents_thread thread_page)
build_test(documents_tiles tiles_page)

# Folders include downwards, where there is a Python.
find_program(WEFT_PYTHON python3)
mark_as_advanced(WEFT_PYTHON)
if(WEFT_PYTHON)
  add_test(NAME folders COMMAND ${WEFT_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/build/folders_test.py)
  add_test(NAME hidden COMMAND ${WEFT_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/build/hidden_test.py ${CMAKE_CXX_COMPILER})
  add_test(NAME documents_walk COMMAND ${WEFT_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/build/walk_test.py)
endif()

# What README and docs/installing.md say, from scratch.
if(WEFT_INSTALL)
  build_test(consumer_installed consumer -DCASE=installed)
  find_program(WEFT_PKG_CONFIG pkg-config)
  mark_as_advanced(WEFT_PKG_CONFIG)
  if(WEFT_PKG_CONFIG)
    build_test(consumer_pkg_config consumer -DCASE=pkg_config -DPKG_CONFIG=${WEFT_PKG_CONFIG})
  endif()
  build_test(documents_operators documents
             -DDOCUMENT=${PROJECT_SOURCE_DIR}/docs/operators.md -DCOUNT=5 -DONE_FILE=ON)
  build_test(documents_block_gemm documents
             -DDOCUMENT=${PROJECT_SOURCE_DIR}/docs/block_gemm.md -DCOUNT=1
             ONCE ${once_library} ${once_headers} ${PROJECT_SOURCE_DIR}/docs/block_gemm.md)
  set(documents)
  foreach(page custom_operators engine quantization rtc)
    list(APPEND documents ${PROJECT_SOURCE_DIR}/docs/${page}.md)
  endforeach()
  string(REPLACE ";" "," commas "${documents}")
  build_test(documents_custom_operators documents
             -DDOCUMENT=${commas} -DCOUNT=7 -DONE_FILE=ON
             ONCE ${once_library} ${once_headers} ${documents})
  # Operators of strings are kept there.
  set_property(TEST documents_custom_operators APPEND PROPERTY
               ENVIRONMENT "XDG_CACHE_HOME=${CMAKE_CURRENT_BINARY_DIR}/rtc_cache")
  if(WEFT_HAVE_CUDA)
    build_test(consumer_cpu consumer -DCASE=cpu)
  endif()
endif()
build_test(consumer_subdirectory_cpu consumer -DCASE=subdirectory_cpu)
if(WEFT_HAVE_CUDA)
  build_test(documents_engine_gpu engine_page "-DINCLUDES=${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES}")
  build_test(consumer_subdirectory consumer -DCASE=subdirectory)
endif()
