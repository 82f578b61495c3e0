// The checks of a convolution's problem that do not depend on the policy.
#pragma once

#include <cstdint>
#include <limits>

#include "weft/conv/problem/problem.hpp"
#include "weft/gemm/tile/tile.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

// (-128) * (-128), the largest product of two int8 values.
inline constexpr std::int64_t kLargestInt8Product = 128 * 128;

// OK if the problem describes a convolution whose int32 accumulators cannot overflow, given the
// largest magnitude of a product of two values. InvalidArgument and OutOfRange name the field, its
// value and what would be accepted. filter_bits: bits of a filter's value, for the message.
absl::Status CheckProblem(const Problem& problem,
                          std::int64_t largest_product = kLargestInt8Product, int filter_bits = 8);

namespace internal {

__extension__ using Wide = __int128;  // products of two 64-bit extents do not overflow here

// OutOfRange: "conv: what=value exceeds limit; remedy".
absl::Status TooLarge(const char* what, Wide value, std::int64_t limit, const char* remedy);

// Padded rows and columns stay below this, so that the kernel's sentinel row is far from all taps.
inline constexpr std::int64_t kMaxExtent = std::int64_t{1} << 30;
// Tiles may reach past the last pixel by less than one threadblock.
inline constexpr std::int64_t kMaxPixels = gemm::kInt32Max - 1024;
// This limit leaves room for a layout's zero channels and for offsets in bytes instead of elements.
inline constexpr std::int64_t kMaxElements = (std::numeric_limits<std::int64_t>::max)() / 1024;

// A field of a problem, with its name for messages.
struct Field {
  const char* name;
  std::int64_t value;
  std::int64_t least = 1;  // the least value that an extent may have, 1 or 0
};
// InvalidArgument or OutOfRange: extents are `least` to kMaxExtent, pads 0 to kMaxExtent.
absl::Status CheckFields(absl::Span<const Field> extents, absl::Span<const Field> pads);

// OutOfRange if the int32 sum of an image's p x q one-byte outputs could overflow.
absl::Status CheckImageSums(std::int64_t p, std::int64_t q);

// The rows (columns) of the source from one tap to the next: the dilation, but 0 where there is a
// single row (column) of taps, whose dilation means nothing and may be huge.
constexpr std::int64_t StepH(const Problem& p) {
  return p.r == 1 ? 0 : p.dilation_h;
}
constexpr std::int64_t StepW(const Problem& p) {
  return p.s == 1 ? 0 : p.dilation_w;
}

// Fills in h, r, s, base_* and step_* of WindowParams or DepthwiseIteratorParams.
template <class Params>
inline void SetTaps(const Problem& p, Params* params) {
  using gemm::Int32;
  const bool flip = p.mode == Mode::kConvolution;
  const std::int64_t step_h = StepH(p), step_w = StepW(p);
  params->h = Int32(p.h);
  params->r = Int32(p.r);
  params->s = Int32(p.s);
  // A flipped filter is read from its last tap: start there and step backwards.
  params->base_h = Int32(-p.pad_top + (flip ? (p.r - 1) * step_h : 0));
  params->base_w = Int32(-p.pad_left + (flip ? (p.s - 1) * step_w : 0));
  params->step_h = Int32(flip ? -step_h : step_h);
  params->step_w = Int32(flip ? -step_w : step_w);
}

}  // namespace internal
}  // namespace weft::conv
