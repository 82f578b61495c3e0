#include "perf/weft_perf/run.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>

#include "perf/peers/peer_data.hpp"
#include "perf/support/copy_time.hpp"
#include "perf/weft_perf/find_best.hpp"
#include "perf/weft_perf/ours.hpp"

namespace weft::perf {
namespace {

constexpr double kLongSample = 1500.0;           // microseconds of a sample that counts
constexpr double kRowBudget = 1.2e6;             // of a row's samples together
constexpr unsigned long long kLimitOfPower = 4;  // of NVML's reasons for a lower clock
constexpr double kFinalists = 1.3;  // of the best short time: peers that take part in the end

// A peer, ours or another's.
struct Entry {
  std::unique_ptr<Peer> peer;
  Contender* contender = nullptr;
  bool ours = false;
  Contestant contestant = {};
  std::unique_ptr<ReformattedPeer> reformatted = nullptr;
  Contestant reformatted_contestant = {};

  bool int8() const { return peer->Src(0).address != nullptr; }
};

class LayerBench {
 public:
  LayerBench(const conv::Problem& p, const Options& options, Machine* machine,
             const Measuring& measuring, LayerRow* row)
      : options_(options), machine_(*machine), measuring_(measuring), row_(*row) {
    row->problem = problem_.problem = p;
    problem_.residual = options.epilogue == Epilogue::kResidual;
    problem_.hswish = options.epilogue == Epilogue::kHSwish;
    problem_.output_scale =
        0.05f;  // so that outputs of the whole range of int8 are real values of about 2
    problem_.relu = !problem_.hswish && options.epilogue != Epilogue::kNothing;
    row->timed = options.time;
    row->ours.resize(options.layouts.size());
    row->peers.resize(options.peers.size());
  }

  absl::Status Measure(const Choices& choices) {
    const conv::Problem& p = problem_.problem;
    row_.bytes = LeastBytes(p, problem_.residual);
    row_.floor_us = FloorMicroseconds(p, machine_.ceilings(options_.dp4a_floor), problem_.residual);
    measuring_.about("making tensors");
    WEFT_LET(data_,
             PeerData::Create(problem_, options_.time ? machine_.limits().l2_bytes : 0, stream()));
    row_.buffer_sets = data_->tensors().count();

    for (std::size_t i = 0; i < options_.layouts.size(); ++i) {
      entries_.push_back({MakeOurs(options_.layouts[i], options_.epilogue), &row_.ours[i], true});
      entries_.back().contender->name = options_.layouts[i];
    }
    for (std::size_t i = 0; i < options_.peers.size(); ++i) {
      measuring_.about(options_.peers[i] + "/opening");
      WEFT_LET(std::unique_ptr<Peer> peer, MakePeer(options_.peers[i]));
      entries_.push_back({std::move(peer), &row_.peers[i], false});
      entries_.back().contender->name = options_.peers[i];
    }
    for (Entry& e : entries_) {
      const std::string& name = e.peer->name();
      const std::string choice = options_.ChoiceName(name);
      const PeerOptions peer_options = OptionsFor(
          name, measuring_, e.ours ? "" : ChoiceOf(choices, p, choice), options_.threads);
      const absl::Status status = Choose(peer_options, &e);
      if (!status.ok() && e.contender->best < 0) e.contender->note = std::string(status.message());
      if (!e.ours && e.contender->best >= 0) {
        measuring_.send(ChoiceLine(p, choice, e.contender->variant));
      }
      WEFT_TRY(CudaStatus(cudaDeviceSynchronize(), name.c_str()));
    }
    return options_.time ? Compete() : absl::OkStatus();
  }

 private:
  const Stopwatch& watch() const { return machine_.watch(); }
  Stream stream() const { return machine_.stream(); }
  int sets() const { return data_->tensors().count(); }

  // dp4a where tensor cores have whole packets of channels, and a fused first layer elsewhere.
  bool LeftOut(const Entry& e) const {
    const std::int64_t c = problem_.problem.c;
    if (!e.ours || !options_.all_layouts || problem_.problem.groups > 1) return false;
    return e.peer->name() == "nc4_nc32" ? c > 4 : e.peer->name() == "nc4" && c % 32 == 0;
  }

  // Checks and shortly times every variant. The best stays built.
  absl::Status Choose(const PeerOptions& peer_options, Entry* e) {
    Contender& c = *e->contender;
    if (LeftOut(*e)) {
      return absl::UnimplementedError(
          "left out: tensor cores take these channels; ask for the layout by name");
    }
    WEFT_TRY(peer_options.Need("Prepare"));
    WEFT_TRY(e->peer->Prepare(problem_, data_->tensors(), peer_options, stream()));
    Search search;
    search.watch = &watch();
    search.sets = sets();
    search.time = options_.time;
    search.check = [&](int variant) { return data_->Check(*e->peer, variant, stream()); };
    if (e->ours) {
      search.tiles = &OurTiles(e->peer->name(), options_.epilogue);
      search.only = options_.only_tile;
      search.family = options_.family;
    }
    const absl::Status status = FindBest(*e->peer, peer_options, search, &c);
    if (e->ours && options_.time) {
      std::vector<bool> usable;
      for (const double us : c.tile_us) usable.push_back(us > 0.0);
      usable.resize(search.tiles->size());
      c.model = ModelsChoice(problem_.problem, *search.tiles, usable,
                             conv::GpuFactsOf(machine_.limits()));
    }
    return status;
  }

