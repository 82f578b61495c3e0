// Tensors in the formats that peers and users have, on the GPU.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "perf/support/format_kernels.hpp"
#if WEFT_HAVE_CUDA
#include "perf/support/cuda.hpp"
#endif

namespace weft::perf {

enum class TensorFormatName { kNhwc, kNc4, kNc32 };

// "NHWC", "NCxHWx<4>", "NCxHWx<32>".
std::string FormatText(TensorFormatName format);
FormatStrides StridesOf(TensorFormatName format, const TensorExtents& e);
// Elements.
std::int64_t SizeOf(TensorFormatName format, const TensorExtents& e);

// Whether a tensor of `channels` channels lies the same way in both: NHWC of 4 channels is
// NCxHWx<4>.
bool SameInMemory(TensorFormatName a, TensorFormatName b, std::int64_t channels);

// What ReformatKernel is to do, but for addresses and `blocks`, and in which words: its kSrc and
// kDst. Unimplemented if channels do not come in fours, or if there are 2^32 words or more.
struct ReformatPlan {
  ReformatParams params;
  int src_word = 0, dst_word = 0;
};
absl::StatusOr<ReformatPlan> PlanReformat(TensorFormatName from, TensorFormatName to,
                                          const TensorExtents& extents);

#if WEFT_HAVE_CUDA

// Enqueues `plan` for tensors at 16-byte aligned GPU addresses.
absl::Status Reformat(const ReformatPlan& plan, const std::int8_t* src, std::int8_t* dst,
                      Stream stream);

enum class Element { kInt8, kHalf };
constexpr std::int64_t Bytes(Element element) {
  return element == Element::kInt8 ? 1 : 2;
}

// Enqueues a conversion. Half to half is not made.
absl::Status Convert(const ConvertParams& params, Element from, Element to, Stream stream);

// Places for one tensor of each buffer set, 256-byte aligned.
struct TensorSets {
  DeviceBuffer buffer;
  std::int64_t stride = 0;  // bytes
  void* at(int set) const { return buffer.as<char>() + set * stride; }

  // For tensors of `elements` elements, filled with zeros.
  static absl::StatusOr<TensorSets> Create(std::int64_t elements, Element element, int sets);
  // The NHWC int8 tensors at `from` in another format; zero where channels fill the last block.
  // `scales`, if not empty, has the factors of the images of each set.
  static absl::StatusOr<TensorSets> Converted(const std::vector<const std::int8_t*>& from,
                                              const TensorExtents& e, TensorFormatName format,
                                              Element element, Stream stream,
                                              const std::vector<const float*>& scales = {});
};

#endif  // WEFT_HAVE_CUDA

}  // namespace weft::perf
