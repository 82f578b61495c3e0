// The shape of a forward convolution.
#pragma once

#include <cstdint>

#include "weft/layouts/formats.hpp"

namespace weft::conv {

enum class Mode {
  kCrossCorrelation,  // what neural networks call convolution: tap (r, s) reads row p*stride+r*dil
  kConvolution,       // the filter is flipped in both directions
};

// All extents in elements. dst[n][k][p][q] = sum over c, r, s of
//   src[n][c][p * stride_h - pad_top + r * dilation_h][q * stride_w - pad_left + s * dilation_w] *
//   filter[k][c][r][s]
// with zeros outside the image, and r, s replaced by R-1-r, S-1-s in the filter's index for
// Mode::kConvolution. With G groups, output channel k of group g = k / (K / G) sums over the input
// channels [g * C / G, (g + 1) * C / G) of its group only, which its filter counts from 0.
//
// n, k, h and w may be 0 if there is then no output; a run then does nothing.
//
// The member functions need extents for which conv::CheckProblem is OK.
struct Problem {
  std::int64_t n = 1;  // images
  std::int64_t h = 1;  // input rows
  std::int64_t w = 1;  // input columns
  std::int64_t c = 1;  // input channels
  std::int64_t k = 1;  // output channels
  std::int64_t r = 1;  // filter rows
  std::int64_t s = 1;  // filter columns
  std::int64_t pad_top = 0;
  std::int64_t pad_left = 0;
  std::int64_t pad_bottom = 0;
  std::int64_t pad_right = 0;
  std::int64_t stride_h = 1;
  std::int64_t stride_w = 1;
  std::int64_t dilation_h = 1;  // of no effect where r = 1
  std::int64_t dilation_w = 1;  // of no effect where s = 1
  Mode mode = Mode::kCrossCorrelation;
  std::int64_t groups = 1;  // divides c and k; needs a prologue that depends on the group

  // Output rows and columns; 0 if the filter does not fit in the padded image.
  // Both are 0 of a stride that CheckProblem refuses.
  constexpr std::int64_t p() const {
    const std::int64_t more = h + pad_top + pad_bottom - ((r - 1) * dilation_h + 1);
    return more < 0 || stride_h < 1 ? 0 : more / stride_h + 1;
  }
  constexpr std::int64_t q() const {
    const std::int64_t more = w + pad_left + pad_right - ((s - 1) * dilation_w + 1);
    return more < 0 || stride_w < 1 ? 0 : more / stride_w + 1;
  }
  // Whether there is no output.
  constexpr bool IsEmpty() const { return n == 0 || k == 0 || p() == 0 || q() == 0; }

  constexpr TensorExtents src() const { return {n, c, h, w}; }
  // The extents of one filter, of which a bank has several (see prologues/). With groups it is the
  // filter of one group.
  constexpr FilterExtents filter() const { return {k / groups, c / groups, r, s}; }
  constexpr TensorExtents dst() const { return {n, k, p(), q()}; }

  // Multiply-accumulates, including those that multiply padding.
  constexpr double macs() const {
    return static_cast<double>(n) * static_cast<double>(k) * static_cast<double>(p()) *
           static_cast<double>(q()) * static_cast<double>(c / groups) * static_cast<double>(r) *
           static_cast<double>(s);
  }

  friend constexpr bool operator==(const Problem&, const Problem&) = default;
};

// A square problem in the notation of the layer lists: H = W, R = S, one padding, one stride.
constexpr Problem SquareProblem(std::int64_t n, std::int64_t c, std::int64_t hw, std::int64_t k,
                                std::int64_t rs, std::int64_t pad, std::int64_t stride) {
  Problem p;
  p.n = n, p.c = c, p.h = hw, p.w = hw, p.k = k, p.r = rs, p.s = rs;
  p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = pad;
  p.stride_h = p.stride_w = stride;
  return p;
}

}  // namespace weft::conv
