// network_bench: the 53 convolutions of ResNet-50 as a network (weft/network), in several formats, tuned in the chain, beside the
// same chain on cuDNN. perf/network/README.md says what both sides compute, and what is left out.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "perf/bench/bench.hpp"
#include "perf/network/chain.hpp"
#include "perf/network_bench/chain_tensors.hpp"
#include "perf/network_bench/cudnn_chain.hpp"
#include "perf/network_bench/our_chain.hpp"
#include "perf/support/layers.hpp"
#include "perf/support/row.hpp"
#include "weft/network/graph/names.hpp"

using Names = std::vector<std::string>;

ABSL_FLAG(Names, batch, {"1"}, "batches, such as 1,16,64");
ABSL_FLAG(Names, formats, (Names{"nhwc", "nc32"}),
          "formats of our tensors, a row for each: nhwc, nc32, nc4, or several with +, of which "
          "each tensor has the best");
ABSL_FLAG(int, most_tiles, 8,
          "tiles that are tried for each group of convolutions; 0: none is tuned");
ABSL_FLAG(std::string, peer, "cudnn", "cudnn or none");
ABSL_FLAG(std::string, plans, "",
          "an earlier result file, whose plans of cuDNN's alone are tried where they run");
ABSL_FLAG(int, threads, 1, "threads on which cuDNN's plans are compiled; 1 again after a crash");
ABSL_FLAG(int, repetitions, 15, "samples of each contestant");

namespace weft::perf {
namespace {

constexpr char kNetwork[] = "ResNet-50";
constexpr double kSample = 8000.0;  // microseconds of a sample of a chain
constexpr double kBudget = 4e6;     // of all of them

struct Options {
  Names formats;
  std::size_t most_tiles = 8;
  bool cudnn = true;
  int threads = 1, repetitions = 15;
  Json earlier = Json::object();  // the file of --plans
};

// What is timed beside others, with the name that its fields of a row have.
struct Side {
  std::string name;
  std::function<absl::Status()> enqueue;
  Contestant contestant{};

  double ms() const { return Summarize(contestant.samples).median * 1e-3; }
};

// Formats by names that are joined by +. The image, which has 4 channels, lies in blocks of 4.
absl::StatusOr<std::vector<network::Format>> FormatsOf(const std::string& names) {
  std::vector<network::Format> formats;
  if (names == "nc32") return formats;  // which is what a network has without
  for (const std::string& name : std::vector<std::string>(absl::StrSplit(names, '+'))) {
    const std::optional<network::Format> format = network::FormatOf(name);
    if (!format.has_value() || *format == network::Format::kNchw) {
      return absl::InvalidArgumentError(
          absl::StrCat("--formats=", names, ": '", name, "' is none; give nhwc, nc32, nc4"));
    }
    formats.push_back(*format);
  }
  return formats;
}

// Our chain in one format.
class FormatRow {
 public:
  FormatRow(std::int64_t batch, std::string format, const Options& options, Bench& bench,
            const Measuring& measuring)
      : format_(std::move(format)),
        options_(options),
        bench_(bench),
        measuring_(measuring),
        row_{{"layer", kNetwork}, {"batch", batch}, {"layout", format_}} {}

  absl::Status Prepare(const Chain& chain, const ChainTensors& tensors) {
    measuring_.about(absl::StrCat("our chain in ", format_));
    WEFT_LET(const std::vector<network::Format> formats, FormatsOf(format_));
    WEFT_LET(OurChain made, OurChain::Create(chain, tensors, formats, bench_.stream()));
    chain_ = std::make_unique<OurChain>(std::move(made));
    WEFT_TRY(Check());
    if (options_.most_tiles > 0) WEFT_TRY(Tune());
    const auto side = [&](const char* name, const network::Network& network, bool without_first) {
      sides_.push_back({name, [this, &network, without_first] {
                          return chain_->Enqueue(network, without_first, bench_.stream());
                        }});
    };
    side("ours", chain_->tuned(), false);
    side("model_choice", chain_->model(), false);
    side("ours_without_first", chain_->tuned(), true);
    return absl::OkStatus();
  }

  std::vector<Side>& sides() { return sides_; }

