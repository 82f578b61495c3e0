# A user's project, made of what the documents say: README's operator and CMakeLists.txt, the program of
# examples/first_operator.cpp. The path has a + in it, which no regular expression may stumble on.
#   CASE=installed      find_package(weft) of an installed copy, with CUDA where Weft has it
#   CASE=cpu            the same without the CUDA language
#   CASE=subdirectory   the block of docs/installing.md that adds Weft's sources to a project of CUDA and C++
#   CASE=subdirectory_cpu   the same without the CUDA language
#   CASE=pkg_config     g++ alone
include(${CMAKE_CURRENT_LIST_DIR}/step.cmake)

set(work ${WORK}/a+b)
set(build ${work}/build)
set(prefix ${work}/prefix)
set(readme ${WEFT_SOURCES}/README.md)
file(REMOVE_RECURSE ${WORK})

fenced_block(operator ${readme} "struct MyConv")
string(FIND "${operator}" "\n};\n" end)
math(EXPR end "${end} + 4")
string(SUBSTRING "${operator}" 0 ${end} struct)
file(WRITE ${work}/my_operators.hpp
     "#pragma once\n#include <cstdint>\n#include \"weft/conv/policy.hpp\"\n${struct}")
string(REPLACE "." ";" numbers ${VERSION})
list(GET numbers 0 major)
list(GET numbers 1 minor)
list(GET numbers 2 patch)
file(READ ${WEFT_SOURCES}/examples/first_operator.cpp main)
string(FIND "${main}" "struct MyConv" begin)
string(FIND "${main}" "int main" end)
string(SUBSTRING "${main}" 0 ${begin} top)
string(SUBSTRING "${main}" ${end} -1 bottom)
# The same call on the GPU, first: its Status tells whether the kernel is in the program.
string(FIND "${bottom}" "  const absl::Status status = op->RunOnCpu(" call)
string(FIND "${bottom}" "  if (!status.ok())" after)
math(EXPR length "${after} - ${call}")
string(SUBSTRING "${bottom}" ${call} ${length} run)
string(REPLACE "status = op->RunOnCpu(" "on_gpu = op->Run(" run "${run}")
string(REPLACE "});" "}, nullptr);" run "${run}")
string(REPLACE "  const absl::Status status" "${run}  std::cout << \"Run: \" << on_gpu << \"\\n\";\n  const absl::Status status"
       bottom "${bottom}")
file(WRITE ${work}/main.cpp "${top}#include \"my_operators.hpp\"\n#include \"weft/version.hpp\"\n\n\
static_assert(weft::kVersionMajor == ${major} && weft::kVersionMinor == ${minor} && \
weft::kVersionPatch == ${patch});\n${bottom}")

function(run_program)
  step(${ARGN})
  expect("${output}" "inside 50" "${ARGN}")
  if(CUDA AND NOT CASE MATCHES "cpu|pkg_config")
    refuse("${output}" "this program holds no GPU code" "${ARGN}")
  else()
    expect("${output}" "Run: FAILED_PRECONDITION: conv: this program holds no GPU code" "${ARGN}")
  endif()
endfunction()

# The project's files as text of ninja, the only generator of the tests.
function(read_commands)
  file(READ ${build}/build.ninja text)
  set(commands "${text}" PARENT_SCOPE)
endfunction()

# Those that Weft was compiled for.
macro(expect_architectures)
  string(REPLACE "," ";" archs ${ARCHITECTURES})
  foreach(arch IN LISTS archs)
    string(REGEX MATCH "^[0-9]+a?" number ${arch})
    expect("${commands}" "arch=compute_${number}," build.ninja)
  endforeach()
endmacro()

fenced_block(lists ${readme} "find_package(weft")
set(configure ${CMAKE_COMMAND} -S ${work} -B ${build} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${CXX})
if(CUDA)
  list(APPEND configure -DCMAKE_CUDA_COMPILER=${CUDA})
endif()
if(CASE MATCHES "subdirectory")
  fenced_block(add ${WEFT_SOURCES}/docs/installing.md "FetchContent_MakeAvailable(weft)")
  string(REPLACE "find_package(weft REQUIRED)\n" "${add}" lists "${lists}")
  list(APPEND configure -DFETCHCONTENT_SOURCE_DIR_WEFT=${WEFT_SOURCES})
