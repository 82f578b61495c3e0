// cuDNN's and cuBLASLt's functions, looked for when a program runs. Each part is empty without the
// library's header.
#pragma once

#if WEFT_HAVE_CUDNN
#include <cudnn.h>
#endif
#if WEFT_HAVE_CUBLASLT
#include <cublasLt.h>
#endif

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace weft::perf {

#if WEFT_HAVE_CUDNN

// clang-format off
#define WEFT_CUDNN_FUNCTIONS(X) \
  X(GetVersion) X(GetErrorString) X(GetLastErrorString) X(Create) X(Destroy) X(SetStream) \
  X(CreateTensorDescriptor) X(SetTensor4dDescriptor) X(DestroyTensorDescriptor) \
  X(CreateFilterDescriptor) X(SetFilter4dDescriptor) X(DestroyFilterDescriptor) \
  X(CreateConvolutionDescriptor) X(SetConvolution2dDescriptor) X(SetConvolutionReorderType) \
  X(SetConvolutionGroupCount) \
  X(SetConvolutionMathType) X(DestroyConvolutionDescriptor) X(CreateActivationDescriptor) \
  X(SetActivationDescriptor) X(DestroyActivationDescriptor) \
  X(GetConvolutionForwardWorkspaceSize) X(ConvolutionBiasActivationForward) \
  X(ReorderFilterAndBias) X(BackendCreateDescriptor) X(BackendDestroyDescriptor) \
  X(BackendSetAttribute) X(BackendGetAttribute) X(BackendFinalize) X(BackendExecute)
// clang-format on

// Each function is a pointer called as cuDNN's, without the prefix.
struct CudnnApi {
#define WEFT_DECLARE(name) decltype(&::cudnn##name) name = nullptr;
  WEFT_CUDNN_FUNCTIONS(WEFT_DECLARE)
#undef WEFT_DECLARE
  std::string version;  // "9.19.0"

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

#endif  // WEFT_HAVE_CUDNN

#if WEFT_HAVE_CUBLASLT

// clang-format off
#define WEFT_LT_FUNCTIONS(X) \
  X(GetVersion) X(GetStatusString) X(Create) X(Matmul) X(MatmulAlgoGetHeuristic) X(MatmulDescCreate) \
  X(MatmulDescDestroy) X(MatmulDescSetAttribute) X(MatrixLayoutCreate) X(MatrixLayoutDestroy) \
  X(MatrixLayoutSetAttribute) \
  X(MatmulPreferenceCreate) X(MatmulPreferenceDestroy) X(MatmulPreferenceSetAttribute)
// clang-format on

struct LtApi {
#define WEFT_DECLARE(name) decltype(&::cublasLt##name) name = nullptr;
  WEFT_LT_FUNCTIONS(WEFT_DECLARE)
#undef WEFT_DECLARE
  cublasLtHandle_t handle = nullptr;

  // As CudnnApi's.
  static absl::StatusOr<const LtApi*> Get();
  absl::Status Check(cublasStatus_t status, const std::string& what) const;
};

#endif  // WEFT_HAVE_CUBLASLT

}  // namespace weft::perf
