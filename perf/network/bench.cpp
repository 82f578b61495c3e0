#include "perf/network/bench.hpp"

#include "absl/strings/str_cat.h"

#if WEFT_HAVE_CUDA

#include <algorithm>
#include <chrono>
#include <deque>

#include "perf/network/chain.hpp"
#include "perf/network/cudnn_chain.hpp"
#include "perf/network/gpu.hpp"
#include "perf/network/plan_choice.hpp"
#include "perf/network/timing.hpp"
#include "perf/support/gpu_info.hpp"
#include "perf/support/layers.hpp"

namespace weft::perf {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPoison = 0xB5;  // a byte that ReLU never gives

const char* AfterText(After after) {
  return after == After::kRelu ? "relu" : after == After::kNothing ? "nothing" : "residual relu";
}

std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

class GpuNetworkBench : public NetworkBench {
 public:
  absl::Status Init(Environment* environment) {
    environment_ = environment;
    if (absl::Status s = CheckGpu(); !s.ok()) return s;
    if (absl::Status s = timer_.Init(); !s.ok()) return s;
    const absl::StatusOr<arch::DeviceLimits> limits = DescribeGpu(nvml_, environment);
    if (!limits.ok()) return limits.status();
    limits_ = *limits;
    return absl::OkStatus();
  }

  bool Measure(const Network& network, const NetworkOptions& options, NetworkRow* row) override {
    const Clock::time_point start = Clock::now();
    const absl::Status status = MeasureRow(network, options, row);
    if (!status.ok()) row->failure.Set(Message(status));
    row->seconds = std::chrono::duration<double>(Clock::now() - start).count();
    row->done = 1;
    return CudaStatus(cudaDeviceSynchronize(), "after a network").ok();
  }

 private:
  absl::Status MeasureRow(const Network& network, const NetworkOptions& options, NetworkRow* row) {
    if (network.layers.size() > kMostNetworkLayers) {
      return absl::InvalidArgumentError(
          absl::StrCat("network ", network.name, " has more than ", kMostNetworkLayers, " layers"));
    }
    row->layers = static_cast<int>(network.layers.size());
    row->macs = network.macs();
    row->checked_images = row->batch > 1 ? 2 : 1;
    for (int i = 0; i < row->layers; ++i) {
      row->layer[i].name.Set(network.layers[i].name);
      row->layer[i].problem.Set(LayerName(network.layers[i].problem));
      row->layer[i].after.Set(AfterText(network.layers[i].after));
    }
    options.about_to("our chain");
    DeviceMemory memory;
    absl::StatusOr<std::unique_ptr<OurChain>> ours =
        OurChain::Create(network, GpuNetworkTiles(), &memory, stream());
    if (!ours.ok()) return ours.status();
    if (absl::Status s = CheckLayers(**ours, row); !s.ok()) return s;
    std::int64_t most = 0;
    for (int i = 0; i < network.tensors(); ++i) most = std::max(most, (*ours)->Bytes(i));
    for (DeviceBuffer* buffer : {&want_, &got_}) {
      absl::StatusOr<DeviceBuffer> made = DeviceBuffer::Create(most);
      if (!made.ok()) return made.status();
      *buffer = *std::move(made);
    }
    options.about_to("our tiles");
    std::vector<int> model(row->layers, -1);
    for (int i = 0; i < row->layers; ++i) {
      row->layer[i].zeros = (*ours)->facts(i).zeros;
      row->layer[i].saturated = (*ours)->facts(i).saturated;
      if (absl::Status s = ChooseTile(**ours, i, &model, row); !s.ok()) return s;
    }
#if WEFT_HAVE_CUDNN
    std::unique_ptr<CudnnChain> cudnn;
    if (options.cudnn) {
      if (absl::Status s = MakeCudnn(**ours, options, &cudnn, row); !s.ok()) {
        row->cudnn_note.Set(Message(s));
        cudnn.reset();
        if (absl::Status lost = CudaStatus(cudaDeviceSynchronize(), "cuDNN"); !lost.ok())
          return lost;
      }
    }
    return Compete(**ours, model, cudnn.get(), options, row);
#else
    row->cudnn_note.Set("built without cuDNN's header");
    return Compete<void>(**ours, model, nullptr, options, row);
#endif
  }

  cudaStream_t stream() const {
    return timer_.stream();
  }

  // The first and the last image of every layer.
  absl::Status CheckLayers(const OurChain& ours, NetworkRow* row) {
    const std::int64_t last = row->batch - 1;
    for (int i = 0; i < ours.size(); ++i) {
      for (std::int64_t image = 0; image < row->batch; image += std::max<std::int64_t>(last, 1)) {
        const absl::StatusOr<Differences> found = ours.Check(i, image, ReferenceOnGpu);
        if (!found.ok()) return found.status();
        row->layer[i].mismatches += found->count;
        row->mismatches += found->count;
      }
    }
    return absl::OkStatus();
  }

