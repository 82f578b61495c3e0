// The tests of the rows of gemm/tile/tiles.def and perf/tiles.def, made of these tables: every tile runs, exactly, and a
// new row without anybody's naming it here.
//
// A row is an operator of each of its families. A CPU has one of them, the families taking turns from row to row: the
// operators differ in how they load and store, as those of the table of convolutions do, and in nothing that is the
// tile's. A GPU has all. The rows are dealt out among several programs, which are compiled side by side: each
// says which it has.
#pragma once

#include <type_traits>

#include "perf/weft_perf/tiles.hpp"
#include "tests/conv/tiles/check.hpp"
#include "weft/conv/choose/tuning.hpp"
#include "weft/conv/ready_made.hpp"

namespace weft::conv::tiles {

// Mainloops, by source format where there are many tiles. A program has parts, or of a part every other row.
enum class Part { kSimt, kMmaNc32, kMmaNhwc, kWgmmaNc32, kWgmmaNhwc };

template <class P>
constexpr Part PartOf() {
  constexpr bool kNhwc = std::is_same_v<typename P::SrcLayout, NHWC>;
  if (kIsWgmma<P>) return kNhwc ? Part::kWgmmaNhwc : Part::kWgmmaNc32;
  if (P::config.kMainloop == gemm::Mainloop::kSimt) return Part::kSimt;
  return kNhwc ? Part::kMmaNhwc : Part::kMmaNc32;
}

// Adds P's test where ProgramT has it: static constexpr bool Has(Part, int row).
template <class ProgramT, int kRow, class P>
void AddIfHere(const std::string& name) {
  if constexpr (ProgramT::Has(PartOf<P>(), kRow)) AddOperator<P>(name);
}

// wgmma_sm90 stores bytes through shared memory and floats straight from registers. A tile of both formats does
// the one over NCxHWx<32> and the other over NHWC.
using Bytes = epilogues::BiasRelu<>;
using Floats =
    epilogues::Chain<epilogues::Scale, epilogues::Bias<>, epilogues::Relu, epilogues::ToFloat>;
template <class FamilyTileT>
using ToNhwc = std::conditional_t<kIsWgmma<typename FamilyTileT::Tile>, Floats, Bytes>;

// Whether a tile of no family stands in the table once more, where it is tested.
template <class TileT>
inline constexpr bool kStandsAgain = (false
#define WEFT_TILE_AGAIN(type, ...) || std::is_same_v<TileT, type>
#include "weft/gemm/tile/tiles.def"
);

// The families of a row, without the small ones, whose rows are some of theirs; of none, that of its
// mainloop's first choice.
template <class TileT, unsigned kIn>
constexpr unsigned FamiliesOf() {
  constexpr unsigned kWhole = kIn & ~tile_families::kAllSmall;
  if (kWhole != tile_families::kNoFamily) return kWhole;
  if (kStandsAgain<TileT>) return 0;
  return TileT::config.kMainloop == gemm::Mainloop::kSimt ? tile_families::kNc4
                                                          : tile_families::kNc32;
}

template <class ProgramT, int kRow, class FamilyTileT, unsigned kIn>
void AddRow(const std::string& name) {
  namespace families = tile_families;
  constexpr unsigned kAll = FamiliesOf<typename FamilyTileT::Tile, kIn>();
  static_assert(
      (kAll & ~(families::kNc4 | families::kFirstLayer | families::kNc32 | families::kNhwc |
                families::kNhwcAnyK | families::kNhwcToBlocks | families::kNhwcOfEight)) == 0,
      "weft: say here what the operator of a tile of this family is");
  constexpr unsigned kHere = kOnCpu ? TakesItsTurn(kAll, kRow) : kAll;
  if constexpr ((kHere & families::kNc4) != 0) {
    AddIfHere<ProgramT, kRow, internal::Nc4Of<Bytes, NCxHWx<4>, FamilyTileT>>(name + "_Nc4");
  }
  if constexpr ((kHere & families::kFirstLayer) != 0) {
    AddIfHere<ProgramT, kRow, internal::Nc4Of<Bytes, NCxHWx<32>, FamilyTileT>>(name + "_Nc4ToNc32");
  }
  if constexpr ((kHere & families::kNc32) != 0) {
    AddIfHere<ProgramT, kRow, internal::Nc32Of<Bytes, NCxHWx<32>, FamilyTileT>>(name + "_Nc32");
  }
  if constexpr ((kHere & families::kNhwc) != 0) {
    AddIfHere<ProgramT, kRow, internal::NhwcOf<ToNhwc<FamilyTileT>, NHWC, FamilyTileT>>(name +
                                                                                        "_Nhwc");
  }
  if constexpr ((kHere & (families::kNhwcAnyK | families::kNhwcOfEight)) != 0) {
    AddIfHere<ProgramT, kRow, internal::NhwcOf<Bytes, NHWC, FamilyTileT>>(name + "_Nhwc");
  }
  if constexpr ((kHere & families::kNhwcToBlocks) != 0) {
    AddIfHere<ProgramT, kRow, internal::NhwcOf<Bytes, NCxHWx<32>, FamilyTileT>>(name +
                                                                                "_NhwcToNc32");
  }
}

// Whether the table of tiles has a tile, so that it is not run again as a line of perf/tiles.def.
constexpr bool IsInTable(const gemm::TileDescription& config) {
  constexpr gemm::TileDescription kTable[] = {
#define WEFT_TILE(type, value, ...) type::config,
#include "weft/gemm/tile/tiles.def"
  };
  for (const gemm::TileDescription& tile : kTable) {
    if (tile == config) return true;
  }
  return false;
}

template <class ProgramT, int kRow, class P>
void AddMeasured() {
  if constexpr (!CheckedPolicy<P>::kDepthwise) {
    if constexpr (!IsInTable(P::config)) {
      AddIfHere<ProgramT, kRow, P>(
          gemm::PolicyName(P::config) + "_from_" +
          (std::is_same_v<typename P::SrcLayout, NHWC> ? "Nhwc" : "Blocks"));
    }
  }
}

// Adds the tests of a program. True, so that a constant can be initialised by it before main.
template <class ProgramT>
bool AddRows() {
  using namespace tile_families;  // NOLINT(build/namespaces): the column `families` is in these words
#define WEFT_TILE(type, value, families, when) \
  AddRow<ProgramT, __LINE__, FamilyTile<type>, families>(#type);
#define WEFT_TILE_AGAIN(type, families, src, dst) \
  AddRow<ProgramT, __LINE__, FamilyTile<type, src, dst>, families>(#type "_a" #src "_d" #dst);
#include "weft/gemm/tile/tiles.def"
  {
    using namespace perf;  // NOLINT(build/namespaces): and that of perf/tiles.def in these
#define BASIC(Name, ...) AddMeasured<ProgramT, __LINE__, Name<__VA_ARGS__>>();
#define NETWORK BASIC
#define TILE BASIC
#include "perf/tiles.def"
#undef BASIC
#undef NETWORK
#undef TILE
  }
  return true;
}

}  // namespace weft::conv::tiles
