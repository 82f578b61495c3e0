// How MakeTiles makes them, for the files that perf/operators.cmake makes.
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>

#include "perf/support/status.hpp"
#include "perf/weft_perf/make_tiles.hpp"
#include "perf/weft_perf/table_tiles.hpp"
#include "perf/weft_perf/tile_names.hpp"
#include "weft/conv/choose/tuning.hpp"
#include "weft/conv/convolution.hpp"

namespace weft::perf {
namespace internal {

template <class P>
Tile MakeTile(const std::string& name) {
  using Op = conv::Convolution<P>;
  Tile tile = {name,  conv::PolicyName(P::config), conv::OperatorName<P>(),
               false, conv::FactsOf<P>(),          nullptr};
  tile.create = [](const conv::Problem& problem) -> absl::StatusOr<TileRun> {
    WEFT_LET(const Op op, Op::Create(problem));
    return TileRun([op](const TileArguments& given, Stream stream) {
      typename Op::Arguments args;
      args.src = given.src;
      args.filter = given.*TileArguments::Filter<typename P::FilterLayout>();
      args.channel_alpha = given.channel_alpha;
      args.bias = given.bias;
      if constexpr (P::Epilogue::kHasResidual) {
        args.residual = given.residual;
        args.gamma = given.gamma;
      }
      if constexpr (P::Epilogue::kHasOutputScale) args.output_scale = given.output_scale;
      args.dst = given.dst;
      args.filter_is_constant = true;  // packed long before, as in a network
      return op.Run(args, stream, {.dependent = given.dependent});
    });
  };
  return tile;
}

// A tile that BASIC names and the table has is there once.
template <class P>
void AddTile(TilesByLayout* tiles) {
  if (!gemm::HasGpuCode<P>()) return;
  std::vector<Tile>& others = (*tiles)[LayoutOf<P>()];
  Tile tile = MakeTile<P>(TileName<P>());
  tile.in_family = InFamily<P>();
  const auto same = [&](const Tile& other) { return other.name == tile.name; };
  if (std::none_of(others.begin(), others.end(), same)) others.push_back(std::move(tile));
}

}  // namespace internal

// Which lines of perf/tiles.def are compiled: 0 BASIC, 1 also NETWORK and the table of tiles, 2 also TILE and the
// table's depthwise tiles.
#if !WEFT_HAVE_CUDA
inline constexpr int kMostKinds = -1;
#elif !WEFT_PERF_ALL_TILES
inline constexpr int kMostKinds = 0;
#else
inline constexpr int kMostKinds = 2;
#endif

template <template <class> class With, class Src>
void MakeTiles(TilesByLayout* tiles) {
  // Kinds from 2 on have ReLU alone.
  constexpr int kKinds = std::is_same_v<With<Nc32Tile<conv::Mma64x64>>, Nc32Tile<conv::Mma64x64>>
                             ? kMostKinds
                             : (std::min)(kMostKinds, 1);
  const auto add = [tiles]<class P>() {
    if constexpr (std::is_same_v<typename P::SrcLayout, Src>) internal::AddTile<With<P>>(tiles);
  };
#define WEFT_ADD(least, Name, ...) \
  if constexpr (kKinds >= least) add.template operator()<Name<__VA_ARGS__>>();
#define BASIC(...) WEFT_ADD(0, __VA_ARGS__)
#define NETWORK(...) WEFT_ADD(1, __VA_ARGS__)
#define TILE(...) WEFT_ADD(2, __VA_ARGS__)
#include "perf/tiles.def"
#undef BASIC
#undef NETWORK
#undef TILE
#undef WEFT_ADD
  if constexpr (kKinds >= 1) ForEachTableTile(add);
  if constexpr (kKinds >= 2) ForEachDepthwiseTableTile(add);
}

}  // namespace weft::perf
