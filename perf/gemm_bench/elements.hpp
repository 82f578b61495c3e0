// The element types of gemm_bench.
#pragma once

#include <library_types.h>

#include <cstdint>

#include "perf/support/random.hpp"
#include "weft/gemm/policy/gemm_policy.hpp"
#include "weft/layouts/element/complex.hpp"
#include "weft/layouts/element/float8.hpp"
#include "weft/layouts/element/tf32.hpp"

namespace weft::perf {

// What is known of an element type. kCuda: what the peer multiplies.
template <class T>
struct Type;
template <>
struct Type<std::int8_t> {
  static constexpr const char* kName = "s8";
  static constexpr cudaDataType_t kCuda = CUDA_R_8I;
  static std::int8_t Random(std::uint64_t seed, std::int64_t i) { return RandomInt8(seed, i); }
};
// Below 128, so that they are the same bytes for cuBLASLt, which has no uint8 by int8, as int8.
template <>
struct Type<std::uint8_t> {
  static constexpr const char* kName = "u8";
  static constexpr cudaDataType_t kCuda = CUDA_R_8I;
  static std::uint8_t Random(std::uint64_t seed, std::int64_t i) {
    return static_cast<std::uint8_t>(RandomInt8(seed, i)) & 127;
  }
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
template <>
struct Type<Float8E4m3> : SmallType<Float8E4m3, CUDA_R_8F_E4M3> {
  static constexpr const char* kName = "e4m3";
};
// Numbers that e4m3 holds too, of which the peer multiplies matrices: cuBLASLt has none of e5m2 by e5m2.
template <>
struct Type<Float8E5m2> {
  static constexpr const char* kName = "e5m2";
  static constexpr cudaDataType_t kCuda = CUDA_R_8F_E4M3;
  static Float8E5m2 Random(std::uint64_t seed, std::int64_t i) {
    const float x = Float8E5m2::FromFloat(RandomFloat(seed, i, -1, 1)).ToFloat();
    return Float8E5m2::FromFloat(Float8E4m3::FromFloat(x).ToFloat());
  }
};

// What the peer's matrices hold for one of Elements.
template <class Element>
struct PeerElementOf {
  using type = gemm::StoredElement<Element>;
};
template <>
struct PeerElementOf<Float8E5m2> {
  using type = Float8E4m3;
};

}  // namespace weft::perf
