#include "weft/conv/problem/problem_checks.hpp"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "weft/gemm/tile/tile.hpp"

namespace weft::conv {
namespace {

using gemm::kInt32Max;
using internal::Field;
using internal::kMaxElements;
using internal::kMaxExtent;
using internal::kMaxPixels;
using internal::TooLarge;
using internal::Wide;

absl::Status NotPositive(const char* field, std::int64_t value) {
  return absl::InvalidArgumentError(
      absl::StrCat("conv: ", field, "=", value, " is not positive; give 1 or more"));
}

absl::Status NotDivisible(const char* field, std::int64_t value, std::int64_t groups) {
  return absl::InvalidArgumentError(
      absl::StrCat("conv: ", field, "=", value, " is not a multiple of groups=", groups,
                   "; each group has as many channels as the others"));
}

}  // namespace

absl::Status internal::TooLarge(const char* what, Wide value, std::int64_t limit,
                                const char* remedy) {
  // Values of 64 bits are shown exactly; as a double the largest would be rounded.
  const auto exact = static_cast<std::int64_t>(value);
  const std::string shown =
      exact == value ? absl::StrCat(exact) : absl::StrFormat("%.0f", static_cast<double>(value));
  return absl::OutOfRangeError(
      absl::StrCat("conv: ", what, "=", shown, " exceeds ", limit, "; ", remedy));
}

absl::Status internal::CheckImageSums(std::int64_t p, std::int64_t q) {
  if (p * q <= kInt32Max / 255) return absl::OkStatus();
  return TooLarge("p*q of ImageSums", p * q, kInt32Max / 255, "split the image");
}

absl::Status internal::CheckFields(absl::Span<const Field> extents, absl::Span<const Field> pads) {
  for (const Field& field : extents) {
    if (field.value < field.least) {
      if (field.least == 1) return NotPositive(field.name, field.value);
      return absl::InvalidArgumentError(
          absl::StrCat("conv: ", field.name, "=", field.value, " is negative; give 0 or more"));
    }
    if (field.value > kMaxExtent) {
      return TooLarge(field.name, field.value, kMaxExtent, "no extent may be larger");
    }
  }
  for (const Field& field : pads) {
    if (field.value < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("conv: ", field.name, "=", field.value, " is negative; give 0 or more"));
    }
    if (field.value > kMaxExtent) {
      return TooLarge(field.name, field.value, kMaxExtent, "no padding may be larger");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckProblem(const Problem& p, std::int64_t largest_product, int filter_bits) {
  const Field positive[] = {{"n", p.n, 0},
                            {"h", p.h, 0},
                            {"w", p.w, 0},
                            {"c", p.c},
                            {"k", p.k, 0},
                            {"r", p.r},
                            {"s", p.s},
                            {"stride_h", p.stride_h},
                            {"stride_w", p.stride_w},
                            {"dilation_h", p.dilation_h},
                            {"dilation_w", p.dilation_w},
                            {"groups", p.groups}};
  const Field pads[] = {{"pad_top", p.pad_top},
                        {"pad_left", p.pad_left},
                        {"pad_bottom", p.pad_bottom},
                        {"pad_right", p.pad_right}};
  if (absl::Status fields = internal::CheckFields(positive, pads); !fields.ok()) return fields;
  if (p.mode != Mode::kCrossCorrelation && p.mode != Mode::kConvolution) {
    return absl::InvalidArgumentError(
        absl::StrCat("conv: mode=", static_cast<int>(p.mode),
                     " is no conv::Mode; give kCrossCorrelation or kConvolution"));
  }
  const std::int64_t padded_h = p.h + p.pad_top + p.pad_bottom;
  const std::int64_t padded_w = p.w + p.pad_left + p.pad_right;
  if (padded_h > kMaxExtent) {
    return TooLarge("h+pad_top+pad_bottom", padded_h, kMaxExtent, "use a smaller image");
  }
  if (padded_w > kMaxExtent) {
    return TooLarge("w+pad_left+pad_right", padded_w, kMaxExtent, "use a smaller image");
  }
  const Wide reach_h = Wide{p.r - 1} * p.dilation_h + 1;
  const Wide reach_w = Wide{p.s - 1} * p.dilation_w + 1;
  if (reach_h > padded_h && p.h > 0) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "conv: r=%d with dilation_h=%d spans %.0f rows, more than h+pad_top+pad_bottom=%d; use a "
        "smaller filter or dilation, or more padding",
        p.r, p.dilation_h, static_cast<double>(reach_h), padded_h));
  }
  if (reach_w > padded_w && p.w > 0) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "conv: s=%d with dilation_w=%d spans %.0f columns, more than w+pad_left+pad_right=%d; use "
        "a smaller filter or dilation, or more padding",
        p.s, p.dilation_w, static_cast<double>(reach_w), padded_w));
  }
  if ((p.h == 0 || p.w == 0) && !p.IsEmpty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("conv: ", p.h == 0 ? "h" : "w", "=0, and the padding has room for p=", p.p(),
                     " times q=", p.q(), " outputs, which would see nothing else; give 1 or more"));
  }
  if (p.c % p.groups != 0) return NotDivisible("c", p.c, p.groups);
  if (p.k % p.groups != 0) return NotDivisible("k", p.k, p.groups);
  const Wide products = Wide{p.c / p.groups} * p.r * p.s;
  if (products * largest_product > kInt32Max) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "conv: %s=%.0f products of %s can overflow the int32 accumulator; at most "
        "%d are accepted, so split the channels over several convolutions",
        p.groups == 1 ? "c*r*s" : "c/groups*r*s", static_cast<double>(products),
        largest_product <= 15 * 8               ? "two values of 4 bits"
        : largest_product < kLargestInt8Product ? "a byte and an int4"
        : filter_bits == 4 && largest_product <= 255 * 128  // or its zero point counts, too
            ? "a byte and 16 times an int4, as mma_sm80 multiplies them,"
            : largest_product == kLargestInt8Product
                  ? "two int8 values"
                  : absl::StrCat("two bytes and their zero points, up to ", largest_product,
                                 " each,"),
        kInt32Max / largest_product));
  }
  const Wide pixels = Wide{p.n} * p.p() * p.q();
  if (pixels > kMaxPixels) {
    return TooLarge("n*p*q", pixels, kMaxPixels, "split the batch");
  }
  const Wide src_elements = Wide{p.n} * p.c * p.h * p.w;
  if (src_elements > kMaxElements) {
    return TooLarge("n*c*h*w", src_elements, kMaxElements, "split the batch");
  }
  if (pixels * p.k > kMaxElements) {
    return TooLarge("n*k*p*q", pixels * p.k, kMaxElements, "split the batch");
  }
  return absl::OkStatus();
}

}  // namespace weft::conv
