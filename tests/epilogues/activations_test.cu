// The activations of real values on a GPU: their errors over every float, and their bits against
// the host's.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "tests/epilogues/activation_bounds.hpp"

namespace weft::epilogues {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocks = 4096;
constexpr std::uint32_t kStep = 4099;  // from one float that is compared with the host to the next

__device__ void RaiseTo(double* most, double x) {
  // Bits of numbers that are not negative are ordered as these are.
  atomicMax(reinterpret_cast<unsigned long long*>(most),
            static_cast<unsigned long long>(__double_as_longlong(x)));
}

// errors: of all finite floats. results: those of bits 0, kStep, 2 kStep, ...
template <class True>
__global__ void Evaluate(Errors* errors, float* results) {
  const typename True::Activation activation;
  Errors mine;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  for (std::uint64_t i = first; i < std::uint64_t{1} << 32; i += kThreads * kBlocks) {
    const auto bits = static_cast<std::uint32_t>(i);
    const float x = std::bit_cast<float>(bits);
    const float y = activation(x);
    if ((bits & 0x7f800000u) != 0x7f800000u) mine.Add(y, True::At(x));
    if (bits % kStep == 0) results[bits / kStep] = y;
  }
  RaiseTo(&errors->absolute, mine.absolute);
  RaiseTo(&errors->ulp, mine.ulp);
}

template <class True>
class WithBounds : public testing::Test {};
TYPED_TEST_SUITE(WithBounds, ActivationRows<testing::Types>::All);

TYPED_TEST(WithBounds, EveryFloat) {
  const std::size_t count = 0xffffffffu / kStep + 1;
  Errors* errors;
  float* results;
  ASSERT_EQ(cudaMalloc(&errors, sizeof(*errors)), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&results, count * sizeof(float)), cudaSuccess);
  ASSERT_EQ(cudaMemset(errors, 0, sizeof(*errors)), cudaSuccess);
  ASSERT_EQ(cudaMemset(results, 0x77, count * sizeof(float)), cudaSuccess);
  Evaluate<TypeParam><<<kBlocks, kThreads>>>(errors, results);
  Errors got;
  std::vector<float> bits(count);
  EXPECT_EQ(cudaMemcpy(&got, errors, sizeof(got), cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(bits.data(), results, count * sizeof(float), cudaMemcpyDefault),
            cudaSuccess);
  cudaFree(errors);
  cudaFree(results);

  EXPECT_LE(got.absolute, TypeParam::kAbsolute);
  EXPECT_EQ(got.absolute > 0.0, TypeParam::kAbsolute > 0.0);
  EXPECT_LE(got.ulp, TypeParam::kUlp);
  const typename TypeParam::Activation activation;
  int different = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const float want = activation(std::bit_cast<float>(static_cast<std::uint32_t>(i * kStep)));
    const bool nans = std::isnan(bits[i]) && std::isnan(want);  // whose bits are not defined
    different += !nans && std::memcmp(&bits[i], &want, sizeof(want)) != 0;
  }
  EXPECT_EQ(different, 0);
}

constexpr int kSpecial = 10;
__global__ void Limits(const float* special, float* results) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= kSpecial * kSpecial * kSpecial) return;
  const ClampRange range{special[i / kSpecial % kSpecial], special[i / (kSpecial * kSpecial)]};
  results[i] = range(special[i % kSpecial]);
}

// ClampRange of zeros of both signs, infinities and NaN, as values and as limits.
TEST(ClampRange, BitsOfSpecialNumbers) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float special[kSpecial] = {-0.0f, 0.0f, -1.5f, 1.5f, -1e-40f, 1e-40f, -inf, inf, nan, -nan};
  constexpr int kCount = kSpecial * kSpecial * kSpecial;
  float *values, *results;
  ASSERT_EQ(cudaMalloc(&values, sizeof(special)), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&results, kCount * sizeof(float)), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(values, special, sizeof(special), cudaMemcpyDefault), cudaSuccess);
  Limits<<<(kCount + kThreads - 1) / kThreads, kThreads>>>(values, results);
  std::vector<float> got(kCount);
  EXPECT_EQ(cudaMemcpy(got.data(), results, kCount * sizeof(float), cudaMemcpyDefault),
            cudaSuccess);
  cudaFree(values);
  cudaFree(results);
  for (int i = 0; i < kCount; ++i) {
    const ClampRange range{special[i / kSpecial % kSpecial], special[i / (kSpecial * kSpecial)]};
    const float x = special[i % kSpecial], want = range(x);
    if (std::isnan(want)) {  // of three of them; which one has no rule
      EXPECT_TRUE(std::isnan(got[i])) << x << ' ' << range.low << ' ' << range.high;
    } else {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(got[i]), std::bit_cast<std::uint32_t>(want))
          << x << ' ' << range.low << ' ' << range.high;
    }
  }
}

}  // namespace
}  // namespace weft::epilogues