  // What the times come to; cudnn: cuDNN's sides, whole and without the first layer, or none.
  absl::Status Finish(const Chain& chain, const std::vector<Side>& cudnn) {
    measuring_.about(absl::StrCat("checks in ", format_));
    WEFT_TRY(Check());  // after thousands of runs
    for (const Side& side : sides_)
      AddTiming(side.name, Summarize(side.contestant.samples), &row_, "ms");
    const double ms = sides_[0].ms();
    const auto images = static_cast<double>(row_["batch"]);
    row_["ours_images_per_s"] = Rounded(1e3 * images / ms, 0);
    row_["ours_tops"] = Rounded(2e-9 * chain.macs(row_["batch"]) / ms, 1);
    if (!cudnn.empty()) {
      for (const Side& side : cudnn)
        AddTiming(side.name, Summarize(side.contestant.samples), &row_, "ms");
      row_["cudnn_images_per_s"] = Rounded(1e3 * images / cudnn[0].ms(), 0);
      row_["ratio"] = Rounded(cudnn[0].ms() / ms, 4);
      row_["ratio_without_first"] = Rounded(cudnn[1].ms() / sides_[2].ms(), 4);
    }
    row_["samples"] = sides_[0].contestant.samples.size();
    WEFT_TRY(bench_.ReadClock(sides_[0].contestant, &row_));
    WEFT_LET(row_["steps"], chain_->Steps(bench_.stream()));
    row_["arena_mb_per_image"] =
        Rounded(static_cast<double>(chain_->tuned().arena_bytes()) * 1e-6 / images);
    return absl::OkStatus();
  }

  // The row with a status.
  Json Row(const absl::Status& status, const Json& more) const {
    Json row = row_;
    row.update(more);
    row["mismatches"] = mismatches_;
    const std::string note = row.value("cudnn_note", "");
    row["status"] = !status.ok()       ? absl::StrCat("failed: ", std::string(status.message()))
                    : mismatches_ != 0 ? absl::StrCat("mismatch: ", mismatches_, " outputs")
                    : note.empty()     ? "ok"
                                       : absl::StrCat("ok; cuDNN: ", note);
    return row;
  }

 private:
  absl::Status Check() {
    for (const network::Network* network : {&chain_->model(), &chain_->tuned()}) {
      WEFT_LET(const long long found, chain_->Mismatches(*network, bench_.stream()));
      mismatches_ += found;
    }
    return absl::OkStatus();
  }

  absl::Status Tune() {
    network::TuneOptions how;
    how.most_tiles = options_.most_tiles;
    how.report = [this](const network::TuneProgress& p) {
      measuring_.about(absl::StrCat("tuning in ", format_, ", group ", p.group, " of ", p.groups));
      return absl::OkStatus();
    };
    WEFT_LET(const network::Tuned found, chain_->Tune(bench_.stream(), how));
    row_["tuning"] = {{"before_us", Rounded(found.before)}, {"after_us", Rounded(found.after)}};
    if (!found.refused.empty()) row_["tuning"]["refused"] = found.refused;
    return Check();
  }

