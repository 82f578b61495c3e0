// The shape of a transposed convolution (deconvolution).
#pragma once

#include <cstdint>

#include "weft/layouts/formats.hpp"

namespace weft::conv {

// All extents in elements. dst[n][k][p][q] = sum over c, r, s of
//   src[n][c][h][w] * filter[c][k][r][s]
// for those h, w of the image with p = h * stride_h - pad_top + r * dilation_h and q = w * stride_w
// - pad_left + s * dilation_w: each pixel of src is spread over the destination, as ONNX's
// ConvTranspose and PyTorch's ConvTranspose2d do, and as the gradient of a convolution with this
// padding, stride and dilation is (its src is our dst).
//
// The member functions need extents for which conv::CheckDeconvolution is OK.
struct DeconvolutionProblem {
  std::int64_t n = 1;  // images
  std::int64_t h = 1;  // input rows
  std::int64_t w = 1;  // input columns
  std::int64_t c = 1;  // input channels
  std::int64_t k = 1;  // output channels
  std::int64_t r = 1;  // filter rows
  std::int64_t s = 1;  // filter columns
  // Rows and columns that are cut off the spread image at its borders.
  std::int64_t pad_top = 0;
  std::int64_t pad_left = 0;
  std::int64_t pad_bottom = 0;
  std::int64_t pad_right = 0;
  std::int64_t stride_h = 1;
  std::int64_t stride_w = 1;
  std::int64_t dilation_h = 1;  // of no effect where r = 1
  std::int64_t dilation_w = 1;  // of no effect where s = 1
  // Further rows at the bottom and columns at the right of the destination, fewer than the stride
  // or the dilation.
  std::int64_t output_pad_h = 0;
  std::int64_t output_pad_w = 0;

  // Output rows and columns; 0 for an empty source.
  constexpr std::int64_t p() const {
    if (h == 0) return 0;
    return (h - 1) * stride_h - pad_top - pad_bottom + (r - 1) * dilation_h + 1 + output_pad_h;
  }
  constexpr std::int64_t q() const {
    if (w == 0) return 0;
    return (w - 1) * stride_w - pad_left - pad_right + (s - 1) * dilation_w + 1 + output_pad_w;
  }

  // Whether there is no output.
  constexpr bool IsEmpty() const { return n == 0 || k == 0 || h == 0 || w == 0; }

  constexpr TensorExtents src() const { return {n, c, h, w}; }
  // The filter's extents in the order of Weft's filter formats, [K][C][R][S].
  // PackDeconvolutionFilter reads a [C][K][R][S] tensor.
  constexpr FilterExtents filter() const { return {k, c, r, s}; }
  constexpr TensorExtents dst() const { return {n, k, p(), q()}; }

  // Multiply-accumulates, including those whose output falls outside the destination.
  constexpr double macs() const {
    return static_cast<double>(n) * static_cast<double>(k) * static_cast<double>(h) *
           static_cast<double>(w) * static_cast<double>(c) * static_cast<double>(r) *
           static_cast<double>(s);
  }

  friend constexpr bool operator==(const DeconvolutionProblem&,
                                   const DeconvolutionProblem&) = default;
};

}  // namespace weft::conv
