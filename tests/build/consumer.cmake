# A user's project, made of what the documents say: README's header, program and CMakeLists.txt. The path has a + in
# it, which no regular expression may stumble on.
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

file(READ ${readme} text)
string(REGEX MATCHALL "\n" lines "${text}")
list(LENGTH lines count)
if(count GREATER 150)
  message(FATAL_ERROR "${readme} has ${count} lines; 150 are what a first hour takes, and docs/ has room")
endif()
fenced_block(operator ${readme} "struct MyConv")
file(WRITE ${work}/my_operators.hpp "${operator}")
string(REPLACE "." ";" numbers ${VERSION})
list(GET numbers 0 major)
list(GET numbers 1 minor)
list(GET numbers 2 patch)
fenced_block(main ${readme} "int main")
# The same call without a choice of the back end, first: its Status tells whether the kernel is in the program.
set(calls "  const absl::Status status = weft::RunOn(backend, *op,")
string(FIND "${main}" "${calls}" call)
string(FIND "${main}" "  if (!status.ok())" after)
if(call LESS 0 OR after LESS call)
  message(FATAL_ERROR "${readme}'s program has no\n${calls}")
endif()
math(EXPR length "${after} - ${call}")
string(SUBSTRING "${main}" ${call} ${length} run)
string(REPLACE "status = weft::RunOn(backend, *op," "on_gpu = op->Run(" run "${run}")
string(REPLACE "});" "}, nullptr);" run "${run}")
string(REPLACE "${calls}" "${run}  std::cout << \"Run: \" << on_gpu << \"\\n\";\n${calls}" main "${main}")
file(WRITE ${work}/main.cpp "${main}\n#include \"weft/version.hpp\"\n\
static_assert(weft::kVersionMajor == ${major} && weft::kVersionMinor == ${minor} && \
weft::kVersionPatch == ${patch});\n")
if(NOT CASE STREQUAL "installed")  # the others have no kernel for the GPU that may be here
  set(ENV{CUDA_VISIBLE_DEVICES} "")
endif()

function(run_program)
  step(${ARGN})
  expect("${output}" ": corner 32, inside 120" "${ARGN}")
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

# How build.ninja compiles MyConv for a target, as `kernel`.
macro(kernel_of target)
  string(REGEX MATCH "build CMakeFiles/${target}\\.dir/[^\n]*MyConv\\.cu\\.o:[^\n]*\n(  [^\n]*\n)*" kernel "${commands}")
