// Convolutions whose windows do not overlap, as of a patch embedding, read as convolutions of other
// extents: neither the source, the filter nor the destination moves in memory.
#pragma once

#include <optional>

#include "weft/conv/problem/problem.hpp"

namespace weft::conv {

// The same convolution over NHWC and KRSC whose columns are the s columns under a filter, with s * c
// channels each, so that a filter is r x 1. A row of an image then has w / s columns. None unless
// stride_w = s > 1 divides w, without padding, groups, dilation in W or a flipped filter, and where
// there is no output.
std::optional<Problem> PatchColumns(const Problem& problem);

// The same convolution over channels last whose images are the rows under a filter: n * p() images of r
// rows, each with one row of outputs. None unless stride_h = r divides h, without padding and dilation
// in H, and where there is no output.
std::optional<Problem> PatchImages(const Problem& problem);

}  // namespace weft::conv
