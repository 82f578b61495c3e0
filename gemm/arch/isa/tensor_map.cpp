#include "weft/gemm/arch/isa/tensor_map.hpp"

#if defined(WEFT_HAVE_CUDA)
#include <cuda.h>
#include <cuda_runtime_api.h>
#endif

namespace weft::arch {
namespace {

using Kind = TensorMapSpec::Kind;

const char* BoxFault(const TensorMapSpec& s) {
  if (s.kind == Kind::kTiled) {
    for (int i = 0; i < s.rank; ++i) {
      if (s.box[i] < 1 || s.box[i] > 256) return "tensor map: each extent of a box is 1 to 256";
    }
    if (s.interleave32 && s.box[0] % 16 != 0) {
      return "tensor map: with interleave, box[0] (pixels) is a multiple of 16";
    }
    return nullptr;
  }
  if (s.pixels < 1 || s.pixels > 1024) return "tensor map: pixels of a copy are 1 to 1024";
  if (s.interleave32 ? s.channels != 32 : s.channels < 1 || s.channels > 256) {
    return "tensor map: channels of a pixel are 1 to 256, with interleave 32";
  }
  const int most = s.SpatialDims() == 1 ? 32768 : s.SpatialDims() == 2 ? 128 : 16;
  for (int i = 0; i < s.SpatialDims(); ++i) {
    if (s.lower[i] < -most || s.lower[i] >= most || s.upper[i] < -most || s.upper[i] >= most) {
      return "tensor map: corners of im2col have 16 bits for one spatial dimension, 8 for two, 5 "
             "for three";
    }
  }
  return nullptr;
}

const char* ShapeFault(const TensorMapSpec& s) {
  const int least_rank = s.kind == Kind::kIm2col || s.interleave32 ? 3 : 1;
  if (s.rank < least_rank || s.rank > 5) {
    return "tensor map: rank is 1 to 5, at least 3 for im2col and with interleave";
  }
  if (s.element_bytes != 1 && s.element_bytes != 2 && s.element_bytes != 4) {
    return "tensor map: elements have 1, 2 or 4 bytes, which element_bytes says";
  }
  if (s.interleave32 && (s.element_bytes != 1 || s.swizzle != SwizzleSpan::k32)) {
    return "tensor map: interleave is for bytes, with the swizzle of 32";
  }
  const std::uint64_t alignment = s.interleave32 ? 32 : 16;
  if (s.base == nullptr || reinterpret_cast<std::uintptr_t>(s.base) % alignment != 0) {
    return "tensor map: base is aligned to 16 bytes, with interleave to 32";
  }
  for (int i = 0; i < s.rank; ++i) {
    if (s.dim[i] < 1) return "tensor map: extents are at least 1";
    if (s.step[i] < 1 || s.step[i] > 8) return "tensor map: steps are 1 to 8";
  }
  if (s.kind == Kind::kTiled && !s.interleave32 && s.step[0] != 1) {
    return "tensor map: dimension 0 has no step";
  }
  for (int i = 0; i + 1 < s.rank; ++i) {
    if (s.stride[i] % alignment != 0 || s.stride[i] >= std::uint64_t{1} << 40) {
      return "tensor map: strides are multiples of 16 bytes (with interleave 32) below 2^40";
    }
  }
  return nullptr;
}

}  // namespace

const char* TensorMapFault(const TensorMapSpec& s) {
  if (const char* fault = ShapeFault(s)) return fault;
  if (const char* fault = BoxFault(s)) return fault;
  if (s.RowBytes() % 16 != 0) return "tensor map: a row has a multiple of 16 bytes";
  // Shorter rows would leave gaps: legal for the hardware, but no operand of ours wants them.
  if (s.swizzle != SwizzleSpan::kNone && s.RowBytes() != static_cast<int>(s.swizzle)) {
    return "tensor map: the rows of a swizzled copy are as wide as the swizzle";
  }
  return nullptr;
}

#if defined(WEFT_HAVE_CUDA)

namespace {

// The driver's function of that name, or null.
void* DriverFunction(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 12050
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
#else
  const cudaError_t error = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found);
#endif
  if (error == cudaSuccess && found == cudaDriverEntryPointSuccess) return function;
  (void)cudaGetLastError();
  return nullptr;
}

CUtensorMapSwizzle DriverSwizzle(SwizzleSpan span) {
  switch (span) {
    case SwizzleSpan::kNone:
      return CU_TENSOR_MAP_SWIZZLE_NONE;
    case SwizzleSpan::k32:
      return CU_TENSOR_MAP_SWIZZLE_32B;
    case SwizzleSpan::k64:
      return CU_TENSOR_MAP_SWIZZLE_64B;
    case SwizzleSpan::k128:
      return CU_TENSOR_MAP_SWIZZLE_128B;
  }
  return CU_TENSOR_MAP_SWIZZLE_NONE;
}

}  // namespace

