// cuBLASLt's functions, looked for when a program runs.
#pragma once

#if WEFT_HAVE_CUBLASLT

#include <cublasLt.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace weft::perf {

#define WEFT_LT_FUNCTIONS(X)      \
  X(GetVersion)                   \
  X(GetStatusString)              \
  X(Create)                       \
  X(Matmul)                       \
  X(MatmulAlgoCapGetAttribute)    \
  X(MatmulAlgoCheck)              \
  X(MatmulAlgoConfigGetAttribute) \
  X(MatmulAlgoConfigSetAttribute) \
  X(MatmulAlgoGetHeuristic)       \
  X(MatmulAlgoGetIds)             \
  X(MatmulAlgoInit)               \
  X(MatmulDescCreate)             \
  X(MatmulDescDestroy)            \
  X(MatmulDescSetAttribute)       \
  X(MatrixLayoutCreate)           \
  X(MatrixLayoutDestroy)          \
  X(MatmulPreferenceCreate)       \
  X(MatmulPreferenceDestroy)      \
  X(MatmulPreferenceSetAttribute)

struct LtApi {
#define WEFT_DECLARE(name) decltype(&::cublasLt##name) name = nullptr;
  WEFT_LT_FUNCTIONS(WEFT_DECLARE)
#undef WEFT_DECLARE
  cublasLtHandle_t handle = nullptr;

  // Unimplemented for what cuBLASLt does not support, else Internal; `what` and cuBLASLt's words.
  absl::Status Check(cublasStatus_t status, const std::string& what) const;
};

// Opened by the first call; closed with the process. NotFound names the library or the function.
absl::StatusOr<const LtApi*> Lt();

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUBLASLT
