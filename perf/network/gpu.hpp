// GPU memory for a chain, and the reference on the GPU. Only with WEFT_HAVE_CUDA.
#pragma once

#if WEFT_HAVE_CUDA

#include <deque>

#include "perf/network/chain.hpp"
#include "perf/support/cuda.hpp"
#include "perf/support/device_data.hpp"

namespace weft::perf {

class DeviceMemory : public ChainMemory {
 public:
  absl::StatusOr<void*> Allocate(std::int64_t bytes) override;
  absl::Status Write(void* to, const void* from, std::int64_t bytes) override;
  absl::Status Read(void* to, const void* from, std::int64_t bytes) override;

 private:
  std::deque<DeviceBuffer> buffers_;
};

absl::StatusOr<std::vector<std::int8_t>> ReferenceOnGpu(const ReferenceLayer& layer);

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
