#include "perf/network/rows.hpp"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "perf/support/json.hpp"

namespace weft::perf {
namespace {

double ImagesPerSecond(const NetworkRow& row, const Timing& time) {
  return time.us > 0.0 ? 1e6 * row.batch / time.us : 0.0;
}

// Fields without a value are left out.
void TimeFields(JsonWriter* json, const std::string& name, const Timing& time) {
  if (time.us <= 0.0) return;
  json->Field(name + "_ms", time.us / 1000.0, 5);
  json->Field(name + "_p10_ms", time.p10 / 1000.0, 5);
  json->Field(name + "_p90_ms", time.p90 / 1000.0, 5);
}

void LayerFields(JsonWriter* json, const NetworkLayerRow& layer) {
  json->BeginObject(true);
  json->Field("name", layer.name.Get());
  json->Field("layer", layer.problem.Get());
  json->Field("after", layer.after.Get());
  json->Field("kernel", layer.tile.Get());
  if (layer.tile_us > 0) json->Field("ours_us", layer.tile_us);
  json->Field("kernels_tried", layer.tiles);
  json->Field("model_kernel", layer.model_tile.Get());
  if (layer.model_us > 0) json->Field("model_us", layer.model_us);
  json->Field("plan", layer.plan.Get());
  if (layer.plan_us > 0) json->Field("cudnn_us", layer.plan_us);
  json->Field("plans_tried", layer.plans);
  json->Field("mismatches", layer.mismatches);
  if (layer.plan_differences >= 0) {
    json->Field("cudnn_differences", layer.plan_differences);
    json->Field("cudnn_largest_difference", layer.plan_largest);
  }
  json->Field("zeros", layer.zeros, 4);
  json->Field("saturated", layer.saturated, 5);
  json->EndObject();
}

struct Range {
  double least = 1.0, most = 0.0;
};
template <class Member>
Range RangeOf(const NetworkRow& row, Member member) {
  Range range;
  for (int i = 0; i < row.layers; ++i) {
    range.least = std::min(range.least, row.layer[i].*member);
    range.most = std::max(range.most, row.layer[i].*member);
  }
  return range;
}

}  // namespace

std::string NetworkMethod() {
  return "53 convolutions with their scales, biases, ReLUs and residual additions, int8; the 3x3/2 "
         "max pooling after conv1 is left out on both sides (the next layers read an input of "
         "their own); every layer has an output buffer of its own on both sides; one CUDA graph an "
         "inference; ours, ours with the model's tiles and cuDNN interleaved; medians; weights and "
         "activations stay where consecutive inferences leave them (for N = 1 mostly in the L2). "
         "Ours: NCxHWx<4> image, NCxHWx<32> from the first layer's output on, tile of each layer "
         "chosen by measuring all; cuDNN: NHWC int8, graph API, plan of each layer chosen by "
         "measuring all, residual fused; conv1 also from copies of the image made beforehand, with "
         "more channels or in half precision, and if faster with a half result that a second graph "
         "converts";
}

std::string NetworkRow::Status() const {
  if (done == 0) return "failed: not run";
  if (!failure.empty()) return absl::StrCat("failed: ", failure.Get());
  if (mismatches != 0) return absl::StrCat("mismatch: ", mismatches, " outputs");
  return cudnn_note.empty() ? "ok" : absl::StrCat("ok; cuDNN: ", cudnn_note.Get());
}

std::string NetworkJson(const NetworkResults& results) {
  const Environment& e = results.environment;
  JsonWriter json;
  json.BeginObject();
  json.Key("environment");
  json.BeginObject();
  json.Field("program", "weft_perf");
  json.Field("network", results.network);
  json.Field("commit", results.commit);
  json.Field("date", results.date);
  json.Field("device", e.device.Get());
  json.Field("multiprocessors", e.multiprocessors);
  json.Field("l2_mb", e.l2_mb);
  json.Field("driver", e.driver.Get());
  json.Field("cuda", e.cuda.Get());
  json.Key("libraries");
  json.BeginArray(true);
  for (const std::string& library : results.libraries) json.String(library);
  json.EndArray();
  json.Field("max_clock_mhz", e.max_clock_mhz, 0);
  json.Field("first_clock_mhz", e.first_clock_mhz, 0);
  json.Field("last_clock_mhz", e.last_clock_mhz, 0);
  json.Field("watts", e.watts, 0);
  json.Field("celsius", e.celsius, 0);
  json.Field("throttle_reasons",
             absl::StrFormat("0x%x", static_cast<std::uint64_t>(e.throttle_reasons)));
  json.Field("method", NetworkMethod());
  json.EndObject();
  json.Key("rows");
  json.BeginArray();
  for (const NetworkRow& row : results.rows) {
    json.BeginObject();
    json.Field("batch", row.batch);
    TimeFields(&json, "ours", row.ours);
    if (row.ours.us > 0) json.Field("ours_images_per_s", ImagesPerSecond(row, row.ours), 0);
    TimeFields(&json, "cudnn", row.cudnn);
    if (row.cudnn.us > 0) json.Field("cudnn_images_per_s", ImagesPerSecond(row, row.cudnn), 0);
    if (row.Ratio() > 0) json.Field("ratio", row.Ratio(), 4);
    TimeFields(&json, "model_choice", row.model);
    TimeFields(&json, "ours_without_first", row.ours_rest);
    TimeFields(&json, "cudnn_without_first", row.cudnn_rest);
    if (row.RestRatio() > 0) json.Field("ratio_without_first", row.RestRatio(), 4);
    if (row.ours.us > 0) json.Field("ours_tops", 2e-6 * row.macs / row.ours.us, 1);
    json.Field("samples", row.samples);
    json.Field("mismatches", row.mismatches);
    json.Field("checked_images", row.checked_images);
    if (row.output_differences >= 0) {
      json.Field("outputs", row.outputs);
      json.Field("output_differences", row.output_differences);
      json.Field("output_largest_difference", row.output_largest);
    }
    json.Field("clock_mhz", row.clock_mhz, 0);
    json.Field("status", row.Status());
    json.Key("layers");
    json.BeginArray();
    for (int i = 0; i < row.layers; ++i) LayerFields(&json, row.layer[i]);
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return json.text() + "\n";
}

std::string NetworkTableHeader() {
  return absl::StrFormat("%4s %9s %9s %9s %6s %9s %10s %10s %5s %9s  %s\n", "N", "ours ms",
                         "model ms", "cudnn ms", "ratio", "ours TOPS", "ours im/s", "cudnn im/s",
                         "bad", "clock MHz", "status");
}

std::string NetworkTableLine(const NetworkRow& row) {
  const auto ms = [](const Timing& t) {
    return t.us > 0 ? absl::StrFormat("%9.4f", t.us / 1000.0) : std::string("        -");
  };
  std::string text = absl::StrFormat(
      "%4d %s %s %s %6.3f %9.1f %10.0f %10.0f %5d %9.0f  %s\n", row.batch, ms(row.ours),
      ms(row.model), ms(row.cudnn), row.Ratio(),
      row.ours.us > 0 ? 2e-6 * row.macs / row.ours.us : 0.0, ImagesPerSecond(row, row.ours),
      ImagesPerSecond(row, row.cudnn), row.mismatches, row.clock_mhz, row.Status());
  const Range zeros = RangeOf(row, &NetworkLayerRow::zeros);
  const Range saturated = RangeOf(row, &NetworkLayerRow::saturated);
  absl::StrAppendFormat(
      &text,
      "     activations: %.0f%% to %.0f%% zeros, at most %.2f%% saturated; %d images of "
      "each layer checked against the reference\n",
      100 * zeros.least, 100 * zeros.most, 100 * saturated.most, row.checked_images);
  if (row.RestRatio() > 0) {
    absl::StrAppendFormat(&text,
                          "     without the first layer: ours %.4f ms, cuDNN %.4f ms, ratio %.3f\n",
                          row.ours_rest.us / 1000.0, row.cudnn_rest.us / 1000.0, row.RestRatio());
  }
  if (row.output_differences >= 0) {
    absl::StrAppendFormat(
        &text, "     cuDNN's chain differs from ours at %d of %d final outputs, by at most %d\n",
        row.output_differences, row.outputs, row.output_largest);
  }
  return text;
}

std::string NetworkLayerTable(const NetworkRow& row) {
  std::string text =
      absl::StrFormat("%-12s %-24s %-14s %8s %8s %8s %6s %5s  %s\n", "layer", "problem", "after",
                      "ours us", "model us", "cudnn us", "zeros", "satur", "tile; plan");
  double ours = 0.0, model = 0.0, cudnn = 0.0;
  for (int i = 0; i < row.layers; ++i) {
    const NetworkLayerRow& l = row.layer[i];
    ours += l.tile_us, model += l.model_us, cudnn += l.plan_us;
    absl::StrAppendFormat(&text, "%-12s %-24s %-14s %8.2f %8.2f %8.2f %5.0f%% %4.1f%%  %s; %s\n",
                          l.name.chars, l.problem.chars, l.after.chars, l.tile_us, l.model_us,
                          l.plan_us, 100 * l.zeros, 100 * l.saturated, l.tile.chars, l.plan.chars);
  }
  absl::StrAppendFormat(&text, "%-12s %-24s %-14s %8.1f %8.1f %8.1f\n", "sum", "", "", ours, model,
                        cudnn);
  return text;
}

}  // namespace weft::perf
