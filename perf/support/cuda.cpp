#include "perf/support/cuda.hpp"

#if WEFT_HAVE_CUDA

#include "absl/strings/str_cat.h"

namespace weft::perf {

absl::Status CudaStatus(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return absl::OkStatus();
  (void)cudaGetLastError();
  const std::string message =
      absl::StrCat(what, ": ", cudaGetErrorString(error), " (", cudaGetErrorName(error), ")");
  switch (error) {
    case cudaErrorMemoryAllocation:
      return absl::ResourceExhaustedError(message);
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorStubLibrary:
    case cudaErrorSystemDriverMismatch:
      return absl::UnavailableError(message);
    default:
      return absl::InternalError(message);
  }
}

absl::Status CheckGpu() {
  int count = 0;
  if (absl::Status s = CudaStatus(cudaGetDeviceCount(&count), "no usable GPU"); !s.ok()) return s;
  if (count == 0) return absl::UnavailableError("no usable GPU: none found");
  return CudaStatus(cudaSetDevice(0), "cudaSetDevice");
}

absl::StatusOr<DeviceBuffer> DeviceBuffer::Create(std::int64_t bytes) {
  DeviceBuffer buffer;
  if (absl::Status s = CudaStatus(cudaMalloc(&buffer.data_, bytes), "cudaMalloc"); !s.ok()) {
    return s;
  }
  buffer.bytes_ = bytes;
  return buffer;
}

absl::StatusOr<DeviceBuffer> DeviceBuffer::FromBytes(const void* data, std::int64_t bytes) {
  absl::StatusOr<DeviceBuffer> buffer = Create(bytes);
  if (!buffer.ok()) return buffer.status();
  if (absl::Status s =
          CudaStatus(cudaMemcpy(buffer->data_, data, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
      !s.ok()) {
    return s;
  }
  return buffer;
}

absl::Status DeviceBuffer::Fill(int byte) const {
  if (absl::Status s = CudaStatus(cudaMemset(data_, byte, bytes_), "cudaMemset"); !s.ok()) return s;
  return CudaStatus(cudaDeviceSynchronize(), "cudaMemset");
}

absl::Status DeviceBuffer::CopyTo(void* destination, std::int64_t bytes) const {
  if (absl::Status s = CudaStatus(cudaDeviceSynchronize(), "before a copy to the host"); !s.ok()) {
    return s;
  }
  return CudaStatus(cudaMemcpy(destination, data_, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
}

absl::Status CudaStream::Init() {
  return CudaStatus(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
}

absl::Status CudaStream::Synchronize() const {
  return CudaStatus(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
}

CudaTimer::~CudaTimer() {
  if (begin_ != nullptr) cudaEventDestroy(begin_);
  if (end_ != nullptr) cudaEventDestroy(end_);
}

absl::Status CudaTimer::Init() {
  if (absl::Status s = CudaStatus(cudaEventCreate(&begin_), "cudaEventCreate"); !s.ok()) return s;
  return CudaStatus(cudaEventCreate(&end_), "cudaEventCreate");
}

absl::StatusOr<double> CudaTimer::Time(cudaStream_t stream,
                                       const std::function<absl::Status()>& work) const {
  if (absl::Status s = CudaStatus(cudaEventRecord(begin_, stream), "cudaEventRecord"); !s.ok()) {
    return s;
  }
  if (absl::Status s = work(); !s.ok()) return s;
  if (absl::Status s = CudaStatus(cudaEventRecord(end_, stream), "cudaEventRecord"); !s.ok()) {
    return s;
  }
  if (absl::Status s = CudaStatus(cudaEventSynchronize(end_), "timed work"); !s.ok()) return s;
  float milliseconds = 0.0f;
  if (absl::Status s =
          CudaStatus(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime");
      !s.ok()) {
    return s;
  }
  return 1000.0 * milliseconds;
}

absl::StatusOr<CudaGraph> CudaGraph::Capture(cudaStream_t stream,
                                             const std::function<absl::Status()>& work) {
  if (absl::Status s = CudaStatus(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed),
                                  "cudaStreamBeginCapture");
      !s.ok()) {
    return s;
  }
  const absl::Status worked = work();
  cudaGraph_t graph = nullptr;
  // Ends the capture also where `work` failed.
  const absl::Status ended =
      CudaStatus(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  CudaGraph result;
  absl::Status made = !worked.ok() ? worked : ended;
  if (made.ok()) {
    made = CudaStatus(cudaGraphInstantiate(&result.graph_, graph, 0), "cudaGraphInstantiate");
  }
  if (graph != nullptr) cudaGraphDestroy(graph);
  if (!made.ok()) return made;
  return result;
}

absl::Status CudaGraph::Launch(cudaStream_t stream) const {
  return CudaStatus(cudaGraphLaunch(graph_, stream), "cudaGraphLaunch");
}

absl::Status CudaGraph::Upload(cudaStream_t stream) const {
  return CudaStatus(cudaGraphUpload(graph_, stream), "cudaGraphUpload");
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
