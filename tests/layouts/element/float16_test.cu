// The 16-bit floats' conversions by a GPU's instructions, against those that CPUs run: of every float and
// back.
#include "weft/layouts/element/float16.hpp"

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>

namespace weft {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocks = 4096;

// differing[0] and [1]: floats that become another Half, another Bfloat16; [2]: Halfs that become another float
// (of NaNs any NaN will do). last: one of the floats.
__global__ void Compare(unsigned long long* differing, std::uint32_t* last) {
  const std::uint64_t first = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  for (std::uint64_t i = first; i < std::uint64_t{1} << 32; i += kThreads * kBlocks) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(i));
    const bool half = Half::FromFloat(x).bits != internal::HalfBits(x);
    const bool bfloat16 = Bfloat16::FromFloat(x).bits != internal::Bfloat16Bits(x);
    if (half) atomicAdd(&differing[0], 1);
    if (bfloat16) atomicAdd(&differing[1], 1);
    if (half || bfloat16) *last = static_cast<std::uint32_t>(i);
    if (i < 0x10000) {
      const Half h = Half::FromBits(static_cast<std::uint16_t>(i));
      const float got = h.ToFloat(), want = internal::HalfToFloat(h.bits);
      const bool same = std::bit_cast<std::uint32_t>(got) == std::bit_cast<std::uint32_t>(want);
      if (!same && (got == got || want == want)) atomicAdd(&differing[2], 1);
    }
  }
}

TEST(Float16, InstructionsConvertEveryNumberAsCpusDo) {
  unsigned long long* differing;
  std::uint32_t* last;
  ASSERT_EQ(cudaMalloc(&differing, 3 * sizeof(*differing)), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&last, sizeof(*last)), cudaSuccess);
  ASSERT_EQ(cudaMemset(differing, 0, 3 * sizeof(*differing)), cudaSuccess);
  ASSERT_EQ(cudaMemset(last, 0, sizeof(*last)), cudaSuccess);
  Compare<<<kBlocks, kThreads>>>(differing, last);
  unsigned long long got[3] = {1, 1, 1};
  std::uint32_t bits = 0;
  EXPECT_EQ(cudaMemcpy(got, differing, sizeof(got), cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(&bits, last, sizeof(bits), cudaMemcpyDefault), cudaSuccess);
  cudaFree(differing);
  cudaFree(last);
  EXPECT_EQ(got[0], 0u) << "such as the float of bits " << bits;
  EXPECT_EQ(got[1], 0u) << "such as the float of bits " << bits;
  EXPECT_EQ(got[2], 0u);
}

}  // namespace
}  // namespace weft
