// A tensor for the programs that run on either back end.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <utility>
#include <vector>

#if WEFT_HAVE_CUDA
#include <cuda_runtime_api.h>
#endif

namespace examples {

// Where the operator finds a tensor: a copy of it on the GPU, or the host's own memory. Download()
// brings back what the operator wrote.
template <class T>
class Tensor {
 public:
  Tensor(std::vector<T> host, bool on_gpu) : host_(std::move(host)), memory_(host_.data()) {
#if WEFT_HAVE_CUDA
    on_gpu_ = on_gpu;
    void* memory = nullptr;
    if (on_gpu_) Check(cudaMalloc(&memory, bytes()));
    if (on_gpu_) Check(cudaMemcpy(memory, host_.data(), bytes(), cudaMemcpyHostToDevice));
    if (on_gpu_) memory_ = static_cast<T*>(memory);
#else
    static_cast<void>(on_gpu);
#endif
  }
  Tensor(const Tensor&) = delete;
  ~Tensor() {
#if WEFT_HAVE_CUDA
    if (on_gpu_) cudaFree(memory_);
#endif
  }

  T* get() const {
    return memory_;
  }

  const std::vector<T>& Download() {
#if WEFT_HAVE_CUDA
    if (on_gpu_) Check(cudaMemcpy(host_.data(), memory_, bytes(), cudaMemcpyDeviceToHost));
#endif
    return host_;
  }

 private:
  std::size_t bytes() const {
    return host_.size() * sizeof(T);
  }
#if WEFT_HAVE_CUDA
  static void Check(cudaError_t error) {
    if (error == cudaSuccess) return;
    std::cerr << cudaGetErrorString(error) << "\n";
    std::exit(1);
  }
  bool on_gpu_ = false;
#endif
  std::vector<T> host_;
  T* memory_;
};

}  // namespace examples
