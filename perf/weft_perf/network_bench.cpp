#include "perf/weft_perf/run.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "perf/support/device_data.hpp"
#include "perf/weft_perf/find_best.hpp"
#include "perf/weft_perf/network_report.hpp"
#include "perf/weft_perf/network_tensors.hpp"
#include "perf/weft_perf/ours.hpp"

namespace weft::perf {

namespace {

constexpr double kShortSample = 300.0;  // microseconds of a sample that finds the best tile or plan
constexpr double kLongSample = 8000.0;  // of a sample of a whole chain
constexpr double kBudget = 4e6;         // of all of them

// A layer is a set of a peer that runs all layers alike, with one of its variants.
struct Planned {
  std::shared_ptr<Peer> peer;
  int variant = 0, set = 0;
};

class NetworkBench {
 public:
  NetworkBench(const Network& network, const Options& options, Machine* machine,
               const Measuring& measuring, Json* row)
      : network_(network),
        layers_(static_cast<int>(network.layers.size())),
        options_(options),
        machine_(*machine),
        measuring_(measuring),
        row_(*row),
        facts_(layers_),
        ours_(layers_),
        model_(layers_) {}

  absl::Status Measure(const Choices& choices) {
    measuring_.about("our chain");
    WEFT_TRY(tensors_.Init(network_, NetworkFormat(options_), stream()));
    std::int64_t most = 0;
    for (int i = 0; i < network_.tensors(); ++i) {
      most = std::max({most, tensors_[i].bytes(), Nhwc(i)});
    }
    WEFT_LET(want_, DeviceBuffer::Create(most));
    for (int i = 0; i < layers_; ++i) {  // layers alike get one choice
      const NetworkLayer& layer = network_.layers[i];
      const auto kind = std::find_if(kinds_.begin(), kinds_.end(), [&](const auto& each) {
        const NetworkLayer& first = network_.layers[each[0]];
        return first.problem == layer.problem && first.after == layer.after;
      });
      kind == kinds_.end() ? kinds_.push_back({i}) : kind->push_back(i);
    }
    for (const std::vector<int>& kind : kinds_) {
      WEFT_LET(our_peers_[kind[0]], MakeOurPeer(kind));
      for (std::size_t set = 0; set < kind.size(); ++set) {
        ours_[kind[set]] = {nullptr, 0, static_cast<int>(set)};
      }
    }
    for (int i = 0; i < layers_; ++i) WEFT_TRY(Start(i));
    WEFT_TRY(CheckLayers());
    measuring_.about("our tiles");
    for (const std::vector<int>& kind : kinds_) WEFT_TRY(ChooseTile(kind));
    absl::Status cudnn = absl::UnavailableError("not asked for");
    if (!options_.peers.empty()) cudnn = MakeCudnn(choices);
    if (!cudnn.ok()) {
      cudnn_.clear();
      row_["cudnn_note"] = std::string(cudnn.message());
      WEFT_TRY(CudaStatus(cudaDeviceSynchronize(), "cuDNN"));
    }
    return Compete();
  }

  void Report() const {
    long long mismatches = last_mismatches_;
    for (const LayerFacts& f : facts_) mismatches += f.mismatches;
    row_["tensors"] = FormatText(NetworkFormat(options_));
    row_["mismatches"] = mismatches;
    row_["checked_images"] = images() > 1 ? 2 : 1;
    row_["layers"] = LayerRows(network_, facts_);
  }

 private:
  cudaStream_t stream() const { return machine_.stream(); }
  std::int64_t images() const { return network_.inputs[0].n; }
  int OutputOf(int layer) const { return network_.OutputOf(layer); }
  std::int64_t Nhwc(int tensor) const { return NHWC::Size(network_.Extents(tensor)); }

  struct OurPeer {
    std::shared_ptr<Peer> peer;
    const std::vector<Tile>* tiles = nullptr;
  };
  // The first layer reads NCxHWx<4>.
  absl::StatusOr<OurPeer> MakeOurPeer(const std::vector<int>& kind) {
    const NetworkLayer& first = network_.layers[kind[0]];
    const Epilogue epilogue = first.after == After::kRelu      ? Epilogue::kRelu
                              : first.after == After::kNothing ? Epilogue::kNothing
                                                               : Epilogue::kResidual;
    const bool nhwc = NetworkFormat(options_) == TensorFormatName::kNhwc;
    const std::string layout =
        absl::StrCat(first.problem.c < 32 ? "nc4_" : "", nhwc ? "nhwc" : "nc32");
    OurPeer made = {MakeOurs(layout, epilogue), &OurTiles(layout, epilogue)};
    WEFT_TRY(made.peer->Prepare(ProblemOf(first.problem, first.after), tensors_.Sets(kind),
                                PeerOptions(), stream()));
    return made;
  }

