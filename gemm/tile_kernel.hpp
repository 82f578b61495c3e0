// The one kernel of the library: matrix products and convolutions, through every mainloop.
//
//     scheduler -> operands -> pipeline and mainloop -> epilogue
//
// Parts names them:
//
//     struct Parts {
//       struct Params {  // the same for both back ends
//         Scheduler::Params schedule;
//         OperandA::Params a;
//         OperandB::Params b;
//         OutputParams<...> output;
//         std::int32_t slices;
//       };
//       using Scheduler, OperandA, OperandB, Mainloop, Pipeline, Epilogue;
//       static constexpr int kRegisters;  // of a thread; with fewer it would spill: a failed build
//       static constexpr int kRegistersBefore90;  // optional: the same for sm_75 to sm_89
//     };
//
// All threads of a block bring operands, multiply and store, one tile to a block. Where the pipeline
// has kProducerThreads, those bring the operands and the others multiply and store; the block then
// takes every grid-th tile of Params::tiles, and Params also holds the ring and the plan of the
// mainloop. (An operand B that stays, ResidentRing's, is brought by those who multiply.) Where
// Mainloop::kFills and Parts::Filler HasWork, one is made of Params and shared memory, aimed at each tile, and has each of its slices prepared and filled. Where the scheduler's tiles are those of a list
// (ListGrid), each product has an a, b, output and slices of its own instead of those of Params. With
// the mainloop's kSplit > 1 it is a cluster of so many blocks that takes a tile: each
// multiplies a part of the slices, and stores a part of what they add up to (gemm/split_sums.hpp).
#pragma once

#include <type_traits>

#include "weft/gemm/accumulators.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/arch/kernel.hpp"
#include "weft/gemm/pipeline.hpp"
#include "weft/gemm/split_sums.hpp"
#include "weft/gemm/tile.hpp"
#include "weft/gemm/tile_grid.hpp"

