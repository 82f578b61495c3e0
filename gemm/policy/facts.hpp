// What host code knows of an operator's policy and of its plan, as values: checks, descriptions and
// the tile model are compiled once. Other kinds of operators derive their facts from TileFacts.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/isa/kernel.hpp"
#include "weft/gemm/tile/config.hpp"

namespace weft::gemm {

// Of an epilogue.
struct StoreFacts {
  int element_bits = 8;   // of an output
  int residual_bits = 0;  // of a value of the residual, 0 if there is none
  int activations = 0;    // but for ReLU and Identity
};

// Of an operand of a matrix product.
struct OperandFacts {
  int bits = 8;         // of an element in memory
  int access = 4;       // elements of one access
  bool loads = false;   // elements change on their way (gemm/policy/load_functor.hpp)
  bool k_major = true;  // k runs along memory
};

// Of a kernel of wgmma_sm90.
struct WgmmaFacts {
  std::int64_t stage_bytes = 0;  // what the stages of the ring share; 0: of another mainloop
  int row_threads = 1;           // that may copy operand A
  bool gathers = false;          // threads load both operands (gather_ring.hpp)
  bool transposes =
      false;  // operands that are not k_major, in shared memory (transposed_matrices.hpp)
};

// Of a policy of any kind of operator: what launches, messages and the tile model ask.
struct TileFacts {
  TileDescription config;
  int threads = 0;              // of a block
  int blocks_by_registers = 0;  // that 65536 registers have room for
  std::int64_t shared_bytes = 0;
  int resident_blocks =
      0;  // of a multiprocessor, which take one tile after the other; 0: one block to a tile
  arch::Requires hardware;
  int element_bytes = 1;         // of the operands, as they are multiplied
  bool is_complex = false;       // a product of two elements is four of their parts
  bool searches_copies = false;  // threads find each copy of operand A by itself, not by rows
  OperandFacts a, b;
  WgmmaFacts wgmma;
  StoreFacts store;
  const char* src_layout = "";
  const char* dst_layout = "";
};

// Of a policy of matrix products.
struct GemmFacts : TileFacts {
  bool row_major_c = true;
  bool int32_sums = true;
  bool grouped = false;  // Grouped: the products of a batch share the rows
  bool listed = false;   // Listed: products of all extents share a plan but for their matrices
  std::int64_t largest_product = 128 * 128;  // of two elements, in magnitude, where sums are int32
};

// Clocks of TMA for a row of a copy while tensor cores multiply; fitted to an H200 with the
// tile model (gemm/choose/tile_model.cpp).
struct CopyClocks {
  static constexpr double k128 = 0.79, k64 = 1.5, k32 = 1.4;  // rows of so many bytes, of lines
  static constexpr double kBlock = 0.36;  // 32 bytes that lie behind those of the row before ...
  static constexpr double kStridedBlock = 1.1;  // ... or do not
  static constexpr double kColumn = 0.63;       // times as many, of what all multiprocessors read
  static constexpr double kOutside = 1.5;       // of a row that the tensor does not have
  // Of a row across k of elements that change on their way, of which it has a part; from two products of 16 columns.
  static constexpr double kOutsideMnMajor = 25.0;
  static constexpr double Line(std::int64_t bytes) {
    return bytes == 128 ? k128 : bytes == 64 ? k64 : k32;
  }
  // Of rows of operand B, of which the share `inside` exists. row: clocks of one of operand A.
  static constexpr double Columns(double rows, double inside, double row,
                                  double outside = kOutside) {
    return rows * (inside * kColumn * row + (1.0 - inside) * outside);
  }
};

// Of a plan of a wgmma_sm90 kernel: what its ring loads and what its tensor cores do for a tile.
struct WgmmaCounts {
  // Of a k tile, and of a tile's last one: products of 32 bytes of k, and copies of operand A.
  std::int32_t steps = 0, last_steps = 0;
  std::int32_t copies = 0, last_copies = 0;
  double copy_clocks = 0.0;    // of TMA, or of the threads that load, for one of these copies
  double column_clocks = 0.0;  // and for operand B, a step of it
  std::int32_t stages = 0, stage_bytes = 0;
  bool b_stays = false;         // MbarRingParams::b_stays
  bool whole_k = false;         // a tile is one k tile (resident_ring.hpp) ...
  bool whole_k_copied = false;  // ... and its operand A loaded by threads, not by TMA
};

// Of a plan: how the work is cut into blocks.
struct PlanCounts {
  std::int64_t batches = 1;     // products
  std::int64_t tiles_m = 0;     // of one product, along its rows
  std::int64_t tiles_n = 0;     // likewise along its columns
  std::int32_t k_tiles = 0;     // steps of config.threadblock.k
  double useful = 0.0;          // of the multiply-accumulates; the rest is padding
  double columns_inside = 1.0;  // of the tiles' columns, those that are not padding
  double bytes = 0.0;           // operands, output, residual, scales and biases, each once
  bool gathers = false;         // rows of A do not lie in memory as they are
  WgmmaCounts wgmma;            // wgmma_sm90
  constexpr std::int64_t blocks() const { return batches * tiles_m * tiles_n; }
};

}  // namespace weft::gemm
