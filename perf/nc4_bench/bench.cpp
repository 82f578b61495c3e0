#include "perf/nc4_bench/bench.hpp"

#if WEFT_HAVE_CUDA

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "perf/nc4_bench/cudnn_int8x4.hpp"
#include "perf/nc4_bench/family.hpp"
#include "perf/nc4_bench/measure.hpp"
#include "perf/nc4_bench/tensors.hpp"
#include "perf/support/device_data.hpp"
#include "perf/support/nvml.hpp"
#include "weft/conv/tile_model.hpp"
#include "weft/gemm/arch/device.hpp"

namespace weft::perf {
namespace {

constexpr double kShortSample = 600.0;  // microseconds of a sample that finds the best tile
constexpr double kLongSample = 1500.0;  // of a sample that counts
constexpr int kShortSamples = 3;
constexpr int kRoundingAllowance = 1;  // a plan of cuDNN's that is further off is not a peer

std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

Timing ToTiming(const std::vector<double>& samples) {
  const Summary s = Summarize(samples);
  return {s.median, s.p10, s.p90};
}

class GpuBench : public Bench {
 public:
  absl::Status Init(Environment* environment) {
    environment_ = environment;
    if (absl::Status s = CheckGpu(); !s.ok()) return s;
    if (absl::Status s = watch_.Init(); !s.ok()) return s;
    const arch::DeviceQuery query = arch::QueryDevice();
    if (!query.result.ok()) return absl::UnavailableError(query.result.message);
    limits_ = query.limits;
    const absl::StatusOr<Ceilings> ceilings = MeasureCeilings(watch_.stream());
    if (!ceilings.ok()) return ceilings.status();
    ceilings_ = *ceilings;
    const GpuState state = nvml_.State();
    gpu_ = conv::GpuFactsOf(limits_);
    if (state.max_sm_clock_mhz > 0) gpu_.clock_mhz = state.max_sm_clock_mhz;
    gpu_.bytes_per_us = ceilings_.bytes_per_us;

    Environment& e = *environment;
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, 0) == cudaSuccess) e.device.Set(properties.name);
    e.multiprocessors = limits_.sm_count;
    e.l2_mb = static_cast<double>(limits_.l2_bytes) / (1 << 20);
    e.driver.Set(nvml_.DriverVersion());
    int runtime = 0;
    (void)cudaRuntimeGetVersion(&runtime);
    e.cuda.Set(absl::StrCat(runtime / 1000, ".", runtime % 1000 / 10));
    e.copy_tb_s = ceilings_.bytes_per_us / 1e6;
    e.dp4a_tops = 2e-6 * ceilings_.macs_per_us;
    e.max_clock_mhz = state.max_sm_clock_mhz;
    return absl::OkStatus();
  }

  bool Measure(const conv::Problem& problem, const BenchOptions& options,
               const std::function<void(const std::string&)>& before_peer, Row* row) override {
    absl::Status status = MeasureRow(problem, options, before_peer, row);
    if (!status.ok()) row->failure.Set(Message(status));
    row->done = 1;
    return CudaStatus(cudaDeviceSynchronize(), "after a layer").ok();
  }

  absl::Status RunOnce(const conv::Problem& problem, const BenchOptions& options,
                       Row* row) override {
    absl::StatusOr<Tensors> tensors = Tensors::Create(problem, 0, watch_.stream());
    if (!tensors.ok()) return tensors.status();
    for (int i = 0; i < static_cast<int>(Family().size()); ++i) {
      if (options.only_tile >= 0 && options.only_tile != i) continue;
      absl::StatusOr<RunFunction> run = CheckTile(problem, *tensors, Family()[i], row);
      if (!run.ok()) return run.status();
    }
    row->done = 1;
    return absl::OkStatus();
  }

 private:
  // A tile's operator, after one run whose every output was compared.
  absl::StatusOr<RunFunction> CheckTile(const conv::Problem& problem, const Tensors& tensors,
                                        const Tile& tile, Row* row) {
    absl::StatusOr<RunFunction> run = tile.create(problem);
    if (!run.ok()) return run;
    if (absl::Status s = tensors.Poison(); !s.ok()) return s;
    if (absl::Status s = (*run)(tensors.Arguments(0), watch_.stream()); !s.ok()) {
      return absl::Status(s.code(), absl::StrCat(tile.name, ": ", Message(s)));
    }
    const absl::StatusOr<Differences> found = tensors.Check(watch_.stream());
    if (!found.ok()) {
      return absl::Status(found.status().code(),
                          absl::StrCat(tile.name, ": ", Message(found.status())));
    }
    row->mismatches += found->count;
    return run;
  }

