#include "weft/gemm/buffer.hpp"

#include <cstring>
#include <new>

#include "absl/strings/str_cat.h"
#include "weft/gemm/arch/device.hpp"
#include "weft/gemm/arch/memory.hpp"

namespace weft {
namespace {

constexpr std::align_val_t kAlignment{256};

absl::Status NoMemory(const char* where, std::int64_t size, int element) {
  return absl::ResourceExhaustedError(absl::StrCat("Buffer: ", where, " has no memory for ", size,
                                                   " elements of ", element, " bytes"));
}

}  // namespace

Backend UsableBackend() {
  return arch::QueryDevice().result.ok() ? Backend::kCuda : Backend::kCpu;
}

namespace internal {

absl::Status AllocateZeros(Backend backend, std::int64_t size, int element, void** memory) {
  *memory = nullptr;
  const bool on_gpu = backend == Backend::kCuda;
  if (size < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("Buffer: size=", size, " is negative; accepted are 0 and more elements"));
  }
  if (on_gpu) {
    const arch::DeviceQuery device = arch::QueryDevice();
    if (!device.result.ok()) {
      return absl::FailedPreconditionError(
          absl::StrCat("Buffer: no usable GPU: ", device.result.message, "; use Backend::kCpu"));
    }
  }
  if (size == 0) return absl::OkStatus();
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(size, std::int64_t{element}, &bytes)) {
    return NoMemory(on_gpu ? "the GPU" : "the host", size, element);
  }
  if (!on_gpu) {
    *memory = ::operator new(static_cast<std::size_t>(bytes), kAlignment, std::nothrow);
    if (*memory == nullptr) return NoMemory("the host", size, element);
    std::memset(*memory, 0, static_cast<std::size_t>(bytes));
    return absl::OkStatus();
  }
  const arch::LaunchResult result = arch::AllocateOnDevice(bytes, memory);
  if (result.ok()) return absl::OkStatus();
  if (result.cuda_error == arch::kOutOfDeviceMemory) return NoMemory("the GPU", size, element);
  return absl::InternalError(absl::StrCat("Buffer: cudaMalloc of ", bytes, " bytes failed: ",
                                          result.message, " (", result.cuda_error, ")"));
}

void Free(Backend backend, void* memory) {
  if (memory == nullptr) return;
  if (backend == Backend::kCuda) return arch::FreeOnDevice(memory);
  ::operator delete(memory, kAlignment);
}

absl::Status CopyBytes(Backend backend, void* to, const void* from, std::int64_t bytes,
                       std::int64_t buffer_bytes, Stream stream) {
  if (bytes != buffer_bytes) {
    return absl::InvalidArgumentError(absl::StrCat("Buffer: a copy of ", bytes,
                                                   " bytes, but the buffer has ", buffer_bytes,
                                                   "; give as many elements as its size()"));
  }
  if (bytes == 0) return absl::OkStatus();
  if (backend == Backend::kCpu) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
    return absl::OkStatus();
  }
  const arch::LaunchResult result = arch::CopyOnStream(to, from, bytes, stream);
  if (result.ok()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("Buffer: a copy of ", bytes,
                                          " bytes, or what was enqueued before it, failed: ",
                                          result.message, " (", result.cuda_error, ")"));
}

}  // namespace internal
}  // namespace weft