  const std::vector<int>& KindOf(int layer) const {
    return *std::find_if(kinds_.begin(), kinds_.end(), [&](const std::vector<int>& kind) {
      return std::find(kind.begin(), kind.end(), layer) != kind.end();
    });
  }

  // Scales for what the layer's input holds now, so that they are the same for every batch; the
  // layer's first run, with the first tile that takes it.
  absl::Status Start(int layer) {
    WEFT_TRY(tensors_.SetScales(layer));
    Planned& planned = ours_[layer];
    absl::Status s = absl::UnimplementedError("this program has no tile for it");
    const auto& [peer, tiles] = our_peers_[KindOf(layer)[0]];
    for (int tile = 0; tile < static_cast<int>(tiles->size()) && !planned.peer; ++tile) {
      s = peer->Build(tile);
      if (s.ok()) s = peer->Enqueue(tile, planned.set, stream());
      if (s.ok()) planned.peer = peer, planned.variant = tile;
    }
    if (!planned.peer) {
      return absl::Status(s.code(), absl::StrCat("layer ", network_.layers[layer].name, ": ",
                                                 std::string(s.message())));
    }
    WEFT_LET(facts_[layer].values, tensors_.Facts(OutputOf(layer)));
    return absl::OkStatus();
  }

  // A copy of a tensor, to want_.
  absl::Status CopyToWanted(const DeviceBuffer& tensor) {
    WEFT_TRY(CudaStatus(cudaMemcpyAsync(want_.data(), tensor.data(), tensor.bytes(),
                                        cudaMemcpyDeviceToDevice, stream()),
                        "copy"));
    return CudaStatus(cudaStreamSynchronize(stream()), "copy");
  }

  absl::Status CheckLayers() {
    for (int i = 0; i < layers_; ++i) {
      WEFT_LET(const long long mismatches, tensors_.Mismatches(i));
      facts_[i].mismatches += mismatches;
    }
    return absl::OkStatus();
  }

  // Tries every variant of a peer on the first of layers alike. If its best is the fastest so far,
  // all of them get it.
  absl::Status Choose(const std::vector<int>& kind, const std::shared_ptr<Peer>& peer,
                      const PeerOptions& options, const std::vector<Tile>* tiles,
                      const std::function<absl::StatusOr<Differences>(int variant)>& check,
                      Contender LayerFacts::* member, std::vector<Planned>* side, Contender* c) {
    Search search;
    search.watch = &machine_.watch();
    search.sample_us = kShortSample;
    search.tiles = tiles;
    if (tiles != nullptr) search.only = options_.only_tile;
    search.family = options_.family;
    search.check = check;
    WEFT_TRY(FindBest(*peer, options, search, c));
    const double before = (facts_[kind[0]].*member).short_us;
    if (before > 0.0 && before <= c->short_us) return absl::OkStatus();
    for (std::size_t set = 0; set < kind.size(); ++set) {
      facts_[kind[set]].*member = *c;
      (*side)[kind[set]] = {peer, c->best, static_cast<int>(set)};
    }
    return absl::OkStatus();
  }

  // Each tile must give what the checked one gave.
  absl::Status ChooseTile(const std::vector<int>& kind) {
    const DeviceBuffer& dst = tensors_[OutputOf(kind[0])];
    WEFT_TRY(CopyToWanted(dst));
    const OurPeer& ours = our_peers_[kind[0]];
    const auto check = [&](int tile) -> absl::StatusOr<Differences> {
      WEFT_TRY(ours.peer->Poison(0, stream()));
      WEFT_TRY(ours.peer->Enqueue(tile, 0, stream()));
      return Compare(dst.as<std::int8_t>(), want_.as<std::int8_t>(), dst.bytes(), stream());
    };
    Contender c;
    const absl::Status chosen =
        Choose(kind, ours.peer, PeerOptions(), ours.tiles, check, &LayerFacts::ours, &ours_, &c);
    facts_[kind[0]].mismatches += c.differences;
    WEFT_TRY(chosen);
    std::vector<bool> usable;
    for (const double us : c.tile_us) usable.push_back(us > 0.0);
    const int model = ModelsChoice(network_.layers[kind[0]].problem, *ours.tiles, usable,
                                   conv::GpuFactsOf(machine_.limits()));
    WEFT_TRY(ours.peer->Build(model));
    for (std::size_t set = 0; set < kind.size(); ++set) {
      LayerFacts& f = facts_[kind[set]];
      f.model_us = c.tile_us[model];
      f.model_tile = (*ours.tiles)[model].name;
      model_[kind[set]] = {ours.peer, model, static_cast<int>(set)};
    }
    return absl::OkStatus();
  }

