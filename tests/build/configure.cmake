# What configuring Weft says where something is missing.
include(${CMAKE_CURRENT_LIST_DIR}/step.cmake)

set(configure ${CMAKE_COMMAND} -S ${WEFT_SOURCES} -G ${GENERATOR} -DWEFT_CUDA=OFF)
file(REMOVE_RECURSE ${WORK})
if(CASE STREQUAL "packages")
  # find_package is told to find nothing, as on a machine that has nothing.
  list(APPEND configure -B ${WORK} -DCMAKE_CXX_COMPILER=${CXX})
  set(none -DCMAKE_DISABLE_FIND_PACKAGE_absl=ON -DCMAKE_DISABLE_FIND_PACKAGE_Boost=ON
           -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON)
  failing_step("Weft: Abseil, Boost.Context, GoogleTest, nlohmann-json not found; sudo apt-get install \
libabsl-dev libboost-context-dev libgtest-dev libgmock-dev nlohmann-json3-dev" ${configure} ${none})
  failing_step("Weft: Abseil, Boost.Context not found; sudo apt-get install libabsl-dev libboost-context-dev"
               ${configure} ${none} -DWEFT_TESTS=OFF -DWEFT_PROGRAMS=OFF)
  failing_step("Weft: Abseil not found; sudo apt-get install libabsl-dev "
               ${configure} -DCMAKE_DISABLE_FIND_PACKAGE_Boost=OFF)
  # A project that compiles an Abseil of its own, whose functions have other names as C++17.
  set(user ${WORK}/user)
  file(WRITE ${user}/absl/base/options.h "#define ABSL_OPTION_USE_INLINE_NAMESPACE 1
#define ABSL_OPTION_INLINE_NAMESPACE_NAME lts_20990101
#define ABSL_OPTION_USE_STD_SOURCE_LOCATION 2\n")
  file(WRITE ${user}/absl/base/config.h "#define ABSL_LTS_RELEASE_VERSION 20990101\n")
  file(WRITE ${user}/status.cpp "")
  file(WRITE ${user}/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)\nproject(user LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 17)\nadd_library(absl_status STATIC status.cpp)
target_include_directories(absl_status PUBLIC \$<BUILD_INTERFACE:${user}>)\nadd_library(absl::status ALIAS absl_status)
add_subdirectory(${WEFT_SOURCES} weft)\n")
  failing_step("Weft: the project compiles Abseil lts_20990101 20990101 as C++17, and Weft, which is C++20, would not link with it; \
set(CMAKE_CXX_STANDARD 20) before Abseil becomes a part of the project"
               ${CMAKE_COMMAND} -S ${user} -B ${user}/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${CXX})
elseif(CASE STREQUAL "clang")
  failing_step("Weft: ${CXX} is Clang" ${configure} -B ${WORK} -DCMAKE_CXX_COMPILER=${CXX})
  failing_step("and Weft needs g++ 11 or newer" ${configure} -B ${WORK} -DCMAKE_CXX_COMPILER=${CXX})
else()
  message(FATAL_ERROR "no case ${CASE}")
endif()
