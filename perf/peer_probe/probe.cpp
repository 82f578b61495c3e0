#include "perf/peer_probe/probe.hpp"

#if WEFT_HAVE_CUDA

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "perf/peers/peer_data.hpp"
#include "perf/support/layers.hpp"
#include "perf/support/stopwatch.hpp"
#include "weft/gemm/arch/device.hpp"

namespace weft::perf {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRoundingAllowance = 1;  // a variant that is further off is not a peer
constexpr double kShortSample = 300.0, kLongSample = 1500.0;  // microseconds
constexpr int kShortSamples = 3, kLongSamples = 9;
constexpr std::size_t kFinalists = 3;

double Since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Measured {
  int variant = -1;
  double us = 0.0;
  Differences differences;
};

}  // namespace

struct Probe::State {
  Stopwatch watch;
  std::int64_t l2_bytes = 0;
  std::FILE* csv = nullptr;
  conv::Problem problem;  // of `data`
  std::unique_ptr<PeerData> data;

  ~State() {
    if (csv != nullptr) std::fclose(csv);
  }

  void Line(const std::string& layer, const Peer& peer, int variant, double us,
            const Differences& d, double build_s, const std::string& status) const {
    if (csv == nullptr) return;
    const Peer::Variant& v = peer.variants()[variant];
    std::fprintf(csv, "%s,%s,%s,%s,%.3f,%d,%d,%.0f,\"%s\"\n", layer.c_str(), peer.name().c_str(),
                 v.name.c_str(), ScopeText(v.scope).c_str(), us, d.count, d.largest, 1e3 * build_s,
                 status.c_str());
    std::fflush(csv);
  }

  Contestant MakeContestant(Peer& peer, int variant) const {
    Contestant c;
    c.name = peer.variants()[variant].name;
    c.enqueue = [&peer, variant, stream = watch.stream()](int set) {
      return peer.Enqueue(variant, set, stream);
    };
    return c;
  }

  absl::StatusOr<double> Time(Contestant& c, double sample_us, int samples) const {
    if (absl::Status s = watch.Prepare(c, data->tensors().sets, sample_us); !s.ok()) return s;
    for (int i = 0; i < samples; ++i) {
      if (absl::Status s = watch.Sample(c); !s.ok()) return s;
    }
    return Quantile(c.samples, 0.5);
  }

