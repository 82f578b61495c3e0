#include "examples/picture_filter/apply.hpp"

#include <algorithm>

#include "absl/types/span.h"
#include "examples/picture_filter/operators.hpp"
#include "weft/conv/convolution.hpp"
#include "weft/gemm/buffer.hpp"

namespace picture_filter {
namespace {

using examples::Backend;

// Colour values 0..255 as -128..127.
constexpr int kMiddle = 128;

// NCxHWx<4>, with `margin` rows and columns more on each side that repeat the border: zeros there
// would show as a grey frame.
std::vector<std::int8_t> PackPicture(const Picture& picture, const weft::TensorExtents& extents,
                                     std::int64_t margin) {
  using Format = weft::NCxHWx<4>;
  std::vector<std::int8_t> packed(Format::Size(extents));
  for (std::int64_t h = 0; h < extents.h; ++h) {
    const std::int64_t y = std::clamp(h - margin, std::int64_t{0}, picture.height - 1);
    for (std::int64_t w = 0; w < extents.w; ++w) {
      const std::int64_t x = std::clamp(w - margin, std::int64_t{0}, picture.width - 1);
      for (std::int64_t c = 0; c < 3; ++c) {
        packed[Format::Offset(extents, 0, c, h, w)] =
            static_cast<std::int8_t>(picture.rgb[(y * picture.width + x) * 3 + c] - kMiddle);
      }
    }
  }
  return packed;
}

// The operator's output: k bytes for each pixel, side by side.
template <class Policy>
absl::StatusOr<std::vector<std::uint8_t>> Convolve(const Filter& filter, const Picture& picture,
                                                   Backend backend) {
  using Op = weft::conv::Convolution<Policy>;
  weft::conv::Problem problem;
  problem.h = picture.height + 2 * filter.margin();
  problem.w = picture.width + 2 * filter.margin();
  problem.c = 3;
  problem.k = filter.extents.k;
  problem.r = filter.extents.r;
  problem.s = filter.extents.s;
  const absl::StatusOr<Op> op = Op::Create(problem);
  if (!op.ok()) return op.status();
  const auto packed = weft::PackFilter<typename Policy::FilterLayout>(
      filter.extents, absl::MakeConstSpan(filter.taps));
  if (!packed.ok()) return packed.status();

  // The operator sees every value kMiddle too low; adding what that takes from a result makes up
  // for it. All filters of a bank have the same sum.
  const std::int64_t taps_of_one = static_cast<std::int64_t>(filter.taps.size()) / problem.k;
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < taps_of_one; ++i) sum += filter.taps[i];

  const auto src = weft::Buffer<std::int8_t>::CopyOf(
      PackPicture(picture, problem.src(), filter.margin()), backend);
  const auto taps = weft::Buffer<std::int8_t>::CopyOf(*packed, backend);
  const auto dst = weft::Buffer<std::uint8_t>::Zeros(op->dst_size(), backend);
  for (const absl::Status& status : {src.status(), taps.status(), dst.status()}) {
    if (!status.ok()) return status;
  }
  const absl::Status status =
      weft::RunOn(backend, *op,
                  {.src = src->data(),
                   .filter = packed->At(taps->data()),
                   .dst = dst->data(),
                   .alpha = filter.scale,
                   .zero_point = filter.offset + filter.scale * static_cast<float>(kMiddle * sum)});
  if (!status.ok()) return status;
  return dst->Read();
}

}  // namespace

absl::StatusOr<Picture> Apply(const Filter& filter, const Picture& picture, Backend backend) {
  const auto bytes = filter.edges ? Convolve<EdgeFilter>(filter, picture, backend)
                                  : Convolve<ColourFilter>(filter, picture, backend);
  if (!bytes.ok()) return bytes.status();
  Picture result{picture.width, picture.height, *bytes};
  if (filter.edges) {
    const std::int64_t pixels = picture.width * picture.height;
    result.rgb.resize(pixels * 3);
    for (std::int64_t i = 0; i < pixels; ++i) {
      const auto directions = bytes->begin() + i * filter.extents.k;
      std::fill_n(result.rgb.begin() + i * 3, 3,
                  *std::max_element(directions, directions + filter.extents.k));
    }
  }
  return result;
}

}  // namespace picture_filter