  // Makes `contestant` of a peer's variant. A peer that fails now has a note; ours is an error.
  absl::Status Join(Entry& e, Peer& peer, int variant, Contestant* contestant) {
    contestant->enqueue = [&peer, variant, stream = stream()](int set) {
      return peer.Enqueue(variant, set, stream);
    };
    if (const absl::Status s = watch().Prepare(*contestant, sets(), kLongSample); !s.ok()) {
      if (e.ours) return s;
      e.contender->note = std::string(s.message());
      return absl::OkStatus();
    }
    if (!contestant->graphed) e.contender->note = "without a graph: refused";
    all_.push_back(contestant);
    return absl::OkStatus();
  }

  // The entry's best variant between the user's tensors, checked. None where that is impossible.
  absl::Status JoinReformatted(Entry& e) {
    auto made = ReformattedPeer::Create(
        *e.peer, e.contender->best, problem_, data_->tensors(),
        ReformattedPeer::Formats::Of(*options_.tensors, problem_.problem), stream());
    if (absl::IsUnimplemented(made.status())) return absl::OkStatus();
    WEFT_TRY(made.status());
    e.reformatted = *std::move(made);
    WEFT_LET(const Differences found, data_->Check(*e.reformatted, 0, stream()));
    if (found.largest > (e.ours ? 0 : kRoundingAllowance)) {
      return absl::DataLossError(
          absl::StrCat(e.reformatted->name(), " differs at ", found.count, " outputs"));
    }
    if (e.reformatted->trivial()) return absl::OkStatus();
    return Join(e, *e.reformatted, 0, &e.reformatted_contestant);
  }

  // The best variants side by side: A B C A B C ..., with and without reformats.
  absl::Status Compete() {
    double least = 1e30, least_int8 = 1e30, least_of_ours = 1e30;
    for (const Entry& e : entries_) {
      if (e.contender->best < 0) continue;
      if (e.ours) {
        least_of_ours = std::min(least_of_ours, e.contender->short_us);
        continue;
      }
      least = std::min(least, e.contender->short_us);
      if (e.int8()) least_int8 = std::min(least_int8, e.contender->short_us);
    }
    if (options_.tensors.has_value()) {
      row_.tensors = ReformattedPeer::Formats::Of(*options_.tensors, problem_.problem).Text();
    }
    for (Entry& e : entries_) {
      const Contender& c = *e.contender;
      if (c.best < 0) continue;
      const bool reformat = options_.tensors.has_value() && e.int8();
      const double most = kFinalists * (reformat ? std::max(least, least_int8) : least);
      if (!e.ours && c.short_us > most) continue;
      measuring_.about(absl::StrCat(e.peer->name(), "/", c.variant));
      WEFT_TRY(Join(e, *e.peer, c.best, &e.contestant));
      if (reformat && !all_.empty() && all_.back() == &e.contestant) WEFT_TRY(JoinReformatted(e));
    }
    // Memory is what bounds depthwise layers.
    std::optional<CopyTime> copy;
    const conv::Problem& p = problem_.problem;
    if (p.groups > 1 && p.groups == p.c && least_of_ours < 1e30) {
      measuring_.about("copy");
      WEFT_LET(copy, CopyTime::Create(NHWC::Size(p.src()), NHWC::Size(p.dst()),
                                      machine_.limits().sm_count, watch(), kLongSample));
      all_.push_back(&copy->contestant());
    }
    measuring_.about("timing");
    WEFT_TRY(watch().Interleave(all_, options_.rounds, kRowBudget));
    for (Entry& e : entries_) {
      e.contender->time = Timing::Of(e.contestant.samples);
      if (e.reformatted == nullptr) continue;
      e.contender->with_reformat = e.reformatted->trivial()
                                       ? e.contender->time
                                       : Timing::Of(e.reformatted_contestant.samples);
    }
    if (copy.has_value()) {
      row_.copy = Timing::Of(copy->contestant().samples);
      row_.copy_kernel = copy->name();
    }
    const Contender* const best = LayerRow::Best(row_.ours, &Contender::time);
    if (best == nullptr) return absl::OkStatus();
    Entry& entry = entries_[best - row_.ours.data()];
    WEFT_TRY(machine_.ReadClock(entry.contestant, &row_.clock));
    const auto reasons =
        std::stoull(row_.clock["throttle_reasons"].get<std::string>(), nullptr, 16);
    if ((reasons & kLimitOfPower) != 0) WEFT_TRY(ReadEnergies(entry));
    // Once more, after thousands of runs: a race would show.
    WEFT_LET(const Differences last, data_->Check(*entry.peer, best->best, stream()));
    entry.contender->differences += last.count;
    return absl::OkStatus();
  }

  // Of the best of ours and of the peers: where power is what binds, the time follows from it.
  absl::Status ReadEnergies(const Entry& ours) {
    WEFT_TRY(machine_.ReadEnergy(ours.contestant, "ours", &row_.clock));
    const Contender* const best = LayerRow::Best(row_.peers, &Contender::time);
    for (const Entry& e : entries_) {
      if (e.contender == best) return machine_.ReadEnergy(e.contestant, "peer", &row_.clock);
    }
    return absl::OkStatus();
  }

  const Options& options_;
  Machine& machine_;
  const Measuring& measuring_;
  LayerRow& row_;
  PeerProblem problem_;
  std::unique_ptr<PeerData> data_;
  std::deque<Entry> entries_;
  std::vector<Contestant*> all_;
};

}  // namespace

Json MeasureLayer(const conv::Problem& problem, const Options& options, const Choices& choices,
                  const Measuring& measuring, Machine* machine) {
  const auto start = std::chrono::steady_clock::now();
  LayerRow row;
  const absl::Status status =
      LayerBench(problem, options, machine, measuring, &row).Measure(choices);
  if (!status.ok()) row.failure = std::string(status.message());
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return row.ToJson();
}

}  // namespace weft::perf
