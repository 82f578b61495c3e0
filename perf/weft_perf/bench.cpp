#include "perf/weft_perf/bench.hpp"

#if WEFT_HAVE_CUDA

#include <algorithm>
#include <chrono>
#include <deque>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "perf/nc4_bench/measure.hpp"
#include "perf/peers/peer.hpp"
#include "perf/peers/peer_data.hpp"
#include "perf/support/device_data.hpp"
#include "perf/support/nvml.hpp"
#include "perf/weft_perf/ours.hpp"
#include "weft/gemm/arch/device.hpp"

namespace weft::perf {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kShortSample = 400.0;  // microseconds of a sample that finds the best variant
constexpr double kLongSample = 1500.0;  // of a sample that counts
constexpr int kShortSamples = 3;
constexpr int kRoundingAllowance = 1;  // a peer's variant that is further off is none
constexpr double kFinalists = 1.3;     // of the best short time: peers that take part in the end

double Since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string Message(const absl::Status& status) {
  return std::string(status.message());
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
    ceilings_ = {ceilings->bytes_per_us, kTensorTops * 1e6 / 2};
    const GpuState state = nvml_.State();

    Environment& e = *environment;
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, 0) == cudaSuccess) e.device.Set(properties.name);
    e.multiprocessors = limits_.sm_count;
    e.l2_mb = static_cast<double>(limits_.l2_bytes) / (1 << 20);
    e.driver.Set(nvml_.DriverVersion());
    int runtime = 0;
    (void)cudaRuntimeGetVersion(&runtime);
    e.cuda.Set(absl::StrCat(runtime / 1000, ".", runtime % 1000 / 10));
    e.copy_tb_s = ceilings->bytes_per_us / 1e6;
    e.dp4a_tops = 2e-6 * ceilings->macs_per_us;
    e.max_clock_mhz = state.max_sm_clock_mhz;
    return absl::OkStatus();
  }

  bool Measure(const conv::Problem& problem, const BenchOptions& options,
               const std::function<void(const std::string&)>& about_to, LayerRow* row) override {
    const Clock::time_point start = Clock::now();
    const absl::Status status = MeasureRow(problem, options, about_to, row);
    if (!status.ok()) row->failure.Set(Message(status));
    row->seconds = Since(start);
    row->done = 1;
    return CudaStatus(cudaDeviceSynchronize(), "after a layer").ok();
  }

 private:
  // One of `all`: a peer, ours or another's.
  struct Entry {
    std::unique_ptr<Peer> peer;
    Contender* contender = nullptr;
    bool ours = false;
    Contestant contestant;
  };

  absl::Status MeasureRow(const conv::Problem& p, const BenchOptions& options,
                          const std::function<void(const std::string&)>& about_to, LayerRow* row) {
    row->macs = p.macs();
    row->bytes = static_cast<double>(NHWC::Size(p.src()) + KRSC::Size(p.filter()) +
                                     NHWC::Size(p.dst()) + 8 * p.k);
    row->floor_us =
        std::max(row->bytes / ceilings_.bytes_per_us, row->macs / ceilings_.macs_per_us);
    PeerProblem problem;
    problem.problem = p;
    about_to("making tensors");
    absl::StatusOr<std::unique_ptr<PeerData>> data = PeerData::Create(
        problem, options.hot || !options.time ? 0 : limits_.l2_bytes, watch_.stream());
    if (!data.ok()) return data.status();
    row->buffer_sets = (*data)->tensors().sets;

    std::deque<Entry> entries;
    for (std::size_t i = 0; i < options.layouts.size(); ++i) {
      entries.push_back({MakeOurs(options.layouts[i]), &row->ours[i], true, {}});
      entries.back().contender->name.Set(options.layouts[i]);
    }
    for (std::size_t i = 0; i < options.peers.size(); ++i) {
      about_to(absl::StrCat(options.peers[i], "/opening"));
      absl::StatusOr<std::unique_ptr<Peer>> peer = MakePeer(options.peers[i]);
      if (!peer.ok()) return peer.status();
      entries.push_back({*std::move(peer), &row->peers[i], false, {}});
      entries.back().contender->name.Set(options.peers[i]);
    }
    for (Entry& entry : entries) {
      const Clock::time_point start = Clock::now();
      const absl::Status status = FindBest(problem, **data, options, about_to, entry);
      Contender& c = *entry.contender;
      if (!status.ok() && c.best < 0) c.note.Set(Message(status));
      c.seconds = Since(start);
      c.done = 1;
      if (absl::Status s = CudaStatus(cudaDeviceSynchronize(), c.name.chars); !s.ok()) return s;
    }
    if (!options.time) {
      for (const Entry& entry : entries) {
        if (entry.ours && entry.contender->ran > 0) row->best_ours = 0;
      }
      return absl::OkStatus();
    }
    return Compete(**data, options, about_to, entries, row);
  }

  // Checks and shortly times every variant. The best stays built.
  absl::Status FindBest(const PeerProblem& problem, PeerData& data, const BenchOptions& options,
                        const std::function<void(const std::string&)>& about_to, Entry& entry) {
    Peer& peer = *entry.peer;
    Contender& c = *entry.contender;
    PeerOptions peer_options;
    peer_options.build_threads = options.skip.empty() ? options.build_threads : 1;
    peer_options.about_to = [&](const std::string& what) {
      about_to(absl::StrCat(peer.name(), "/", what));
    };
    for (const std::string& skip : options.skip) {
      if (absl::StartsWith(skip, peer.name() + "/")) {
        peer_options.skip.insert(skip.substr(peer.name().size() + 1));
      }
    }
    if (peer_options.skip.contains("opening") || peer_options.skip.contains("Prepare")) {
      return absl::UnavailableError("it crashed before it had a variant");
    }
    if (const auto found = options.chosen.find(peer.name()); found != options.chosen.end()) {
      peer_options.only = {found->second};
    }
    if (absl::Status s = peer.Prepare(problem, data.tensors(), peer_options, watch_.stream());
        !s.ok()) {
      return s;
    }
    c.offered = static_cast<int>(peer.variants().size());
    std::string why = "no variant ran";
    int partial = -1;
    for (int i = 0; i < c.offered; ++i) {
      const Peer::Variant& v = peer.variants()[i];
      if (!peer_options.Wants(v.name)) continue;
      if (entry.ours && !absl::StrContains(v.name, options.only_tile)) continue;
      about_to(absl::StrCat(peer.name(), "/", v.name));
      absl::Status status = peer.Build(i);
      Differences found;
      double us = 0.0;
      if (status.ok()) status = CheckAndTime(data, options, entry, i, &found, &us);
      if (status.ok()) {
        ++c.ran;
        const bool whole = v.scope.bias && v.scope.relu;
        if (entry.ours && i < kMostVariants) c.tile_us[i] = us;
        if (whole && (c.best < 0 || us < c.short_us)) {
          if (c.best >= 0) peer.Release(c.best);
          c.best = i;
          c.short_us = us;
          c.variant.Set(v.name);
          if (!entry.ours) {
            c.differences = found.count;
            c.largest = found.largest;
          }
        } else {
          if (!whole && (partial < 0 || us < c.partial_us)) {
            partial = i;
            c.partial_us = us;
            c.partial.Set(absl::StrCat(v.name, ": ", ScopeText(v.scope)));
          }
          peer.Release(i);
        }
        continue;
      }
      if (entry.ours && !absl::IsInvalidArgument(status) && !absl::IsUnimplemented(status)) {
        return absl::Status(status.code(), absl::StrCat(v.name, ": ", Message(status)));
      }
      why = absl::StrCat(v.name, ": ", Message(status));
      peer.Release(i);
      if (absl::Status s = CudaStatus(cudaDeviceSynchronize(), v.name.c_str()); !s.ok()) return s;
    }
    if (entry.ours) ChooseByModel(problem.problem, static_cast<const OurPeer&>(peer).facts(), &c);
    return c.best < 0 ? absl::UnimplementedError(why) : absl::OkStatus();
  }

  // Among the tiles that ran.
  void ChooseByModel(const conv::Problem& problem, const std::vector<conv::TileFacts>& facts,
                     Contender* c) const {
    conv::GpuFacts gpu = conv::GpuFactsOf(limits_);
    gpu.bytes_per_us = ceilings_.bytes_per_us;
    double least = 0.0;
    for (int i = 0; i < c->offered && i < kMostVariants; ++i) {
      if (c->tile_us[i] <= 0.0) continue;
      const double us = conv::Predict(problem, facts[i], gpu).microseconds;
      if (c->model >= 0 && us >= least) continue;
      c->model = i;
      least = us;
    }
  }

  absl::Status CheckAndTime(PeerData& data, const BenchOptions& options, Entry& entry, int variant,
                            Differences* found, double* us) {
    Contender& c = *entry.contender;
    const absl::StatusOr<Differences> differences =
        data.Check(*entry.peer, variant, watch_.stream());
    if (!differences.ok()) return differences.status();
    *found = *differences;
    if (entry.ours) {
      c.differences += found->count;
      c.largest = std::max(c.largest, found->largest);
      if (found->count != 0 && c.note.empty()) {
        c.note.Set(absl::StrCat(entry.peer->variants()[variant].name, " differs at ", found->count,
                                " outputs"));
      }
    } else if (found->largest > kRoundingAllowance) {
      return absl::DataLossError(
          absl::StrCat("differs at ", found->count, " outputs, by up to ", found->largest));
    }
    if (!options.time) return absl::OkStatus();
    Contestant contestant = Make(*entry.peer, variant);
    contestant.want_graph = options.graph;
    if (absl::Status s = watch_.Prepare(contestant, data.tensors().sets, kShortSample); !s.ok()) {
      return s;
    }
    for (int i = 0; i < kShortSamples; ++i) {
      if (absl::Status s = watch_.Sample(contestant); !s.ok()) return s;
    }
    *us = Quantile(contestant.samples, 0.5);
    return absl::OkStatus();
  }

  Contestant Make(Peer& peer, int variant) const {
    Contestant c;
    c.name = peer.variants()[variant].name;
    c.enqueue = [&peer, variant, stream = watch_.stream()](int set) {
      return peer.Enqueue(variant, set, stream);
    };
    return c;
  }

  // The best variants side by side: A B C A B C ...
  absl::Status Compete(PeerData& data, const BenchOptions& options,
                       const std::function<void(const std::string&)>& about_to,
                       std::deque<Entry>& entries, LayerRow* row) {
    double least = 0.0;
    for (const Entry& e : entries) {
      const Contender& c = *e.contender;
      if (!e.ours && c.best >= 0 && (least == 0.0 || c.short_us < least)) least = c.short_us;
    }
    std::vector<Contestant*> all;
    for (Entry& e : entries) {
      Contender& c = *e.contender;
      if (c.best < 0 || (!e.ours && c.short_us > kFinalists * least)) continue;
      about_to(absl::StrCat(e.peer->name(), "/", c.variant.Get()));
      e.contestant = Make(*e.peer, c.best);
      e.contestant.want_graph = options.graph;
      absl::Status s = watch_.Prepare(e.contestant, data.tensors().sets, kLongSample);
      if (s.ok()) {
        all.push_back(&e.contestant);
        if (options.graph && !e.contestant.graphed) c.note.Set("without a graph: refused");
      } else if (e.ours) {
        return s;
      } else {
        c.note.Set(Message(s));
      }
    }
    about_to("timing");
    if (absl::Status s = watch_.Interleave(all, options.rounds, 1000.0 * options.row_budget_ms);
        !s.ok()) {
      return s;
    }
    for (Entry& e : entries) {
      if (e.contestant.samples.empty()) continue;
      const Summary s = Summarize(e.contestant.samples);
      e.contender->time = {s.median, s.p10, s.p90};
      const auto better = [&](const Contender* list, int* best) {
        if (*best < 0 || s.median < list[*best].time.us) {
          *best = static_cast<int>(e.contender - list);
        }
      };
      e.ours ? better(row->ours, &row->best_ours) : better(row->peers, &row->best_peer);
    }
    if (row->best_ours < 0) return absl::OkStatus();
    Entry& best = entries[row->best_ours];
    if (absl::Status s = ReadClock(best.contestant, row); !s.ok()) return s;
    // Once more, after thousands of runs: a race would show.
    const absl::StatusOr<Differences> last =
        data.Check(*best.peer, best.contender->best, watch_.stream());
    if (!last.ok()) return last.status();
    best.contender->differences += last->count;
    return absl::OkStatus();
  }

  // The clock while `contestant` keeps the GPU busy.
  absl::Status ReadClock(Contestant& contestant, LayerRow* row) {
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
