#include "weft/conv/plan/copy_limits.hpp"

#include "absl/strings/str_cat.h"

namespace weft::conv {
namespace {

absl::Status Refuse(const char* what, std::int64_t value, const char* limit) {
  return absl::InvalidArgumentError(absl::StrCat(
      "conv: ", what, "=", value, " is more than ", limit,
      " that TMA takes, by which the wgmma_sm90 mainloop loads; use an MmaSm80Config"));
}

}  // namespace

absl::Status CheckCopyLimits(const Problem& p) {
  constexpr std::int64_t kMostStride = 8, kMostPad = 127, kMostReach = 255;
  if (p.stride_h > kMostStride) return Refuse("stride_h", p.stride_h, "the 8");
  if (p.stride_w > kMostStride) return Refuse("stride_w", p.stride_w, "the 8");
  const struct {
    const char* name;
    std::int64_t value;
  } pads[] = {{"pad_top", p.pad_top},
              {"pad_left", p.pad_left},
              {"pad_bottom", p.pad_bottom},
              {"pad_right", p.pad_right}};
  for (const auto& pad : pads) {
    if (pad.value > kMostPad) return Refuse(pad.name, pad.value, "the 127");
  }
  // The last two checks keep the upper corner of the traversal's bounding box at -128 or more.
  const std::int64_t reach_h = (p.r - 1) * p.dilation_h, reach_w = (p.s - 1) * p.dilation_w;
  if (reach_h > kMostReach) return Refuse("(r-1)*dilation_h", reach_h, "the 255");
  if (reach_w > kMostReach) return Refuse("(s-1)*dilation_w", reach_w, "the 255");
  if (p.pad_bottom - reach_h < -128)
    return Refuse("(r-1)*dilation_h-pad_bottom", reach_h - p.pad_bottom, "the 128");
  if (p.pad_right - reach_w < -128)
    return Refuse("(s-1)*dilation_w-pad_right", reach_w - p.pad_right, "the 128");
  return absl::OkStatus();
}

}  // namespace weft::conv
