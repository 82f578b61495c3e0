#include "perf/weft_perf/network_bench.hpp"

#if WEFT_HAVE_CUDA

#include <algorithm>
#include <array>
#include <deque>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "perf/network/chain.hpp"
#include "perf/peers/peer_data.hpp"
#include "perf/support/device_data.hpp"
#include "perf/weft_perf/find_best.hpp"

namespace weft::perf {

std::string NetworkMethod() {
  return "53 convolutions with their scales, biases, ReLUs and residual additions, int8; the 3x3/2 "
         "max pooling after conv1 is left out on both sides (the next layers read an input of "
         "their own); every layer has an output buffer of its own on both sides; one CUDA graph an "
         "inference; ours, ours with the model's tiles and cuDNN interleaved; medians; weights and "
         "activations stay where consecutive inferences leave them (for N = 1 mostly in the L2). "
         "Ours: NCxHWx<4> image, NCxHWx<32> from the first layer's output on, tile of each layer "
         "chosen by measuring all; cuDNN: NHWC int8, graph API, plan of each layer chosen by "
         "measuring all, residual fused; conv1 also from a copy of the image in half precision "
         "made beforehand, if faster, with a half result that a second graph converts";
}

std::string NetworkLine(const Json& row) {
  const auto number = [&](const char* name) { return row.value(name, 0.0); };
  return absl::StrFormat(
      "N = %d: ours %.4f ms (%.0f images/s), with the model's tiles %.4f; cuDNN %.4f (%.0f); ratio "
      "%.3f, without the first layer %.3f; %d wrong outputs; %.0f MHz; %s\n",
      row["batch"].get<int>(), number("ours_ms"), number("ours_images_per_s"),
      number("model_choice_ms"), number("cudnn_ms"), number("cudnn_images_per_s"), number("ratio"),
      number("ratio_without_first"), row["mismatches"].get<long long>(), number("clock_mhz"),
      row["status"].get<std::string>());
}

namespace {

constexpr int kPoison = 0xB5;           // a byte that ReLU never gives
constexpr double kShortSample = 300.0;  // microseconds of a sample that finds the best tile or plan
constexpr double kLongSample = 8000.0;  // of a sample of a whole chain
constexpr double kBudget = 4e6;         // of all of them

class DeviceMemory : public ChainMemory {
 public:
  absl::StatusOr<void*> Allocate(std::int64_t bytes) override {
    WEFT_LET(DeviceBuffer buffer, DeviceBuffer::Create(bytes));
    buffers_.push_back(std::move(buffer));
    return buffers_.back().data();
  }
  absl::Status Write(void* to, const void* from, std::int64_t bytes) override {
    return Copy(to, from, bytes);
  }
  absl::Status Read(void* to, const void* from, std::int64_t bytes) override {
    return Copy(to, from, bytes);
  }