  // The best of `found`, timed again, side by side.
  absl::Status Final(Peer& peer, std::vector<Measured> found, double* us, Text<160>* name,
                     Measured* winner) const {
    if (found.empty()) return absl::OkStatus();
    std::sort(found.begin(), found.end(),
              [](const Measured& a, const Measured& b) { return a.us < b.us; });
    found.resize(std::min(found.size(), kFinalists));
    std::vector<Contestant> contestants(found.size());
    std::vector<Contestant*> all;
    for (std::size_t i = 0; i < found.size(); ++i) {
      contestants[i] = MakeContestant(peer, found[i].variant);
      if (absl::Status s = peer.Build(found[i].variant); !s.ok()) return s;
      if (absl::Status s = watch.Prepare(contestants[i], data->tensors().sets, kLongSample);
          !s.ok()) {
        return s;
      }
      all.push_back(&contestants[i]);
    }
    if (absl::Status s = watch.Interleave(all, kLongSamples, 1e6); !s.ok()) return s;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double median = Quantile(contestants[i].samples, 0.5);
      if (*us != 0.0 && median >= *us) continue;
      *us = median;
      *winner = found[i];
      name->Set(contestants[i].name);
    }
    return absl::OkStatus();
  }

  absl::Status Measure(const PeerProblem& asked, Peer& peer, const PeerOptions& options,
                       ProbeRow* row) {
    if (data == nullptr || !(problem == asked.problem)) {
      options.about_to("tensors");
      data.reset();
      absl::StatusOr<std::unique_ptr<PeerData>> made =
          PeerData::Create(asked, l2_bytes, watch.stream());
      if (!made.ok()) return made.status();
      data = std::move(*made);
      problem = asked.problem;
    }
    if (absl::Status s = peer.Prepare(asked, data->tensors(), options, watch.stream()); !s.ok()) {
      return s;
    }
    const std::string layer = LayerName(asked.problem, true);
    row->variants = static_cast<int>(peer.variants().size());
    std::vector<Measured> whole, partial;
    std::string why = "no variant ran";
    for (int i = 0; i < row->variants; ++i) {
      const std::string& name = peer.variants()[i].name;
      options.about_to(name);
      const Clock::time_point start = Clock::now();
      Measured m;
      m.variant = i;
      absl::Status status = peer.Build(i);
      const double build_s = Since(start);
      if (status.ok()) {
        const absl::StatusOr<Differences> found = data->Check(peer, i, watch.stream());
        status = found.status();
        if (found.ok()) {
          m.differences = *found;
          if (found->largest > kRoundingAllowance) {
            status = absl::InternalError(
                absl::StrCat("differs at ", found->count, ", by up to ", found->largest));
          }
        }
      }
      if (status.ok()) {
        Contestant c = MakeContestant(peer, i);
        const absl::StatusOr<double> us = Time(c, kShortSample, kShortSamples);
        status = us.status();
        if (us.ok()) m.us = *us;
        if (us.ok() && !c.graphed) why = "without a graph: capture refused";
      }
      peer.Release(i);
      Line(layer, peer, i, m.us, m.differences, build_s,
           status.ok() ? "ok" : std::string(status.message()));
      if (status.ok()) {
        const PeerScope& scope = peer.variants()[i].scope;
        (scope.bias && scope.relu == asked.relu ? whole : partial).push_back(m);
        ++row->ran;
      } else {
        if (row->ran == 0) why = std::string(status.message());
        if (absl::Status s = CudaStatus(cudaDeviceSynchronize(), name.c_str()); !s.ok()) return s;
      }
    }
    Measured winner, other;
    if (absl::Status s = Final(peer, whole, &row->us, &row->best, &winner); !s.ok()) return s;
    if (absl::Status s = Final(peer, partial, &row->partial_us, &row->partial, &other); !s.ok()) {
      return s;
    }
    row->differences = winner.differences.count;
    row->largest = winner.differences.largest;
    return row->ran == 0 ? absl::UnimplementedError(why) : absl::OkStatus();
  }
};

Probe::Probe() = default;
Probe::~Probe() = default;

absl::Status Probe::Init(const std::string& csv) {
  if (absl::Status s = CheckGpu(); !s.ok()) return s;
  state_ = std::make_unique<State>();
  if (absl::Status s = state_->watch.Init(); !s.ok()) return s;
  const arch::DeviceQuery query = arch::QueryDevice();
  if (!query.result.ok()) return absl::UnavailableError(query.result.message);
  state_->l2_bytes = query.limits.l2_bytes;
  if (!csv.empty()) state_->csv = std::fopen(csv.c_str(), "a");
  return absl::OkStatus();
}

bool Probe::Measure(const PeerProblem& problem, const std::string& name, const PeerOptions& options,
                    ProbeRow* row) {
  const Clock::time_point start = Clock::now();
  *row = ProbeRow();
  absl::StatusOr<std::unique_ptr<Peer>> peer = MakePeer(name);
  absl::Status status = peer.status();
  if (status.ok()) status = state_->Measure(problem, **peer, options, row);
  if (!status.ok()) row->note.Set(std::string(status.message()));
  if (!options.skip.empty()) {
    row->note.Set(absl::StrCat(row->note.Get(), row->note.empty() ? "" : "; ", "skipped ",
                               options.skip.size(), " variants that crashed"));
  }
  row->seconds = Since(start);
  options.about_to("the end of a peer");
  peer = absl::UnknownError("destroyed");
  row->done = 1;
  return CudaStatus(cudaDeviceSynchronize(), "after a peer").ok();
}

}  // namespace weft::perf

#else

namespace weft::perf {

struct Probe::State {};
Probe::Probe() = default;
Probe::~Probe() = default;
absl::Status Probe::Init(const std::string&) {
  return absl::UnavailableError("built without CUDA");
}
bool Probe::Measure(const PeerProblem&, const std::string&, const PeerOptions&, ProbeRow*) {
  return false;
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