endmacro()

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
  string(REGEX REPLACE "find_package\\(weft REQUIRED\\)[^\n]*\n" "${add}" lists "${lists}")
  list(APPEND configure -DFETCHCONTENT_SOURCE_DIR_WEFT=${WEFT_SOURCES})
  # Weft's objects are those of the build that this is a test of, where their commands are the same.
  step(${CMAKE_COMMAND} --build ${BUILD} -- -t commands weft weft_arch)
  file(WRITE ${WORK}/commands.txt "${output}")
  set(compiled_before "${CMAKE_CURRENT_LIST_DIR}/compiled_before ${BUILD} ${WORK}/commands.txt")
  string(APPEND lists "set_property(GLOBAL PROPERTY RULE_LAUNCH_COMPILE \"${compiled_before}\")\n")
  # A project of an older C++ that builds in unity, names its program by an alias and says its operators in a folder below,
  # where their header is.
  string(REPLACE "weft_add_operators(my_program " "add_executable(my::program ALIAS my_program)
add_library(my_objects OBJECT empty.cpp)
add_subdirectory(ops)
#" lists "${lists}")
  file(WRITE ${work}/empty.cpp "")
  file(WRITE ${work}/ops/own.hpp "#include \"../my_operators.hpp\"\n")
  file(WRITE ${work}/ops/CMakeLists.txt
       "weft_add_operators(my::program own.hpp MyConv)\nweft_add_operators(my_objects own.hpp MyConv)\n")
  list(APPEND configure -DCMAKE_UNITY_BUILD=ON -DCMAKE_CXX_STANDARD=17 -DCMAKE_CUDA_STANDARD=17 -DWEFT_INSTALL=ON
       -DCMAKE_INSTALL_INCLUDEDIR=include/mine)
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
target_compile_options(my_library PRIVATE \$<\$<COMPILE_LANGUAGE:CXX>:-O0>)  # with which nothing is inlined
target_link_libraries(my_library PUBLIC weft::weft)
weft_add_operators(my_library my_operators.hpp MyConv)
add_library(shared SHARED empty.cpp)
target_link_libraries(shared PRIVATE \$<LINK_LIBRARY:WHOLE_ARCHIVE,my_library>)
add_executable(through_library empty.cpp)
target_link_libraries(through_library PRIVATE shared)
")
  file(WRITE ${work}/empty.cpp "")
  # What a family costs is said; it is not compiled here.
  string(APPEND lists "add_library(family STATIC EXCLUDE_FROM_ALL empty.cpp)
target_link_libraries(family PUBLIC weft::weft)
weft_add_family(family weft/conv/ready_made.hpp 58 weft::conv::S8ConvNhwcFamily<>)
if(TARGET family_operators)
  set_target_properties(family_operators PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
")
  # A network is compiled with the program, and needs no compiler where it runs.
  string(APPEND lists "set(edges ${WEFT_SOURCES}/examples/embedded_network/edges.weft)
if(TARGET weft::network)\n  add_executable(network network.cpp)\n  weft_add_network(network \${edges} NAME found BATCH 1 2 CPU)
endif()
if(WRONG STREQUAL NO_MODEL)\n  weft_add_network(network none.weft CPU)
elseif(WRONG STREQUAL NO_MACHINE)\n  weft_add_network(network \${edges} BATCH 2)\nendif()\n")
  file(WRITE ${work}/network.cpp "#include <iostream>
#include \"found.hpp\"
#include \"weft/network/network.hpp\"
int main() {
  const auto network = weft::network::Network::Load(weft::network::embedded::found(),
      {.batch = 2, .back_end = weft::rtc::BackEnd::kCpu, .compiler = \"none\", .cache_bytes = 0});
  std::cout << (network.ok() ? network->Describe() : std::string(network.status().message()));
}\n")
  string(APPEND lists "if(WRONG STREQUAL NOWHERE)\n  weft_add_operators(my_program nowhere.hpp MyConv)
elseif(WRONG STREQUAL IMPORTED)\n  weft_add_gemms(weft::weft my_operators.hpp MyConv)
elseif(WRONG STREQUAL CUSTOM)\n  add_custom_target(custom)\n  weft_add_operators(custom my_operators.hpp MyConv)\nendif()\n")
  # Another Abseil, as a project has it whose sources hold one.
  file(WRITE ${work}/abseil/absl/base/options.h
       "#define ABSL_OPTION_USE_INLINE_NAMESPACE 1\n#define ABSL_OPTION_INLINE_NAMESPACE_NAME lts_20990101\n")
  file(WRITE ${work}/abseil/absl/base/config.h "#define ABSL_LTS_RELEASE_VERSION 20990101\n")
  string(REPLACE "find_package(weft" "if(WRONG STREQUAL ABSEIL)
  add_library(absl_status INTERFACE)
  target_include_directories(absl_status INTERFACE \$<BUILD_INTERFACE:${work}/abseil>)
  add_library(absl::status ALIAS absl_status)
endif()
find_package(weft" lists "${lists}")
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
               ${configure} -DWRONG=NOWHERE)
  failing_step("weft_add_gemms: weft::weft is an imported target, which is compiled already; name the target of this \
project whose files call Run" ${configure} -DWRONG=IMPORTED)
  failing_step("weft_add_operators: custom is made by add_custom_target and holds no code; name a program or a library"
               ${configure} -DWRONG=CUSTOM)
  failing_step("and the project has Abseil lts_20990101 20990101 in ${work}/abseil; compile Weft with that one"
               ${configure} -DWRONG=ABSEIL)
  if(EXISTS ${prefix}/bin/weft_network_compile)
    failing_step("weft_add_network: network: ${work}/none.weft does not exist; weft_run model.onnx --save model.weft makes one"
                 ${configure} -DWRONG=NO_MODEL)
    failing_step("say what it is compiled for, ARCHITECTURES 90a, CPU or both" ${configure} -DWRONG=NO_MACHINE)
  endif()
  step(${configure} -DWRONG=)
  if(CUDA)  # for what Weft was compiled for, as nobody has chosen
    read_commands()
    expect_architectures()
    expect("${commands}" "arch=compute_86," build.ninja)
    expect("${output}" "weft_add_family: family gets 58 policies of weft::conv::S8ConvNhwcFamily<>, about 3 minutes of nvcc's CPU \
time for each GPU architecture; S8ConvNhwcSmallFamily has at most 8 policies" configure)
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
  step(${configure} -DCMAKE_CUDA_ARCHITECTURES=OFF -DCMAKE_CUDA_FLAGS=-arch=sm_90)  # the flags have chosen
  read_commands()
  kernel_of(my_program)
  expect("${kernel}" "WEFT_NO_SM90A" my_program)
  refuse("${kernel}" "--generate-code" my_program)
  file(REMOVE_RECURSE ${build})
  step(${configure} -DCMAKE_CUDA_ARCHITECTURES=80-real)  # one, chosen, is quicker
  read_commands()
  refuse("${commands}" "compute_75" build.ninja)
  refuse("${commands}" "-Xptxas=-Werror" build.ninja)
  refuse("${commands}" "-std=c++17" build.ninja)
  foreach(target my_program my_objects)  # the flags of their kernels, wherever they were named
    kernel_of(${target})
    foreach(flag WEFT_NO_SM90A -diag-error=20011 -fvisibility=hidden -std=c++20 "${work}/ops")
      expect("${kernel}" "${flag}" "${target} in build.ninja")
    endforeach()
  endforeach()
elseif(CASE STREQUAL "pkg_config")
  set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
  step(${PKG_CONFIG} --modversion weft)
  expect("${output}" ${VERSION} "pkg-config --modversion")
  step(${PKG_CONFIG} --cflags --libs weft)
  separate_arguments(flags UNIX_COMMAND "${output}")
  step(${CXX} -fno-exceptions ${work}/main.cpp -o ${work}/my_program ${flags})
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
if(CASE STREQUAL "subdirectory_cpu")  # installed with another folder of headers
  step(${CMAKE_COMMAND} --install ${build} --prefix ${prefix})
  file(READ ${prefix}/${LIBDIR}/pkgconfig/weft.pc text)
  expect("${text}" "includedir=\${prefix}/include/mine" weft.pc)
  file(WRITE ${work}/user/CMakeLists.txt "cmake_minimum_required(VERSION 3.10)\nproject(user LANGUAGES CXX)
find_package(weft REQUIRED)\nadd_library(user OBJECT user.cpp)\ntarget_link_libraries(user weft::headers)\n")
  file(WRITE ${work}/user/user.cpp "#include \"weft/version.hpp\"\n")
  step(${CMAKE_COMMAND} -S ${work}/user -B ${work}/user/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${CXX}
       -DCMAKE_PREFIX_PATH=${prefix})
  step(${CMAKE_COMMAND} --build ${work}/user/build)
endif()
if(CASE STREQUAL "installed")
  step(${CMAKE_COMMAND} --build ${build} --target through_library)
  # Nothing of Weft is exported: another library may hold the same, compiled with other flags.
  step(nm -D --defined-only ${build}/libshared.so)
  expect("${output}" " T main" libshared.so)
  if(output MATCHES " (_Z(G[VR]|Z)?N?K?4weft[^\n]*)")
    message(FATAL_ERROR "libshared.so exports ${CMAKE_MATCH_1}")
  endif()
  set(ENV{CUDA_VISIBLE_DEVICES} "")
  run_program(${build}/through_library)
  if(EXISTS ${prefix}/bin/weft_network_compile)
    step(${CMAKE_COMMAND} --build ${build} --target network)
    step(${build}/network)
    expect("${output}" "kernels of the file, for 2 images on the CPU" network)
  endif()
endif()
