# The code of docs/engine.md that calls CUDA is right C++; what it calls runs in perf/support/cuda.cpp.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/step.cmake)

fenced_block(code ${WEFT_SOURCES}/docs/engine.md "cuda_runtime_api")
file(WRITE ${WORK}/engine.cpp "${code}")
list(TRANSFORM INCLUDES PREPEND -isystem)
step(${CXX} -std=c++20 -Wall -Werror -fsyntax-only -I${WEFT_SOURCES}/cmake/include ${INCLUDES} ${WORK}/engine.cpp)
