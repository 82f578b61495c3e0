#include "weft/network/tune/tune.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "weft/conv/bottleneck/bottleneck_plan.hpp"
#include "weft/conv/problem/problem_name.hpp"
#include "weft/network/in_parallel.hpp"
#include "weft/network/plan/convolution_policy.hpp"
#include "weft/rtc/gpu/driver.hpp"

namespace weft::network {
namespace {

// Compiles the candidates of all groups, and takes those that cannot be compiled out of the groups. Of each of these the
// step, the tile and why.
std::vector<std::string> CompileCandidates(const Network& network,
                                           const std::optional<rtc::ThisContext>& context,
                                           std::vector<TuneGroup>* groups) {
  struct Job {
    TuneGroup* group;
    std::string tile;
    absl::Status status;
  };
  std::vector<Job> jobs;
  for (TuneGroup& group : *groups) {
    for (std::size_t i = 1; i < group.tiles.size(); ++i)
      jobs.push_back({&group, group.tiles[i], {}});
  }
  InParallel(jobs.size(), [&](std::size_t i) {
    Job& job = jobs[i];
    if (context.has_value()) job.status = context->Use();
    if (!job.status.ok()) return;
    const auto changed = network.WithTiles({{job.group->steps[0], job.tile}});
    job.status = changed.ok() ? changed->Prepare() : changed.status();
  });
  std::vector<std::string> refused;
  for (const Job& job : jobs) {
    if (job.status.ok()) continue;
    auto& tiles = job.group->tiles;
    tiles.erase(std::find(tiles.begin() + 1, tiles.end(), job.tile));
    refused.push_back(
        absl::StrCat(job.group->steps[0], ": ", job.tile, ": ", std::string(job.status.message())));
  }
  return refused;
}

// The clocks of the two choices of tiles that are compared.
class Clocks {
 public:
  Clocks(const Network& network, const MakeClock& make) : network_(network), make_(make) {}

  absl::StatusOr<double> Sample(const Tiles& tiles) {
    auto at = std::find_if(kept_.begin(), kept_.end(),
                           [&](const Kept& kept) { return kept.tiles == tiles; });
    if (at == kept_.end()) {
      const absl::StatusOr<Network> changed = network_.WithTiles(tiles);
      if (!changed.ok()) return changed.status();
      absl::StatusOr<Clock> clock = make_(*changed);
      if (!clock.ok()) return clock.status();
      kept_.insert(kept_.begin(), {tiles, *std::move(clock)});
      if (kept_.size() > 2) kept_.pop_back();
      at = kept_.begin();
    }
    std::rotate(kept_.begin(), at, at + 1);  // the one that was used last stays longest
    return kept_[0].clock();
  }

 private:
  struct Kept {
    Tiles tiles;
    Clock clock;
  };

