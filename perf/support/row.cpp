#include "perf/support/row.hpp"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "perf/support/layers.hpp"

namespace weft::perf {
namespace {

Json ContenderJson(const Contender& c) {
  Json json = {{"variants", c.offered}, {"ran", c.ran}};
  if (!c.variant.empty()) json["best"] = c.variant;
  if (c.short_us > 0.0) json["short_us"] = Rounded(c.short_us);
  AddTiming("time", c.time, &json);
  AddTiming("with_reformat", c.with_reformat, &json);
  if (c.best >= 0) json["differences"] = c.differences;
  if (c.best >= 0) json["largest_difference"] = c.largest;
  if (!c.note.empty()) json["note"] = c.note;
  if (c.model >= 0) {
    json["model"] = c.tiles[c.model];
    json["model_over_best"] = Rounded(c.ModelOverBest());
  }
  if (!c.tile_us.empty()) {
    Json& times = json["tiles_us"] = Json::object();
    for (std::size_t i = 0; i < c.tiles.size(); ++i) {
      if (c.tile_us[i] > 0.0) times[c.tiles[i]] = Rounded(c.tile_us[i]);
    }
  }
  return json;
}

bool Good(const Json& row) {
  return row["status"].get<std::string>().rfind("ok", 0) == 0;
}

}  // namespace

std::string LayoutText(const std::string& name) {
  if (name == "nhwc") return "NHWC";
  if (const std::size_t to = name.find('_'); to != std::string::npos) {
    return absl::StrCat(LayoutText(name.substr(0, to)), " to ", LayoutText(name.substr(to + 1)));
  }
  return name.rfind("nc", 0) == 0 ? absl::StrCat("NCxHWx<", name.substr(2), ">") : name;
}

void AddTiming(const std::string& name, const Summary& time, Json* json, const std::string& unit) {
  if (time.median <= 0.0) return;
  const double scale = unit == "ms" ? 1000.0 : 1.0;
  const int digits = unit == "ms" ? 5 : 3;
  (*json)[absl::StrCat(name, "_", unit)] = Rounded(time.median / scale, digits);
  (*json)[absl::StrCat(name, "_p10_", unit)] = Rounded(time.p10 / scale, digits);
  (*json)[absl::StrCat(name, "_p90_", unit)] = Rounded(time.p90 / scale, digits);
}

const Contender* LayerRow::Best(const std::vector<Contender>& list, Timing Contender::* time) {
  const Contender* best = nullptr;
  for (const Contender& c : list) {
    const double us = (c.*time).median;
    if (us > 0.0 && (best == nullptr || us < (best->*time).median)) best = &c;
  }
  return best;
}

std::string LayerRow::Status() const {
  if (!failure.empty()) return absl::StrCat("failed: ", failure);
  bool ran = false;
  for (const Contender& c : ours) {
    if (c.differences != 0) return "mismatch";
    ran |= timed ? c.time.median > 0.0 : c.ran > 0;
  }
  if (!ran) return absl::StrCat("failed: ", ours.empty() ? "not run" : ours[0].note);
  if (Best(peers, &Contender::time) != nullptr) return "ok";
  return absl::StrCat("ok; no peer", peers.empty() || peers[0].note.empty() ? "" : ": ",
                      peers.empty() ? "" : peers[0].note);
}

Json LayerRow::ToJson() const {
  Json json = {{"layer", LayerName(problem)}, {"batch", problem.n}, {"count", 1}};
  const Contender* const best = Best(ours, &Contender::time);
  const Contender* const rival = Best(peers, &Contender::time);
  json["kernel"] = best != nullptr ? best->variant : "none";
  json["layout"] = best != nullptr ? LayoutText(best->name) : "none";
  if (best != nullptr) AddTiming("ours", best->time, &json);
  if (rival != nullptr) AddTiming("peer", rival->time, &json);
  json["peer"] = rival == nullptr ? "none" : absl::StrCat(rival->name, ": ", rival->variant);
  if (best != nullptr) {
    const double us = best->time.median;
    if (rival != nullptr) json["ratio"] = Rounded(rival->time.median / us, 4);
    json["noise"] =
        Rounded(std::max(best->time.noise, rival == nullptr ? 0.0 : rival->time.noise), 4);
  }
  json["floor_us"] = Rounded(floor_us);
  AddTiming("copy", copy, &json);
  if (copy.median > 0.0) json["copy_kernel"] = copy_kernel;
  if (copy.median > 0.0 && best != nullptr) {
    json["copy_over_ours"] = Rounded(copy.median / best->time.median, 4);
  }
  long long mismatches = 0;
  for (const Contender& c : ours) mismatches += c.differences;
  json["mismatches"] = mismatches;
  json["status"] = Status();
  json["operations"] = Rounded(2.0 * problem.macs(), 0);
  json["bytes"] = Rounded(bytes, 0);
  if (best != nullptr) {
    json["tops"] = Rounded(2e-6 * problem.macs() / best->time.median);
    json["gb_s"] = Rounded(1e-3 * bytes / best->time.median, 1);
  }
  if (!tensors.empty()) {
    json["tensors"] = tensors;
    const Contender* const a = Best(ours, &Contender::with_reformat);
    const Contender* const b = Best(peers, &Contender::with_reformat);
    if (a != nullptr) {
      json["ours_with_reformat"] = LayoutText(a->name);
      json["ours_with_reformat_us"] = Rounded(a->with_reformat.median);
    }
    if (b != nullptr) {
      json["peer_with_reformat"] = b->name;
      json["peer_with_reformat_us"] = Rounded(b->with_reformat.median);
    }
    if (a != nullptr && b != nullptr) {
      json["ratio_with_reformat"] = Rounded(b->with_reformat.median / a->with_reformat.median, 4);
    }
  }
  json["buffer_sets"] = buffer_sets;
  json.update(clock);
  json["seconds"] = Rounded(seconds, 1);
  for (const auto& [name, list] : {std::pair("layouts", &ours), std::pair("peers", &peers)}) {
    json[name] = Json::object();
    for (const Contender& c : *list) json[name][c.name] = ContenderJson(c);
  }
  return json;
}

Json Summarized(const std::vector<Json>& rows) {
  std::vector<double> ratios, floors, losses, noises;
  int won = 0, failed = 0;
  for (const Json& row : rows) {
    if (!Good(row)) {
      ++failed;
      continue;
    }
    if (!row.contains("ours_us")) continue;  // not timed
    if (row["floor_us"] > 0.0)
      floors.push_back(row["ours_us"].get<double>() / row["floor_us"].get<double>());
    noises.push_back(row["noise"]);
    for (const auto& [name, layout] : row["layouts"].items()) {
      if (layout.contains("model_over_best")) losses.push_back(layout["model_over_best"]);
    }
    if (!row.contains("peer_us")) continue;
    ratios.push_back(row["peer_us"].get<double>() / row["ours_us"].get<double>());
    won += ratios.back() >= 1.0;
  }
  return {{"geomean_ratio", Rounded(GeometricMean(ratios), 4)},
          {"geomean_ours_over_floor", Rounded(GeometricMean(floors), 4)},
          {"model_over_best", Rounded(GeometricMean(losses), 4)},
          {"median_noise", Rounded(Quantile(noises, 0.5), 4)},
          {"rows_compared", ratios.size()},
          {"rows_won", won},
          {"rows_failed", failed}};
}

absl::Status PutBest(const Json& row, const std::string& layout, const std::vector<TileInfo>& tiles,
                     conv::TuningRecord record, conv::TuningTable* table) {
  if (!Good(row) || !row["layouts"].contains(layout)) return absl::OkStatus();
  const Json times = row["layouts"][layout].value("tiles_us", Json::object());
  const TileInfo* best = nullptr;
  double least = 0.0;
  for (const TileInfo& tile : tiles) {
    if (!times.contains(tile.name)) continue;
    const double us = times[tile.name];
    const bool better_kind = best != nullptr && tile.in_family && !best->in_family;
    const bool worse_kind = best != nullptr && !tile.in_family && best->in_family;
    if (best != nullptr && (worse_kind || (!better_kind && us >= least))) continue;
    best = &tile;
    least = us;
  }
  if (best == nullptr) return absl::OkStatus();
  record.policy = best->policy;
  record.microseconds = least;
  return table->Put(record);
}

}  // namespace weft::perf