namespace weft::gemm {

// Blocks of `threads` threads of `registers` registers that fit on a multiprocessor, which has room
// for 16 of them on every GPU.
constexpr int BlocksPerSm(int registers, int threads) {
  const int blocks = 65536 / (registers * threads);
  return blocks < 1 ? 1 : blocks > 16 ? 16 : blocks;
}

inline namespace WEFT_BACKEND {

template <class Parts>
struct TileKernel {
  using Mainloop = typename Parts::Mainloop;
  using Pipeline = typename Parts::Pipeline;
  // Whether threads of their own bring the operands.
  static constexpr bool kSpecialised = requires { Pipeline::kProducerThreads; };
  static_assert(kSpecialised ||
                    (Operand<typename Parts::OperandA> && Operand<typename Parts::OperandB>),
                "weft: an operand has Load and Store, or CopyPiece (gemm/operand.hpp)");
  static_assert(kSpecialised ||
                    gemm::Pipeline<Pipeline, typename Parts::OperandA, typename Parts::OperandB>,
                "weft: a pipeline has Stages and Run, and its operands are of the kind it takes "
                "(gemm/pipeline.hpp)");
  static_assert(AccumulatorMap<typename Mainloop::Map>,
                "weft: a mainloop's Map says which outputs a thread holds (gemm/accumulators.hpp)");

  using Params = typename Parts::Params;
  static constexpr int kThreads = [] {
    if constexpr (kSpecialised) {
      return Mainloop::kThreads + Pipeline::kProducerThreads;
    } else {
      return Mainloop::kThreads;
    }
  }();
  static constexpr arch::Requires kRequires = Mainloop::kRequires;
  static constexpr int kRegisters = Parts::kRegisters;
  // Whether it may start while earlier kernels of its stream still run (arch::LaunchAttributes).
  static constexpr bool kDependent = [] {
    if constexpr (kSpecialised) {
      return true;
    } else {
      return Parts::Epilogue::kDependent;
    }
  }();
  static constexpr int kMinBlocksPerSm = BlocksPerSm(Parts::kRegisters, kThreads);
  static constexpr int kMinBlocksPerSmBefore90 = [] {
    if constexpr (requires { Parts::kRegistersBefore90; }) {
      return BlocksPerSm(Parts::kRegistersBefore90, kThreads);
    } else {
      return kMinBlocksPerSm;
    }
  }();

  // Blocks to a tile.
  static constexpr int kSplit = [] {
    if constexpr (requires { Mainloop::kSplit; }) {
      return Mainloop::kSplit;
    } else {
      return 1;
    }
  }();

  // Rows of the output in a row of the product.
  static constexpr int kStack = [] {
    if constexpr (requires { Mainloop::kStack; }) {
      return Mainloop::kStack;
    } else {
      return 1;
    }
  }();

  // Whether each tile's product has operands, an output and slices of its own, in global memory.
  static constexpr bool kListed = ListedTile<decltype(Parts::Scheduler::At({}, 0))>;
  static_assert(!kListed || kSplit == 1,
                "weft: config.split of a product of Listed is 1: its products are tiles enough");

  // Sets of warpgroups that take a block's tiles in turn.
  static constexpr int kTurns = [] {
    if constexpr (requires { Mainloop::kTurns; }) {
      return Mainloop::kTurns;
    } else {
      return 1;
    }
  }();
  static_assert(
      kTurns == 1 || !kListed,
      "weft: config.turns of a product of Listed is 1: its tiles have slices of their own");

  // Whether some blocks have no tile; where a cluster shares one they would lose count of rounds.
  static constexpr bool kSparse = SparseTile<decltype(Parts::Scheduler::At({}, 0))>;
  static_assert(!kSparse || kSplit == 1,
                "weft: config.split of a product of Grouped is 1: its groups are tiles enough");
  static_assert(
      !kSparse || kTurns == 1,
      "weft: config.turns of a product of Grouped is 1: tiles that it lacks take no turn");
  // Whether the threads that multiply bring operand B (ResidentRing).
  static constexpr bool kBrings = requires { requires Mainloop::kResident; };
  // Whether the scheduler reads what earlier kernels may have written.
  static constexpr bool kReads = requires { requires Parts::Scheduler::kReads; };

  // What a mainloop keeps between threads after its last slice takes the place of the stages. What
  // an epilogue keeps does not: a ring that goes on from tile to tile is never empty.
  static constexpr bool kHasScratch = requires { typename Mainloop::Scratch; };
  // Whether its sums are not yet the product's.
  static constexpr bool kCompletes = requires(typename Mainloop::Accumulators & acc) {
    Mainloop::Complete(acc);
  };
  static constexpr bool kStaged = requires { typename Parts::Epilogue::Shared; };
  template <bool kScratch, bool kStaged, class Mma>
  struct Storage {
    typename Pipeline::Stages stages;
  };
  template <class Mma>
  struct Storage<true, false, Mma> {
    union {
      typename Pipeline::Stages stages;
      typename Mma::Scratch scratch;
    };
  };
  template <class Mma>
  struct Storage<false, true, Mma> {
    typename Pipeline::Stages stages;
    typename Parts::Epilogue::Shared epilogue;
  };
  using BlockStorage = Storage<kHasScratch, kStaged, Mainloop>;
  template <class Mma>
  struct ClusterStorage : BlockStorage {
    typename SplitSums<Mma>::Shared split;
  };
  using SharedStorage =
      typename std::conditional_t<(kSplit > 1), std::type_identity<ClusterStorage<Mainloop>>,
                                  std::type_identity<BlockStorage>>::type;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, arch::Thread t) const {
    if constexpr (kSpecialised) {
      RunSpecialised(p, shared, t);
    } else {
      RunTile(p, shared, t);
    }
  }

 private:
  // What holds a tile's a, b, output and slices.
  template <class Tile>
  WEFT_DEVICE static const auto& OwnOf(const Params& p, const Tile& tile) {
    if constexpr (kListed) {
      return *tile.own;
    } else {
      return p;
    }
  }
  // A part of it as a thread keeps it: of a list in registers, where loops would load it again.
  template <class Type>
  using InRegisters = std::conditional_t<kListed, const Type, const Type&>;

  WEFT_DEVICE static void RunTile(const Params& p, SharedStorage& shared, arch::Thread t) {
    if constexpr (kDependent) {
      t.WaitForEarlierGrids();
      t.LetLaterGridsStart();  // now, so that what this kernel follows has ended for them as well
    }
    const auto tile = Parts::Scheduler::At(p.schedule, t.block_x());
    if constexpr (kSparse) {
      if (!tile.exists) return;
    }
    const auto& own = OwnOf(p, tile);
    typename Mainloop::Accumulators acc = {};
    {
      InRegisters<typename Parts::OperandA::Params> of_a = own.a;
      InRegisters<typename Parts::OperandB::Params> of_b = own.b;
      typename Parts::OperandA a(t, of_a, tile);
      typename Parts::OperandB b(t, of_b, tile);
      Pipeline::Run(t, shared.stages, a, b, own.slices, acc);
    }
    if constexpr (kHasScratch) {
      if (!Mainloop::Finish(t, shared.scratch, acc)) return;
    }
    if constexpr (kCompletes) Mainloop::Complete(acc);
    InRegisters<std::remove_cvref_t<decltype(own.output)>> output = own.output;
    Parts::Epilogue::Run(t, output, tile, FirstRow(output, tile), tile.n * Mainloop::kBlockN, acc);
  }

  // Of a tile, as the epilogue counts rows.
  template <class Output, class Tile>
  WEFT_DEVICE static std::int32_t FirstRow(const Output& output, const Tile& tile) {
    const std::int32_t first = tile.m * (kStack * Mainloop::kBlockM);
    if constexpr (requires { output.rows.FirstRow(tile); }) {
      return static_cast<std::int32_t>(static_cast<std::uint32_t>(first) +
                                       static_cast<std::uint32_t>(output.rows.FirstRow(tile)));
    } else {
      return first;
    }
  }

  // Producers are the last threads of the block, so that the others count from 0.
  WEFT_DEVICE static void RunSpecialised(const Params& p, SharedStorage& shared, arch::Thread t) {
    constexpr bool kTrade = Mainloop::kRegisters > Mainloop::kStartRegisters;
    // Whether the copy engine brings the operands.
    constexpr bool kMaps = requires {
      p.a.map;
    };
    if constexpr (kMaps) {
      const bool exists = !kBrings || p.ring.engine_tiles > 0;
      if (exists && t.tid() == Mainloop::kThreads + 32) t.PrefetchTensorMap(p.a.map);
    }
    if constexpr (requires { p.b.map; }) {
      if (t.tid() == Mainloop::kThreads) t.PrefetchTensorMap(p.b.map);
    }
    if constexpr (kSplit > 1) SplitSums<Mainloop>::Begin(t, shared.split);
    Pipeline::Begin(t, shared.stages, p.ring);
    if constexpr (kSplit > 1) t.ClusterArriveRelaxed();
    t.LetLaterGridsStart();
    const SliceRange slices = [&] {
      if constexpr (kListed) {
        return SliceRange{};  // each tile has its own
      } else {
        return Mainloop::SlicesOf(t, p.slices);
      }
    }();
    // A block's tiles.
    const int first = t.block_x() / kSplit;
    const int step = t.grid_x() / kSplit;
    typename Pipeline::Turn turn;
    const int producer = t.WarpUniform(t.warp()) - Mainloop::kThreads / 32;
    if (producer >= 0) {
      if constexpr (kTrade) t.template SetMaxRegDec<Mainloop::kProducerRegisters>();
      if constexpr (Mainloop::kFills) {
        if (producer >= Pipeline::kFirstFillWarp && Fills(p)) {
          typename Parts::Filler filler(t, p, shared.stages.fill);
          WEFT_NO_UNROLL
          for (int i = first; i < p.tiles; i += step) {
            const auto tile = Parts::Scheduler::At(p.schedule, i);
            if constexpr (kSparse) {
              if (!tile.exists) continue;
            }
            const SliceRange range = SlicesOf(t, slices, OwnOf(p, tile));
            filler.Aim(t, tile, range.begin);
            Pipeline::Fill(t, shared.stages, p.ring, range, turn, filler);
          }
        }
      }
      if (Pipeline::Copies(t, producer, p.ring)) {
        if constexpr (kReads) t.WaitForEarlierGrids();
        if constexpr (kMaps && !kBrings) {
          if (producer > 0) {
            typename Parts::OperandA a(p.a, Parts::Scheduler::At(p.schedule, first));
            Pipeline::Prefetch(t, p.ring, producer, a, SlicesOf(t, slices, p));
          }
        }
        int early = p.early;  // slices of filters that are fetched before the wait
        WEFT_NO_UNROLL
        for (int i = first; i < p.tiles; i += step) {
          const auto tile = Parts::Scheduler::At(p.schedule, i);
          if constexpr (kSparse) {
            if (!tile.exists) continue;
          }
          const auto& own = OwnOf(p, tile);
          if constexpr (kListed) {
            t.FenceTensorMap(producer == 0 ? own.b.map : own.a.map);
            if constexpr (Pipeline::kRowThreads == 0) t.FenceTensorMap(own.a.map);
          }
          typename Parts::OperandA a(own.a, tile);
          typename Parts::OperandB b(own.b, tile);
          Pipeline::Produce(t, shared.stages, p.ring, producer, a, b, SlicesOf(t, slices, own),
                            early, turn);
          early = -1;
        }
      }
      if constexpr (kSplit > 1) {  // who arrives also waits
        t.SyncWarp();
        t.ClusterWait();
      }
      Pipeline::End(t, shared.stages, p.ring, turn);
      return;
    }
    if constexpr (kTrade) t.template SetMaxRegInc<Mainloop::kRegisters>();
    if constexpr (kBrings && !kReads) {
      // The first tile's before earlier kernels have ended, if they do not write it.
      if (p.early > 0 && first < p.tiles) {
        Bring(p, shared, t, Parts::Scheduler::At(p.schedule, first), turn);
      }
    }
    t.WaitForEarlierGrids();
    const Mainloop mainloop(t, p.plan);
    if constexpr (kSplit > 1) t.ClusterWait();  // the others' barriers are ready
    [[maybe_unused]] int round = 0;
    typename Parts::Epilogue::Kept kept;
    // Of the sets of warpgroups that take tiles in turn, this thread's.
    const int set = Pipeline::SetOf(t);
    const int own_first = first + set * step;
    if constexpr (kTurns > 1) {
      if (set > 0) Pipeline::SkipTurn(t, shared.stages, p.ring, p.slices, Fills(p), turn);
    }
    WEFT_NO_UNROLL
    for (int i = own_first; i < p.tiles; i += kTurns * step) {
      const auto tile = Parts::Scheduler::At(p.schedule, i);
      if constexpr (kSparse) {
        if (t.WarpUniform(int{tile.exists}) == 0) continue;
      }
      const auto& own = OwnOf(p, tile);
      const auto& output = own.output;
      if constexpr (kBrings) Bring(p, shared, t, tile, turn);
      if constexpr (kListed) kept = {};  // of another product, maybe
      const int m = FirstRow(output, tile), n = tile.n * (Mainloop::kBlockN / kStack);
      typename Mainloop::Accumulators acc;
      const auto prepare = [&] {
        if constexpr (kStaged) {
          Parts::Epilogue::Prepare(t, shared.epilogue, output, tile, m, n, kept);
        }
      };
      const auto begin = [&] {
        if constexpr (kStaged) Parts::Epilogue::Begin(t, shared.epilogue, output, tile, m, n);
      };
      begin();
      // The first tile's operands are still under way, later ones' products take the time.
      const bool now = kSplit > 1 || i == own_first;
      if (now) prepare();
      Pipeline::Consume(t, shared.stages, p.ring, mainloop, SlicesOf(t, slices, own), acc, turn,
                        Fills(p), [&] {
                          if (!now) prepare();
                        });
      if constexpr (kSplit > 1) {
        typename Mainloop::OwnSums sums;
        const bool is_last = i + step >= p.tiles;
        SplitSums<Mainloop>::Add(t, shared.split, acc, round++, is_last, sums);
        Store(output, shared, t, tile, m, n, kept, sums);
        // Without a barrier ptxas takes the warps for divergent after the waits for sums, and makes
        // the next tile's products one by one.
        t.BarSync(1 + Mainloop::Map::Group(t), 128);
      } else {
        Store(output, shared, t, tile, m, n, kept, acc);
        if constexpr (kTurns > 1) {
          Pipeline::SkipTurn(t, shared.stages, p.ring, p.slices, Fills(p), turn);
        }
      }
    }
  }

  template <class Tile, class Turn>
  WEFT_DEVICE static void Bring(const Params& p, SharedStorage& shared, arch::Thread t,
                                const Tile& tile, Turn& turn) {
    Pipeline::Bring(t, shared.stages, p.ring, typename Parts::OperandB(p.b, tile), turn);
  }

  // The slices of a tile: of a list its product's, else `slices`, the same for all tiles.
  template <class Own>
  WEFT_DEVICE static decltype(auto) SlicesOf(arch::Thread t, const SliceRange& slices,
                                             const Own& own) {
    if constexpr (kListed) {
      return Mainloop::SlicesOf(t, own.slices);
    } else {
      return (slices);
    }
  }

  WEFT_DEVICE static bool Fills(const Params& p) {
    if constexpr (requires { requires Mainloop::kFills; }) {
      return Parts::Filler::HasWork(p);
    } else {
      return false;
    }
  }

  template <class Output, class Tile, class Kept>
  WEFT_DEVICE static void Store(const Output& output, SharedStorage& shared, arch::Thread t,
                                const Tile& tile, int m, int n, Kept& kept,
                                const typename Mainloop::Map::Accumulators& acc) {
    if constexpr (kStaged) {
      Parts::Epilogue::Run(t, shared.epilogue, output, tile, m, n, kept, acc);
    } else {
      Parts::Epilogue::Run(t, output, tile, m, n, acc);
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
