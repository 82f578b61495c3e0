// The operators that the tests of prologues run, and prologues as a user would write them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tests/conv/policy/policies.hpp"
#include "weft/conv/policy.hpp"

namespace weft::conv {

// Each image picks its filter from a bank.
struct FromBank {
  static constexpr prologues::Depends kDepends{.image = true};
  static constexpr const char* kName = "FromBank";
  const std::int32_t* index = nullptr;  // N of them
  constexpr std::int64_t Filter(const prologues::BatchCoord& at) const { return index[at.n]; }
  static constexpr std::int64_t Filters(const prologues::BatchExtents&) { return 0; }
};

// A filter for each image, block of 2 x 3 pixels and group, in an order of its own: the last one
// first, and by the coordinates instead of the index.
struct EverythingReversed {
  static constexpr prologues::Depends kDepends{
      .image = true, .block_h = 2, .block_w = 3, .group = true};
  static constexpr const char* kName = "EverythingReversed";
  std::int32_t images = 0, rows = 0, columns = 0, groups = 0;  // of the batches
  constexpr std::int64_t Filter(const prologues::BatchCoord& at) const {
    const std::int64_t image = images - 1 - at.n;
    const std::int64_t block = (rows - 1 - at.p) * columns + columns - 1 - at.q;
    return (image * rows * columns + block) * groups + groups - 1 - at.g;
  }
  static constexpr std::int64_t Filters(const prologues::BatchExtents& e) { return e.Count(); }
};

// Tile shapes as types: nvcc 13.0 cannot write class-type template arguments into its host code.
template <int block_m, int block_n, int block_k, int warp_m, int warp_n, int stages,
          int dst_alignment, int src_alignment = 16>
struct PrologueMmaTile {
  static constexpr auto config = WithSrcAlignment(
      MmaSm80Config({block_m, block_n, block_k}, {warp_m, warp_n, block_k}, stages, dst_alignment),
      src_alignment);
};

// kLoad, kStore: the channels of one load and of one store, which those of a group are multiples
// of.
template <class PrologueT, class Src, class Filter, class Dst, class EpilogueT, class TileT,
          int kLoad, int kStore>
struct ProloguePolicy {
  using Element = std::int8_t;
  using SrcLayout = Src;
  using FilterLayout = Filter;
  using DstLayout = Dst;
  using Prologue = PrologueT;
  using Epilogue = EpilogueT;
  static constexpr auto config = TileT::config;

  static constexpr int kChannelsOfLoad = kLoad;
  static constexpr int kChannelsOfStore = kStore;
};

using FloatRelu =
    epilogues::Chain<epilogues::Scale, epilogues::Bias<>, epilogues::Relu, epilogues::ToFloat>;

// The epilogues that the tests of prologues have beside bias and ReLU. The rows of a tile are other pixels than those of
// the ordinary convolution, so everything that is read or chosen by an output's place can go wrong.
using AddedRelu = epilogues::ResidualBiasRelu<>;
using AddedReluOfNhwc =
    epilogues::Chain<epilogues::Residual<std::int8_t, NHWC>, epilogues::Scale, epilogues::Bias<>,
                     epilogues::Relu, epilogues::ClampTo<std::int8_t>>;
using ToUint8 = epilogues::Chain<epilogues::Scale, epilogues::Bias<std::int32_t>,
                                 epilogues::ClampTo<std::uint8_t>>;
using ToHSwish = epilogues::BiasHSwish<>;
using FloatHSwish =
    epilogues::Chain<epilogues::Scale, epilogues::Bias<>, epilogues::HSwish, epilogues::ToFloat>;

// Int8 outputs have bias and ReLU, planar ones are floats.
template <class Dst>
using ReluTo = std::conditional_t<std::is_same_v<Dst, NCHW>, FloatRelu, epilogues::BiasRelu<>>;

// dp4a over NCxHWx<4>, stores of 4 bytes.
template <class PrologueT, class Dst, class TileT = SmallTile<4>, class EpilogueT = ReluTo<Dst>>
using Nc4Prologue = ProloguePolicy<PrologueT, NCxHWx<4>, CxRSKx<4>, Dst, EpilogueT, TileT, 4,
                                   4 / sizeof(typename EpilogueT::Output)>;

// mma_sm80 over NCxHWx<32> and over NHWC, stores of kDstBytes.
template <class PrologueT, class Dst, int block_m, int block_n, int block_k, int warp_m, int warp_n,
          int stages, int kDstBytes, class EpilogueT = ReluTo<Dst>>
using Nc32Prologue =
    ProloguePolicy<PrologueT, NCxHWx<32>, CxRSKx<32>, Dst, EpilogueT,
                   PrologueMmaTile<block_m, block_n, block_k, warp_m, warp_n, stages, kDstBytes>,
                   32, kDstBytes / sizeof(typename EpilogueT::Output)>;
template <class PrologueT, class Dst, int block_m, int block_n, int kSrcBytes, int kDstBytes,
          class EpilogueT = ReluTo<Dst>>
using NhwcPrologue =
    ProloguePolicy<PrologueT, NHWC, KRSC, Dst, EpilogueT,
                   PrologueMmaTile<block_m, block_n, 64, 32, 32, 3, kDstBytes, kSrcBytes>,
                   kSrcBytes, kDstBytes / sizeof(typename EpilogueT::Output)>;

}  // namespace weft::conv
