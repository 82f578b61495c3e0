#include "perf/model_check/tiles.hpp"

#include "perf/weft_perf/tile_names.hpp"
#include "perf/weft_perf/tiles.hpp"
#include "weft/conv/plan/conv_plan.hpp"
#include "weft/conv/plan/policy_facts.hpp"

namespace weft::perf {
namespace {

template <class P>
void Add(ModelTiles* tiles) {
  ModelTile& tile = (*tiles)[LayoutOf<P>()][TileName<P>()];
  tile.in_family = InFamily<P>();
  tile.in_small = InSmallFamily<P>();
  conv::ConvFacts plain = conv::FactsOf<P>();
  tile.facts[0] = tile.facts[2] = tile.facts[3] = plain;
  tile.facts[1] = conv::FactsOf<WithResidual<P>>();
  // Without a residual the epilogue changes nothing else.
  tile.facts[2].store.activations = WithHSwish<P>::Epilogue::kActivations;
}

}  // namespace

const ModelTiles& AllModelTiles() {
  static const ModelTiles* const tiles = [] {
    auto* all = new ModelTiles;
    const auto add = [all]<class P>(int) { Add<P>(all); };
    ForEachPolicy(BasicTiles(), add);
    ForEachPolicy(NetworkTiles(), add);
    ForEachPolicy(ReluTiles(), add);
    return all;
  }();
  return *tiles;
}

}  // namespace weft::perf
