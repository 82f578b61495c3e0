// Which back end a translation unit is for, and the markers that kernel code carries.
//
// The compiler decides: nvcc builds the CUDA back end, any other compiler the CPU one. nvcc's host
// pass must parse the same declarations as its device pass, so __CUDA_ARCH__ never takes part.
#pragma once

#include "weft/layouts/base/compiler.hpp"

#if defined(__CUDACC__)
#define WEFT_CUDA_BACKEND 1
#define WEFT_BACKEND on_cuda
#define WEFT_DEVICE __device__ __forceinline__
#define WEFT_UNROLL _Pragma("unroll")
#define WEFT_NO_UNROLL _Pragma("unroll 1")
#define WEFT_UNROLL_4 _Pragma("unroll 4")
#else
#define WEFT_CPU_BACKEND 1
#define WEFT_BACKEND on_cpu
#define WEFT_DEVICE inline
#define WEFT_UNROLL
#define WEFT_NO_UNROLL
#define WEFT_UNROLL_4
#endif

// Opaque to code that does not include CUDA's headers; the same type as cudaStream_t.
struct CUstream_st;

namespace weft {

// A CUDA stream; nullptr is the default stream. Identical to cudaStream_t.
using Stream = ::CUstream_st*;

namespace arch {

// Extents of a grid, in blocks: x up to 2^31 - 1, y and z up to 65535.
struct Dim3 {
  int x = 1;
  int y = 1;
  int z = 1;
};

}  // namespace arch
}  // namespace weft