 private:
  static absl::Status Copy(void* to, const void* from, std::int64_t bytes) {
    WEFT_TRY(CudaStatus(cudaDeviceSynchronize(), "before a copy"));
    return CudaStatus(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "cudaMemcpy");
  }
  std::deque<DeviceBuffer> buffers_;
};

PeerProblem ProblemOf(const conv::Problem& problem, After after) {
  PeerProblem made;
  made.problem = problem;
  made.relu = after != After::kNothing;
  made.residual = after == After::kResidualRelu;
  made.gamma = kNetworkGamma;
  return made;
}

absl::StatusOr<std::vector<std::int8_t>> LayerReference(const ReferenceLayer& layer) {
  WEFT_LET(const DeviceBuffer src, DeviceBuffer::From(layer.src));
  WEFT_LET(const DeviceBuffer filter, DeviceBuffer::From(layer.parameters->filter));
  WEFT_LET(const DeviceBuffer alpha, DeviceBuffer::From(layer.parameters->channel_alpha));
  WEFT_LET(const DeviceBuffer bias, DeviceBuffer::From(layer.parameters->bias));
  WEFT_LET(const DeviceBuffer dst, DeviceBuffer::Create(NCHW::Size(layer.problem.dst())));
  DeviceBuffer residual;
  reference::EpilogueData e;
  e.channel_alpha = alpha.as<float>();
  e.bias = bias.as<float>();
  const PeerProblem problem = ProblemOf(layer.problem, layer.after);
  if (problem.residual) {
    WEFT_LET(residual, DeviceBuffer::From(layer.residual));
    e.residual = residual.as<std::int8_t>();
    e.gamma = kNetworkGamma;
  }
  WEFT_TRY(ReferenceOnGpu(problem, src.as<std::int8_t>(), filter.as<std::int8_t>(), e,
                          dst.as<std::int8_t>(), nullptr));
  return dst.Read<std::int8_t>();
}

// Layers of our chain that are alike, as a peer: its variants are tiles, its sets layers.
class ChainPeer : public Peer {
 public:
  ChainPeer(OurChain& chain, const std::vector<int>& layers)
      : Peer("ours"), chain_(chain), layers_(layers) {
    for (const Tile& tile : chain.tiles(layers[0])) variants_.push_back({tile.name});
  }
  absl::Status Prepare(const PeerProblem&, const PeerTensors&, const PeerOptions&,
                       Stream) override {
    return absl::OkStatus();
  }
  absl::Status Enqueue(int variant, int set, Stream stream) override {
    return chain_.Run(layers_[set], variant, stream);
  }
  absl::Status Poison(int set, Stream stream) override {
    const int tensor = chain_.network().OutputOf(layers_[set]);
    return CudaStatus(
        cudaMemsetAsync(chain_.Address(tensor), kPoison, chain_.Bytes(tensor), stream), "poison");
  }
  absl::Status Output(int, std::int8_t*, Stream) override {
    return absl::UnimplementedError("it stays in the chain");
  }

 private:
  OurChain& chain_;
  const std::vector<int> layers_;
};

// What is known of one layer.
struct LayerFacts {
  Contender ours, cudnn;
  std::string model_tile;
  double model_us = 0.0;
  long long mismatches = 0;         // in the images compared with the reference, and between tiles
  long long plan_differences = -1;  // cuDNN's output, where it reads what ours read, against ours
  int plan_largest = 0;
};

class Bench {
 public:
  Bench(const Network& network, const Options& options, Machine* machine,
        const RowRun::About& about, Json* row)
      : network_(network), options_(options), machine_(*machine), about_(about), row_(*row) {}

  absl::Status Measure(const Choices& choices, const std::set<std::string>& skip,
                       const RowRun::Send& send) {
    about_("our chain");
    static const NetworkTiles tiles = [] {
      NetworkTiles made;
      made.first = OurTiles("nc4_nc32", Epilogue::kRelu);
      const std::vector<Tile>& nhwc = OurTiles("nhwc_nc32", Epilogue::kRelu);
      made.first.insert(made.first.end(), nhwc.begin(), nhwc.end());
      made.relu = OurTiles("nc32", Epilogue::kRelu);
      made.residual_relu = OurTiles("nc32", Epilogue::kResidual);
      made.nothing = OurTiles("nc32", Epilogue::kNothing);
      return made;
    }();
    WEFT_LET(chain_, OurChain::Create(network_, tiles, &memory_, stream()));
    facts_.resize(chain_->size());
    WEFT_TRY(CheckLayers());
    std::int64_t most = 0;
    for (int i = 0; i < network_.tensors(); ++i) {
      most = std::max({most, chain_->Bytes(i), NHWC::Size(network_.Extents(i))});
    }
    WEFT_LET(want_, DeviceBuffer::Create(most));
    // Layers alike get one choice.
    for (int i = 0; i < chain_->size(); ++i) {
      const NetworkLayer& layer = network_.layers[i];
      const auto alike = [&](const std::vector<int>& kind) {
        const NetworkLayer& first = network_.layers[kind[0]];
        return first.problem == layer.problem && first.after == layer.after;
      };
      const auto kind = std::find_if(kinds_.begin(), kinds_.end(), alike);
      kind == kinds_.end() ? kinds_.push_back({i}) : kind->push_back(i);
    }
    about_("our tiles");
    model_.resize(chain_->size());
    for (const std::vector<int>& kind : kinds_) WEFT_TRY(ChooseTile(kind));
    absl::Status cudnn = absl::UnavailableError("not asked for");
    if (!options_.peers.empty()) cudnn = MakeCudnn(choices, skip, send);
    if (!cudnn.ok()) {
      cudnn_of_.clear();
      row_["cudnn_note"] = std::string(cudnn.message());
      WEFT_TRY(CudaStatus(cudaDeviceSynchronize(), "cuDNN"));
    }
    return Compete();
  }

