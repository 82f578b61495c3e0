// What host code knows of a policy of convolutions, as values: checks, plans, descriptions and the tile
// model are compiled once.
#pragma once

#include <cstdint>

#include "weft/gemm/policy/facts.hpp"
#include "weft/prologues/prologue.hpp"

namespace weft::conv {

struct SourceFacts {
  int interleave = 4;      // C is padded to a multiple of it
  int bits = 8;            // of a value; 4: SrcLayout is a PairedInt4
  int unit_bytes = 4;      // CheckedPolicy::kUnitBytes, ...
  int unit_channels = 4;   // ... kUnitChannels
  bool nhwc = false;       // SrcLayout is NHWC
  bool has_taps = false;   // there is a kernel for SourceKind::kTaps
  bool converted = false;  // by a SourceFunctor
};

struct FilterFacts {
  int interleave = 4;  // FilterLayout rounds K up to a multiple of this
  int bits = 8;        // of a value; 4: FilterLayout is a PackedInt4
};

struct OutputFacts {
  int interleave = 4;            // K is padded to a multiple of it
  int channel_run = 0;           // TensorFormat::kChannelRun
  int residual_channel_run = 0;  // of the residual's, 0 if there is none
  bool image_sums = false;       // the epilogue adds up outputs of a byte
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
  bool depthwise = false;
  std::int64_t largest_product = 128 * 128;  // of two values, in magnitude

  constexpr int channels() const { return config.threadblock.n / config.packed_rows; }  // of a tile
};

}  // namespace weft::conv