else()
  step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
  # Nothing of the source tree may be needed: the links of cmake/include least of all.
  file(GLOB_RECURSE exported ${prefix}/*.cmake ${prefix}/*.pc)
  foreach(file IN LISTS exported)
    file(READ ${file} text)
    refuse("${text}" "${WEFT_SOURCES}/" ${file})
    refuse("${text}" "cmake/include" ${file})
  endforeach()
  list(APPEND configure -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_BUILD_TYPE=Release)
endif()
if(CASE MATCHES "cpu" OR NOT CUDA)
  string(REPLACE " LANGUAGES CXX CUDA" " LANGUAGES CXX" lists "${lists}")
endif()
if(CASE STREQUAL "installed")
  # And from an archive in a shared library, for an architecture that its owner has chosen.
  string(APPEND lists "add_library(my_library STATIC main.cpp)
set_target_properties(my_library PROPERTIES CUDA_ARCHITECTURES 86-real POSITION_INDEPENDENT_CODE ON)
target_link_libraries(my_library PUBLIC weft::weft)
weft_add_operators(my_library my_operators.hpp MyConv)
add_library(shared SHARED empty.cpp)
target_link_libraries(shared PRIVATE \$<LINK_LIBRARY:WHOLE_ARCHIVE,my_library>)
add_executable(through_library empty.cpp)
target_link_libraries(through_library PRIVATE shared)
")
  file(WRITE ${work}/empty.cpp "")
  string(APPEND lists "if(NOWHERE)\n  weft_add_operators(my_program nowhere.hpp MyConv)\nendif()\n")
  file(WRITE ${work}/c/CMakeLists.txt
       "cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES C)\nfind_package(weft REQUIRED)\n")
  failing_step("Weft is for C++, which p has not enabled: project(p LANGUAGES CXX)"
               ${CMAKE_COMMAND} -S ${work}/c -B ${work}/c/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${prefix})
endif()
if(CASE STREQUAL "subdirectory_cpu")  # whatever warnings the project wants
  string(APPEND lists "target_compile_options(my_program PRIVATE -Wall -Wextra -Wshadow -Wpedantic -Wconversion -Werror)\n")
endif()
file(WRITE ${work}/CMakeLists.txt "${lists}")

if(CASE STREQUAL "installed")
  failing_step("weft_add_operators: nowhere.hpp exists neither in ${work} nor where my_program finds its includes"
               ${configure} -DNOWHERE=ON)
  step(${configure} -DNOWHERE=OFF)
  if(CUDA)  # for what Weft was compiled for, as nobody has chosen
    read_commands()
    expect_architectures()
    expect("${commands}" "arch=compute_86," build.ninja)
  else()
    expect("${output}" "weft_add_operators: the operators of my_program run on the CPU only; Weft is without CUDA"
           configure)
  endif()
elseif(CASE STREQUAL "cpu")
  failing_step("weft_add_operators: the kernels of my_program need the CUDA language, say project(my_project \
LANGUAGES CXX CUDA); or configure with -DWEFT_CUDA=OFF and my_program runs on the CPU only" ${configure})
  step(${configure} -DWEFT_CUDA=OFF)
  expect("${output}" "run on the CPU only; Weft is without CUDA: WEFT_CUDA=OFF" configure)
elseif(CASE STREQUAL "subdirectory_cpu")
  step(${configure})
  expect("${output}" "weft_add_operators: the operators of my_program run on the CPU only; Weft is without CUDA: "
         configure)
  if(CUDA)  # a build without it compiles the same
    expect("${output}" "my_project has not enabled the language: project(my_project LANGUAGES CXX CUDA)" configure)
    return()
  endif()
elseif(CASE STREQUAL "subdirectory")
  step(${configure})
  read_commands()
  expect_architectures()  # nobody has chosen
  file(REMOVE_RECURSE ${build})
  step(${configure} -DCMAKE_CUDA_ARCHITECTURES=80-real)  # one, chosen, is quicker
  read_commands()
  refuse("${commands}" "compute_75" build.ninja)
  refuse("${commands}" "-Xptxas=-Werror" build.ninja)
elseif(CASE STREQUAL "pkg_config")
  set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
  step(${PKG_CONFIG} --modversion weft)
  expect("${output}" ${VERSION} "pkg-config --modversion")
  step(${PKG_CONFIG} --cflags --libs weft)
  separate_arguments(flags UNIX_COMMAND "${output}")
  step(${CXX} ${work}/main.cpp -o ${work}/my_program ${flags})
  run_program(${work}/my_program)
  return()
else()
  message(FATAL_ERROR "no case ${CASE}")
endif()
if(CASE MATCHES "subdirectory")  # what is Weft's own business stays its own
  read_commands()
  string(REPLACE "-Wconversion -Werror" "" commands "${commands}")
  refuse("${commands}" "-Werror" build.ninja)
  file(STRINGS ${build}/CMakeCache.txt type REGEX "^CMAKE_BUILD_TYPE:[A-Z]*=.")
  if(type)
    message(FATAL_ERROR "Weft has set ${type}")
  endif()
endif()
step(${CMAKE_COMMAND} --build ${build} --target my_program)
run_program(${build}/my_program)
if(CASE STREQUAL "installed")
  step(${CMAKE_COMMAND} --build ${build} --target through_library)
  # Nothing of Weft is exported: another library may hold the same, compiled with other flags.
  step(nm -DC --defined-only ${build}/libshared.so)
  expect("${output}" " T main" libshared.so)
  if(output MATCHES "[0-9a-f]+ [A-Za-z] ([^\n]* )?weft::[^\n]*")
    message(FATAL_ERROR "libshared.so exports ${CMAKE_MATCH_0}")
  endif()
  run_program(${build}/through_library)
endif()