  void Report() const {
    long long mismatches = last_mismatches_;
    for (const LayerFacts& f : facts_) mismatches += f.mismatches;
    row_["mismatches"] = mismatches;
    row_["checked_images"] = network_.inputs[0].n > 1 ? 2 : 1;
    Json& layers = row_["layers"] = Json::array();
    for (std::size_t i = 0; i < facts_.size(); ++i) {
      const LayerFacts& f = facts_[i];
      const NetworkLayer& layer = network_.layers[i];
      const char* const after = layer.after == After::kRelu      ? "relu"
                                : layer.after == After::kNothing ? "nothing"
                                                                 : "residual relu";
      Json json = {{"name", layer.name},
                   {"layer", LayerName(layer.problem)},
                   {"after", after},
                   {"kernel", f.ours.variant},
                   {"kernels_tried", f.ours.ran},
                   {"model_kernel", f.model_tile},
                   {"plan", f.cudnn.variant},
                   {"plans_tried", f.cudnn.ran},
                   {"mismatches", f.mismatches}};
      if (f.ours.short_us > 0) json["ours_us"] = Rounded(f.ours.short_us);
      if (f.model_us > 0) json["model_us"] = Rounded(f.model_us);
      if (f.cudnn.short_us > 0) json["cudnn_us"] = Rounded(f.cudnn.short_us);
      if (f.plan_differences >= 0) {
        json["cudnn_differences"] = f.plan_differences;
        json["cudnn_largest_difference"] = f.plan_largest;
      }
      json["zeros"] = Rounded(chain_->facts(static_cast<int>(i)).zeros, 4);
      json["saturated"] = Rounded(chain_->facts(static_cast<int>(i)).saturated, 5);
      layers.push_back(json);
    }
  }

 private:
  cudaStream_t stream() const { return machine_.stream(); }
  int OutputOf(int layer) const { return network_.OutputOf(layer); }

  // The first and the last image of every layer.
  absl::Status CheckLayers() {
    const std::int64_t images = network_.inputs[0].n;
    for (int i = 0; i < chain_->size(); ++i) {
      for (std::int64_t image = 0; image < images; image += std::max<std::int64_t>(images - 1, 1)) {
        WEFT_LET(const Differences found, chain_->Check(i, image, LayerReference));
        facts_[i].mismatches += found.count;
      }
    }
    return absl::OkStatus();
  }

  // Tries every tile on the chain's tensors; each must give what the checked one gave.
  absl::Status ChooseTile(const std::vector<int>& kind) {
    const int first = kind[0], tensor = OutputOf(first);
    const std::int64_t bytes = chain_->Bytes(tensor);
    WEFT_TRY(CudaStatus(cudaMemcpyAsync(want_.data(), chain_->Address(tensor), bytes,
                                        cudaMemcpyDeviceToDevice, stream()),
                        "copy"));
    ChainPeer peer(*chain_, kind);
    const std::vector<Tile>& tiles = chain_->tiles(first);
    LayerFacts& f = facts_[first];
    f.ours.name = "ours";
    Search search;
    search.watch = &machine_.watch();
    search.sample_us = kShortSample;
    search.tiles = &tiles;
    search.check = [&](int tile) -> absl::StatusOr<Differences> {
      WEFT_TRY(peer.Poison(0, stream()));
      WEFT_TRY(peer.Enqueue(tile, 0, stream()));
      return Compare(chain_->Address(tensor), want_.as<std::int8_t>(), bytes, stream());
    };
    WEFT_TRY(FindBest(peer, PeerOptions(), search, &f.ours));
    f.mismatches += f.ours.differences;
    std::vector<bool> usable;
    for (const double us : f.ours.tile_us) usable.push_back(us > 0.0);
    const int model = ModelsChoice(network_.layers[first].problem, tiles, usable,
                                   conv::GpuFactsOf(machine_.limits()));
    f.model_tile = tiles[model].name;
    f.model_us = f.ours.tile_us[model];
    for (const int layer : kind) {
      chain_->Choose(layer, f.ours.best);
      model_[layer] = model;
      const long long own = facts_[layer].mismatches;
      if (layer == first) continue;
      facts_[layer] = f;
      facts_[layer].mismatches = own;
    }
    return absl::OkStatus();
  }

