#include "perf/peers/formats.hpp"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "perf/support/status.hpp"
#if WEFT_HAVE_CUDA
#include "perf/support/device_data.hpp"
#include "perf/support/launch.hpp"
#endif

namespace weft::perf {
namespace {

template <class Function>
auto WithFormat(TensorFormatName name, Function&& function) {
  switch (name) {
    case TensorFormatName::kNc4:
      return function(NCxHWx<4>());
    case TensorFormatName::kNc32:
      return function(NCxHWx<32>());
    default:
      return function(NHWC());
  }
}

}  // namespace

std::string FormatText(TensorFormatName format) {
  return WithFormat(format, [](auto f) { return std::string(decltype(f)::kName); });
}

FormatStrides StridesOf(TensorFormatName format, const TensorExtents& e) {
  return WithFormat(format, [&](auto f) { return StridesOf<decltype(f)>(e); });
}

std::int64_t SizeOf(TensorFormatName format, const TensorExtents& e) {
  return WithFormat(format, [&](auto f) { return decltype(f)::Size(e); });
}

bool SameInMemory(TensorFormatName a, TensorFormatName b, std::int64_t channels) {
  const auto one_run = [&](TensorFormatName f) {
    return f == TensorFormatName::kNhwc || (f == TensorFormatName::kNc4 && channels == 4) ||
           (f == TensorFormatName::kNc32 && channels == 32);
  };
  return a == b || (one_run(a) && one_run(b));
}

absl::StatusOr<ReformatPlan> PlanReformat(TensorFormatName from, TensorFormatName to,
                                          const TensorExtents& e) {
  if (e.c % 4 != 0) {
    return absl::UnimplementedError(absl::StrCat("reformat: ", e.c, " channels; it takes fours"));
  }
  ReformatPlan plan;
  ReformatParams& p = plan.params;
  p.extents = e;
  p.from = StridesOf(from, e);
  p.to = StridesOf(to, e);
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
  return LaunchStatus(internal::Launch(params, plan.src_word, plan.dst_word, stream), "reformat");
}

absl::Status Convert(const ConvertParams& params, Element from, Element to, Stream stream) {
  return LaunchStatus(
      internal::Launch(params, from == Element::kHalf, to == Element::kHalf, stream),
      "conversion of a tensor");
}

absl::StatusOr<TensorSets> TensorSets::Create(std::int64_t elements, Element element, int sets) {
  TensorSets made;
  made.stride = RoundUp(elements * Bytes(element), 256);
  WEFT_LET(made.buffer, DeviceBuffer::Create(made.stride * sets));
  WEFT_TRY(made.buffer.Fill(0));
  return made;
}

absl::StatusOr<TensorSets> TensorSets::Converted(const std::vector<const std::int8_t*>& from,
                                                 const TensorExtents& e, TensorFormatName format,
                                                 Element element, Stream stream,
                                                 const std::vector<const float*>& scales) {
  const int sets = static_cast<int>(from.size());
  WEFT_LET(TensorSets made, Create(SizeOf(format, e), element, sets));
  for (int set = 0; set < sets; ++set) {
    ConvertParams params{from[set], made.at(set), e, StridesOf<NHWC>(e), StridesOf(format, e)};
    if (!scales.empty()) params.scale = scales[set];
    WEFT_TRY(Convert(params, Element::kInt8, element, stream));
  }
  return made;
}

#endif  // WEFT_HAVE_CUDA

}  // namespace weft::perf
