#include "perf/model_check/times.hpp"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "perf/gemm_bench/sizes.hpp"
#include "perf/support/json.hpp"
#include "perf/support/layers.hpp"
#include "perf/support/status.hpp"
#include "weft/conv/plan/conv_plan.hpp"
#include "weft/gemm/product/gemm_plan.hpp"

namespace weft::perf {
namespace {

// A product is called gemm_<type>_<m>x<n>x<k>, or gemm_<type>_<m> with n and k the same.
absl::Status AddProduct(const Timed& of, const std::map<std::string, gemm::GemmFacts>& tiles,
                        const std::vector<std::pair<std::string, Json>>& times,
                        std::vector<Timed>* all) {
  WEFT_LET(const gemm::GemmProblem problem, ParseSize(of.layer.substr(of.layer.rfind('_') + 1)));
  Timed timed = of;
  for (const auto& [name, us] : times) {
    const auto tile = tiles.find(name);
    if (tile == tiles.end() || !us.is_number()) continue;
    const absl::StatusOr<gemm::GemmPlan> plan = gemm::MakeGemmPlan(problem, tile->second);
    if (!plan.ok()) continue;
    timed.tiles.push_back({name, true, false, &tile->second, plan->counts, 0.0, us});
  }
  if (timed.tiles.size() > 2) all->push_back(timed);
  return absl::OkStatus();
}

// times: pairs of a tile's name and microseconds, null where it did not run.
absl::Status Add(const Timed& of, const std::vector<std::pair<std::string, Json>>& times,
                 std::vector<Timed>* all) {
  if (const auto products = AllProductTiles().find(of.layout);
      products != AllProductTiles().end()) {
    return AddProduct(of, products->second, times, all);
  }
  const auto tiles = AllModelTiles().find(of.layout);
  const auto epilogue = std::find(kEpilogues.begin(), kEpilogues.end(), of.epilogue);
  if (tiles == AllModelTiles().end() || epilogue == kEpilogues.end()) return absl::OkStatus();
  WEFT_LET(Layer layer, ParseLayer(of.layer));
  layer.problem.n = of.batch;
  Timed timed = of;
  for (const auto& [name, us] : times) {
    const auto tile = tiles->second.find(name);
    if (tile == tiles->second.end() || !us.is_number()) continue;
    const conv::ConvFacts& facts = tile->second.facts[epilogue - kEpilogues.begin()];
    const absl::StatusOr<conv::ConvPlan> plan = conv::MakeConvPlan(layer.problem, facts);
    if (!plan.ok()) continue;  // an earlier commit took it
    const double fixed =
        facts.IsDepthwise()
            ? conv::ConvolutionPlanner::Predict(*plan, facts, gemm::GpuFacts()).microseconds
            : 0.0;
    timed.tiles.push_back(
        {name, tile->second.in_family, tile->second.in_small, &facts, plan->counts, fixed, us});
  }
  if (!timed.tiles.empty()) all->push_back(timed);
  return absl::OkStatus();
}

}  // namespace

bool Timed::HeldOut() const {
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (const char c : layer) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash % 3 == 0;
}

absl::Status ReadTimes(const std::string& path, std::vector<Timed>* all) {
  WEFT_LET(const std::string text, ReadFile(path));
  const Json file = Json::parse(text, nullptr, false);
  if (file.is_discarded()) return absl::InvalidArgumentError(absl::StrCat(path, " is not JSON"));
  if (file.contains("layouts")) {
    for (const auto& [layout, of] : file["layouts"].items()) {
      for (const Json& row : of["rows"]) {
        Timed timed = {.file = path,
                       .layer = row[0],
                       .layout = layout,
                       .epilogue = row[2],
                       .device = file["device"],
                       .batch = row[1],
                       .tiles = {}};
        std::vector<std::pair<std::string, Json>> times;
        for (std::size_t i = 0; i < row[3].size(); ++i)
          times.emplace_back(of["tiles"][i], row[3][i]);
        WEFT_TRY(Add(timed, times, all));
      }
    }
    return absl::OkStatus();
  }
  if (!file.contains("rows") || !file["environment"].contains("epilogue")) return absl::OkStatus();
  for (const Json& row : file["rows"]) {
    if (!row.contains("layouts")) continue;  // of another program, or not run
    for (const auto& [layout, ours] : row["layouts"].items()) {
      if (!ours.contains("tiles_us")) continue;
      Timed timed = {.file = path,
                     .layer = row["layer"],
                     .layout = layout,
                     .epilogue = file["environment"]["epilogue"],
                     .device = file["environment"]["device"],
                     .batch = row["batch"],
                     .tiles = {}};
      std::vector<std::pair<std::string, Json>> times;
      for (const auto& [name, us] : ours["tiles_us"].items()) times.emplace_back(name, us);
      WEFT_TRY(Add(timed, times, all));
    }
  }
  return absl::OkStatus();
}

}  // namespace weft::perf