  // Our chain's tensor in NHWC.
  absl::Status ToNhwc(int tensor, void* nhwc) {
    const TensorExtents e = network_.Extents(tensor);
    const TensorFormatName format = e.c < 32 ? TensorFormatName::kNc4 : TensorFormatName::kNc32;
    return Convert({chain_->Address(tensor), nhwc, e, StridesOf(format, e), StridesOf<NHWC>(e)},
                   Element::kInt8, Element::kInt8, stream());
  }

  // cuDNN's tensors, copies of ours, and its plans.
  absl::Status MakeCudnn(const Choices& choices, const std::set<std::string>& skip,
                         const RowRun::Send& send) {
    nhwc_.resize(network_.tensors());
    for (int i = 0; i < network_.tensors(); ++i) {
      WEFT_LET(nhwc_[i], DeviceBuffer::Create(NHWC::Size(network_.Extents(i))));
      WEFT_TRY(ToNhwc(i, nhwc_[i].data()));
    }
    filters_.resize(chain_->size());
    cudnn_of_.resize(chain_->size());
    for (const std::vector<int>& kind : kinds_) {
      const NetworkLayer& first = network_.layers[kind[0]];
      PeerTensors tensors;
      for (const int i : kind) {
        const NetworkLayer& layer = network_.layers[i];
        const TensorExtents e = AsTensor(layer.problem.filter());
        WEFT_LET(const DeviceBuffer kcrs, DeviceBuffer::From(chain_->parameters(i).filter));
        WEFT_LET(filters_[i], DeviceBuffer::Create(kcrs.bytes()));
        WEFT_TRY(
            Convert({kcrs.data(), filters_[i].data(), e, StridesOf<NCHW>(e), StridesOf<NHWC>(e)},
                    Element::kInt8, Element::kInt8, stream()));
        WEFT_TRY(CudaStatus(cudaStreamSynchronize(stream()), "filter"));
        PeerTensors::Set set;
        set.src = nhwc_[layer.src].as<std::int8_t>();
        set.filter = filters_[i].as<std::int8_t>();
        if (layer.residual >= 0) set.residual = nhwc_[layer.residual].as<std::int8_t>();
        set.channel_alpha = chain_->channel_alpha(i);
        set.bias = chain_->bias(i);
        set.dst = nhwc_[OutputOf(i)].as<std::int8_t>();
        tensors.sets.push_back(set);
      }
      // Its int8 engines are slow on few channels. The first layer's scales are powers of two, so
      // that half precision computes the same sums (parameters.hpp); its result is rounded twice.
      std::vector<std::string> names = {"cudnn_graph"};
      if (first.problem.c < 16) names.push_back("cudnn_f16_to_int8");
      absl::Status why;
      for (const std::string& name : names) {
        const absl::Status s = ChoosePlan(kind, name, tensors, choices, skip, send);
        if (!s.ok()) why = s;
      }
      if (cudnn_of_[kind[0]].peer == nullptr) {
        return absl::Status(why.code(),
                            absl::StrCat("layer ", first.name, ": ", std::string(why.message())));
      }
      WEFT_TRY(CompareLayers(kind));
    }
    return absl::OkStatus();
  }

