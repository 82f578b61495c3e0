#include "weft/network/tune/greedy.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "weft/network/median.hpp"

namespace weft::network {
namespace {

constexpr std::size_t kFewest = 7, kMost = 21;  // pairs of samples
constexpr double kLeastGain = 0.0005;    // of the chain's time; less is not worth another tile
constexpr double kClearlySlower = 0.01;  // of it, in the first two pairs

// How far from the median of these numbers the true one may be: between two and three of its standard errors, by the median
// distance from it, which a few outliers do not change.
double NoiseOf(const std::vector<double>& numbers, double median) {
  std::vector<double> distances;
  for (const double number : numbers) distances.push_back(std::abs(number - median));
  return 5.0 * MedianOf(std::move(distances)) / std::sqrt(static_cast<double>(numbers.size()));
}

}  // namespace

absl::StatusOr<TuneComparison> Compare(const Tiles& before, const Tiles& after,
                                       const TuneSample& sample) {
  std::vector<double> times[2], gains;
  TuneComparison result;
  while (gains.size() < kMost) {
    double pair[2] = {};
    // Which comes first alternates: a drift helps one of the two in one pair, and the other in the next.
    const bool swapped = gains.size() % 2 == 1;
    for (const bool second : {swapped, !swapped}) {
      const absl::StatusOr<double> time = sample(second ? after : before);
      if (!time.ok()) return time.status();
      pair[second] = *time;
    }
    times[0].push_back(pair[0]), times[1].push_back(pair[1]);
    gains.push_back(pair[0] - pair[1]);
    result.before = MedianOf(times[0]), result.after = MedianOf(times[1]);
    if (gains.size() == 2 && std::max(gains[0], gains[1]) < -kClearlySlower * result.before) break;
    if (gains.size() < kFewest) continue;
    const double gain = MedianOf(gains), noise = NoiseOf(gains, gain);
    const double least = kLeastGain * result.before;
    result.is_faster = gain > noise && gain > least;
    if (result.is_faster || gain + noise < least) break;
  }
  return result;
}

absl::StatusOr<Tiles> TuneGreedily(const std::vector<TuneGroup>& groups, const TuneSample& sample,
                                   const TuneReport& report) {
  Tiles best;
  TuneProgress progress = {.groups = groups.size()};
  for (const TuneGroup& group : groups) {
    for (const std::string& step : group.steps) best[step] = group.tiles[0];
    progress.candidates += group.tiles.size() - 1;
  }
  const auto tell = [&] { return report == nullptr ? absl::OkStatus() : report(progress); };
  if (absl::Status s = tell(); !s.ok()) return s;
  for (const TuneGroup& group : groups) {
    ++progress.group;
    progress.step = group.steps[0], progress.steps = group.steps.size();
    for (std::size_t i = 1; i < group.tiles.size(); ++i) {
      Tiles changed = best;
      for (const std::string& step : group.steps) changed[step] = group.tiles[i];
      const absl::StatusOr<TuneComparison> times = Compare(best, changed, sample);
      if (!times.ok()) return times.status();
      progress.tile = group.tiles[i];
      progress.before = times->before, progress.microseconds = times->after;
      progress.kept = times->is_faster;
      if (progress.kept) best = std::move(changed);
      if (absl::Status s = tell(); !s.ok()) return s;
    }
  }
  return best;
}

}  // namespace weft::network
