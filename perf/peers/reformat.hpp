// Rewriting int8 tensors in another format on the GPU. Only with WEFT_HAVE_CUDA.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "perf/peers/peer.hpp"
#include "perf/peers/reformat_kernels.hpp"

namespace weft::perf {

// Whether a tensor of `channels` channels lies the same way in both: NHWC of 4 channels is
// NCxHWx<4>.
bool SameInMemory(TensorFormatName a, TensorFormatName b, std::int64_t channels);

// "NHWC", "NCxHWx<4>", "NCxHWx<32>".
std::string FormatText(TensorFormatName format);

// What the kernel is to do, but for addresses and `blocks`, and in which words: kSrc and kDst of
// ReformatKernel. Unimplemented if channels do not come in fours, or if there are 2^32 words or
// more.
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
#endif

}  // namespace weft::perf