  // Runs a plan on a layer's set and compares with our output; what the next layers read is as it
  // was.
  absl::StatusOr<Differences> TryPlan(Peer& peer, int plan, int set, int layer) {
    const int tensor = OutputOf(layer);
    WEFT_TRY(ToNhwc(tensor, want_.data()));
    WEFT_TRY(peer.Poison(set, stream()));
    WEFT_TRY(peer.Enqueue(plan, set, stream()));
    WEFT_TRY(CudaStatus(cudaStreamSynchronize(stream()), "the plan's run"));
    const std::int64_t bytes = nhwc_[tensor].bytes();
    const auto found =
        Compare(nhwc_[tensor].as<std::int8_t>(), want_.as<std::int8_t>(), bytes, stream());
    WEFT_TRY(ToNhwc(tensor, nhwc_[tensor].data()));
    return found;
  }

  // If this peer's best plan is the fastest so far, the layers get it.
  absl::Status ChoosePlan(const std::vector<int>& kind, const std::string& name,
                          const PeerTensors& tensors, const Choices& choices,
                          const std::set<std::string>& skip, const RowRun::Send& send) {
    const NetworkLayer& first = network_.layers[kind[0]];
    const std::string called = absl::StrCat("network ", name, " ", first.name);
    const PeerOptions options =
        OptionsFor(called, skip, choices.Find(first.problem, called), options_.threads, about_);
    WEFT_TRY(options.Need("open"));
    WEFT_LET(std::shared_ptr<Peer> peer, MakePeer(name));
    WEFT_TRY(peer->Prepare(ProblemOf(first.problem, first.after), tensors, options, stream()));
    Search search;
    search.watch = &machine_.watch();
    search.sample_us = kShortSample;
    search.check = [&](int plan) { return TryPlan(*peer, plan, 0, kind[0]); };
    Contender c;
    WEFT_TRY(FindBest(*peer, options, search, &c));
    WEFT_TRY(ToNhwc(OutputOf(kind[0]), nhwc_[OutputOf(kind[0])].data()));
    send(ChoiceLine(first.problem, called, c.variant));
    LayerFacts& f = facts_[kind[0]];
    if (f.cudnn.short_us > 0.0 && f.cudnn.short_us <= c.short_us) return absl::OkStatus();
    for (std::size_t set = 0; set < kind.size(); ++set) {
      facts_[kind[set]].cudnn = c;
      cudnn_of_[kind[set]] = {peer, c.best, static_cast<int>(set)};
    }
    return absl::OkStatus();
  }

  absl::Status CompareLayers(const std::vector<int>& kind) {
    for (const int layer : kind) {
      const Planned& p = cudnn_of_[layer];
      WEFT_LET(const Differences found, TryPlan(*p.peer, p.plan, p.set, layer));
      facts_[layer].plan_differences = found.count;
      facts_[layer].plan_largest = found.largest;
    }
    return absl::OkStatus();
  }

  absl::Status EnqueueCudnn(int first) {
    for (int i = first; i < chain_->size(); ++i) {
      const Planned& p = cudnn_of_[i];
      WEFT_TRY(p.peer->Enqueue(p.plan, p.set, stream()));
    }
    return absl::OkStatus();
  }

