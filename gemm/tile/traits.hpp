// What the parts of a kernel say about themselves, with the defaults of those that do not care.
//
// A part inherits the traits of its kind and declares again what differs, so that who uses it reads
// `Part::kTrait` and never asks whether it is there. A trait that is needed by one part more is one
// line here and one in that part.
#pragma once

#include <cstdint>

namespace weft::gemm {

// Of what multiplies the stages of a tile (simt.hpp, mma_sm80.hpp, wgmma_sm90.hpp, ...).
struct MainloopTraits {
  // Blocks of a cluster that share the k of a tile, each of which stores a part of it.
  static constexpr int kClusterSplit = 1;
  // Rows of the output that one row of the product holds (config.packed_rows).
  static constexpr int kPackedRows = 1;
  // Sets of warpgroups, each of which multiplies a tile of its own while another one stores.
  static constexpr int kConsumerGroups = 1;
  // Warps change each stage after it was loaded and before it is multiplied: kTransformWarps of
  // them, with kTransformRegisters more than the threads that load have. Parts::StageTransform is
  // what they do.
  static constexpr bool kTransforms = false;
  static constexpr int kTransformWarps = 1;
  static constexpr int kTransformRegisters = 8;
  // Operand B stays in shared memory from tile to tile, stored by the threads that multiply.
  static constexpr bool kResident = false;
  // Threads load both operands by cp.async, since rows begin where TMA cannot read.
  static constexpr bool kGathers = false;
  // Threads exchange accumulators behind a tile's last k tile, in a Scratch in place of the stages:
  // Finish(t, scratch, acc) says whether this thread then holds a part of the result.
  static constexpr bool kHasScratch = false;
  // Accumulators of all k are not yet the product's: Complete(acc) makes them so.
  static constexpr bool kCompletes = false;
  // Threads of a block that do not divide an operand's pieces evenly may be left without any.
  static constexpr bool kMayIdle = false;
  // Of the stages of operands A and B, in bytes.
  static constexpr int kStageAlignment = 128;
};

// Of what has the stages of shared memory and their order (pipeline.hpp, mbar_ring.hpp, ...).
struct PipelineTraits {
  // Threads behind those that multiply, which load the operands and do nothing else. 0: every thread
  // of the block loads and multiplies.
  static constexpr int kProducerThreads = 0;
  // Operands are copied by cp.async (AsyncOperand).
  static constexpr bool kAsync = false;
};

// Of what says which tile a block works on (tile_grid.hpp).
struct SchedulerTraits {
  // Every product has operands, an output and a number of k tiles of its own, Tile::own, instead of
  // those of the kernel's Params.
  static constexpr bool kListed = false;
  // Some blocks have no tile: Tile::exists.
  static constexpr bool kSparse = false;
  // At reads memory that earlier kernels of the stream may have written.
  static constexpr bool kReads = false;
};

// Of what makes outputs of a tile's accumulators and stores them (epilogue_store.hpp, staged_store.hpp).
struct EpilogueTraits {
  // Outputs go through shared memory, Shared, beside the stages. Prepare and Begin then start what a
  // tile's epilogue reads before the tile is multiplied, and a thread has a Kept from tile to tile.
  static constexpr bool kStaged = false;
  // It may run in a kernel that starts while earlier ones of the stream still run.
  static constexpr bool kDependent = false;
};

// Of the policy that an epilogue's store is made of: a user's, and what its kernel adds to it.
struct StorePolicyTraits {
  // The kernel may start while earlier ones of the stream still run, and reads what they may have written.
  static constexpr bool kDependentLaunch = false;
  // Stores from registers have a predicate each instead of standing behind branches.
  static constexpr bool kPredicatedStores = false;
};

// Of what loads an operand's k tiles into a stage (operand.hpp, tma_matrix.hpp, ...).
struct OperandTraits {
  // Its Params have a tensor map, `map`, that TMA reads it by.
  static constexpr bool kHasTensorMap = false;
  // It loads into registers one k tile ahead of what CopyPiece stores: Begin(t) starts the first of
  // these loads, before the first CopyPiece.
  static constexpr bool kLoadsAhead = false;
};

// Of the rows of a product as places in its output (output_params.hpp).
struct RowsTraits {
  // Its kernels take the filter's zero points from the accumulators before an epilogue sees them, as
  // those do whose channels have each its own window (conv/depthwise/depthwise_filter_zeros.hpp).
  static constexpr bool kFilterZerosInSums = false;
  // Its kernels multiply a padding that stands for the source's zero point, so that the correction of
  // all pixels is that of those that see all taps.
  static constexpr bool kPaddingIsFilled = false;
  // Coordinates count products: Product(tile) is a pixel's image, and channels are the product's own.
  static constexpr bool kCountsProducts = false;

  // What is added to a tile's own rows where a product's begin elsewhere than at row 0.
  template <class Tile>
  constexpr std::int32_t FirstRow(const Tile&) const {
    return 0;
  }
  // From the number of a tile's channel to that of its bias, scale and value.
  template <class Tile>
  constexpr std::int32_t ValueOffset(const Tile&) const {
    return 0;
  }
};

// Nothing changes a stage on its way.
struct NoStageTransform {
  template <class Params>
  static constexpr bool HasWork(const Params&) {
    return false;
  }
};

// Of Parts, what a kernel is made of (tile_kernel.hpp).
struct PartsTraits {
  // Registers of a thread on GPUs before sm_90. 0: as many as kRegisters.
  static constexpr int kRegistersBefore90 = 0;
  // What the warps of Mainloop::kTransforms do.
  using StageTransform = NoStageTransform;
};

}  // namespace weft::gemm