  const std::string format_;
  const Options& options_;
  Bench& bench_;
  const Measuring& measuring_;
  std::unique_ptr<OurChain> chain_;
  std::vector<Side> sides_;
  long long mismatches_ = 0;
  Json row_;
};

// The plans of an earlier file for so many images, by names of layers.
std::map<std::string, std::string> PlansOf(const Json& earlier, std::int64_t batch) {
  std::map<std::string, std::string> plans;
  for (const Json& row : earlier.value("rows", Json::array())) {
    if (row.value("batch", std::int64_t{0}) != batch) continue;
    for (const Json& layer : row.value("layers", Json::array())) {
      plans[layer.value("name", "")] = layer.value("plan", "");
    }
  }
  return plans;
}

// What is said of cuDNN's chain.
absl::StatusOr<Json> CudnnRow(const Chain& chain, const CudnnChain& cudnn,
                              const ChainTensors& tensors) {
  WEFT_LET(const Differences end, cudnn.CompareEnd());
  Json row = {{"outputs", cudnn.outputs()},
              {"output_differences", end.count},
              {"output_largest_difference", end.largest},
              {"layers", Json::array()}};
  for (int i = 0; i < chain.layers(); ++i) {
    const CudnnChain::Layer& layer = cudnn.layers()[static_cast<std::size_t>(i)];
    row["layers"].push_back({{"name", chain.layer(i).name},
                             {"plan", layer.plan},
                             {"plans_tried", layer.tried},
                             {"cudnn_us", Rounded(layer.us)},
                             {"cudnn_differences", layer.differences.count},
                             {"cudnn_largest_difference", layer.differences.largest},
                             {"zeros", Rounded(tensors.layer(i).facts.zeros, 4)}});
  }
  return row;
}

// Our chain in all formats and cuDNN's, timed in turns.
absl::Status MeasureSides(const Options& options, Bench& bench, const Measuring& measuring,
                          const Chain& chain, const ChainTensors& tensors,
                          std::vector<std::unique_ptr<FormatRow>>* rows, Json* of_cudnn) {
  CudnnChain cudnn(chain, tensors, bench.watch(), measuring, options.threads,
                   PlansOf(options.earlier, tensors.batch()));
  std::vector<Side> cudnn_sides;
  if (options.cudnn) {
    const absl::Status chosen = cudnn.Choose();
    if (chosen.ok()) {
      cudnn_sides.push_back({"cudnn", [&cudnn] { return cudnn.Enqueue(0); }});
      cudnn_sides.push_back({"cudnn_without_first", [&cudnn] { return cudnn.Enqueue(1); }});
    } else {
      (*of_cudnn)["cudnn_note"] = std::string(chosen.message());
      WEFT_TRY(CudaStatus(cudaDeviceSynchronize(), "cuDNN"));
    }
  }
  for (auto& row : *rows) WEFT_TRY(row->Prepare(chain, tensors));
  measuring.about("network cudnn/timing");
  std::vector<Contestant*> racing;
  const auto add = [&](Side& side) {
    side.contestant.enqueue = [&side](int) { return side.enqueue(); };
    side.contestant.graph_a_run = true;
    racing.push_back(&side.contestant);
    return bench.watch().Prepare(side.contestant, 1, kSample);
  };
  for (auto& row : *rows) {
    for (Side& side : row->sides()) WEFT_TRY(add(side));
  }
  for (Side& side : cudnn_sides) WEFT_TRY(add(side));
  WEFT_TRY(bench.watch().Interleave(racing, options.repetitions, kBudget));
  for (auto& row : *rows) WEFT_TRY(row->Finish(chain, cudnn_sides));
  if (cudnn_sides.empty()) return absl::OkStatus();
  WEFT_LET(*of_cudnn, CudnnRow(chain, cudnn, tensors));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Json>> MeasureBatch(std::int64_t batch, const Options& options,
                                               Bench& bench, const Measuring& measuring) {
  measuring.about("the reference");
  Chain chain = Chain::ResNet50();
  WEFT_LET(const ChainTensors tensors, ChainTensors::Create(&chain, batch, bench.stream()));
  std::vector<std::unique_ptr<FormatRow>> rows;
  for (const std::string& format : options.formats) {
    rows.push_back(std::make_unique<FormatRow>(batch, format, options, bench, measuring));
  }
  Json of_cudnn = Json::object();
  const absl::Status status =
      MeasureSides(options, bench, measuring, chain, tensors, &rows, &of_cudnn);
  std::vector<Json> made;
  for (const auto& row : rows) made.push_back(row->Row(status, of_cudnn));
  return made;
}

absl::Status MeasureAll(Bench& bench) {
  static Options options;  // of jobs
  options.formats = absl::GetFlag(FLAGS_formats);
  options.threads = absl::GetFlag(FLAGS_threads);
  options.repetitions = absl::GetFlag(FLAGS_repetitions);
  const int most = absl::GetFlag(FLAGS_most_tiles);
  if (most < 0)
    return absl::InvalidArgumentError(absl::StrCat("--most_tiles=", most, "; give 0 or more"));
  options.most_tiles = static_cast<std::size_t>(most);
  const std::string peer = absl::GetFlag(FLAGS_peer);
  if (peer != "cudnn" && peer != "none") {
    return absl::InvalidArgumentError(
        absl::StrCat("--peer=", peer, " is none; give cudnn or none"));
  }
  options.cudnn = peer == "cudnn";
  if (const std::string path = absl::GetFlag(FLAGS_plans); !path.empty()) {
    WEFT_LET(const std::string text, ReadFile(path));
    options.earlier = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!options.earlier.is_object()) {
      return absl::InvalidArgumentError(absl::StrCat("--plans=", path, " is no result file"));
    }
  }
  for (const std::string& format : options.formats) WEFT_TRY(FormatsOf(format).status());
  bench.notes()["settings"] = absl::StrCat(absl::StrJoin(options.formats, " and "), ", ", most,
                                           " tiles a group, against ", peer);
  bench.how().isolated = true;
  bench.how().may_skip = [](const std::string& step) {
    return absl::StartsWith(step, "network cudnn");
  };
  WEFT_LET(const std::vector<int> batches, ParseBatches(absl::GetFlag(FLAGS_batch)));
  for (const int batch : batches) {
    bench.Add({{"layer", kNetwork}, {"batch", batch}}, [&bench, batch](const Measuring& measuring) {
      return MeasureBatch(batch, options, bench, measuring);
    });
  }
  return bench.Run(false);
}

}  // namespace
}  // namespace weft::perf

int main(int argc, char** argv) {
  return weft::perf::BenchMain(
      argc, argv,
      {"network_bench", "ResNet-50's convolutions as a network against cuDNN's chain",
       "53 convolutions with their scales, biases, ReLUs and residual additions, int8; the 3x3/2 "
       "max pooling after conv1 is left out "
       "on both sides (the next layers read an input of their own); one CUDA graph an inference; "
       "ours in each format, ours with the "
       "model's tiles and cuDNN interleaved; medians; weights and activations stay where "
       "consecutive inferences leave them (for "
       "N = 1 mostly in the L2). Ours: weft::network, one arena, tiles tuned in the chain; cuDNN: "
       "NHWC int8, graph API, plan of "
       "each layer chosen by measuring all, residual fused, an output buffer a layer; conv1 also "
       "from a copy of the image in half "
       "precision made beforehand, if faster, with a half result that a second graph converts"},
      weft::perf::MeasureAll);
}
