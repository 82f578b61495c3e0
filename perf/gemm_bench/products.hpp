// What gemm_bench measures: element types and sizes. Only with WEFT_HAVE_CUDA.
#pragma once

#if WEFT_HAVE_CUDA

#include <library_types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "perf/support/random.hpp"
#include "weft/gemm/gemm_checks.hpp"
#include "weft/layouts/float16.hpp"

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
template <>
struct Type<float> {
  static constexpr const char* kName = "f32";
  static constexpr cudaDataType_t kCuda = CUDA_R_32F;
  static float Random(std::uint64_t seed, std::int64_t i) { return RandomFloat(seed, i, -1, 1); }
};
template <class T, cudaDataType_t kCudaType>
struct Type16 {
  static constexpr cudaDataType_t kCuda = kCudaType;
  static T Random(std::uint64_t seed, std::int64_t i) {
    return T::FromFloat(RandomFloat(seed, i, -1, 1));
  }
};
template <>
struct Type<Half> : Type16<Half, CUDA_R_16F> {
  static constexpr const char* kName = "f16";
};
template <>
struct Type<Bfloat16> : Type16<Bfloat16, CUDA_R_16BF> {
  static constexpr const char* kName = "bf16";
};

// "4096" or "10240x4096x4096".
inline absl::StatusOr<gemm::GemmProblem> ParseSize(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, 'x');
  gemm::GemmProblem p;
  bool fine = parts.size() == 1 || parts.size() == 3;
  if (fine) {
    fine = absl::SimpleAtoi(parts[0], &p.m) && absl::SimpleAtoi(parts[parts.size() / 2], &p.n) &&
           absl::SimpleAtoi(parts.back(), &p.k);
  }
  if (!fine || !gemm::CheckExtents(p).ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--sizes: ", text, " is no product; give 4096 or 10240x4096x4096"));
  }
  return p;
}

inline std::string SizeName(const gemm::GemmProblem& p) {
  return p.m == p.n && p.n == p.k ? absl::StrCat(p.m) : absl::StrCat(p.m, "x", p.n, "x", p.k);
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