LaunchResult EncodeTensorMap(const TensorMapSpec& s, TensorMap* map) {
  if (const char* fault = TensorMapFault(s)) {
    return {LaunchCode::kCudaError, cudaErrorInvalidValue, fault};
  }
  const bool tiled = s.kind == Kind::kTiled;
  void* function = DriverFunction(tiled ? "cuTensorMapEncodeTiled" : "cuTensorMapEncodeIm2col");
  if (function == nullptr) {
    return {LaunchCode::kCudaError, cudaErrorNotSupported,
            "the driver has no tensor maps (they need CUDA 12 and compute capability 9.0)"};
  }
  cuuint64_t dim[5], stride[4];
  cuuint32_t box[5], step[5];
  int lower[3], upper[3];
  for (int i = 0; i < 5; ++i) dim[i] = s.dim[i];
  for (int i = 0; i < 4; ++i) stride[i] = s.stride[i];
  for (int i = 0; i < 5; ++i) box[i] = s.box[i];
  for (int i = 0; i < 5; ++i) step[i] = s.step[i];
  for (int i = 0; i < 3; ++i) lower[i] = s.lower[i];
  for (int i = 0; i < 3; ++i) upper[i] = s.upper[i];
  const CUtensorMapDataType type = s.element_bytes == 1   ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                                   : s.element_bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                                                          : CU_TENSOR_MAP_DATA_TYPE_UINT32;
  const CUtensorMapInterleave interleave =
      s.interleave32 ? CU_TENSOR_MAP_INTERLEAVE_32B : CU_TENSOR_MAP_INTERLEAVE_NONE;
  static_assert(sizeof(TensorMap) == sizeof(CUtensorMap));
  CUtensorMap encoded;  // CUDA 13 aligns its type more than the hardware asks for
  auto* out = &encoded;
  void* base = const_cast<void*>(s.base);
  constexpr auto kPromotion = CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
  constexpr auto kZeros = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  const CUresult result =
      tiled ? reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function)(
                  out, type, s.rank, base, dim, stride, box, step, interleave,
                  DriverSwizzle(s.swizzle), kPromotion, kZeros)
            : reinterpret_cast<decltype(&cuTensorMapEncodeIm2col)>(function)(
                  out, type, s.rank, base, dim, stride, lower, upper, s.channels, s.pixels, step,
                  interleave, DriverSwizzle(s.swizzle), kPromotion, kZeros);
  if (result == CUDA_SUCCESS) {
    std::memcpy(map, &encoded, sizeof(encoded));
    return {};
  }
  return {LaunchCode::kCudaError, static_cast<int>(result), "the driver refused the tensor map"};
}

#else

LaunchResult EncodeTensorMap(const TensorMapSpec& spec, TensorMap*) {
  constexpr int kCudaErrorNoDevice = 100;
  const char* fault = TensorMapFault(spec);
  return {LaunchCode::kCudaError, kCudaErrorNoDevice,
          fault != nullptr ? fault : "Weft was built without CUDA, so there is no device"};
}

#endif

}  // namespace weft::arch
