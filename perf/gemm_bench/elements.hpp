// The element types of gemm_bench. Only with WEFT_HAVE_CUDA.
#pragma once

#if WEFT_HAVE_CUDA

#include <library_types.h>

#include <cstdint>

#include "perf/support/random.hpp"
#include "weft/layouts/complex.hpp"
#include "weft/layouts/float8.hpp"
#include "weft/layouts/tf32.hpp"

namespace weft::perf {

// What is known of an element type.
template <class T>
struct Type;
template <>
struct Type<std::int8_t> {
  static constexpr const char* kName = "s8";
  static constexpr cudaDataType_t kCuda = CUDA_R_8I;
  static std::int8_t Random(std::uint64_t seed, std::int64_t i) { return RandomInt8(seed, i); }
};
// Of sums only.
template <>
struct Type<std::int32_t> {
  static constexpr cudaDataType_t kCuda = CUDA_R_32I;
};
template <>
struct Type<float> {
  static constexpr const char* kName = "f32";
  static constexpr cudaDataType_t kCuda = CUDA_R_32F;
  static float Random(std::uint64_t seed, std::int64_t i) { return RandomFloat(seed, i, -1, 1); }
};
template <>
struct Type<double> {
  static constexpr const char* kName = "f64";
  static constexpr cudaDataType_t kCuda = CUDA_R_64F;
  static double Random(std::uint64_t seed, std::int64_t i) { return RandomFloat(seed, i, -1, 1); }
};
template <class T, cudaDataType_t kCudaType>
struct ComplexType {
  static constexpr cudaDataType_t kCuda = kCudaType;
  static Complex<T> Random(std::uint64_t seed, std::int64_t i) {
    return {RandomFloat(seed, 2 * i, -1, 1), RandomFloat(seed, 2 * i + 1, -1, 1)};
  }
};
template <>
struct Type<Complex<float>> : ComplexType<float, CUDA_C_32F> {
  static constexpr const char* kName = "c32";
};
template <>
struct Type<Complex<double>> : ComplexType<double, CUDA_C_64F> {
  static constexpr const char* kName = "c64";
};
// Numbers that tf32 holds, so that it does not matter who rounds.
template <>
struct Type<Tf32> {
  static constexpr const char* kName = "tf32";
  static constexpr cudaDataType_t kCuda = CUDA_R_32F;
  static float Random(std::uint64_t seed, std::int64_t i) {
    return Tf32::FromFloat(RandomFloat(seed, i, -1, 1)).stored;
  }
};
template <class T, cudaDataType_t kCudaType>
struct SmallType {
  static constexpr cudaDataType_t kCuda = kCudaType;
  static T Random(std::uint64_t seed, std::int64_t i) {
    return T::FromFloat(RandomFloat(seed, i, -1, 1));
  }
};
template <>
struct Type<Half> : SmallType<Half, CUDA_R_16F> {
  static constexpr const char* kName = "f16";
};
template <>
struct Type<Bfloat16> : SmallType<Bfloat16, CUDA_R_16BF> {
  static constexpr const char* kName = "bf16";
};
// Not e5m2, of which cuBLASLt multiplies no two matrices.
template <>
struct Type<Float8E4m3> : SmallType<Float8E4m3, CUDA_R_8F_E4M3> {
  static constexpr const char* kName = "e4m3";
};

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
