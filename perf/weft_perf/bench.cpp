#include "perf/weft_perf/bench.hpp"

#if WEFT_HAVE_CUDA

#include <algorithm>
#include <chrono>
#include <deque>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "perf/peers/peer.hpp"
#include "perf/peers/peer_data.hpp"
#include "perf/weft_perf/machine.hpp"
#include "perf/weft_perf/ours.hpp"
#include "perf/weft_perf/reformatted.hpp"

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
  absl::Status Init(Environment* environment) { return machine_.Init(environment); }

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
    std::unique_ptr<ReformattedPeer> reformatted;
    Contestant reformatted_contestant;
  };

  const Stopwatch& watch() const { return machine_.watch(); }
  Stream stream() const { return machine_.watch().stream(); }

  absl::Status MeasureRow(const conv::Problem& p, const BenchOptions& options,
                          const std::function<void(const std::string&)>& about_to, LayerRow* row) {
    PeerProblem problem;
    problem.problem = p;
    problem.residual = options.epilogue == Epilogue::kResidual;
    problem.hswish = options.epilogue == Epilogue::kHSwish;
    problem.relu = !problem.hswish;
    row->macs = p.macs();
    row->bytes = LeastBytes(p, problem.residual);
    row->floor_us = FloorMicroseconds(p, machine_.ceilings(options.dp4a_floor), problem.residual);
    about_to("making tensors");
    absl::StatusOr<std::unique_ptr<PeerData>> data = PeerData::Create(
        problem, options.hot || !options.time ? 0 : machine_.limits().l2_bytes, stream());
    if (!data.ok()) return data.status();
    row->buffer_sets = (*data)->tensors().sets;

    std::deque<Entry> entries;
    for (std::size_t i = 0; i < options.layouts.size(); ++i) {
      entries.push_back(
          {MakeOurs(options.layouts[i], options.epilogue), &row->ours[i], true, {}, {}, {}});
      entries.back().contender->name.Set(options.layouts[i]);
    }
    for (std::size_t i = 0; i < options.peers.size(); ++i) {
      about_to(absl::StrCat(options.peers[i], "/opening"));
      absl::StatusOr<std::unique_ptr<Peer>> peer = MakePeer(options.peers[i]);
      if (!peer.ok()) return peer.status();
      entries.push_back({*std::move(peer), &row->peers[i], false, {}, {}, {}});
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
    return Compete(problem, **data, options, about_to, entries, row);
  }

  // dp4a where tensor cores have whole packets of channels, and a fused first layer elsewhere.
  static bool LeftOut(const std::string& layout, const conv::Problem& p) {
    if (layout == "nc4_nc32") return p.c > 4;
    return layout == "nc4" && p.c % 32 == 0;
  }

  // Checks and shortly times every variant. The best stays built.
  absl::Status FindBest(const PeerProblem& problem, PeerData& data, const BenchOptions& options,
                        const std::function<void(const std::string&)>& about_to, Entry& entry) {
    Peer& peer = *entry.peer;
    Contender& c = *entry.contender;
    if (entry.ours && options.all_layouts && LeftOut(peer.name(), problem.problem)) {
      return absl::UnimplementedError(
          "left out: tensor cores take these channels; ask for the layout by name");
    }
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
    if (absl::Status s = peer.Prepare(problem, data.tensors(), peer_options, stream()); !s.ok()) {
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
        const bool whole = IsWhole(peer.variants()[i].scope, problem);
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
    if (entry.ours) ChooseByModel(problem.problem, static_cast<const OurPeer&>(peer), &c);
    return c.best < 0 ? absl::UnimplementedError(why) : absl::OkStatus();
  }

  // What Dispatch without a tuning table chooses among the tiles that ran: of the ready-made family
  // where it has some of them.
  void ChooseByModel(const conv::Problem& problem, const OurPeer& peer, Contender* c) const {
    const std::vector<TileInfo>& tiles = peer.tiles().tiles;
    const conv::GpuFacts gpu = conv::GpuFactsOf(machine_.limits());
    const int count = std::min(c->offered, kMostVariants);
    bool family = false;
    for (int i = 0; i < count; ++i) family |= c->tile_us[i] > 0.0 && tiles[i].in_family;
    double least = 0.0;
    for (int i = 0; i < count; ++i) {
      if (c->tile_us[i] <= 0.0 || (family && !tiles[i].in_family)) continue;
      const double us = conv::Predict(problem, peer.facts()[i], gpu).microseconds;
      if (c->model >= 0 && us >= least) continue;
      c->model = i;
      least = us;
    }
  }

  absl::Status CheckAndTime(PeerData& data, const BenchOptions& options, Entry& entry, int variant,
                            Differences* found, double* us) {
    Contender& c = *entry.contender;
    const absl::StatusOr<Differences> differences = data.Check(*entry.peer, variant, stream());
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
    if (absl::Status s = watch().Prepare(contestant, data.tensors().sets, kShortSample); !s.ok()) {
      return s;
    }
    for (int i = 0; i < kShortSamples; ++i) {
      if (absl::Status s = watch().Sample(contestant); !s.ok()) return s;
    }
    *us = Quantile(contestant.samples, 0.5);
    return absl::OkStatus();
  }

  Contestant Make(Peer& peer, int variant) const {
    Contestant c;
    c.name = peer.variants()[variant].name;
    c.enqueue = [&peer, variant, stream = stream()](int set) {
      return peer.Enqueue(variant, set, stream);
    };
    return c;
  }

  // The best variants side by side: A B C A B C ..., with and without reformats.
  absl::Status Compete(const PeerProblem& problem, PeerData& data, const BenchOptions& options,
                       const std::function<void(const std::string&)>& about_to,
                       std::deque<Entry>& entries, LayerRow* row) {
    double least = 0.0, least_int8 = 0.0;
    for (const Entry& e : entries) {
      const Contender& c = *e.contender;
      if (e.ours || c.best < 0) continue;
      const auto lower = [&](double* to) {
        if (*to == 0.0 || c.short_us < *to) *to = c.short_us;
      };
      lower(&least);
      if (e.peer->Src(0).address != nullptr) lower(&least_int8);
    }
    std::vector<Contestant*> all;
    const auto join = [&](Entry& e, Peer& peer, int variant, Contestant* contestant) {
      *contestant = Make(peer, variant);
      contestant->want_graph = options.graph;
      absl::Status s = watch().Prepare(*contestant, data.tensors().sets, kLongSample);
      if (s.ok()) {
        all.push_back(contestant);
        if (options.graph && !contestant->graphed) {
          e.contender->note.Set("without a graph: refused");
        }
      } else if (!e.ours) {
        e.contender->note.Set(Message(s));
        contestant->samples.clear();
        return absl::OkStatus();
      }
      return s;
    };
    if (options.tensors.has_value()) {
      row->tensors.Set(UserFormats::Of(*options.tensors, problem.problem).Text());
    }
    for (Entry& e : entries) {
      const Contender& c = *e.contender;
      const bool int8 = e.peer->Src(0).address != nullptr;
      const bool for_reformat = options.tensors.has_value() && int8;
      if (c.best < 0) continue;
      if (!e.ours && c.short_us > kFinalists * least &&
          !(for_reformat && c.short_us <= kFinalists * least_int8)) {
        continue;
      }
      about_to(absl::StrCat(e.peer->name(), "/", c.variant.Get()));
      if (absl::Status s = join(e, *e.peer, c.best, &e.contestant); !s.ok()) return s;
      if (!for_reformat || all.empty() || all.back() != &e.contestant) continue;
      if (absl::Status s = MakeReformatted(problem, data, options, e); !s.ok()) return s;
      if (e.reformatted == nullptr || e.reformatted->trivial()) continue;
      if (absl::Status s = join(e, *e.reformatted, 0, &e.reformatted_contestant); !s.ok()) return s;
    }
    about_to("timing");
    if (absl::Status s = watch().Interleave(all, options.rounds, 1000.0 * options.row_budget_ms);
        !s.ok()) {
      return s;
    }
    for (Entry& e : entries) Sum(e, row);
    if (row->best_ours < 0) return absl::OkStatus();
    Entry& best = entries[row->best_ours];
    if (absl::Status s = machine_.ReadClock(best.contestant, row); !s.ok()) return s;
    // Once more, after thousands of runs: a race would show.
    const absl::StatusOr<Differences> last = data.Check(*best.peer, best.contender->best, stream());
    if (!last.ok()) return last.status();
    best.contender->differences += last->count;
    return absl::OkStatus();
  }

  // What the samples of an entry say, and whether it is the best so far.
  static void Sum(const Entry& e, LayerRow* row) {
    const auto timing = [](const std::vector<double>& samples) {
      const Summary s = Summarize(samples);
      return Timing{s.median, s.p10, s.p90, HalvesDiffer(samples)};
    };
    const auto better = [&](Timing Contender::*time, const Contender* list, int* best) {
      const double us = (e.contender->*time).us;
      if (us > 0.0 && (*best < 0 || us < (list[*best].*time).us)) {
        *best = static_cast<int>(e.contender - list);
      }
    };
    const Contender* const list = e.ours ? row->ours : row->peers;
    if (e.contestant.samples.empty()) return;
    e.contender->time = timing(e.contestant.samples);
    better(&Contender::time, list, e.ours ? &row->best_ours : &row->best_peer);
    if (e.reformatted == nullptr) return;
    const std::vector<double>& samples = e.reformatted_contestant.samples;
    if (e.reformatted->trivial()) {
      e.contender->with_reformat = e.contender->time;
    } else if (!samples.empty()) {
      e.contender->with_reformat = timing(samples);
    }
    better(&Contender::with_reformat, list, e.ours ? &row->reformat_ours : &row->reformat_peer);
  }

  // The entry's best variant between the user's tensors, checked. None where that is impossible.
  absl::Status MakeReformatted(const PeerProblem& problem, PeerData& data,
                               const BenchOptions& options, Entry& e) {
    absl::StatusOr<std::unique_ptr<ReformattedPeer>> made =
        ReformattedPeer::Create(*e.peer, e.contender->best, problem, data.tensors(),
                                UserFormats::Of(*options.tensors, problem.problem), stream());
    if (absl::IsUnimplemented(made.status())) return absl::OkStatus();
    if (!made.ok()) return made.status();
    const absl::StatusOr<Differences> found = data.Check(**made, 0, stream());
    if (!found.ok()) return found.status();
    if (found->largest > (e.ours ? 0 : kRoundingAllowance)) {
      return absl::DataLossError(absl::StrCat((*made)->name(), " differs at ", found->count));
    }
    e.reformatted = *std::move(made);
    return absl::OkStatus();
  }

  Machine machine_;
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
