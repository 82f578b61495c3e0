# find_package(CUDAToolkit) where CMake 3.25.1 (Debian 12) meets CUDA 13. For projects that require CMake
# 3.25, its module sets a property of CUDA::nvToolsExt unseen, and CUDA 13 has no such library.
set(weft_minimum ${CMAKE_MINIMUM_REQUIRED_VERSION})
set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
find_package(CUDAToolkit REQUIRED)
set(CMAKE_MINIMUM_REQUIRED_VERSION ${weft_minimum})
