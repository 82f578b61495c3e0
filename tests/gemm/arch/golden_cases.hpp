// Golden vectors (golden_file.hpp): the back end at hand must give, bit for bit, what the GPU named
// in the file gave. Compiled by g++ the CPU executor runs them under every schedule; compiled by
// nvcc the GPU does. To make the files, on the GPU whose answers are to be committed:
//
//     WEFT_GOLDEN_WRITE=tests/gemm/arch/golden gpu_gemm_arch_golden_test
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "tests/gemm/arch/golden_file.hpp"
#include "tests/gemm/arch/golden_kernels.hpp"
#include "tests/gemm/arch/golden_run.hpp"
#include "tests/gemm/arch/noise.hpp"

#if defined(WEFT_CUDA_BACKEND)
#include "weft/gemm/arch/cuda_launch.cuh"
#else
#include "tests/gemm/arch/harness.hpp"
#endif

namespace weft::arch::testing {
namespace {

// A kernel is run this often, each time on words of its own.
constexpr int kRounds = 4;
constexpr uint32_t kUnwritten = 0xC0FFEE11u;

// Files that are still to be made: their kernels run, every schedule has to agree, and the test is
// skipped, not passed, as there is nothing to compare with. A file that is not there and not in this list
// is a failure.
constexpr std::array<std::string_view, 0> kAwaitingSilicon = {};

// What a file that is missing means.
void SkipAwaiting(const std::string& name) {
  const bool awaiting = std::find(std::begin(kAwaitingSilicon), std::end(kAwaitingSilicon), name) !=
                        std::end(kAwaitingSilicon);
  const std::filesystem::path path = GoldenPath(GoldenFolder(), name);
  if (std::filesystem::exists(path)) {
    EXPECT_FALSE(awaiting) << path << " exists: take " << name << " off kAwaitingSilicon";
    return;
  }
  ASSERT_TRUE(awaiting) << path << " is missing";
  GTEST_SKIP() << path << " awaits silicon, so nothing was compared; record it on an H100 or H200 "
               << "with WEFT_GOLDEN_WRITE";
}

// Two rounds of noise, then two of words whose bytes and sums are extreme; passed through
// Kernel::Input(index, word) where a kernel does not take any word.
template <class Kernel>
std::vector<uint32_t> GoldenInput(int words) {
  constexpr uint32_t kExtremes[] = {0x80808080u, 0x7F7F7F7Fu, 0x7FFFFFFFu, 0x80000000u,
                                    0xFFFFFFFFu, 0x00000000u, 0x01FF01FFu, 0x80808080u};
  std::vector<uint32_t> in = Noise(9).Words(words * kRounds);
  for (int i = words * kRounds / 2; i < words * kRounds; ++i) in[i] = kExtremes[in[i] >> 29];
  if constexpr (requires { Kernel::Input(0, 0u); }) {
    for (int i = 0; i < words * kRounds; ++i) in[i] = Kernel::Input(i, in[i]);
  }
  return in;
}

#if defined(WEFT_CUDA_BACKEND)

template <class Kernel>
std::vector<uint32_t> RunGolden(const std::vector<uint32_t>& in, int words_in, int words_out) {
  std::vector<uint32_t> out(words_out * kRounds, kUnwritten);
  uint32_t* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, (in.size() + out.size()) * 4), cudaSuccess);
  uint32_t* const device_out = memory + in.size();
  EXPECT_EQ(cudaMemcpy(memory, in.data(), in.size() * 4, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(device_out, out.data(), out.size() * 4, cudaMemcpyHostToDevice),
            cudaSuccess);
  for (int round = 0; round < kRounds; ++round) {
    const LaunchResult result = LaunchOnCuda<Kernel>(
        {1, 1, 1}, {memory + round * words_in, device_out + round * words_out}, nullptr);
    EXPECT_STREQ(result.message, "");
  }
  EXPECT_EQ(cudaMemcpy(out.data(), device_out, out.size() * 4, cudaMemcpyDeviceToHost),
            cudaSuccess);
  (void)cudaFree(memory);
  return out;
}

template <class Kernel>
void TestGolden(const std::string& name, int words_in, int words_out) {
  cudaDeviceProp device;
  ASSERT_EQ(cudaGetDeviceProperties(&device, 0), cudaSuccess);
  if (!Kernel::kRequires.Fits(device.major * 10 + device.minor)) GTEST_SKIP();
  if (const char* folder = std::getenv("WEFT_GOLDEN_WRITE")) {
    GoldenFile golden = DescribeMachine();
    golden.in = GoldenInput<Kernel>(words_in);
    golden.out = RunGolden<Kernel>(golden.in, words_in, words_out);
    ASSERT_TRUE(WriteGolden(GoldenPath(folder, name), name, golden)) << GoldenPath(folder, name);
    return;
  }
  SkipAwaiting(name);
  if (::testing::Test::IsSkipped() || ::testing::Test::HasFatalFailure()) return;
  const GoldenFile golden = ReadGolden(GoldenPath(GoldenFolder(), name));
  ASSERT_EQ(golden.in.size(), words_in * kRounds) << GoldenPath(GoldenFolder(), name);
  EXPECT_EQ(RunGolden<Kernel>(golden.in, words_in, words_out), golden.out);
}

#else

// On the executor; every schedule gives the same.
template <class Kernel>
std::vector<uint32_t> RunGolden(const std::vector<uint32_t>& in, int words_in, int words_out) {
  std::vector<uint32_t> first;
  for (const CpuOptions& options : AllSchedules()) {
    std::vector<uint32_t> out(words_out * kRounds, kUnwritten);
    for (int round = 0; round < kRounds; ++round) {
      const WordParams params{&in[round * words_in], &out[round * words_out]};
      const CpuReport report = LaunchOnCpu<Kernel>({1, 1, 1}, params, options);
      EXPECT_EQ(report.error, "");
    }
    if (first.empty()) first = out;
    EXPECT_EQ(out, first) << ::testing::PrintToString(options);
  }
  return first;
}

template <class Kernel>
void TestGolden(const std::string& name, int words_in, int words_out) {
  const std::vector<uint32_t> in = GoldenInput<Kernel>(words_in);
  const std::vector<uint32_t> out = RunGolden<Kernel>(in, words_in, words_out);
  SkipAwaiting(name);
  if (::testing::Test::IsSkipped() || ::testing::Test::HasFatalFailure()) return;
  const GoldenFile golden = ReadGolden(GoldenPath(GoldenFolder(), name));
  ASSERT_FALSE(golden.device.empty() || golden.driver.empty())
      << GoldenPath(GoldenFolder(), name) << " is not a golden file";
  // The files hold what this test would write today.
  ASSERT_EQ(golden.in, in);
  EXPECT_EQ(out, golden.out);
}

#endif

TEST(Golden, Dp4a) {
  TestGolden<Dp4aKernel>("dp4a", 32 * 3, 32);
}

TEST(Golden, MmaM8N8K16S8) {
  TestGolden<MmaM8N8Kernel<16, false>>("mma_m8n8k16_s8", 32 * 4, 32 * 2);
}

TEST(Golden, MmaM16N8K32S8) {
  TestGolden<MmaM16N8Kernel<32, false>>("mma_m16n8k32_s8", 32 * 10, 32 * 4);
}

TEST(Golden, MmaM16N8K16) {
  TestGolden<ExactMmaFloatsKernel<Half>>("mma_m16n8k16_f16", 32 * 10, 32 * 4);
  TestGolden<ExactMmaFloatsKernel<Bfloat16>>("mma_m16n8k16_bf16", 32 * 10, 32 * 4);
}

TEST(Golden, MmaM16N8K8) {
  TestGolden<ExactMmaFloatsKernel<Half, 4>>("mma_m16n8k8_f16", 32 * 7, 32 * 4);
}

TEST(Golden, MmaM16N8K8Tf32) {
  TestGolden<ExactMmaFloatsKernel<Tf32>>("mma_m16n8k8_tf32", 32 * 10, 32 * 4);
}

TEST(Golden, MmaM16N8K32E4m3) {
  TestGolden<ExactMmaFloatsKernel<Float8E4m3>>("mma_m16n8k32_e4m3", 32 * 10, 32 * 4);
}

TEST(Golden, MmaM16N8K32E5m2) {
  TestGolden<ExactMmaFloatsKernel<Float8E5m2>>("mma_m16n8k32_e5m2", 32 * 10, 32 * 4);
}

TEST(Golden, MmaM16N8K16HalfSums) {
  TestGolden<ExactMmaM16N8K16HalfSumsKernel>("mma_m16n8k16_f16_half_sums", 32 * 8, 32 * 2);
}

TEST(Golden, MmaM16N8K8F64) {
  TestGolden<ExactMmaM16N8K8F64Kernel>("mma_m16n8k8_f64", 32 * 20, 32 * 8);
}

TEST(Golden, FmaOuter) {
  TestGolden<FmaFloatKernel>("fma_float", 32 * 8, 32 * 4);
  TestGolden<FmaDoubleKernel>("fma_double", 32 * 16, 32 * 8);
}

TEST(Golden, PackSaturated) {
  TestGolden<PackKernel<int8_t>>("pack_saturated_s8", 32 * 4, 32);
  TestGolden<PackKernel<uint8_t>>("pack_saturated_u8", 32 * 4, 32);
}

TEST(Golden, StoreSharedAt) {
  TestGolden<StoreAtKernel>("store_shared_at", 32 * 8, 32 * 8);
}

TEST(Golden, BytePermute) {
  TestGolden<BytePermuteKernel>("byte_permute", 32 * 3, 32);
}

TEST(Golden, LdMatrix) {
  TestGolden<LdMatrixKernel<1>>("ldmatrix_x1", 32 * 4, 32);
  TestGolden<LdMatrixKernel<2>>("ldmatrix_x2", 32 * 4, 32 * 2);
  TestGolden<LdMatrixKernel<4>>("ldmatrix_x4", 32 * 4, 32 * 4);
}

TEST(Golden, CpAsync) {
  TestGolden<CopyKernel<4>>("cp_async_4", 32 * 4, 32 * 4);
  TestGolden<CopyKernel<8>>("cp_async_8", 32 * 4, 32 * 4);
  TestGolden<CopyKernel<16>>("cp_async_16", 32 * 4, 32 * 4);
}

TEST(Golden, Shuffles) {
  TestGolden<ShflKernel>("shfl", 32 * 2, 32);
  TestGolden<ShflXorKernel>("shfl_xor", 32, 32 * 32);
}

TEST(Golden, Ballot) {
  TestGolden<BallotKernel>("ballot", 32, 32 * 32);
}

}  // namespace
}  // namespace weft::arch::testing
