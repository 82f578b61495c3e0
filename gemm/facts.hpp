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
  int row_threads = 1;           // that may copy operand A
  bool gathers = false;          // wgmma_sm90: threads load both operands (gather_ring.hpp)
  int resident_blocks = 0;       // of a multiprocessor, which take one tile after the other; 0: one
                                 // block to a tile
  arch::Requires hardware;
  int src_interleave = 4;  // C is padded to a multiple of it
  int dst_interleave = 4;  // K likewise
  int dst_element_bits = 8;
  int residual_bits = 0;    // of a value of the residual, 0 if there is none
  int activations = 0;      // of the epilogue, but for ReLU and Identity
  int element_bytes = 1;    // of the operands, as they are multiplied
  bool is_complex = false;  // a product of two elements is four of their parts
  // Products.
  int bits_a = 8, bits_b = 8;             // of an element in memory
  int access_a = 4, access_b = 4;         // elements of one access
  bool loads_a = false, loads_b = false;  // elements change on their way (gemm/load_functor.hpp)
  bool lines_a = true, lines_b = true;    // k runs along memory in A, in B
  bool turned =
      false;  // wgmma_sm90: operands along which it does not are turned (turned_matrices.hpp)
  bool row_major_c = true;
  bool int32_sums = true;
  std::int64_t largest_product = 128 * 128;  // of two elements, in magnitude, where sums are int32
  bool grouped = false;                      // Grouped: the products of a batch share the rows
  bool listed = false;  // Listed: products of all extents share a plan but for their matrices
  // Convolutions.
  int unit_bytes = 4;            // conv::CheckedPolicy::kUnitBytes, ...
  int unit_channels = 4;         // ... kUnitChannels
  bool nhwc = false;             // SrcLayout is NHWC
  bool has_taps = false;         // there is a kernel for conv::SourceKind::kTaps
  int filter_interleave = 4;     // FilterLayout rounds K up to a multiple of this
  int src_bits = 8;              // of a source's value; 4: SrcLayout is a PairedInt4
  int filter_bits = 8;           // of a filter's value; 4: FilterLayout is a PackedInt4
  int dst_channel_run = 0;       // TensorFormat::kChannelRun
  int residual_channel_run = 0;  // of the residual's, 0 if there is none
  prologues::Depends depends;
  bool converts_source = false;  // conv/source_functor.hpp
  bool image_sums = false;       // the epilogue adds up outputs of a byte
  bool batched = false;          // the prologue is not SharedFilter
  const char* prologue = "";
  const char* src_layout = "";
  const char* filter_layout = "";
  const char* dst_layout = "";

  constexpr int channels() const { return config.threadblock.n / config.stack; }  // of a tile
};

// Clocks of the copy engine for a row of a copy while tensor cores multiply; fitted to an H200 with the
// tile model (gemm/tile_model.cpp).
struct CopyClocks {
  static constexpr double k128 = 0.79, k64 = 1.5, k32 = 1.4;  // rows of so many bytes, of lines
  static constexpr double kBlock = 0.36;  // 32 bytes that lie behind those of the row before ...
  static constexpr double kStridedBlock = 1.1;  // ... or do not
  static constexpr double kColumn = 0.63;       // times as many, of what all multiprocessors read
  static constexpr double kOutside = 1.5;       // of a row that the tensor does not have
  // Of a row across k of elements that change on their way, of which it has a part; from two products of 16 columns.
  static constexpr double kOutsideAcross = 25.0;
  static constexpr double Line(std::int64_t bytes) {
    return bytes == 128 ? k128 : bytes == 64 ? k64 : k32;
  }
  // Of rows of operand B, of which the share `inside` exists. row: clocks of one of operand A.
  static constexpr double Columns(double rows, double inside, double row,
                                  double outside = kOutside) {
    return rows * (inside * kColumn * row + (1.0 - inside) * outside);
  }
};

// Of a plan of a wgmma_sm90 kernel: what its ring brings and what its tensor cores do for a tile.
struct EngineCounts {
  // Of a slice, and of a tile's last one: products of 32 bytes of k, and copies of operand A.
  std::int32_t steps = 0, last_steps = 0;
  std::int32_t copies = 0, last_copies = 0;
  double copy_clocks = 0.0;    // of the copy engine for one of these copies
  double column_clocks = 0.0;  // and for operand B, a step of it
  std::int32_t stages = 0, stage_bytes = 0;
  bool b_stays = false;  // MbarRingParams::b_stays
  bool strips = false;   // a tile is one slice (resident_ring.hpp)
  bool copied = false;   // its operand A by threads, not by the copy engine
};

// Of a plan: how the work is cut into blocks.
struct PlanCounts {
  std::int64_t batches = 1;     // products
  std::int64_t tiles_m = 0;     // of one product, along its rows
  std::int64_t tiles_n = 0;     // likewise along its columns
  std::int32_t slices = 0;      // steps of config.threadblock.k
  double useful = 0.0;          // of the multiply-accumulates; the rest is padding
  double columns_inside = 1.0;  // of the tiles' columns, those that are not padding
  double bytes = 0.0;    // source, filters, destination, residual, scales and biases, each once
  bool gathers = false;  // rows of A do not lie in memory as they are: im2col
  EngineCounts engine;   // wgmma_sm90
  // Depthwise: rows of the source and of the output of a thread.
  std::int32_t source_rows = 0, output_rows = 0;
  // And where a 1x1 convolution follows in the kernel: slices of 32 channels between the two, output
  // channels with those that fill the last block, and what the problem's own kernel and launch take.
  std::int32_t middle_slices = 0, padded_k = 0;
  int blocks_by_registers = 0;
  std::int64_t shared_bytes = 0;
  constexpr std::int64_t blocks() const { return batches * tiles_m * tiles_n; }
};

}  // namespace weft::gemm
