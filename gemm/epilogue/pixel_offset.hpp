// Where a pixel is in a tensor.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/arch.hpp"
#include "weft/layouts/formats.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// Where pixel pq begins in its image, in elements. The pixel stride of a tensor format is at most
// the number of channels and so fits 32 bits, which makes this one multiplication.
template <class Layout>
WEFT_DEVICE std::int64_t PixelOffset(const TensorExtents& e, std::int32_t pq) {
  if constexpr (TensorFormat<Layout>) {
    return static_cast<std::int64_t>(pq) * static_cast<std::int32_t>(Layout::PixelStride(e));
  } else {
    return pq * Layout::PixelStride(e);
  }
}

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
