// cuDNN's functions, found when the program runs. Empty without WEFT_HAVE_CUDNN.
#pragma once

#if WEFT_HAVE_CUDNN

#include <cudnn.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/gemm/arch/backend.hpp"

namespace weft::perf {

#define WEFT_CUDNN_FUNCTIONS(X)         \
  X(GetVersion)                         \
  X(GetErrorString)                     \
  X(GetLastErrorString)                 \
  X(Create)                             \
  X(Destroy)                            \
  X(SetStream)                          \
  X(CreateTensorDescriptor)             \
  X(SetTensor4dDescriptor)              \
  X(DestroyTensorDescriptor)            \
  X(CreateFilterDescriptor)             \
  X(SetFilter4dDescriptor)              \
  X(DestroyFilterDescriptor)            \
  X(CreateConvolutionDescriptor)        \
  X(SetConvolution2dDescriptor)         \
  X(SetConvolutionReorderType)          \
  X(SetConvolutionMathType)             \
  X(DestroyConvolutionDescriptor)       \
  X(CreateActivationDescriptor)         \
  X(SetActivationDescriptor)            \
  X(DestroyActivationDescriptor)        \
  X(GetConvolutionForwardWorkspaceSize) \
  X(ConvolutionBiasActivationForward)   \
  X(ReorderFilterAndBias)               \
  X(BackendCreateDescriptor)            \
  X(BackendDestroyDescriptor)           \
  X(BackendSetAttribute)                \
  X(BackendGetAttribute)                \
  X(BackendFinalize)                    \
  X(BackendExecute)

// Each function is a pointer called as cuDNN's, without the prefix.
struct CudnnApi {
#define WEFT_DECLARE(name) decltype(&::cudnn##name) name = nullptr;
  WEFT_CUDNN_FUNCTIONS(WEFT_DECLARE)
#undef WEFT_DECLARE
  std::string version;  // "9.19.0"
  std::string path;

  // The library, opened by the first call and never closed: it does not unload cleanly. NotFound if
  // there is no libcudnn.so.9.
  static absl::StatusOr<const CudnnApi*> Get();

  // A handle of this thread's own. Handles are kept until the process ends.
  absl::StatusOr<cudnnHandle_t> NewHandle() const;
  // The handle for everything that happens on one thread; made by the first call.
  absl::StatusOr<cudnnHandle_t> MainHandle() const;

  // OK, Unimplemented for what cuDNN does not support, or Internal; says what cuDNN last said.
  absl::Status Check(cudnnStatus_t status, const std::string& what) const;
};

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDNN
