// weft_perf's results as JSON and CSV. perf/README.md has the fields.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "perf/support/epilogues.hpp"
#include "perf/support/json.hpp"
#include "perf/support/layer_rows.hpp"

namespace weft::perf {
namespace {

void WriteTiming(JsonWriter& json, const std::string& name, const Timing& t) {
  if (t.us <= 0.0) return;
  json.Field(name + "_us", t.us);
  json.Field(name + "_p10_us", t.p10);
  json.Field(name + "_p90_us", t.p90);
}

void WriteContender(JsonWriter& json, const Contender& c) {
  json.Key(c.name.Get());
  json.BeginObject();
  json.Field("variants", c.offered);
  json.Field("ran", c.ran);
  if (!c.variant.empty()) json.Field("best", c.variant.Get());
  if (c.short_us > 0.0) json.Field("short_us", c.short_us);
  WriteTiming(json, "time", c.time);
  WriteTiming(json, "with_reformat", c.with_reformat);
  if (c.best >= 0) {
    json.Field("differences", c.differences);
    json.Field("largest_difference", c.largest);
  }
  if (!c.partial.empty()) {
    json.Field("partial", c.partial.Get());
    json.Field("partial_us", c.partial_us);
  }
  if (!c.note.empty()) json.Field("note", c.note.Get());
}

// The times between tensors in the user's formats.
void WriteReformats(JsonWriter& json, const LayerRow& row) {
  if (row.tensors.empty()) return;
  json.Field("tensors", row.tensors.Get());
  const Contender* const ours = row.reformat_ours >= 0 ? &row.ours[row.reformat_ours] : nullptr;
  const Contender* const peer = row.reformat_peer >= 0 ? &row.peers[row.reformat_peer] : nullptr;
  if (ours != nullptr) {
    json.Field("ours_with_reformat", LayoutText(ours->name.Get()));
    json.Field("ours_with_reformat_us", ours->with_reformat.us);
  }
  if (peer != nullptr) {
    json.Field("peer_with_reformat", peer->name.Get());
    json.Field("peer_with_reformat_us", peer->with_reformat.us);
  }
  if (ours != nullptr && peer != nullptr) {
    json.Field("ratio_with_reformat", peer->with_reformat.us / ours->with_reformat.us, 4);
  }
}

void WriteRow(JsonWriter& json, const LayerResults& results, const LayerRow& row) {
  const double ours = row.OursUs(), peer = row.PeerUs();
  json.BeginObject(true);
  json.Field("layer", row.layer.Get());
  json.Field("batch", row.batch);
  json.Field("count", row.count);
  const Contender* const best = row.best_ours >= 0 ? &row.ours[row.best_ours] : nullptr;
  json.Field("kernel", best != nullptr ? best->variant.Get() : std::string("none"));
  json.Field("layout", best != nullptr ? LayoutText(best->name.Get()) : std::string("none"));
  if (best != nullptr) WriteTiming(json, "ours", best->time);
  const Contender* const against = row.best_peer >= 0 ? &row.peers[row.best_peer] : nullptr;
  if (against != nullptr) WriteTiming(json, "peer", against->time);
  json.Field("peer", against == nullptr
                         ? std::string("none")
                         : absl::StrCat(against->name.Get(), ": ", against->variant.Get()));
  if (ours > 0.0 && peer > 0.0) json.Field("ratio", peer / ours, 4);
  if (ours > 0.0) json.Field("noise", row.Noise(), 4);
  json.Field("floor_us", row.floor_us);
  json.Field("mismatches", row.Mismatches());
  json.Field("status", row.Status());
  json.Field("operations", 2.0 * row.macs, 0);
  json.Field("bytes", row.bytes, 0);
  if (ours > 0.0) {
    json.Field("tops", 2e-6 * row.macs / ours);
    json.Field("gb_s", 1e-3 * row.bytes / ours, 1);
  }
  WriteReformats(json, row);
  json.Field("buffer_sets", row.buffer_sets);
  json.Field("clock_mhz", row.clock_mhz, 0);
  json.Field("throttle_reasons", absl::StrFormat("0x%x", row.throttle_reasons));
  json.Key("layouts");
  json.BeginObject();
  for (std::size_t i = 0; i < results.layouts.size(); ++i) {
    const Contender& c = row.ours[i];
    const std::vector<TileInfo>& tiles = results.tiles[i].tiles;
    if (c.name.empty()) continue;
    WriteContender(json, c);
    if (c.model >= 0) {
      json.Field("model", tiles[c.model].name);
      json.Field("model_over_best", c.ModelOverBest(), 3);
    }
    json.Key("tiles_us");
    json.BeginObject();
    for (std::size_t t = 0; t < tiles.size(); ++t) {
      if (c.tile_us[t] > 0.0) json.Field(tiles[t].name, c.tile_us[t]);
    }
    json.EndObject();
    json.EndObject();
  }
  json.EndObject();
  json.Key("peers");
  json.BeginObject();
  for (std::size_t i = 0; i < results.peers.size(); ++i) {
    if (row.peers[i].name.empty()) continue;
    WriteContender(json, row.peers[i]);
    json.EndObject();
  }
  json.EndObject();
  json.EndObject();
}

}  // namespace

std::string LayerResultsJson(const LayerResults& r) {
  const Environment& e = r.environment;
  JsonWriter json;
  json.BeginObject();
  json.Key("environment");
  json.BeginObject();
  json.Field("program", std::string("weft_perf"));
  json.Field("list", r.list);
  json.Field("batch", r.batch);
  json.Field("commit", r.commit);
  json.Field("date", r.date);
  json.Field("device", e.device.Get());
  json.Field("multiprocessors", e.multiprocessors);
  json.Field("l2_mb", e.l2_mb, 1);
  json.Field("driver", e.driver.Get());
  json.Field("cuda", e.cuda.Get());
  json.Key("libraries");
  json.BeginArray(true);
  for (const std::string& library : r.libraries) json.String(library);
  json.EndArray();
  json.Field("copy_tb_s", e.copy_tb_s);
  json.Field("tensor_tops", e.tensor_tops, 1);
  json.Field("tensor_tops_source", e.tensor_source.Get());
  json.Field("dp4a_tops", e.dp4a_tops, 1);
  json.Field("floor_operations", std::string(r.dp4a_floor ? "dp4a" : "tensor cores"));
  json.Field("max_clock_mhz", e.max_clock_mhz, 0);
  json.Field("first_clock_mhz", e.first_clock_mhz, 0);
  json.Field("last_clock_mhz", e.last_clock_mhz, 0);
  json.Field("watts", e.watts, 0);
  json.Field("celsius", e.celsius, 0);
  json.Field("throttle_reasons", absl::StrFormat("0x%x", e.throttle_reasons));
  json.Field("epilogue", r.epilogue);
  const absl::StatusOr<Epilogue> epilogue = ParseEpilogue(r.epilogue);
  json.Field("operator",
             absl::StrCat("int8 convolution, ",
                          epilogue.ok() ? EpilogueText(*epilogue) : r.epilogue, ", int8"));
  json.Field(
      "method",
      absl::StrCat("random data; ", r.hot ? "one set of buffers" : "buffers rotated past the L2",
                   r.graph ? "; CUDA graphs" : "; launches one by one",
                   "; ours and the peers interleaved; medians; noise: how far the median of "
                   "every other sample is from that of the rest"));
  json.EndObject();
  const LayerComparison c = CompareRows(r.rows);
  json.Key("summary");
  json.BeginObject(true);
  json.Field("geomean_ratio", c.geomean, 4);
  json.Field("geomean_ours_over_floor", c.over_floor, 4);
  json.Field("model_over_best", c.model_over_best, 4);
  json.Field("median_noise", c.noise, 4);
  json.Field("rows_compared", c.rows);
  json.Field("rows_won", c.won);
  json.Field("rows_failed", c.failed);
  json.EndObject();
  json.Key("rows");
  json.BeginArray();
  for (const LayerRow& row : r.rows) WriteRow(json, r, row);
  json.EndArray();
  json.EndObject();
  return json.text();
}

std::string LayerResultsCsv(const LayerResults& r, bool header) {
  std::string text;
  if (header) {
    text =
        "layer,batch,layout,kernel,ours_us,ours_p10_us,ours_p90_us,peer,peer_us,ratio,floor_us,"
        "mismatches,status,noise,tops,gb_s,ours_with_reformat_us,peer_with_reformat_us";
    for (const std::string& name : r.layouts) absl::StrAppend(&text, ",", name, "_us");
    for (const std::string& name : r.peers) absl::StrAppend(&text, ",", name, "_us");
    text += '\n';
  }
  for (const LayerRow& row : r.rows) {
    const Contender none;
    const Contender& ours = row.best_ours >= 0 ? row.ours[row.best_ours] : none;
    const Contender& peer = row.best_peer >= 0 ? row.peers[row.best_peer] : none;
    absl::StrAppendFormat(&text, "%s,%d,%s,%s,%.3f,%.3f,%.3f,%s,%.3f,%.4f,%.3f,%d,\"%s\"",
                          row.layer.Get(), row.batch, ours.name.Get(), ours.variant.Get(),
                          ours.time.us, ours.time.p10, ours.time.p90, peer.name.Get(), peer.time.us,
                          ours.time.us > 0.0 ? peer.time.us / ours.time.us : 0.0, row.floor_us,
                          row.Mismatches(), absl::StrReplaceAll(row.Status(), {{"\"", "'"}}));
    const Contender& in_full = row.reformat_ours >= 0 ? row.ours[row.reformat_ours] : none;
    const Contender& rival = row.reformat_peer >= 0 ? row.peers[row.reformat_peer] : none;
    const double us = ours.time.us;
    absl::StrAppendFormat(
        &text, ",%.4f,%.1f,%.0f,%.3f,%.3f", row.Noise(), us > 0.0 ? 2e-6 * row.macs / us : 0.0,
        us > 0.0 ? 1e-3 * row.bytes / us : 0.0, in_full.with_reformat.us, rival.with_reformat.us);
    for (std::size_t i = 0; i < r.layouts.size(); ++i) {
      absl::StrAppendFormat(&text, ",%.3f", row.ours[i].BestUs());
    }
    for (std::size_t i = 0; i < r.peers.size(); ++i) {
      absl::StrAppendFormat(&text, ",%.3f", row.peers[i].BestUs());
    }
    text += '\n';
  }
  return text;
}

}  // namespace weft::perf
