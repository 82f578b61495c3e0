// From half to int8 by a pointwise graph of cuDNN's. Only with WEFT_HAVE_CUDNN.
#pragma once

#if WEFT_HAVE_CUDNN

#include <vector>

#include "absl/status/statusor.h"
#include "perf/peers/cudnn_graph.hpp"
#include "weft/layouts/formats.hpp"

namespace weft::perf {

class CudnnQuantize {
 public:
  // Of NHWC tensors with extents `e` at GPU addresses that stay: `dst` is `src`, rounded and
  // clamped. The first of cuDNN's suggestions that it accepts; Unimplemented if there is none.
  static absl::StatusOr<CudnnQuantize> Create(const CudnnApi& api, cudnnHandle_t handle,
                                              const TensorExtents& e, void* src, void* dst);

  absl::Status Run(Stream stream) const;

 private:
  const CudnnApi* api_ = nullptr;
  cudnnHandle_t handle_ = nullptr;
  std::vector<internal::Descriptor> kept_;
  internal::Descriptor plan_, pack_;
};

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDNN
