// model_check: what the tile model's choices cost, from the times of every tile in result files of
// weft_perf; needs no GPU.
//
//     build/cpu/bin/model_check perf/results/h200/*.json perf/results/earlier/*/*.json
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "perf/support/json.hpp"
#include "perf/support/layers.hpp"
#include "perf/support/status.hpp"
#include "perf/weft_perf/tile_names.hpp"
#include "perf/weft_perf/tiles.hpp"
#include "weft/conv/plan.hpp"
#include "weft/conv/tile_model.hpp"

namespace weft::perf {
namespace {

struct Tile {
  conv::TileFacts facts;
  bool in_family = false;
};
using Tiles = std::map<std::string, std::map<std::string, Tile>>;  // by layout, by name

template <class P>
void Add(const std::string& kind, const std::vector<int>& numbers, Tiles* tiles) {
  (*tiles)[LayoutOf<P>()][TileName<P>(kind, numbers)] = {conv::FactsOf<P>(), InFamily<P>()};
}

Tiles AllTiles() {
  Tiles tiles;
#define TILE(Name, ...) Add<Name<__VA_ARGS__>>(#Name, {__VA_ARGS__}, &tiles);
#define NETWORK TILE
#define BASIC TILE
#include "perf/tiles.def"
#undef TILE
#undef NETWORK
#undef BASIC
  return tiles;
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0.0;
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

// Of the layers of a file, or of several, in a layout.
struct Sums {
  int rows = 0;
  double choice = 0.0, family = 0.0;  // logarithms
  double worst = 1.0;
  std::string worst_layer;
  std::vector<double> errors;  // of predictions

  void Print(const std::string& name) const {
    const auto mean = [&](double sum) { return std::exp(sum / std::max(rows, 1)); };
    std::printf("%-32s %4d %8.3f %8.3f  %-28s %8.3f %8.1f%%\n", name.c_str(), rows, mean(choice),
                worst, worst_layer.c_str(), mean(family), 100.0 * Median(errors));
  }
};

// The measured tiles of a layer: the model's choice of the family against the family's best, and
// that against the best of all. The family is all tiles where it has none of them (ModelsChoice).
void Count(const conv::Problem& problem, const Json& times,
           const std::map<std::string, Tile>& tiles, Sums* sums) {
  const bool family = std::any_of(tiles.begin(), tiles.end(), [&](const auto& tile) {
    return tile.second.in_family && times.contains(tile.first);
  });
  double least = HUGE_VAL, chosen = 0.0, best = HUGE_VAL, best_of_all = HUGE_VAL;
  for (const auto& [name, json] : times.items()) {
    const auto tile = tiles.find(name);
    if (tile == tiles.end()) continue;  // of an earlier list
    const double us = json, model = conv::Predict(problem, tile->second.facts, {}).microseconds;
    best_of_all = std::min(best_of_all, us);
    sums->errors.push_back(std::abs(model / us - 1.0));
    if (family && !tile->second.in_family) continue;
    best = std::min(best, us);
    if (model < least) least = model, chosen = us;
  }
  if (chosen == 0.0) return;
  ++sums->rows;
  sums->choice += std::log(chosen / best);
  sums->family += std::log(best / best_of_all);
  if (chosen / best <= sums->worst) return;
  sums->worst = chosen / best;
  sums->worst_layer = LayerName(problem);
}

absl::Status Check(const std::string& path, const Tiles& tiles, std::map<std::string, Sums>* all) {
  WEFT_LET(const std::string text, ReadFile(path));
  const Json file = Json::parse(text, nullptr, false);
  if (!file.contains("rows")) return absl::OkStatus();
  std::map<std::string, Sums> sums;
  for (const Json& row : file["rows"]) {
    if (!row.contains("layouts")) continue;  // of another program
    WEFT_LET(Layer layer, ParseLayer(row["layer"]));
    layer.problem.n = row["batch"];
    for (const auto& [layout, ours] : row["layouts"].items()) {
      const auto of = tiles.find(layout);
      if (of == tiles.end() || !ours.contains("tiles_us")) continue;
      Count(layer.problem, ours["tiles_us"], of->second, &sums[layout]);
      Count(layer.problem, ours["tiles_us"], of->second, &(*all)[layout]);
    }
  }
  const std::string name = path.substr(path.rfind('/') + 1);
  for (const auto& [layout, of] : sums) {
    if (of.rows > 0) of.Print(absl::StrCat(name, " ", layout));
  }
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  const Tiles tiles = AllTiles();
  std::printf("%-32s %4s %8s %8s  %-28s %8s %9s\n", "file, layout", "rows", "choice", "worst", "of",
              "family", "error");
  std::map<std::string, Sums> all;
  for (int i = 1; i < argc; ++i) {
    if (absl::Status s = Check(argv[i], tiles, &all); !s.ok()) {
      std::fprintf(stderr, "model_check: %s\n", std::string(s.message()).c_str());
      return 2;
    }
  }
  for (const auto& [layout, sums] : all) sums.Print(absl::StrCat("all ", layout));
  std::printf(
      "choice: the time of the model's choice over that of the family's best tile, geometric mean\n"
      "family: that tile's over that of the best of all; error: of predictions, median\n");
  return 0;
}

}  // namespace
}  // namespace weft::perf

int main(int argc, char** argv) {
  return weft::perf::Main(argc, argv);
}
