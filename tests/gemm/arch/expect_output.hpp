// Runs a micro-kernel on the back end at hand and compares what it writes: on the CPU executor
// under every schedule, on the GPU in files compiled by nvcc.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/gemm/arch/primitive_kernels.hpp"

#if defined(WEFT_CUDA_BACKEND)
#include "weft/gemm/arch/cuda_launch.cuh"
#include "weft/gemm/arch/device.hpp"
#else
#include "tests/gemm/arch/harness.hpp"
#endif

namespace weft::arch::testing {
namespace {

constexpr uint32_t kUntouched = 0xC0FFEE11u;

// Where the output differs, for all ways of running: of `how`, with what `error` there was.
inline void ExpectSame(const std::vector<uint32_t>& out, const std::vector<uint32_t>& expected,
                       const char* error, const std::string& how) {
  EXPECT_STREQ(error, "") << how;
  EXPECT_EQ(out, expected) << how;
}

#if defined(WEFT_CUDA_BACKEND)

// Memory of the GPU that holds a copy of some words.
class DeviceWords {
 public:
  explicit DeviceWords(const std::vector<uint32_t>& words) : bytes_(words.size() * 4) {
    EXPECT_EQ(cudaMalloc(&words_, bytes_), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(words_, words.data(), bytes_, cudaMemcpyHostToDevice), cudaSuccess);
  }
  ~DeviceWords() { (void)cudaFree(words_); }
  DeviceWords(const DeviceWords&) = delete;
  DeviceWords& operator=(const DeviceWords&) = delete;

  uint32_t* get() const { return words_; }
  void CopyTo(std::vector<uint32_t>* words) const {
    EXPECT_EQ(cudaMemcpy(words->data(), words_, bytes_, cudaMemcpyDeviceToHost), cudaSuccess);
  }

 private:
  uint32_t* words_ = nullptr;
  size_t bytes_;
};

// Runs the kernel on the GPU. make_params(in, out) gives its parameters.
template <class Kernel, class MakeParams>
void ExpectOutput(Dim3 grid, const std::vector<uint32_t>& in, const std::vector<uint32_t>& expected,
                  MakeParams make_params, const LaunchAttributes& attributes = {}) {
  const DeviceQuery query = QueryDevice();
  ASSERT_TRUE(query.result.ok()) << query.result.message;
  if (!Kernel::kRequires.Fits(query.limits.compute_capability)) {
    GTEST_SKIP() << "needs compute capability " << Kernel::kRequires.min;
  }
  std::vector<uint32_t> out(expected.size(), kUntouched);
  const DeviceWords device_in(in);
  const DeviceWords device_out(out);
  const LaunchResult result = LaunchOnCuda<Kernel>(
      grid, make_params(device_in.get(), device_out.get()), nullptr, attributes);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  device_out.CopyTo(&out);
  ExpectSame(out, expected, result.message, "on the GPU");
}

#else

// Runs the kernel in every way the executor knows. make_params(in, out) gives its parameters.
template <class Kernel, class MakeParams>
void ExpectOutput(Dim3 grid, const std::vector<uint32_t>& in, const std::vector<uint32_t>& expected,
                  MakeParams make_params, const LaunchAttributes& attributes = {}) {
  for (const CpuOptions& options : AllSchedules()) {
    std::vector<uint32_t> out(expected.size(), kUntouched);
    const CpuReport report =
        LaunchOnCpu<Kernel>(grid, make_params(in.data(), out.data()), options, attributes);
    ExpectSame(out, expected, report.error.c_str(), ::testing::PrintToString(options));
  }
}

#endif

// For the kernels that take words and give words, in one block.
template <class Kernel>
void ExpectOutput(const std::vector<uint32_t>& in, const std::vector<uint32_t>& expected) {
  ExpectOutput<Kernel>({1, 1, 1}, in, expected,
                       [](const uint32_t* src, uint32_t* dst) { return WordParams{src, dst}; });
}

inline int32_t SignedByte(uint32_t word, int k) {
  return static_cast<int8_t>(static_cast<uint8_t>(word >> 8 * k));
}

}  // namespace
}  // namespace weft::arch::testing
