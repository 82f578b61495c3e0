// Plans of multistage kernels, in which every thread loads, multiplies and stores: simt, mma_sm75
// and mma_sm80. The parameters of source, filter and pixels serve the other kernels whose threads
// load, too.
#pragma once

#include <cstdint>
#include <variant>

#include "weft/conv/policy/facts.hpp"
#include "weft/conv/problem/problem.hpp"
#include "weft/conv/source/kernel_params.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

// The kernel's parameters without pointers.
struct MultistagePlan {
  // The alternatives are in the order of SourceKind.
  std::variant<SourceParams, TapParams, Im2colParams> source;
  FilterParams filter;
  PixelMap pixels;
  std::int32_t k_tiles = 0;

  int number() const { return static_cast<int>(source.index()); }  // of the kernel
};

// The plan of a problem that CheckIndices has accepted.
MultistagePlan MakeMultistagePlan(const Problem& problem, const ConvFacts& facts);

// OutOfRange if a kernel's 32-bit indices cannot count the source, k or the rows of a product.
// CheckRows checks the rows alone.
absl::Status CheckIndices(const Problem& problem, const ConvFacts& facts);
absl::Status CheckRows(std::int64_t rows);

// Whether R = S = 1 without padding and a pixel's channels lie in one block, so that the source is
// a matrix, or several, and there is a kernel for that.
bool IsPointwise(const Problem& problem, const ConvFacts& facts);

// The parameters of the output's pixels, the source's im2col iterator and the filter, for a problem
// that CheckIndices has accepted.
PixelMap MakePixelMap(const Problem& problem, const ConvFacts& facts);
Im2colParams MakeIm2col(const Problem& problem, const ConvFacts& facts);
FilterParams MakeFilter(const Problem& problem, const ConvFacts& facts);

}  // namespace weft::conv
