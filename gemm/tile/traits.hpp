// Traits: what the parts of a kernel say about themselves, and the defaults.
//
// A part inherits the traits of its kind and declares again what differs, so that its user reads
// `Part::kTrait` and never asks whether it is declared. A trait that one more part needs is one
// line here and one in that part.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/isa/backend.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// What stands in the place of a part that a kernel is without. It is specialised beside each such part, with
// functions of the same signatures that do nothing, so that a wrong call does not compile for either of them.
template <class Part>
struct Absent;
template <bool kHas, class Part>
using PartIf = std::conditional_t<kHas, Part, Absent<Part>>;

}  // namespace WEFT_BACKEND

// Traits of a mainloop, which multiplies stages (simt.hpp, mma_sm80.hpp, wgmma_sm90.hpp, ...).
struct MainloopTraits {
  // Cluster split-K: blocks of a cluster that share the k tiles of a tile, of which each stores a
  // part.
  static constexpr int kClusterSplit = 1;
  // Packed output rows: rows of the output in one row of the product (config.packed_rows).
  static constexpr int kPackedRows = 1;
  // Groups of consumer warpgroups: 2 are ping-pong, each with a tile of its own; 1 is cooperative.
  static constexpr int kConsumerGroups = 1;
  // Stage transform: kTransformWarps transform warps rewrite each stage after TMA has written it
  // and before it is multiplied, as Parts::StageTransform says. The threads of the producer
  // warpgroup then have kTransformRegisters registers more.
  static constexpr bool kTransforms = false;
  static constexpr int kTransformWarps = 1;
  static constexpr int kTransformRegisters = 8;
  // Threads exchange accumulators after a tile's last k tile, in a Scratch that replaces the
  // stages. Finish(t, scratch, acc) returns whether this thread then holds a part of the result.
  static constexpr bool kHasScratch = false;
  // After the last k tile accumulators are not yet the product's values: Complete(acc) makes them
  // so.
  static constexpr bool kCompletes = false;
  // Some threads may load nothing, where an operand's pieces cannot be divided evenly among all
  // threads of a block (share.hpp).
  static constexpr bool kMayIdle = false;
  // Of a CpAsyncRing: stages that are being multiplied when copies into another one start. 2 where
  // products are asynchronous: those of a k tile are in flight, and warps that are behind may still
  // be at the k tile before.
  static constexpr int kStagesRead = 1;
  // The alignment of the stages of operands A and B, in bytes.
  static constexpr int kStageAlignment = 128;
};

// Traits of a pipeline, which has the stages and their order (pipeline.hpp, mbar_ring.hpp).
struct PipelineTraits {
  // Producer threads, which come after the consumers in the block and only load operands. 0: every
  // thread of the block loads and multiplies.
  static constexpr int kProducerThreads = 0;
  // Operands are copied by cp.async (AsyncOperand).
  static constexpr bool kAsync = false;
};

// Traits of a scheduler, which says which tile a block works on (tile_grid.hpp).
struct SchedulerTraits {
  // Every product has operands, an output and a number of k tiles of its own, Tile::own, instead of
  // those of the kernel's Params.
  static constexpr bool kListed = false;
  // Some blocks have no tile: Tile::exists.
  static constexpr bool kSparse = false;
  // At reads memory that earlier kernels of the stream may have written.
  static constexpr bool kReads = false;
};

// Traits of an epilogue, which makes outputs of accumulators and stores them (epilogue_store.hpp,
// staged_store.hpp).
struct EpilogueTraits {
  // Outputs go through shared memory (Shared), which the epilogue has beside the stages. Begin and
  // Prepare start the loads of what a tile's epilogue reads before the tile is multiplied, and each
  // thread keeps a Kept from tile to tile.
  static constexpr bool kStaged = false;
  // Kept is also what a tile hands on to the next one, the tile below it: a block takes strips of
  // tiles (PersistentStrips).
  static constexpr bool kCarries = false;
  // The epilogue may run in a kernel that starts while earlier ones of the stream still run.
  static constexpr bool kDependent = false;
};

// Traits of the policy that an epilogue's store is compiled for: a user's policy, and what the
// kernel adds to it.
struct StorePolicyTraits {
  // The kernel may start while earlier ones of the stream still run, and reads what these may
  // write.
  static constexpr bool kDependentLaunch = false;
  // Each store from registers has a predicate, instead of standing behind a branch.
  static constexpr bool kPredicatedStores = false;
};

// Traits of an operand, which loads its k tiles into stages (operand.hpp, tma_operand.hpp, ...).
struct OperandTraits {
  // Its Params have a tensor map, `map`, by which TMA loads it.
  static constexpr bool kHasTensorMap = false;
  // It loads a k tile into registers one k tile before CopyPiece stores it. Begin(t) starts the
  // first of these loads, before the first CopyPiece.
  static constexpr bool kLoadsAhead = false;
};

// Traits of the rows of a product as places in the output (output_params.hpp).
struct RowsTraits {
  // Its kernels subtract the filter's zero points from the accumulators before an epilogue sees
  // them, as those kernels do whose channels have a window each
  // (conv/depthwise/depthwise_filter_zeros.hpp).
  static constexpr bool kFilterZerosInSums = false;
  // Its kernels multiply a padding that has the source's zero point as its value, so that all
  // pixels have the same correction as those that see all taps.
  static constexpr bool kPaddingIsFilled = false;
  // Coordinates count products: Product(tile) is a pixel's image, and channels are numbered within
  // their product.
  static constexpr bool kCountsProducts = false;

  // What is added to the rows of a tile whose product does not begin at row 0 of the output.
  template <class Tile>
  constexpr std::int32_t FirstRow(const Tile&) const {
    return 0;
  }
  // What is added to the number of a tile's channel to get that of its bias, scale and value.
  template <class Tile>
  constexpr std::int32_t ValueOffset(const Tile&) const {
    return 0;
  }
};

// The stage transform of kernels that have none.
struct NoStageTransform {
  template <class Params>
  static constexpr bool HasWork(const Params&) {
    return false;
  }
};

// Traits of Parts, which name what a kernel is made of (gemm/kernel/).
struct PartsTraits {
  // Registers of a thread on GPUs before sm_90; 0 stands for kRegisters.
  static constexpr int kRegistersBefore90 = 0;
  // What the transform warps do, where Mainloop::kTransforms.
  using StageTransform = NoStageTransform;
};

}  // namespace weft::gemm