  // cuDNN's tensors, copies of ours, and its plans.
  absl::Status MakeCudnn(const Choices& choices) {
    nhwc_.resize(network_.tensors());
    for (int i = 0; i < network_.tensors(); ++i) {
      WEFT_LET(nhwc_[i], DeviceBuffer::Create(Nhwc(i)));
      WEFT_TRY(tensors_.ToNhwc(i, nhwc_[i].data()));
    }
    cudnn_.resize(layers_);
    for (const std::vector<int>& kind : kinds_) {
      const NetworkLayer& first = network_.layers[kind[0]];
      // Its int8 engines are slow on few channels. The first layer's scales are powers of two, so
      // that half precision computes the same sums (parameters.hpp); its result is rounded twice.
      std::vector<std::string> names = {"cudnn_graph"};
      if (first.problem.c < 16) names.push_back("cudnn_f16_to_int8");
      absl::Status why;
      for (const std::string& name : names) {
        why.Update(ChoosePlan(kind, name, choices));
        WEFT_TRY(tensors_.ToNhwc(OutputOf(kind[0]), nhwc_[OutputOf(kind[0])].data()));
      }
      if (cudnn_[kind[0]].peer == nullptr) {
        return absl::Status(why.code(),
                            absl::StrCat("layer ", first.name, ": ", std::string(why.message())));
      }
      for (const int layer : kind) {
        const Planned& p = cudnn_[layer];
        WEFT_LET(const Differences found, TryPlan(*p.peer, p.variant, p.set, layer));
        facts_[layer].plan_differences = found.count;
        facts_[layer].plan_largest = found.largest;
      }
    }
    return absl::OkStatus();
  }

  // Runs a plan on a layer's set and compares with our output; what the next layers read is as it
  // was.
  absl::StatusOr<Differences> TryPlan(Peer& peer, int plan, int set, int layer) {
    const int tensor = OutputOf(layer);
    const std::int8_t* const dst = nhwc_[tensor].as<std::int8_t>();
    WEFT_TRY(tensors_.ToNhwc(tensor, want_.data()));
    WEFT_TRY(peer.Poison(set, stream()));
    WEFT_TRY(peer.Enqueue(plan, set, stream()));
    WEFT_TRY(CudaStatus(cudaStreamSynchronize(stream()), "the plan's run"));
    const auto found = Compare(dst, want_.as<std::int8_t>(), Nhwc(tensor), stream());
    WEFT_TRY(tensors_.ToNhwc(tensor, nhwc_[tensor].data()));
    return found;
  }

  absl::Status ChoosePlan(const std::vector<int>& kind, const std::string& name,
                          const Choices& choices) {
    const NetworkLayer& first = network_.layers[kind[0]];
    const std::string called = absl::StrCat("network ", name, " ", first.name);
    const PeerOptions options =
        OptionsFor(called, measuring_, ChoiceOf(choices, first.problem, called), options_.threads);
    WEFT_TRY(options.Need("open"));
    WEFT_LET(const std::shared_ptr<Peer> peer, MakePeer(name));
    WEFT_TRY(peer->Prepare(ProblemOf(first.problem, first.after), tensors_.Sets(kind, nhwc_),
                           options, stream()));
    const auto check = [&](int plan) { return TryPlan(*peer, plan, 0, kind[0]); };
    Contender c;
    WEFT_TRY(Choose(kind, peer, options, nullptr, check, &LayerFacts::cudnn, &cudnn_, &c));
    measuring_.send(ChoiceLine(first.problem, called, c.variant));
    return absl::OkStatus();
  }

  absl::Status Enqueue(const std::vector<Planned>& side, int first) {
    for (int i = first; i < layers_; ++i) {
      WEFT_TRY(side[i].peer->Enqueue(side[i].variant, side[i].set, stream()));
    }
    return absl::OkStatus();
  }

