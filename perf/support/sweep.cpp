#include "perf/support/sweep.hpp"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "perf/support/layers.hpp"

namespace weft::perf {
namespace {

// -1 if none ran.
int Quickest(const Contender& c, const std::vector<TileInfo>& tiles, bool family_only) {
  int best = -1;
  for (int i = 0; i < static_cast<int>(tiles.size()) && i < kMostVariants; ++i) {
    if (c.tile_us[i] <= 0.0 || (family_only && !tiles[i].in_family)) continue;
    if (best < 0 || c.tile_us[i] < c.tile_us[best]) best = i;
  }
  return best;
}

}  // namespace

absl::Status PutBest(const LayerResults& results, conv::TuningTable* table) {
  for (const LayerRow& row : results.rows) {
    if (row.Mismatches() != 0 || !row.failure.empty()) continue;
    const absl::StatusOr<Layer> layer = ParseLayer(row.layer.Get());
    if (!layer.ok()) return layer.status();
    conv::TuningRecord record;
    record.device = results.environment.device.Get();
    record.sm_count = results.environment.multiprocessors;
    record.problem = layer->problem;
    record.problem.n = row.batch;
    for (std::size_t l = 0; l < results.tiles.size(); ++l) {
      const LayoutTiles& of_layout = results.tiles[l];
      int best = Quickest(row.ours[l], of_layout.tiles, true);
      if (best < 0) best = Quickest(row.ours[l], of_layout.tiles, false);
      if (best < 0) continue;
      record.operator_name = of_layout.operator_name;
      record.policy = of_layout.tiles[best].policy;
      record.microseconds = row.ours[l].tile_us[best];
      if (absl::Status s = table->Put(record); !s.ok()) return s;
    }
  }
  return absl::OkStatus();
}

std::string SweepText(const LayerResults& results) {
  std::string text;
  for (std::size_t l = 0; l < results.layouts.size(); ++l) {
    const std::vector<TileInfo>& tiles = results.tiles[l].tiles;
    absl::StrAppend(&text, "\n", LayoutText(results.layouts[l]), ", N = ", results.batch,
                    ": us of every tile (short measurement; * the best, m Dispatch's choice "
                    "without a table)\n");
    for (std::size_t t = 0; t < tiles.size(); ++t) {
      absl::StrAppendFormat(&text, "  %2d %s%s\n", t, tiles[t].name,
                            tiles[t].in_family ? " (ready-made)" : "");
    }
    absl::StrAppendFormat(&text, "%-22s", "layer");
    for (std::size_t t = 0; t < tiles.size(); ++t) absl::StrAppendFormat(&text, " %8d ", t);
    absl::StrAppend(&text, "  choice / best\n");
    for (const LayerRow& row : results.rows) {
      const Contender& c = row.ours[l];
      absl::StrAppendFormat(&text, "%-22s", row.layer.Get());
      for (int t = 0; t < static_cast<int>(tiles.size()) && t < kMostVariants; ++t) {
        absl::StrAppendFormat(&text, " %8.2f%c", c.tile_us[t],
                              t == c.best    ? '*'
                              : t == c.model ? 'm'
                                             : ' ');
      }
      absl::StrAppendFormat(&text, "  %.3f\n", c.ModelOverBest());
    }
  }
  return text;
}

}  // namespace weft::perf
