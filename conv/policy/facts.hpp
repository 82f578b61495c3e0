// What host code knows of a convolution's policy, as values instead of types, so that checks,
// plans, descriptions and the tile model are compiled once.
#pragma once

#include <cstdint>

#include "weft/conv/policy/kind.hpp"
#include "weft/gemm/policy/facts.hpp"
#include "weft/layouts/formats.hpp"
#include "weft/prologues/prologue.hpp"

namespace weft::conv {

struct SourceFacts {
  int interleave = 4;     // channels that C is padded to a multiple of
  int bits = 8;           // bits of a value; 4: SrcLayout is a PairedInt4
  int unit_bytes = 4;     // of a unit of k in a stage of shared memory: CheckedPolicy::kUnitBytes
  int unit_channels = 4;  // of a unit of k: CheckedPolicy::kUnitChannels
  bool is_unsigned = false;  // its elements are
  bool nhwc = false;         // SrcLayout is NHWC
  bool has_taps = false;     // there is a kernel with SourceKind::kTaps
  bool converted = false;    // the policy has a SourceFunctor
};

struct FilterFacts {
  int interleave = 4;  // FilterLayout rounds K up to a multiple of this
  int bits = 8;        // bits of a value; 4: FilterLayout is a PackedInt4
};

// The windows of a MaxPool stage; without one, each is a pixel.
struct PoolFacts {
  int size = 1, step = 1, padding = 0;

  constexpr bool exists() const { return size > 1; }
  // Windows in a row of `pixels`; 0 or less where the first does not fit.
  constexpr std::int64_t Windows(std::int64_t pixels) const {
    const std::int64_t more = pixels + 2 * padding - size;
    return more < 0 ? 0 : more / step + 1;
  }
  constexpr TensorExtents Of(const TensorExtents& e) const {
    return {e.n, e.c, Windows(e.h), Windows(e.w)};
  }
};

struct OutputFacts {
  int interleave = 4;            // channels that K is padded to a multiple of
  int channel_run = 0;           // TensorFormat::kChannelRun
  int residual_channel_run = 0;  // kChannelRun of the residual's format; 0 if none
  bool image_sums = false;       // the epilogue has ImageSums
  PoolFacts pool;                // the windows of its MaxPool
};

struct PrologueFacts {
  prologues::Depends depends;
  bool batched = false;  // it is not SharedFilter
  const char* name = "";
};

struct ConvFacts : gemm::TileFacts {
  SourceFacts source;
  FilterFacts filter;
  OutputFacts output;
  PrologueFacts prologue;
  Kind kind = Kind::kMultistage;
  bool one_kernel = false;  // gemm::kOneKernel
  std::int64_t largest_product =
      128 * 128;  // of a source and a filter value, in magnitude; 0: sums are floats

  constexpr bool IsDepthwise() const { return kind == Kind::kDepthwise; }
  // Whether sums are of floats, in which a product of zero and infinity, or NaN, is NaN.
  constexpr bool FloatSums() const { return largest_product == 0; }
  // Units of k in a k tile. config counts k in elements, or in pairs of 4 bits.
  constexpr int KTileUnits() const {
    return config.threadblock.k * element_bytes / source.unit_bytes;
  }
  // Output channels of a tile.
  constexpr int channels() const { return config.threadblock.n / config.packed_rows; }
};

}  // namespace weft::conv
