#include "perf/support/results.hpp"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "perf/support/json.hpp"
#include "perf/support/statistics.hpp"

namespace weft::perf {
namespace {

bool Good(const Row& row) {
  return row.done && row.failure.empty() && row.mismatches == 0 && row.ours.us > 0.0;
}

void WriteComparison(JsonWriter& json, const Comparison& c) {
  json.Field("geomean_ratio", c.geomean, 4);
  json.Field("model_geomean_ratio", c.model_geomean, 4);
  json.Field("model_over_best", c.model_loss, 4);
  json.Field("rows_compared", c.rows);
  json.Field("rows_won", c.won);
  json.Field("rows_failed", c.failed);
}

void WriteTiming(JsonWriter& json, const std::string& name, const Timing& t) {
  if (t.us <= 0.0) return;
  json.Field(name + "_us", t.us);
  json.Field(name + "_p10_us", t.p10);
  json.Field(name + "_p90_us", t.p90);
}

void WriteRow(JsonWriter& json, const std::vector<std::string>& tiles, const Row& row) {
  json.BeginObject(true);
  json.Field("layer", row.layer.Get());
  json.Field("batch", row.batch);
  json.Field("kernel", row.best >= 0 ? tiles[row.best] : std::string("none"));
  json.Field("layout", std::string("NCxHWx<4>"));
  WriteTiming(json, "ours", row.ours);
  WriteTiming(json, "peer", row.peer);
  json.Field("peer", row.peer_name.empty() ? std::string("none") : row.peer_name.Get());
  if (row.ours.us > 0.0 && row.peer.us > 0.0) json.Field("ratio", row.peer.us / row.ours.us, 4);
  json.Field("floor_us", row.floor_us);
  json.Field("mismatches", row.mismatches);
  json.Field("status", row.Status());
  if (row.model >= 0) json.Field("model_kernel", tiles[row.model]);
  WriteTiming(json, "model", row.chosen);
  if (row.ours.us > 0.0) {
    json.Field("tops", 2e-6 * row.macs / row.ours.us);
    json.Field("gb_s", 1e-3 * row.bytes / row.ours.us, 1);
  }
  if (row.peer_differences >= 0) {
    json.Field("peer_differences", row.peer_differences);
    json.Field("peer_largest_difference", row.peer_largest);
  }
  json.Field("buffer_sets", row.buffer_sets);
  json.Field("clock_mhz", row.clock_mhz, 0);
  json.Key("tiles_us");
  json.BeginObject();
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    if (row.tile_us[i] > 0.0) json.Field(tiles[i], row.tile_us[i]);
  }
  json.EndObject();
  json.EndObject();
}

}  // namespace

std::string Row::Status() const {
  if (!failure.empty()) return absl::StrCat("failed: ", failure.Get());
  if (!done) return "failed: not run";
  if (mismatches != 0) return "mismatch";
  if (peer.us <= 0.0) return absl::StrCat("ok; no peer: ", peer_note.Get());
  if (!peer_note.empty()) return absl::StrCat("ok; ", peer_note.Get());
  return "ok";
}

Comparison Compare(const std::vector<Row>& rows) {
  Comparison result;
  std::vector<double> ratios, model_ratios, losses;
  for (const Row& row : rows) {
    if (!Good(row)) {
      ++result.failed;
      continue;
    }
    if (row.chosen.us > 0.0) losses.push_back(row.chosen.us / row.ours.us);
    if (row.peer.us <= 0.0) continue;
    ratios.push_back(row.peer.us / row.ours.us);
    if (row.chosen.us > 0.0) model_ratios.push_back(row.peer.us / row.chosen.us);
    result.won += row.peer.us >= row.ours.us;
  }
  result.rows = static_cast<int>(ratios.size());
  result.geomean = GeometricMean(ratios);
  result.model_geomean = GeometricMean(model_ratios);
  result.model_loss = GeometricMean(losses);
  return result;
}

std::string ResultsJson(const std::string& list, int batch, const std::string& commit,
                        const std::string& date, const Environment& e,
                        const std::vector<std::string>& tiles, const std::vector<Row>& rows,
                        const Comparison& all) {
  JsonWriter json;
  json.BeginObject();
  json.Key("environment");
  json.BeginObject();
  json.Field("program", std::string("nc4_bench"));
  json.Field("list", list);
  json.Field("batch", batch);
  json.Field("commit", commit);
  json.Field("date", date);
  json.Field("device", e.device.Get());
  json.Field("multiprocessors", e.multiprocessors);
  json.Field("l2_mb", e.l2_mb, 1);
  json.Field("driver", e.driver.Get());
  json.Field("cuda", e.cuda.Get());
  json.Field("cudnn", e.cudnn.Get());
  json.Field("cudnn_path", e.cudnn_path.Get());
  json.Field("copy_tb_s", e.copy_tb_s);
  json.Field("dp4a_tops", e.dp4a_tops, 1);
  json.Field("max_clock_mhz", e.max_clock_mhz, 0);
  json.Field("first_clock_mhz", e.first_clock_mhz, 0);
  json.Field("last_clock_mhz", e.last_clock_mhz, 0);
  json.Field("watts", e.watts, 0);
  json.Field("celsius", e.celsius, 0);
  json.Field("throttle_reasons", absl::StrFormat("0x%x", e.throttle_reasons));
  json.Field("operator", std::string("int8 convolution, scale per channel, float bias, ReLU, int8; "
                                     "NCxHWx<4> in and out"));
  json.Field("method",
             std::string("random data; buffers rotated past the L2; CUDA graphs; ours, the model's "
                         "choice and the peer interleaved; medians of graph averages"));
  json.EndObject();
  json.Key("summary");
  json.BeginObject();
  WriteComparison(json, Compare(rows));
  json.Key("all_batches");
  json.BeginObject(true);
  WriteComparison(json, all);
  json.EndObject();
  json.EndObject();
  json.Key("rows");
  json.BeginArray();
  for (const Row& row : rows) WriteRow(json, tiles, row);
  json.EndArray();
  json.EndObject();
  return json.text();
}

}  // namespace weft::perf