  const Network& network_;
  const MakeClock& make_;
  std::vector<Kept> kept_;
};

}  // namespace

absl::StatusOr<std::vector<TuneGroup>> TuneGroupsOf(const Network& network, const Machine& machine,
                                                    std::size_t most_tiles) {
  const Tiles tiles = network.tiles();
  std::vector<std::pair<double, TuneGroup>> groups;  // with the time that is predicted of one step
  std::map<std::pair<std::string, std::string>, std::size_t> places;  // by policies and problems
  for (const Step& step : network.plan().steps) {
    const auto* convolution = std::get_if<ConvolutionStep>(&step.what);
    const auto* bottleneck = std::get_if<BottleneckStep>(&step.what);
    if (convolution == nullptr && bottleneck == nullptr) continue;
    const std::string problem = convolution != nullptr ? conv::ProblemName(convolution->problem)
                                                       : conv::ProblemName(bottleneck->problem);
    const std::string& tile = tiles.at(step.name);
    const auto [at, is_new] = places.emplace(
        std::pair(PolicyOf(network.plan(), step, tile).text, problem), groups.size());
    if (is_new) {
      const auto candidates = CandidateTiles(network.plan(), step, machine);
      if (!candidates.ok()) return candidates.status();
      groups.push_back({candidates->front().microseconds, {.tiles = {tile}}});
      std::vector<std::string>& all = groups.back().second.tiles;
      for (const TileCandidate& candidate : *candidates) {
        if (candidate.tile != tile && all.size() <= most_tiles) all.push_back(candidate.tile);
      }
    }
    groups[at->second].second.steps.push_back(step.name);
  }
  const auto time = [](const std::pair<double, TuneGroup>& group) {
    return group.first * static_cast<double>(group.second.steps.size());
  };
  std::stable_sort(groups.begin(), groups.end(),
                   [&](const auto& a, const auto& b) { return time(a) > time(b); });
  std::vector<TuneGroup> sorted;
  for (auto& group : groups) sorted.push_back(std::move(group.second));
  return sorted;
}

absl::StatusOr<Tuned> TuneBy(const Network& network, const Machine& machine,
                             const TuneOptions& options, const MakeClock& make_clock) {
  absl::StatusOr<std::vector<TuneGroup>> groups =
      TuneGroupsOf(network, machine, options.most_tiles);
  if (!groups.ok()) return groups.status();
  std::optional<rtc::ThisContext> context;
  if (network.on_gpu()) {
    absl::StatusOr<rtc::ThisContext> here = rtc::ThisContext::Get();
    if (!here.ok()) return here.status();
    context = *here;
  }
  Tuned tuned;
  tuned.refused = CompileCandidates(network, context, &*groups);
  Clocks clocks(network, make_clock);
  const auto sample = [&](const Tiles& tiles) { return clocks.Sample(tiles); };
  absl::StatusOr<Tiles> best = TuneGreedily(*groups, sample, options.report);
  if (!best.ok()) return best.status();
  const absl::StatusOr<TuneComparison> gained = Compare(network.tiles(), *best, sample);
  if (!gained.ok()) return gained.status();
  tuned.tiles = gained->is_faster ? *std::move(best) : network.tiles();
  tuned.before = gained->before;
  tuned.after = gained->is_faster ? gained->after : gained->before;
  return tuned;
}

namespace {

absl::Status CheckIsOnGpu(const Network& network) {
  if (network.on_gpu()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "network: the network was made for the CPU, and tiles are tuned on a GPU; make one with "
      "back_end = kGpu");
}

// Floats as those of images that a network was quantised for; integers of all kinds.
std::string RandomInput(Element element, std::int64_t bytes) {
  std::mt19937 random(1);
  std::string input(static_cast<std::size_t>(bytes), '\0');
  if (element != Element::kFloat) {
    for (char& byte : input) byte = static_cast<char>(random() & 0xff);
    return input;
  }
  for (std::size_t at = 0; at + sizeof(float) <= input.size(); at += sizeof(float)) {
    const float number = static_cast<float>(random() % 4001) / 1000.0f - 2.0f;
    std::memcpy(&input[at], &number, sizeof(number));
  }
  return input;
}

}  // namespace

absl::StatusOr<Tuned> Tune(const Network& network, const TuneOptions& options) {
  if (absl::Status s = CheckIsOnGpu(network); !s.ok()) return s;
  const Graph& graph = network.graph();
  Network::Arguments args;
  std::vector<rtc::DeviceBytes> memory;
  const auto keep = [&](absl::StatusOr<rtc::DeviceBytes> made) -> absl::StatusOr<char*> {
    if (!made.ok()) return made.status();
    memory.push_back(*std::move(made));
    return memory.back().data();
  };
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const Element element = graph.tensors[static_cast<std::size_t>(graph.inputs[i])].element;
    const absl::StatusOr<char*> x = keep(
        rtc::DeviceBytes::CopyOf(RandomInput(element, network.input_bytes(static_cast<int>(i)))));
    if (!x.ok()) return x.status();
    args.inputs.push_back(*x);
  }
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const absl::StatusOr<char*> y =
        keep(rtc::DeviceBytes::Allocate(network.output_bytes(static_cast<int>(i))));
    if (!y.ok()) return y.status();
    args.outputs.push_back(*y);
  }
  const absl::StatusOr<char*> arena = keep(rtc::DeviceBytes::Allocate(network.arena_bytes()));
  if (!arena.ok()) return arena.status();
  args.arena = *arena;
  return Tune(network, args, nullptr, options);
}

absl::StatusOr<Tuned> Tune(const Network& network, const Network::Arguments& args, Stream stream,
                           const TuneOptions& options) {
  if (absl::Status s = CheckIsOnGpu(network); !s.ok()) return s;
  if (absl::Status s = network.Prepare(); !s.ok()) return s;
  // Other kernels may be needed for these addresses, and none can be loaded while a run is recorded.
  if (absl::Status s = network.Run(args, stream); !s.ok()) return s;
  if (absl::Status s = rtc::Synchronize(stream); !s.ok()) return s;
  const absl::StatusOr<arch::DeviceLimits> device = rtc::CurrentDevice();
  if (!device.ok()) return device.status();
  // A chain is recorded once and run over and over.
  const auto clock_of = [&](const Network& changed) -> absl::StatusOr<Clock> {
    const absl::StatusOr<rtc::Recording> chain =
        rtc::Recording::Of([&](Stream recorded) { return changed.Run(args, recorded); });
    if (!chain.ok()) return chain.status();
    const absl::StatusOr<int> runs = chain->RunsFor(options.sample_microseconds);
    if (!runs.ok()) return runs.status();
    return Clock([chain = *chain, runs = *runs] { return chain.Microseconds(runs); });
  };
  return TuneBy(network, conv::GpuFactsOf(*device), options, clock_of);
}

}  // namespace weft::network