  absl::Status MeasureRow(const conv::Problem& problem, const BenchOptions& options,
                          const std::function<void(const std::string&)>& before_peer, Row* row) {
    row->macs = problem.macs();
    row->bytes = Nc4Bytes(problem);
    row->floor_us = FloorMicroseconds(problem, ceilings_);
    const absl::StatusOr<Tensors> tensors =
        Tensors::Create(problem, limits_.l2_bytes, watch_.stream());
    if (!tensors.ok()) return tensors.status();
    row->buffer_sets = tensors->sets();

    // Every tile: exact, then a short measurement.
    const std::vector<Tile>& family = Family();
    std::vector<RunFunction> runs(family.size());
    std::vector<conv::TileFacts> facts;
    for (const Tile& tile : family) facts.push_back(tile.facts);
    row->model =
        options.only_tile >= 0 ? options.only_tile : conv::ChooseTile(problem, facts, gpu_);
    for (int i = 0; i < static_cast<int>(family.size()); ++i) {
      if (options.only_tile >= 0 && options.only_tile != i) continue;
      absl::StatusOr<RunFunction> run = CheckTile(problem, *tensors, family[i], row);
      if (!run.ok()) return run.status();
      runs[i] = *run;
      Contestant contestant = Ours(family[i].name, runs[i], *tensors);
      if (absl::Status s = Shortly(contestant, tensors->sets()); !s.ok()) return s;
      row->tile_us[i] = Quantile(contestant.samples, 0.5);
      if (row->best < 0 || row->tile_us[i] < row->tile_us[row->best]) row->best = i;
    }

    std::optional<Contestant> peer;
    if (options.with_peer && row->peer_note.empty()) {
      FindPeer(problem, *tensors, runs[row->best], before_peer, row, &peer);
    }

    Contestant best = Ours(family[row->best].name, runs[row->best], *tensors);
    Contestant chosen = Ours(family[row->model].name, runs[row->model], *tensors);
    std::vector<Contestant*> all = {&best};
    if (row->model != row->best) all.push_back(&chosen);
    for (Contestant* c : all) {
      if (absl::Status s = watch_.Prepare(*c, tensors->sets(), kLongSample); !s.ok()) return s;
    }
    if (peer.has_value()) {
      before_peer(peer->name);
      if (absl::Status s = watch_.Prepare(*peer, tensors->sets(), kLongSample); !s.ok()) {
        row->peer_note.Set(Message(s));
        peer.reset();
      }
    }
    // The peer goes second, so that ours and the peer alternate also among three.
    if (peer.has_value()) all.insert(all.begin() + 1, &*peer);
    if (absl::Status s = watch_.Interleave(all, options.rounds, 1000.0 * options.row_budget_ms);
        !s.ok()) {
      return s;
    }
    row->ours = ToTiming(best.samples);
    row->chosen = row->model == row->best ? row->ours : ToTiming(chosen.samples);
    if (peer.has_value()) {
      row->peer = ToTiming(peer->samples);
      if (!peer->graphed) row->peer_note.Set("peer timed without a graph: capture refused");
    }
    if (absl::Status s = ReadClock(best, row); !s.ok()) return s;

    // Once more, after thousands of runs: a race would show. ReadClock's runs of `best` were the
    // last.
    if (best.graphed) {
      const absl::StatusOr<Differences> last = tensors->Check(watch_.stream());
      if (!last.ok()) return last.status();
      row->mismatches += last->count;
    }
    return absl::OkStatus();
  }

  Contestant Ours(const std::string& name, const RunFunction& run, const Tensors& tensors) {
    Contestant c;
    c.name = name;
    c.enqueue = [&run, &tensors, stream = watch_.stream()](int set) {
      return run(tensors.Arguments(set), stream);
    };
    return c;
  }

  absl::Status Shortly(Contestant& c, int sets) {
    if (absl::Status s = watch_.Prepare(c, sets, kShortSample); !s.ok()) return s;
    for (int i = 0; i < kShortSamples; ++i) {
      if (absl::Status s = watch_.Sample(c); !s.ok()) return s;
    }
    return absl::OkStatus();
  }