  // Ours, ours with the model's tiles, ours without the first layer, cuDNN, cuDNN without it.
  absl::Status Compete() {
    const bool cudnn = !cudnn_of_.empty();
    about_(cudnn ? "network cudnn/timing" : "timing");
    std::array<Contestant, 5> all;
    all[0].enqueue = [&](int) { return chain_->Enqueue(0, stream()); };
    all[1].enqueue = [&](int) {
      for (int i = 0; i < chain_->size(); ++i) WEFT_TRY(chain_->Run(i, model_[i], stream()));
      return absl::OkStatus();
    };
    all[2].enqueue = [&](int) { return chain_->Enqueue(1, stream()); };
    all[3].enqueue = [&](int) { return EnqueueCudnn(0); };
    all[4].enqueue = [&](int) { return EnqueueCudnn(1); };
    std::vector<Contestant*> racing;
    for (int i = 0; i < (cudnn ? 5 : 3); ++i) {
      all[i].graph_a_run = true;
      WEFT_TRY(machine_.watch().Prepare(all[i], 1, kLongSample));
      racing.push_back(&all[i]);
    }
    WEFT_TRY(machine_.watch().Interleave(racing, options_.rounds, kBudget));
    const char* const names[] = {"ours", "model_choice", "ours_without_first", "cudnn",
                                 "cudnn_without_first"};
    std::array<double, 5> us = {};
    for (int i = 0; i < 5; ++i) {
      const Summary time = Summarize(all[i].samples);
      us[i] = time.median;
      AddTiming(names[i], time, &row_, "ms");
    }
    const std::int64_t images = network_.inputs[0].n;
    row_["ours_images_per_s"] = Rounded(1e6 * images / us[0], 0);
    row_["ours_tops"] = Rounded(2e-6 * network_.macs() / us[0], 1);
    if (cudnn) {
      row_["cudnn_images_per_s"] = Rounded(1e6 * images / us[3], 0);
      row_["ratio"] = Rounded(us[3] / us[0], 4);
      row_["ratio_without_first"] = Rounded(us[4] / us[2], 4);
    }
    row_["samples"] = all[0].samples.size();
    WEFT_TRY(machine_.ReadClock(all[0], &row_));

    // Once more, after thousands of runs, over poisoned outputs: the model's tiles, then ours.
    const int last = OutputOf(chain_->size() - 1);
    const std::int64_t bytes = chain_->Bytes(last);
    for (const int i : {1, 0}) {
      for (int layer = 0; layer < chain_->size(); ++layer) {
        WEFT_TRY(ChainPeer(*chain_, {layer}).Poison(0, stream()));
      }
      WEFT_TRY(machine_.watch().Launch(all[i]));
      if (i == 0) break;
      WEFT_TRY(CudaStatus(cudaMemcpyAsync(want_.data(), chain_->Address(last), bytes,
                                          cudaMemcpyDeviceToDevice, stream()),
                          "copy"));
    }
    WEFT_LET(const Differences models,
             Compare(want_.as<std::int8_t>(), chain_->Address(last), bytes, stream()));
    last_mismatches_ += models.count;
    WEFT_TRY(CheckLayers());
    return cudnn ? CompareEnds() : absl::OkStatus();
  }

  absl::Status CompareEnds() {
    const int last = OutputOf(chain_->size() - 1);
    for (int i = 0; i < chain_->size(); ++i) {
      WEFT_TRY(CudaStatus(
          cudaMemsetAsync(nhwc_[OutputOf(i)].data(), kPoison, nhwc_[OutputOf(i)].bytes(), stream()),
          "poison"));
    }
    WEFT_TRY(EnqueueCudnn(0));
    WEFT_TRY(ToNhwc(last, want_.data()));
    WEFT_LET(const Differences found,
             Compare(nhwc_[last].as<std::int8_t>(), want_.as<std::int8_t>(), nhwc_[last].bytes(),
                     stream()));
    row_["outputs"] = nhwc_[last].bytes();
    row_["output_differences"] = found.count;
    row_["output_largest_difference"] = found.largest;
    return absl::OkStatus();
  }

  struct Planned {
    std::shared_ptr<Peer> peer;
    int plan = 0, set = 0;
  };

  const Network& network_;
  const Options& options_;
  Machine& machine_;
  const RowRun::About& about_;
  Json& row_;
  DeviceMemory memory_;
  std::unique_ptr<OurChain> chain_;
  std::vector<std::vector<int>> kinds_;  // layers of one problem and what follows it
  std::vector<LayerFacts> facts_;        // of each layer
  std::vector<int> model_;               // each layer's tile
  long long last_mismatches_ = 0;
  DeviceBuffer want_;                         // any tensor
  std::vector<DeviceBuffer> nhwc_, filters_;  // cuDNN's
  std::vector<Planned> cudnn_of_;             // each layer's; empty: there is none
};

}  // namespace

Json MeasureNetwork(const Network& network, const Options& options, const Choices& choices,
                    const std::set<std::string>& skip, const RowRun::About& about,
                    const RowRun::Send& send, Machine* machine) {
  Json row = {{"batch", network.inputs[0].n}};
  Bench bench(network, options, machine, about, &row);
  const absl::Status status = bench.Measure(choices, skip, send);
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

#endif  // WEFT_HAVE_CUDA
