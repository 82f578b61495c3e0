// Memory for an operator under test: on the GPU in files compiled by nvcc, else on the host.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "weft/gemm/arch/isa/backend.hpp"

#if defined(WEFT_CUDA_BACKEND)
#include <cuda_runtime.h>
#endif

namespace weft {

// Memory the operator can use, with a copy of `host` in it and canaries behind.
template <class T>
class OperatorMemory {
  static constexpr std::size_t kCanaryBytes = 256;
  static constexpr unsigned char kCanary = 0xA5;

 public:
  explicit OperatorMemory(const std::vector<T>& host)
      : bytes_(host.size() * sizeof(T)), host_(bytes_ + kCanaryBytes + 64, kCanary) {
#if defined(WEFT_CUDA_BACKEND)
    EXPECT_EQ(cudaMalloc(&memory_, host_.size()), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(memory_, host_.data(), host_.size(), cudaMemcpyDefault), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(memory_, host.data(), bytes_, cudaMemcpyDefault), cudaSuccess);
#else
    memory_ = host_.data() + (64 - reinterpret_cast<std::uintptr_t>(host_.data()) % 64) % 64;
    if (bytes_ > 0) std::memcpy(memory_, host.data(), bytes_);
#endif
  }
  ~OperatorMemory() {
#if defined(WEFT_CUDA_BACKEND)
    cudaFree(memory_);
#endif
  }
  OperatorMemory(const OperatorMemory&) = delete;
  OperatorMemory& operator=(const OperatorMemory&) = delete;

  T* get() const { return static_cast<T*>(memory_); }

  // The contents now; fails the test if a byte behind them has changed.
  std::vector<T> Read() const {
    std::vector<unsigned char> all(bytes_ + kCanaryBytes);
#if defined(WEFT_CUDA_BACKEND)
    EXPECT_EQ(cudaMemcpy(all.data(), memory_, all.size(), cudaMemcpyDefault), cudaSuccess);
#else
    std::memcpy(all.data(), memory_, all.size());
#endif
    for (std::size_t i = bytes_; i < all.size(); ++i) {
      if (all[i] != kCanary) {
        ADD_FAILURE() << "byte " << i - bytes_ << " behind the tensor was overwritten";
        break;
      }
    }
    std::vector<T> result(bytes_ / sizeof(T));
    if (bytes_ > 0) std::memcpy(result.data(), all.data(), bytes_);
    return result;
  }

 private:
  std::size_t bytes_;
  std::vector<unsigned char> host_;
  void* memory_ = nullptr;
};

}  // namespace weft