  // cuDNN's fastest plan whose result agrees with ours but for rounding. Why there is none goes to
  // row->peer_note.
  void FindPeer(const conv::Problem& problem, const Tensors& tensors, const RunFunction& ours,
                const std::function<void(const std::string&)>& before_peer, Row* row,
                std::optional<Contestant>* peer) {
    before_peer("opening cuDNN");
    if (cudnn_ == nullptr) {
      absl::StatusOr<std::unique_ptr<Cudnn>> cudnn = Cudnn::Open(watch_.stream());
      if (!cudnn.ok()) {
        row->peer_note.Set(Message(cudnn.status()));
        return;
      }
      cudnn_ = std::move(*cudnn);
      environment_->cudnn.Set(cudnn_->version());
      environment_->cudnn_path.Set(cudnn_->path());
    }
    before_peer("asking cuDNN for plans");
    absl::StatusOr<std::unique_ptr<CudnnInt8x4>> conv = CudnnInt8x4::Create(*cudnn_, problem);
    if (!conv.ok()) {
      row->peer_note.Set(Message(conv.status()));
      return;
    }
    convolution_ = std::move(*conv);

    // Ours with the one scale that cuDNN takes, kept in the destination of set 0; cuDNN's result
    // goes to the scratch.
    std::string why = "cuDNN offers no plan";
    double least = 0.0;
    for (const CudnnInt8x4::Plan& plan : convolution_->Plans()) {
      absl::StatusOr<DeviceBuffer> workspace =
          DeviceBuffer::Create(std::max<std::int64_t>(plan.workspace_bytes, 256));
      if (!workspace.ok()) {
        why = absl::StrCat(plan.name, ": no memory for its workspace");
        continue;
      }
      before_peer(plan.name);
      absl::Status status = ours(tensors.PerTensorArguments(0), watch_.stream());
      const RunArguments first = tensors.PerTensorArguments(0);
      if (status.ok()) {
        status = convolution_->Run(plan, first.src, tensors.PeerFilter(0), first.bias, first.alpha,
                                   workspace->data(), tensors.scratch());
      }
      if (status.ok()) status = CudaStatus(cudaStreamSynchronize(watch_.stream()), "cuDNN");
      if (!status.ok()) {
        if (least == 0.0) why = Message(status);
        if (!CudaStatus(cudaDeviceSynchronize(), "").ok()) return;  // the GPU is lost to us
        continue;
      }
      const absl::StatusOr<Differences> found =
          CompareBlocked(tensors.scratch(), first.dst, problem.dst(), watch_.stream());
      if (!found.ok() || found->largest > kRoundingAllowance) {
        if (least == 0.0) {
          why = found.ok() ? absl::StrCat(plan.name, " differs from ours at ", found->count,
                                          " outputs, by up to ", found->largest)
                           : Message(found.status());
        }
        continue;
      }
      Contestant c;
      c.name = plan.name;
      c.enqueue = [this, plan, &tensors, memory = workspace->data()](int set) {
        const RunArguments args = tensors.PerTensorArguments(set);
        return convolution_->Run(plan, args.src, tensors.PeerFilter(set), args.bias, args.alpha,
                                 memory, args.dst);
      };
      if (absl::Status s = Shortly(c, tensors.sets()); !s.ok()) {
        if (least == 0.0) why = Message(s);
        continue;
      }
      const double time = Quantile(c.samples, 0.5);
      if (least != 0.0 && time >= least) continue;
      least = time;
      row->peer_name.Set(plan.name);
      row->peer_differences = found->count;
      row->peer_largest = found->largest;
      workspace_ = std::move(*workspace);
      c.samples.clear();
      c.graph = CudaGraph();
      *peer = std::move(c);
    }
    if (!peer->has_value()) row->peer_note.Set(why);
  }

  // The clock while `contestant` keeps the GPU busy.
  absl::Status ReadClock(Contestant& contestant, Row* row) {
    if (!contestant.graphed) return absl::OkStatus();
    for (int i = 0; i < 3; ++i) {
      if (absl::Status s = contestant.graph.Launch(watch_.stream()); !s.ok()) return s;
    }
    const GpuState state = nvml_.State();
    if (absl::Status s = CudaStatus(cudaStreamSynchronize(watch_.stream()), "clock"); !s.ok()) {
      return s;
    }
    row->clock_mhz = state.sm_clock_mhz;
    Environment& e = *environment_;
    if (e.first_clock_mhz == 0.0) e.first_clock_mhz = state.sm_clock_mhz;
    e.last_clock_mhz = state.sm_clock_mhz;
    e.watts = state.watts;
    e.celsius = state.celsius;
    e.throttle_reasons |= state.throttle_reasons;
    return absl::OkStatus();
  }

  Environment* environment_ = nullptr;
  Stopwatch watch_;
  Nvml nvml_;
  arch::DeviceLimits limits_;
  Ceilings ceilings_;
  conv::GpuFacts gpu_;
  std::unique_ptr<Cudnn> cudnn_;
  std::unique_ptr<CudnnInt8x4> convolution_;
  DeviceBuffer workspace_;  // of the peer that was chosen
};

}  // namespace

absl::StatusOr<std::unique_ptr<Bench>> Bench::Create(Environment* environment) {
  auto bench = std::make_unique<GpuBench>();
  if (absl::Status s = bench->Init(environment); !s.ok()) return s;
  return std::unique_ptr<Bench>(std::move(bench));
}

}  // namespace weft::perf

#else

namespace weft::perf {

absl::StatusOr<std::unique_ptr<Bench>> Bench::Create(Environment*) {
  return absl::UnavailableError("built without CUDA");
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
