// Tensors in the formats that peers want. Only with WEFT_HAVE_CUDA.
#pragma once

#if WEFT_HAVE_CUDA

#include "absl/status/statusor.h"
#include "perf/peers/convert_kernels.hpp"
#include "perf/peers/peer.hpp"
#include "perf/support/cuda.hpp"

namespace weft::perf {

enum class Element { kInt8, kHalf };
constexpr std::int64_t Bytes(Element element) {
  return element == Element::kInt8 ? 1 : 2;
}

// Enqueues a conversion. Half to half is not made.
absl::Status Convert(const ConvertParams& params, Element from, Element to, Stream stream);

// Copies of the sets of one tensor in Format, zero where channels fill the last block.
struct ConvertedSets {
  DeviceBuffer buffer;
  std::int64_t stride = 0;  // bytes
  void* at(int set) const { return buffer.as<char>() + set * stride; }
};

// `sets` places for a tensor of `elements` elements, filled with zeros.
absl::StatusOr<ConvertedSets> MakeSets(std::int64_t elements, Element element, int sets);

// The NHWC tensors `from` in Format and `element`; `scale` is of image n.
template <TensorFormat Format>
absl::StatusOr<ConvertedSets> ConvertSets(const PeerTensors::Sets& from, const TensorExtents& e,
                                          Element element, int sets, Stream stream,
                                          const float* scale = nullptr) {
  absl::StatusOr<ConvertedSets> made = MakeSets(Format::Size(e), element, sets);
  if (!made.ok()) return made;
  for (int set = 0; set < sets; ++set) {
    ConvertParams params{from.at(set), made->at(set), e, StridesOf<NHWC>(e), StridesOf<Format>(e)};
    params.scale = scale;
    absl::Status s = Convert(params, Element::kInt8, element, stream);
    if (!s.ok()) return s;
  }
  return made;
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
