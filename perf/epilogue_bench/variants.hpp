// The rows of variants.def as lists of ways.
#pragma once

#include <vector>

#include "perf/bench/operator_ways.hpp"
#include "perf/epilogue_bench/policies.hpp"

namespace weft::perf {

enum class Kind { activation, layout, zero_point, output, source, type };

using SharedFilters = Filters<ConvolutionSum, PackedFilterBuffer<CxRSKx<32>>>;

// An operator's ways over the tiles of its list, and those of the convolution with ReLU over the same tiles.
struct Variant {
  const char* name;
  std::vector<Way> (*ways)(const OperatorData&, const SharedFilters&, cudaStream_t);
  std::vector<Way> (*relu)(const OperatorData&, const SharedFilters&, cudaStream_t);
};

template <template <class TileT> class Of, class List>
std::vector<Way> VariantWays(const OperatorData& d, const SharedFilters& filters,
                             cudaStream_t stream) {
  return WaysOf<conv::Convolution, PoliciesOf<Of, List>>(d, filters, stream);
}

// Those of a kind. perf/operators.cmake makes a file of each kind, since they take long to compile.
template <Kind kKind>
std::vector<Variant> VariantsOf();

}  // namespace weft::perf