  static int FirstAlike(const OurChain& ours, int layer) {
    const std::vector<NetworkLayer>& layers = ours.network().layers;
    for (int i = 0; i < layer; ++i) {
      if (layers[i].problem == layers[layer].problem && layers[i].after == layers[layer].after) {
        return i;
      }
    }
    return layer;
  }

  // Tries every tile on the chain's tensors; each must give what the checked one gave. Layers alike
  // get one choice.
  absl::Status ChooseTile(OurChain& ours, int layer, std::vector<int>* model, NetworkRow* row) {
    NetworkLayerRow& r = row->layer[layer];
    if (const int first = FirstAlike(ours, layer); first < layer) {
      const NetworkLayerRow& same = row->layer[first];
      ours.Choose(layer, ours.chosen(first));
      (*model)[layer] = (*model)[first];
      r.tile = same.tile, r.model_tile = same.model_tile;
      r.tile_us = same.tile_us, r.model_us = same.model_us, r.tiles = same.tiles;
      return absl::OkStatus();
    }
    const int tensor = ours.network().OutputOf(layer);
    const std::int64_t bytes = ours.Bytes(tensor);
    absl::Status s = CudaStatus(cudaMemcpyAsync(want_.data(), ours.Address(tensor), bytes,
                                                cudaMemcpyDeviceToDevice, stream()),
                                "copy");
    if (!s.ok()) return s;
    const int count = static_cast<int>(ours.tiles(layer).size());
    std::vector<double> times(count, 0.0);
    int best = -1;
    for (int tile = 0; tile < count; ++tile) {
      const std::string& name = ours.tiles(layer)[tile].name;
      s = CudaStatus(cudaMemsetAsync(ours.Address(tensor), kPoison, bytes, stream()), "poison");
      if (s.ok()) s = ours.Run(layer, tile, stream());
      if (absl::IsInvalidArgument(s) || absl::IsUnimplemented(s) || absl::IsOutOfRange(s)) continue;
      if (!s.ok()) return absl::Status(s.code(), absl::StrCat(name, ": ", Message(s)));
      const absl::StatusOr<Differences> found =
          Compare(ours.Address(tensor), want_.as<std::int8_t>(), bytes, stream());
      if (!found.ok()) return found.status();
      r.mismatches += found->count;
      row->mismatches += found->count;
      const absl::StatusOr<double> time =
          timer_.Alone([&] { return ours.Run(layer, tile, stream()); });
      if (!time.ok()) return time.status();
      times[tile] = *time;
      ++r.tiles;
      if (best < 0 || *time < times[best]) best = tile;
    }
    if (best < 0) return absl::UnimplementedError(absl::StrCat("no tile for layer ", r.name.chars));
    ours.Choose(layer, best);
    r.tile.Set(ours.tiles(layer)[best].name);
    r.tile_us = times[best];
    const int choice = ours.Model(layer, conv::GpuFactsOf(limits_)).tile;
    (*model)[layer] = choice >= 0 ? choice : best;
    r.model_tile.Set(ours.tiles(layer)[(*model)[layer]].name);
    r.model_us = times[(*model)[layer]];
    // What the other layers read is as it was: all tiles gave the same.
    return absl::OkStatus();
  }

#if WEFT_HAVE_CUDNN
  absl::Status MakeCudnn(const OurChain& ours, const NetworkOptions& options,
                         std::unique_ptr<CudnnChain>* cudnn, NetworkRow* row) {
    if (options.skip.contains("cudnn/open")) {
      return absl::UnavailableError("it crashed when it was opened");
    }
    options.about_to("cudnn/open");
    absl::StatusOr<std::unique_ptr<CudnnChain>> made = CudnnChain::Create(ours, stream());
    if (!made.ok()) return made.status();
    *cudnn = *std::move(made);
    return PlanChooser(ours, cudnn->get(), timer_, got_.as<std::int8_t>(), options, row)
        .ChooseAll();
  }
#endif

  // Ours, ours with the model's tiles, ours without the first layer, cuDNN, cuDNN without it.
  template <class Other>
  absl::Status Compete(OurChain& ours, const std::vector<int>& model, Other* cudnn,
                       const NetworkOptions& options, NetworkRow* row) {
    std::deque<Racer> all(cudnn != nullptr ? 5 : 3);
    all[0].enqueue = [&] { return ours.Enqueue(0, stream()); };
    all[1].enqueue = [&] {
      for (int i = 0; i < ours.size(); ++i) {
        if (absl::Status s = ours.Run(i, model[i], stream()); !s.ok()) return s;
      }
      return absl::OkStatus();
    };
    all[2].enqueue = [&] { return ours.Enqueue(1, stream()); };
    if constexpr (!std::is_void_v<Other>) {
      for (int first = 0; cudnn != nullptr && first < 2; ++first) {
        all[3 + first].enqueue = [&, first] { return cudnn->Enqueue(first, stream()); };
      }
    }
    options.about_to(cudnn != nullptr ? "cudnn/all/timing" : "timing");
    const absl::Status timed = timer_.Race(options.rounds, 1000.0 * options.budget_ms, &all);
    if (!timed.ok()) return timed;
    Timing* const times[] = {&row->ours, &row->model, &row->ours_rest, &row->cudnn,
                             &row->cudnn_rest};
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Summary s = Summarize(all[i].samples);
      times[i]->us = s.median, times[i]->p10 = s.p10, times[i]->p90 = s.p90;
    }
    row->samples = static_cast<int>(all[0].samples.size());
    if (absl::Status s = ReadClock(all[0], row); !s.ok()) return s;