  // Ours, ours with the model's tiles, ours without the first layer, cuDNN, cuDNN without it.
  absl::Status Compete() {
    const bool cudnn = !cudnn_.empty();
    measuring_.about(cudnn ? "network cudnn/timing" : "timing");
    struct Side {
      const char* name;
      const std::vector<Planned>* layers;
      int first;
    };
    const Side sides[] = {{"ours", &ours_, 0},
                          {"model_choice", &model_, 0},
                          {"ours_without_first", &ours_, 1},
                          {"cudnn", &cudnn_, 0},
                          {"cudnn_without_first", &cudnn_, 1}};
    std::array<Contestant, 5> all;
    std::vector<Contestant*> racing;
    for (int i = 0; i < (cudnn ? 5 : 3); ++i) {
      all[i].enqueue = [this, side = sides[i]](int) { return Enqueue(*side.layers, side.first); };
      all[i].graph_a_run = true;
      WEFT_TRY(machine_.watch().Prepare(all[i], 1, kLongSample));
      racing.push_back(&all[i]);
    }
    WEFT_TRY(machine_.watch().Interleave(racing, options_.rounds, kBudget));
    std::array<double, 5> us = {};
    for (int i = 0; i < 5; ++i) {
      const Summary time = Summarize(all[i].samples);
      us[i] = time.median;
      AddTiming(sides[i].name, time, &row_, "ms");
    }
    row_["ours_images_per_s"] = Rounded(1e6 * images() / us[0], 0);
    row_["ours_tops"] = Rounded(2e-6 * network_.macs() / us[0], 1);
    if (cudnn) {
      row_["cudnn_images_per_s"] = Rounded(1e6 * images() / us[3], 0);
      row_["ratio"] = Rounded(us[3] / us[0], 4);
      row_["ratio_without_first"] = Rounded(us[4] / us[2], 4);
    }
    row_["samples"] = all[0].samples.size();
    WEFT_TRY(machine_.ReadClock(all[0], &row_));

    // Once more, after thousands of runs, over poisoned outputs: the model's tiles, then ours.
    const DeviceBuffer& last = tensors_[OutputOf(layers_ - 1)];
    for (const int i : {1, 0}) {
      for (const Planned& p : *sides[i].layers) WEFT_TRY(p.peer->Poison(p.set, stream()));
      WEFT_TRY(machine_.watch().Launch(all[i]));
      if (i == 1) WEFT_TRY(CopyToWanted(last));
    }
    WEFT_LET(const Differences models,
             Compare(want_.as<std::int8_t>(), last.as<std::int8_t>(), last.bytes(), stream()));
    last_mismatches_ += models.count;
    WEFT_TRY(CheckLayers());
    return cudnn ? CompareEnds() : absl::OkStatus();
  }

  absl::Status CompareEnds() {
    const int last = OutputOf(layers_ - 1);
    for (const Planned& p : cudnn_) WEFT_TRY(p.peer->Poison(p.set, stream()));
    WEFT_TRY(Enqueue(cudnn_, 0));
    WEFT_TRY(tensors_.ToNhwc(last, want_.data()));
    WEFT_LET(const Differences found,
             Compare(nhwc_[last].as<std::int8_t>(), want_.as<std::int8_t>(), Nhwc(last), stream()));
    row_["outputs"] = Nhwc(last);
    row_["output_differences"] = found.count;
    row_["output_largest_difference"] = found.largest;
    return absl::OkStatus();
  }

  const Network& network_;
  const int layers_;
  const Options& options_;
  Machine& machine_;
  const Measuring& measuring_;
  Json& row_;
  std::vector<std::vector<int>> kinds_;        // layers of one problem and what follows it
  std::vector<LayerFacts> facts_;              // of each layer, as the next
  std::vector<Planned> ours_, model_, cudnn_;  // cudnn_ is empty if there is none
  std::map<int, OurPeer> our_peers_;           // of the first layer of each kind
  NetworkTensors tensors_;
  std::vector<DeviceBuffer> nhwc_;  // cuDNN's
  DeviceBuffer want_;               // any tensor
  long long last_mismatches_ = 0;
};

}  // namespace

Json MeasureNetwork(const Network& network, const Options& options, const Choices& choices,
                    const Measuring& measuring, Machine* machine) {
  Json row = {{"batch", network.inputs[0].n}};
  NetworkBench bench(network, options, machine, measuring, &row);
  const absl::Status status = bench.Measure(choices);
  bench.Report();
  const long long mismatches = row["mismatches"];
  const std::string note = row.value("cudnn_note", "");
  row["status"] = !status.ok()      ? absl::StrCat("failed: ", std::string(status.message()))
                  : mismatches != 0 ? absl::StrCat("mismatch: ", mismatches, " outputs")
                  : note.empty()    ? "ok"
                                    : absl::StrCat("ok; cuDNN: ", note);
  return row;
}

}  // namespace weft::perf
