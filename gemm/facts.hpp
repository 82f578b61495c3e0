// What host code knows of an operator's policy and of its plan, as values: checks, descriptions and
// the tile model are compiled once.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/kernel.hpp"
#include "weft/gemm/config.hpp"
#include "weft/prologues/prologue.hpp"

namespace weft::gemm {

// Of a policy.
struct TileFacts {
  TileDescription config;
  int threads = 0;              // of a block
  int blocks_by_registers = 0;  // that 65536 registers have room for
  std::int64_t shared_bytes = 0;
  std::int64_t stage_bytes = 0;  // wgmma_sm90: what the stages of the ring share
  int resident_blocks = 0;       // of a multiprocessor, which take one tile after the other; 0: one
                                 // block to a tile
  arch::Requires hardware;
  int src_interleave = 4;  // C is padded to a multiple of it
  int dst_interleave = 4;  // K likewise
  int dst_element_bytes = 1;
  int element_bytes = 1;  // of the operands
  // Products.
  bool lines_a = true, lines_b = true;  // k runs along memory in A, in B
  bool row_major_c = true;
  bool int32_sums = true;
  // Convolutions.
  int unit_bytes = 4;            // conv::CheckedPolicy::kUnitBytes
  bool nhwc = false;             // SrcLayout is NHWC
  bool has_taps = false;         // there is a kernel for conv::SourceKind::kTaps
  int filter_interleave = 4;     // FilterLayout rounds K up to a multiple of this
  int dst_channel_run = 0;       // TensorFormat::kChannelRun
  int residual_channel_run = 0;  // of the residual's, 0 if there is none
  prologues::Depends depends;
  std::int64_t largest_product = 128 * 128;  // of one source and one filter value, in magnitude
  bool converts_source = false;              // conv/source_functor.hpp
  bool image_sums = false;                   // the epilogue adds up outputs of a byte
  bool batched = false;                      // the prologue is not SharedFilter
  const char* prologue = "";
  const char* src_layout = "";
  const char* filter_layout = "";
  const char* dst_layout = "";
};

// Of a plan of a wgmma_sm90 kernel: what its ring brings and what its tensor cores do for a tile.
struct EngineCounts {
  // Of a slice, and of a tile's last one: products of 32 bytes of k, and copies of operand A.
  std::int32_t steps = 0, last_steps = 0;
  std::int32_t copies = 0, last_copies = 0;
  std::int32_t copy_bytes = 0;
  double copy_clocks = 0.0;  // of the copy engine for one, its bytes aside
  std::int32_t stages = 0, stage_bytes = 0;
  bool b_stays = false;  // MbarRingParams::b_stays
  bool strips = false;   // threads bring operand A, and a tile is one slice (resident_ring.hpp)
};

// Of a plan: how the work is cut into blocks.
struct PlanCounts {
  std::int64_t batches = 1;  // products
  std::int64_t tiles_m = 0;  // of one product, along its rows
  std::int64_t tiles_n = 0;  // likewise along its columns
  std::int32_t slices = 0;   // steps of config.threadblock.k
  double useful = 0.0;       // of the multiply-accumulates; the rest is padding
  double bytes = 0.0;        // source, filters, destination, scales and biases, each once
  bool gathers = false;      // rows of A do not lie in memory as they are: im2col
  EngineCounts engine;       // wgmma_sm90
  constexpr std::int64_t blocks() const { return batches * tiles_m * tiles_n; }
};

}  // namespace weft::gemm
