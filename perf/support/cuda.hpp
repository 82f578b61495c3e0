// Memory, streams, events and graphs of the CUDA runtime for g++ code.
//
// Every call that can fail returns a Status: Unavailable if there is no GPU that can be used, else
// Internal with CUDA's own words.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "perf/support/status.hpp"

namespace weft::perf {

// `what` names the call. The error is also taken out of CUDA's "last error".
absl::Status CudaStatus(cudaError_t error, const char* what);

// OK if there is a GPU; device 0 is used.
absl::Status CheckGpu();

// How many sets of buffers of `bytes` each are needed so that runs that go round them find nothing
// in the L2: two at least, and 512 at most.
inline int BufferSets(std::int64_t bytes) {
  constexpr std::int64_t kRotationBytes = std::int64_t{256} << 20;
  return static_cast<int>(std::clamp<std::int64_t>(kRotationBytes / bytes + 1, 2, 512));
}

// Owns GPU memory, 256-byte aligned. Movable.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  ~DeviceBuffer() {
    // cudaFree(nullptr) would set CUDA up, in a process that is still to fork, say.
    if (data_ != nullptr) cudaFree(data_);
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept { *this = std::move(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  // ResourceExhausted if there is not enough memory.
  static absl::StatusOr<DeviceBuffer> Create(std::int64_t bytes);

  // A copy of `values`.
  template <class T>
  static absl::StatusOr<DeviceBuffer> From(const std::vector<T>& values) {
    return FromBytes(values.data(), static_cast<std::int64_t>(values.size() * sizeof(T)));
  }
  static absl::StatusOr<DeviceBuffer> FromBytes(const void* data, std::int64_t bytes);

  void* data() const { return data_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  std::int64_t bytes() const { return bytes_; }

  // Fills the buffer with `byte`; copies it to `destination`. Both wait for work under way.
  absl::Status Fill(int byte) const;
  absl::Status CopyTo(void* destination, std::int64_t bytes) const;
  template <class T>
  absl::StatusOr<std::vector<T>> Read() const {
    std::vector<T> values(bytes_ / sizeof(T));
    WEFT_TRY(CopyTo(values.data(), bytes_));
    return values;
  }

 private:
  void* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

// A stream, or nothing: owns it. Not movable.
class CudaStream {
 public:
  CudaStream() = default;
  ~CudaStream() {
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  absl::Status Init();
  cudaStream_t get() const { return stream_; }
  absl::Status Synchronize() const;

 private:
  cudaStream_t stream_ = nullptr;
};

// Two events around work on a stream.
class CudaTimer {
 public:
  CudaTimer() = default;
  ~CudaTimer();
  CudaTimer(const CudaTimer&) = delete;
  CudaTimer& operator=(const CudaTimer&) = delete;

  absl::Status Init();
  // Microseconds from before the first to after the last of what `work` enqueues on `stream`. Waits
  // for it.
  absl::StatusOr<double> Time(cudaStream_t stream, const std::function<absl::Status()>& work) const;

 private:
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

// An event that orders streams.
class CudaEvent {
 public:
  CudaEvent() = default;
  ~CudaEvent() {
    if (event_ != nullptr) cudaEventDestroy(event_);
  }
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;

  absl::Status Init() {
    return CudaStatus(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "event");
  }
  // What is enqueued on `to` from now on waits for what has been on `from`.
  absl::Status Order(cudaStream_t from, cudaStream_t to) const {
    WEFT_TRY(CudaStatus(cudaEventRecord(event_, from), "cudaEventRecord"));
    return CudaStatus(cudaStreamWaitEvent(to, event_, 0), "cudaStreamWaitEvent");
  }

 private:
  cudaEvent_t event_ = nullptr;
};

// An executable graph. Movable.
class CudaGraph {
 public:
  CudaGraph() = default;
  ~CudaGraph() {
    if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
  }
  CudaGraph(CudaGraph&& other) noexcept { *this = std::move(other); }
  CudaGraph& operator=(CudaGraph&& other) noexcept {
    std::swap(graph_, other.graph_);
    return *this;
  }

  // What `work` enqueues on `stream`, captured, moved to the GPU and not run.
  static absl::StatusOr<CudaGraph> Capture(cudaStream_t stream,
                                           const std::function<absl::Status()>& work);
  absl::Status Launch(cudaStream_t stream) const;

 private:
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace weft::perf
