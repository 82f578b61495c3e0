#include "perf/support/cuda.hpp"

#include "absl/strings/str_cat.h"
#include "perf/support/status.hpp"

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
  WEFT_TRY(CudaStatus(cudaGetDeviceCount(&count), "no usable GPU"));
  if (count == 0) return absl::UnavailableError("no usable GPU: none found");
  return CudaStatus(cudaSetDevice(0), "cudaSetDevice");
}

absl::StatusOr<DeviceBuffer> DeviceBuffer::Create(std::int64_t bytes) {
  DeviceBuffer buffer;
  WEFT_TRY(CudaStatus(cudaMalloc(&buffer.data_, bytes), "cudaMalloc"));
  buffer.bytes_ = bytes;
  return buffer;
}

absl::StatusOr<DeviceBuffer> DeviceBuffer::FromBytes(const void* data, std::int64_t bytes) {
  WEFT_LET(DeviceBuffer buffer, Create(bytes));
  WEFT_TRY(CudaStatus(cudaMemcpy(buffer.data_, data, bytes, cudaMemcpyHostToDevice), "cudaMemcpy"));
  return buffer;
}

absl::Status DeviceBuffer::Fill(int byte) const {
  // The stopwatch's stream does not wait for the one that cudaMemset uses, nor that for it.
  WEFT_TRY(CudaStatus(cudaDeviceSynchronize(), "before cudaMemset"));
  WEFT_TRY(CudaStatus(cudaMemset(data_, byte, bytes_), "cudaMemset"));
  return CudaStatus(cudaDeviceSynchronize(), "cudaMemset");
}

absl::Status DeviceBuffer::CopyTo(void* destination, std::int64_t bytes) const {
  WEFT_TRY(CudaStatus(cudaDeviceSynchronize(), "before a copy to the host"));
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
  WEFT_TRY(CudaStatus(cudaEventCreate(&begin_), "cudaEventCreate"));
  return CudaStatus(cudaEventCreate(&end_), "cudaEventCreate");
}

absl::StatusOr<double> CudaTimer::Time(cudaStream_t stream,
                                       const std::function<absl::Status()>& work) const {
  WEFT_TRY(CudaStatus(cudaEventRecord(begin_, stream), "cudaEventRecord"));
  WEFT_TRY(work());
  WEFT_TRY(CudaStatus(cudaEventRecord(end_, stream), "cudaEventRecord"));
  WEFT_TRY(CudaStatus(cudaEventSynchronize(end_), "timed work"));
  float milliseconds = 0.0f;
  WEFT_TRY(CudaStatus(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime"));
  return 1000.0 * milliseconds;
}

absl::StatusOr<CudaGraph> CudaGraph::Capture(cudaStream_t stream,
                                             const std::function<absl::Status()>& work) {
  WEFT_TRY(CudaStatus(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed),
                      "cudaStreamBeginCapture"));
  absl::Status made = work();
  cudaGraph_t graph = nullptr;
  // Ends the capture also where `work` failed.
  made.Update(CudaStatus(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture"));
  CudaGraph result;
  if (made.ok()) {
    made = CudaStatus(cudaGraphInstantiate(&result.graph_, graph, 0), "cudaGraphInstantiate");
  }
  if (graph != nullptr) cudaGraphDestroy(graph);
  // The first launch then costs what the others do.
  if (made.ok()) made = CudaStatus(cudaGraphUpload(result.graph_, stream), "cudaGraphUpload");
  if (!made.ok()) return made;
  return result;
}

absl::Status CudaGraph::Launch(cudaStream_t stream) const {
  return CudaStatus(cudaGraphLaunch(graph_, stream), "cudaGraphLaunch");
}

}  // namespace weft::perf
