// model_check: what the tile model's choices cost, and the fit of its constants, from times of every tile; needs
// no GPU.
//
//     build/cpu/bin/model_check perf/results/tiles/*.json
//     build/cpu/bin/model_check --fit=gemm/choose/tile_model_constants.hpp perf/results/tiles/*.json
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/str_cat.h"
#include "perf/model_check/fit.hpp"
#include "perf/model_check/times.hpp"
#include "perf/support/json.hpp"
#include "perf/support/status.hpp"

ABSL_FLAG(std::string, fit, "", "header with the model's constants, to write what fits the times");
ABSL_FLAG(std::string, predictions, "",
          "file for every time beside what the model predicts, which perf/small_families.py reads");
ABSL_FLAG(double, rows, 0.0, "show each choice that takes at least so many times the best");

namespace weft::perf {
namespace {

double Median(std::vector<double> values) {
  if (values.empty()) return 0.0;
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

gemm::internal::ModelConstants constants;

double Model(const Timed::Tile& tile) {
  return tile.Predict(gemm::GpuFacts(), constants);
}

// What the model chooses of a row's tiles.
struct Choice {
  const Timed::Tile *chosen = nullptr, *best = nullptr;
  double over() const { return chosen->us / best->us; }
};

// family: of the ready-made family's tiles, or of all where it has none of them (ModelsChoice); else of all.
Choice Choose(const Timed& timed, bool family) {
  family = family && std::any_of(timed.tiles.begin(), timed.tiles.end(),
                                 [](const auto& tile) { return tile.in_family; });
  Choice choice;
  double least = HUGE_VAL;
  for (const Timed::Tile& tile : timed.tiles) {
    if (family && !tile.in_family) continue;
    const double model = Model(tile);
    if (choice.best == nullptr || tile.us < choice.best->us) choice.best = &tile;
    if (model < least || choice.chosen == nullptr) least = model, choice.chosen = &tile;
  }
  return choice;
}

// Of some choices.
struct Sums {
  int rows = 0, above = 0;
  double family = 0.0, all = 0.0;  // logarithms
  double worst = 1.0, worst_of_all = 1.0;
  std::string worst_layer;

  void Add(const Timed& timed, double over, double over_all) {
    ++rows;
    above += over > 1.10;
    family += std::log(over), all += std::log(over_all);
    worst_of_all = std::max(worst_of_all, over_all);
    if (over <= worst) return;
    worst = over;
    worst_layer = absl::StrCat("n", timed.batch, timed.layer);
  }
  void Print() const {
    const auto mean = [&](double sum) { return std::exp(sum / std::max(rows, 1)); };
    std::printf(" %4d %7.3f %7.3f %4d %7.3f %7.3f", rows, mean(family), worst, above, mean(all),
                worst_of_all);
  }
};

void Table(const char* title, const std::vector<Timed>& times, std::string (*key)(const Timed&)) {
  std::map<std::string, Sums> sums[2];
  std::map<std::string, std::vector<double>> errors;
  for (const Timed& timed : times) {
    const std::string name = key(timed);
    sums[timed.HeldOut() ? 1 : 0][name].Add(timed, Choose(timed, true).over(),
                                            Choose(timed, false).over());
    for (const Timed::Tile& tile : timed.tiles) {
      errors[name].push_back(std::abs(Model(tile) / tile.us - 1.0));
    }
  }
  std::printf("%-30s %4s %7s %7s %4s %7s %7s |%4s %7s %7s %4s %7s %7s %7s  %s\n", title, "fit",
              "family", "worst", ">1.1", "all", "worst", "out", "family", "worst", ">1.1", "all",
              "worst", "error", "worst of both");
  for (const auto& [name, list] : errors) {
    std::printf("%-30s", name.c_str());
    sums[0][name].Print();
    std::printf(" |");
    sums[1][name].Print();
    const Sums& worse = sums[0][name].worst > sums[1][name].worst ? sums[0][name] : sums[1][name];
    std::printf(" %6.1f%%  %s\n", 100.0 * Median(list), worse.worst_layer.c_str());
  }
  std::printf("\n");
}

// A line for each row: file, layout, layer, batch, epilogue, whether the layer is held out, and its tiles, each with
// the family and the small family that have it, the measured microseconds and the predicted ones.
absl::Status WritePredictions(const std::string& path, const std::vector<Timed>& times) {
  Json rows = Json::array();
  for (const Timed& timed : times) {
    Json tiles = Json::array();
    for (const Timed::Tile& tile : timed.tiles) {
      tiles.push_back({tile.name, tile.in_family, tile.in_small, tile.us, Model(tile)});
    }
    rows.push_back({timed.file, timed.layout, timed.layer, timed.batch, timed.epilogue,
                    timed.HeldOut(), tiles});
  }
  return WriteFile(path, rows.dump());
}

absl::Status Check(const std::vector<char*>& files) {
  std::vector<Timed> times;
  for (const char* const file : files) WEFT_TRY(ReadTimes(file, &times));
  if (const std::string fit = absl::GetFlag(FLAGS_fit); !fit.empty()) {
    std::vector<const Timed*> seen;
    for (const Timed& timed : times) {
      if (!timed.HeldOut()) seen.push_back(&timed);
    }
    WEFT_LET(constants, Fit(fit, seen));
  }
  if (const std::string path = absl::GetFlag(FLAGS_predictions); !path.empty()) {
    return WritePredictions(path, times);
  }
  Table("layout, epilogue, batch", times, [](const Timed& t) {
    if (t.epilogue == "sums") return std::string("products");
    return absl::StrCat(t.layout, " ", t.epilogue, " n", t.batch < 10 ? "0" : "", t.batch);
  });
  Table("layout", times,
        [](const Timed& t) { return t.epilogue == "sums" ? "products" : t.layout; });
  Table("everything", times, [](const Timed&) { return std::string("all"); });
  std::printf(
      "family: the time of the model's choice over that of the family's best tile, geometric mean "
      "and worst, and\n"
      "how many take more than 1.10; all: the same of all tiles; fit, out: layers that the "
      "constants are fitted to,\n"
      "and that are held out; error: of predictions, median\n");
  if (const double rows = absl::GetFlag(FLAGS_rows); rows > 0.0) {
    for (const Timed& timed : times) {
      const Choice choice = Choose(timed, true), of_all = Choose(timed, false);
      for (const bool family : {true, false}) {
        const Choice& c = family ? choice : of_all;
        if (c.over() < rows || (!family && of_all.chosen == choice.chosen)) continue;
        std::printf(
            "%.3f %s n%d%s %s %s%s: %s %.1f us (model %.1f), best %s %.1f us (model %.1f)\n",
            c.over(), timed.layout.c_str(), timed.batch, timed.layer.c_str(),
            timed.epilogue.c_str(), timed.HeldOut() ? "held out" : "fit", family ? "" : ", of all",
            c.chosen->name.c_str(), c.chosen->us, Model(*c.chosen), c.best->name.c_str(),
            c.best->us, Model(*c.best));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace weft::perf

int main(int argc, char** argv) {
  std::vector<char*> files = absl::ParseCommandLine(argc, argv);
  files.erase(files.begin());  // the program's name
  const absl::Status status = weft::perf::Check(files);
  if (status.ok()) return 0;
  std::fprintf(stderr, "model_check: %s\n", std::string(status.message()).c_str());
  return 2;
}
