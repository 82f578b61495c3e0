// What a convolution kernel is launched with. The host makes it (conv/launch/start.hpp), and
// both back ends read the same bytes, so these types live outside the back ends' namespaces.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/conv/policy/policy.hpp"
#include "weft/conv/source/converted_source.hpp"
#include "weft/conv/source/source_iterators.hpp"

namespace weft::conv {

// An operator has a kernel for each of these, which differ in the iterator over the source.
enum class SourceKind {
  kPointwise,  // R = S = 1 without padding: the source is read as matrices
  kTaps,       // at most TapParams::kTableTaps taps: NCxHWx<32> through mma_sm80
  kIm2col,     // any filter
};

template <SourceKind kind>
using SourceParamsFor =
    std::conditional_t<kind == SourceKind::kPointwise, SourceParams,
                       std::conditional_t<kind == SourceKind::kTaps, TapParams, Im2colParams>>;

// The filter operand. CxRSKx<x> is a row-major matrix of channel blocks, `units` rows by padded_k
// columns; KRSC is its transpose.
struct FilterParams {
  const void* filter = nullptr;   // the first filter of the bank
  std::int64_t filter_bytes = 0;  // from a filter to the next
  std::int64_t row_bytes = 0;     // KRSC: bytes of one output channel
  std::int32_t units = 0;         // channel blocks of k, as the source counts them
  std::int32_t padded_k = 0;      // output channels of one filter

  template <class Tile>
  constexpr const void* Data(const Tile& tile) const {
    return static_cast<const std::uint8_t*>(filter) + tile.filter * filter_bytes;
  }
};

// What a kernel of simt, mma_sm75 and mma_sm80 is launched with. Source: the iterator's parameters.
template <class Prologue, class Epilogue, class Source>
struct MultistageParams {
  typename BatchGrid<Prologue>::Params schedule;
  Source a;
  FilterParams b;
  gemm::OutputParams<Epilogue, RowsFor<Prologue, PixelMap>> output;
  std::int32_t k_tiles = 0;
};
template <class PolicyT, SourceKind kind>
using KernelParams =
    MultistageParams<typename PolicyT::Prologue, typename PolicyT::Epilogue,
                     ConvertedParams<SourceParamsFor<kind>, SourceFunctorOf<PolicyT>>>;

}  // namespace weft::conv
