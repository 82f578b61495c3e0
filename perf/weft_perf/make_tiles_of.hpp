// How MakeTiles makes them, for the files that perf/operators.cmake makes.
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>

#include "perf/support/status.hpp"
#include "perf/weft_perf/make_tiles.hpp"
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
      args.filter = std::get<decltype(args.filter)>(given.filters);
      args.channel_alpha = given.channel_alpha;
      args.bias = given.bias;
      if constexpr (P::Epilogue::kHasResidual) {
        args.residual = given.residual;
        args.gamma = given.gamma;
      }
      if constexpr (P::Epilogue::kHasOutputScale) args.output_scale = given.output_scale;
      args.dst = given.dst;
      args.filter_is_constant = true;  // packed long before, as in a network
      return op.Run(args, stream);
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

template <template <class> class With, class Src>
void MakeTiles(TilesByLayout* tiles) {
  const auto add = [tiles]<class P>(int) {
    if constexpr (std::is_same_v<typename P::SrcLayout, Src>) internal::AddTile<With<P>>(tiles);
  };
  ForEachPolicy(MeasuredTiles(), add);
  using Any = Nc32Tile<conv::Mma64x64>;
  if constexpr (std::is_same_v<With<Any>, Any>) ForEachPolicy(MeasuredReluTiles(), add);
}

}  // namespace weft::perf