    // Once more, after thousands of runs, over poisoned outputs: the model's tiles, then ours.
    const int last = ours.network().OutputOf(ours.size() - 1);
    const std::int64_t bytes = ours.Bytes(last);
    absl::Status s;
    for (const int i : {1, 0}) {
      s = Poison(ours);
      if (s.ok()) s = all[i].graph.Launch(stream());
      if (s.ok() && i == 1) {
        s = CudaStatus(cudaMemcpyAsync(want_.data(), ours.Address(last), bytes,
                                       cudaMemcpyDeviceToDevice, stream()),
                       "copy");
      }
      if (s.ok()) s = CudaStatus(cudaStreamSynchronize(stream()), "a last run");
      if (!s.ok()) return s;
    }
    const absl::StatusOr<Differences> models =
        Compare(want_.as<std::int8_t>(), ours.Address(last), bytes, stream());
    if (!models.ok()) return models.status();
    row->mismatches += models->count;
    if (s = CheckLayers(ours, row); !s.ok()) return s;
    if constexpr (!std::is_void_v<Other>) {
      if (cudnn != nullptr) return CompareEnds(ours, *cudnn, all[3], row);
    }
    return absl::OkStatus();
  }

#if WEFT_HAVE_CUDNN
  absl::Status CompareEnds(const OurChain& ours, CudnnChain& cudnn, const Racer& racer,
                           NetworkRow* row) {
    absl::Status s;
    for (int i = 0; i < ours.size() && s.ok(); ++i) s = cudnn.Poison(i, stream());
    if (s.ok()) s = racer.graph.Launch(stream());
    if (s.ok()) s = CudaStatus(cudaStreamSynchronize(stream()), "cuDNN's last run");
    if (s.ok()) s = cudnn.Output(ours.size() - 1, got_.as<std::int8_t>(), stream());
    if (!s.ok()) return s;
    const int last = ours.network().OutputOf(ours.size() - 1);
    const absl::StatusOr<Differences> found =
        Compare(got_.as<std::int8_t>(), ours.Address(last), ours.Bytes(last), stream());
    if (!found.ok()) return found.status();
    const TensorExtents e = ours.network().Extents(last);
    row->outputs = e.n * e.c * e.h * e.w;
    row->output_differences = found->count;
    row->output_largest = found->largest;
    return absl::OkStatus();
  }
#endif

  absl::Status Poison(const OurChain& ours) {
    for (int i = 0; i < ours.size(); ++i) {
      const int tensor = ours.network().OutputOf(i);
      absl::Status s = CudaStatus(
          cudaMemsetAsync(ours.Address(tensor), kPoison, ours.Bytes(tensor), stream()), "poison");
      if (!s.ok()) return s;
    }
    return absl::OkStatus();
  }

  // The clock while `racer` keeps the GPU busy.
  absl::Status ReadClock(const Racer& racer, NetworkRow* row) {
    for (int i = 0; i < 3 * racer.launches; ++i) {
      if (absl::Status s = racer.graph.Launch(stream()); !s.ok()) return s;
    }
    const GpuState state = nvml_.State();
    if (absl::Status s = CudaStatus(cudaStreamSynchronize(stream()), "clock"); !s.ok()) return s;
    row->clock_mhz = state.sm_clock_mhz;
    NoteState(state, environment_);
    return absl::OkStatus();
  }

  Environment* environment_ = nullptr;
  ChainTimer timer_;
  Nvml nvml_;
  arch::DeviceLimits limits_;
  DeviceBuffer want_, got_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<NetworkBench>> NetworkBench::Create(Environment* environment) {
  auto bench = std::make_unique<GpuNetworkBench>();
  if (absl::Status s = bench->Init(environment); !s.ok()) return s;
  return std::unique_ptr<NetworkBench>(std::move(bench));
}

}  // namespace weft::perf

#else

namespace weft::perf {

absl::StatusOr<std::unique_ptr<NetworkBench>> NetworkBench::Create(Environment*) {
  return absl::UnavailableError("built without CUDA");
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
