// Plans of kernels whose threads load, multiply and store: simt, mma_sm75 and mma_sm80; and how any
// threads that load count source, filter and pixels.
#pragma once

#include <cstdint>
#include <variant>

#include "weft/conv/policy/facts.hpp"
#include "weft/conv/problem/problem.hpp"
#include "weft/conv/source/kernel_params.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

// The parameters but for pointers.
struct MultistagePlan {
  // In the order of SourceKind.
  std::variant<SourceParams, TapParams, Im2colParams> source;
  FilterParams filter;
  PixelMap pixels;
  std::int32_t k_tiles = 0;

  SourceKind kind() const { return static_cast<SourceKind>(source.index()); }
};

// For a problem that CheckIndices has accepted.
MultistagePlan MakeMultistagePlan(const Problem& problem, const ConvFacts& facts);

// OutOfRange if 32-bit indices of a kernel have no room for the source, for k, or for the rows of a product.
absl::Status CheckIndices(const Problem& problem, const ConvFacts& facts);
absl::Status CheckRows(std::int64_t rows);

// R = S = 1 without padding: the source is a matrix, or several.
bool IsPointwise(const Problem& problem, const ConvFacts& facts);

// Rows of one product, of a problem that CheckIndices has accepted.
PixelMap MakePixelMap(const Problem& problem, const ConvFacts& facts);
Im2colParams MakeIm2col(const Problem& problem, const ConvFacts& facts);
FilterParams MakeFilter(const Problem& problem, const ConvFacts& facts);

}  // namespace weft::conv
