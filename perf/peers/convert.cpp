#include "perf/peers/convert.hpp"

#if WEFT_HAVE_CUDA

#include "absl/strings/str_cat.h"
#include "perf/peers/convert_launch.hpp"

namespace weft::perf {

absl::Status Convert(const ConvertParams& params, Element from, Element to, Stream stream) {
  const arch::LaunchResult result =
      internal::LaunchConvert(params, from == Element::kHalf, to == Element::kHalf, stream);
  if (result.ok()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("conversion of a tensor: ", result.message));
}

absl::StatusOr<ConvertedSets> MakeSets(std::int64_t elements, Element element, int sets) {
  ConvertedSets made;
  made.stride = RoundUp(elements * Bytes(element), 256);
  absl::StatusOr<DeviceBuffer> buffer = DeviceBuffer::Create(made.stride * sets);
  if (!buffer.ok()) return buffer.status();
  made.buffer = std::move(*buffer);
  if (absl::Status s = made.buffer.Fill(0); !s.ok()) return s;
  return made;
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
