#include "perf/support/layer_rows.hpp"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "perf/support/statistics.hpp"

namespace weft::perf {
namespace {

bool Good(const LayerRow& row) {
  return row.Status().rfind("ok", 0) == 0;
}

}  // namespace

long long LayerRow::Mismatches() const {
  long long sum = 0;
  for (const Contender& c : ours) sum += c.differences;
  return sum;
}

double LayerRow::Noise() const {
  return std::max(best_ours >= 0 ? ours[best_ours].time.noise : 0.0,
                  best_peer >= 0 ? peers[best_peer].time.noise : 0.0);
}

std::string LayerRow::Status() const {
  if (!failure.empty()) return absl::StrCat("failed: ", failure.Get());
  if (!done) return "failed: not run";
  if (Mismatches() != 0) return "mismatch";
  if (best_ours < 0) return absl::StrCat("failed: ", ours[0].note.Get());
  if (best_peer < 0) {
    return absl::StrCat("ok; no peer", peers[0].note.empty() ? "" : ": ", peers[0].note.Get());
  }
  return "ok";
}

std::string LayoutText(const std::string& name) {
  if (name == "nhwc") return "NHWC";
  if (const std::size_t to = name.find('_'); to != std::string::npos) {
    return absl::StrCat(LayoutText(name.substr(0, to)), " to ", LayoutText(name.substr(to + 1)));
  }
  if (name.rfind("nc", 0) == 0) return absl::StrCat("NCxHWx<", name.substr(2), ">");
  return name;
}

LayerComparison CompareRows(const std::vector<LayerRow>& rows) {
  LayerComparison result;
  std::vector<double> ratios, floors, losses, noises;
  for (const LayerRow& row : rows) {
    if (!Good(row)) {
      ++result.failed;
      continue;
    }
    floors.push_back(row.OursUs() / row.floor_us);
    noises.push_back(row.Noise());
    for (const Contender& c : row.ours) {
      if (c.model >= 0) losses.push_back(c.ModelOverBest());
    }
    if (row.PeerUs() <= 0.0) continue;
    ratios.push_back(row.PeerUs() / row.OursUs());
    result.won += ratios.back() >= 1.0;
  }
  result.rows = static_cast<int>(ratios.size());
  result.geomean = GeometricMean(ratios);
  result.over_floor = GeometricMean(floors);
  result.model_over_best = GeometricMean(losses);
  result.noise = Quantile(noises, 0.5);
  return result;
}

}  // namespace weft::perf
