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
elseif(CASE STREQUAL "clang")
  failing_step("Weft: ${CXX} is Clang" ${configure} -B ${WORK} -DCMAKE_CXX_COMPILER=${CXX})
  failing_step("and Weft needs g++ 11 or newer" ${configure} -B ${WORK} -DCMAKE_CXX_COMPILER=${CXX})
else()
  message(FATAL_ERROR "no case ${CASE}")
endif()
