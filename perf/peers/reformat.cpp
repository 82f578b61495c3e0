#include "perf/peers/reformat.hpp"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "perf/peers/convert_launch.hpp"

namespace weft::perf {
namespace {

FormatStrides Strides(TensorFormatName format, const TensorExtents& e) {
  switch (format) {
    case TensorFormatName::kNc4:
      return StridesOf<NCxHWx<4>>(e);
    case TensorFormatName::kNc32:
      return StridesOf<NCxHWx<32>>(e);
    default:
      return StridesOf<NHWC>(e);
  }
}

}  // namespace

bool SameInMemory(TensorFormatName a, TensorFormatName b, std::int64_t channels) {
  const auto one_run = [&](TensorFormatName f) {
    return f == TensorFormatName::kNhwc || (f == TensorFormatName::kNc4 && channels == 4) ||
           (f == TensorFormatName::kNc32 && channels == 32);
  };
  return a == b || (one_run(a) && one_run(b));
}

std::string FormatText(TensorFormatName format) {
  return format == TensorFormatName::kNhwc  ? "NHWC"
         : format == TensorFormatName::kNc4 ? "NCxHWx<4>"
                                            : "NCxHWx<32>";
}

absl::StatusOr<ReformatPlan> PlanReformat(TensorFormatName from, TensorFormatName to,
                                          const TensorExtents& e) {
  if (e.c % 4 != 0) {
    return absl::UnimplementedError(absl::StrCat("reformat: ", e.c, " channels; it takes fours"));
  }
  ReformatPlan plan;
  ReformatParams& p = plan.params;
  p.extents = e;
  p.from = Strides(from, e);
  p.to = Strides(to, e);
  const auto word = [](std::int64_t run) { return run % 16 == 0 ? 16 : 4; };
  plan.dst_word = word(p.to.run);
  plan.src_word = std::min(word(p.from.run), plan.dst_word);
  p.dst_runs = static_cast<std::uint32_t>((e.c + p.to.run - 1) / p.to.run);
  const std::int64_t chunks = e.n * p.dst_runs * e.h * e.w * (p.to.run / plan.dst_word);
  if (chunks >= std::int64_t{1} << 32) {
    return absl::UnimplementedError("reformat: the tensor has 2^32 words or more");
  }
  p.chunks = static_cast<std::uint32_t>(chunks);
  return plan;
}

#if WEFT_HAVE_CUDA
absl::Status Reformat(const ReformatPlan& plan, const std::int8_t* src, std::int8_t* dst,
                      Stream stream) {
  ReformatParams params = plan.params;
  params.src = src;
  params.dst = dst;
  const arch::LaunchResult result =
      internal::LaunchReformat(params, plan.src_word, plan.dst_word, stream);
  if (result.ok()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("reformat: ", result.message));
}
#endif

}  // namespace weft::perf
