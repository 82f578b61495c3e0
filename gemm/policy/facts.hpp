// What host code knows of an operator's policy and of its plan, as values instead of types, so that
// checks, descriptions and the tile model are compiled once and not for each policy. Each kind of
// operator derives its facts from TileFacts.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/isa/kernel.hpp"
#include "weft/gemm/tile/config.hpp"

namespace weft::gemm {

// Facts of an epilogue.
struct StoreFacts {
  int element_bits = 8;   // bits of an output
  int residual_bits = 0;  // bits of a value of the residual; 0: there is none
  int activations = 0;    // the number of activations other than ReLU and Identity
};

// Facts of an operand of a matrix product.
struct OperandFacts {
  int bits = 8;         // bits of an element in memory
  int access = 4;       // elements of one access
  bool loads = false;   // a load functor changes the elements (gemm/policy/load_functor.hpp)
  bool k_major = true;  // k runs along memory
};

// Facts of a kernel of wgmma_sm90.
struct WgmmaFacts {
  std::int64_t stage_bytes = 0;  // shared memory of all stages of the ring; 0: another mainloop
  int row_threads = 1;           // the most producer threads that share the copies of operand A
  bool gathers = false;          // threads load both operands (gather_producer.hpp)
  bool transposes =
      false;  // MN-major operands are transposed in shared memory (transposed_matrices.hpp)
};

// Facts of a policy of any kind of operator, which launches, messages and the tile model ask for.
struct TileFacts {
  TileDescription config;
  int threads = 0;                // threads of a block
  int blocks_by_registers = 0;    // the blocks that 65536 registers have room for
  std::int64_t shared_bytes = 0;  // shared memory of a block
  int resident_blocks =
      0;  // persistent blocks of a multiprocessor, which take tile after tile; 0: one to a tile
  arch::Requires hardware;
  int element_bytes = 0;         // bytes of an operand's element as it is multiplied; no default
  bool is_complex = false;       // a product of two elements is four products of their parts
  bool searches_copies = false;  // threads compute the address of each copy of A, not of each row
  OperandFacts a, b;
  WgmmaFacts wgmma;
  StoreFacts store;
  const char* src_layout = "";
  const char* dst_layout = "";
};

// Puts what policies of products and of convolutions say in the same words. Kernel: any of the policy's.
template <class PolicyT, class Kernel>
constexpr void AddTileFacts(TileFacts& facts) {
  using Epilogue = typename PolicyT::Epilogue;
  facts.config = PolicyT::config;
  facts.threads = Kernel::kThreads;
  facts.blocks_by_registers = Kernel::kMinBlocksPerSm;
  facts.shared_bytes = sizeof(typename Kernel::SharedStorage);
  facts.hardware = Kernel::kRequires;
  if constexpr (PolicyT::config.kMainloop == Mainloop::kWgmmaSm90) {
    facts.wgmma.stage_bytes = Kernel::Pipeline::kStageBytes;
    facts.wgmma.row_threads = Kernel::Mainloop::Producer::RowThreads();
    facts.resident_blocks = PolicyT::config.blocks_per_sm;
  }
  facts.store.activations = Epilogue::kActivations;
  if (Epilogue::kHasResidual) {
    facts.store.residual_bits = 8 * sizeof(typename Epilogue::ResidualElement);
  }
}

// Facts of a policy of matrix products.
struct GemmFacts : TileFacts {
  bool row_major_c = true;
  bool int32_sums = true;
  bool grouped = false;  // Grouped: the products of a batch share the m rows
  bool listed = false;   // Listed: products of any extents share all of a plan but the matrices
  // The largest magnitude of a product of two elements, where accumulators are int32.
  std::int64_t largest_product = 128 * 128;
};

// Clocks that TMA takes for one row of a copy while tensor cores multiply. They are fitted to an
// H200 with the tile model (gemm/choose/tile_model.cpp).
struct CopyClocks {
  static constexpr double k128 = 0.79, k64 = 1.5, k32 = 1.4;  // rows of 128, 64 and 32 bytes
  static constexpr double kBlock = 0.36;        // 32 bytes that directly follow the row before ...
  static constexpr double kStridedBlock = 1.1;  // ... or do not
  static constexpr double kColumn = 0.63;  // factor for operand B, which all multiprocessors read
  static constexpr double kOutside = 1.5;  // a row that lies outside the tensor
  // A row of an MN-major operand with a load functor of which the tensor has a part only; measured
  // on two products of 16 columns.
  static constexpr double kOutsideMnMajor = 25.0;
  static constexpr double Line(std::int64_t bytes) {
    return bytes == 128 ? k128 : bytes == 64 ? k64 : k32;
  }
  // The clocks for `rows` rows of operand B, of which the share `inside` lies in the tensor. row:
  // the clocks of a row of operand A; outside: of a row outside the tensor.
  static constexpr double Columns(double rows, double inside, double row,
                                  double outside = kOutside) {
    return rows * (inside * kColumn * row + (1.0 - inside) * outside);
  }
};

// What the plan of a wgmma_sm90 kernel counts: what its ring loads and its tensor cores do for a
// tile.
struct WgmmaCounts {
  // Of any k tile but a tile's last one, and of that: steps (each multiplies 32 bytes of k), and
  // copies of operand A.
  std::int32_t steps = 0, last_steps = 0;
  std::int32_t copies = 0, last_copies = 0;
  double copy_clocks = 0.0;    // TMA's, or the loading threads', for one copy of operand A
  double column_clocks = 0.0;  // the same for operand B of one step
  std::int32_t stages = 0, stage_bytes = 0;
  bool b_stays = false;      // MbarRingParams::b_stays
  bool first_layer = false;  // one k tile holds all k of a tile (first_layer_producer.hpp) ...
  bool first_layer_copied = false;  // ... and threads, not TMA, load its operand A
  std::int32_t strip_tiles = 1;     // tiles that one block takes, whatever the others do
};

// How a plan cuts the work into blocks.
struct PlanCounts {
  std::int64_t batches = 1;     // products of the launch
  std::int64_t tiles_m = 0;     // tiles of one product along its rows
  std::int64_t tiles_n = 0;     // tiles of one product along its columns
  std::int32_t k_tiles = 0;     // k tiles of a tile
  double useful = 0.0;          // share of the multiply-accumulates that are not padding
  double columns_inside = 1.0;  // share of the tiles' columns that are not padding
  double bytes = 0.0;           // operands, output, residual, scales and biases, each once
  bool gathers = false;         // rows of A do not lie in memory as they are multiplied
  WgmmaCounts wgmma;            // of wgmma_sm90 only
  constexpr std::int64_t blocks() const { return batches * tiles_m * tiles_n; }
};

}  // namespace weft::gemm
