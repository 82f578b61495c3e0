#include "perf/model_check/fit.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "perf/support/json.hpp"
#include "perf/support/status.hpp"

namespace weft::perf {
namespace {

using gemm::internal::ModelConstants;
constexpr std::size_t kConstants = sizeof(ModelConstants) / sizeof(double);
using Values = std::array<double, kConstants>;

// What the expected choice among tiles costs, in logarithms of time over the best tile's. A choice is uncertain by
// kBlur, so that the cost changes with a constant before the choice does; costs above kMost weigh more.
constexpr double kBlur = 0.02, kMost = 0.08, kMore = 5.0;
// Of the errors of predictions, of tiles that take up to kNear times the best; so that predictions stay
// predictions.
constexpr double kOfErrors = 0.3, kNear = 1.5;
// Of the squares of the constants' changes, in logarithms: what times say nothing of stays as it was.
constexpr double kOfChanges = 1e-4;
constexpr int kMostRounds = 60;

// Whether a value means something: powers of Overlapped are 1 or more, shares at most 1.
bool Allowed(const std::string& name, double value) {
  if (name.ends_with("overlap")) return value >= 1.0;
  return name != "next" || value <= 1.0;
}

struct Guess {
  double us, model;  // logarithms
  bool in_family;
  bool has_twin;  // with wider stores, which make it superfluous
};

// Whether the tile is there with wider stores, too.
bool HasWiderTwin(const Timed& timed, const Timed::Tile& tile) {
  return std::any_of(timed.tiles.begin(), timed.tiles.end(), [&](const Timed::Tile& other) {
    gemm::TileDescription wider = tile.facts->config;
    wider.alignment.dst = other.facts->config.alignment.dst;
    return wider.alignment.dst > tile.facts->config.alignment.dst && wider == other.facts->config;
  });
}

double CostOf(const std::vector<Guess>& guesses, bool family) {
  double least = HUGE_VAL, best = HUGE_VAL, weights = 0.0, cost = 0.0;
  for (const Guess& g : guesses) {
    if (g.has_twin || (family && !g.in_family)) continue;
    least = std::min(least, g.model), best = std::min(best, g.us);
  }
  if (least == HUGE_VAL) return 0.0;
  for (const Guess& g : guesses) {
    if (g.has_twin || (family && !g.in_family) || g.model > least + 10.0 * kBlur) continue;
    const double weight = std::exp((least - g.model) / kBlur), over = g.us - best;
    weights += weight;
    cost += weight * (over + kMore * std::max(0.0, over - kMost));
  }
  return cost / weights;
}

class Objective {
 public:
  explicit Objective(const std::vector<const Timed*>& times) : times_(times) {}

  // Of all, after the constants of one mainloop have changed: those of the others are kept. part: 0 simt, 1 mma, 2
  // wgmma, 3 those of one k tile, -1 all.
  double operator()(const Values& values, int part) {
    const auto constants = std::bit_cast<ModelConstants>(values);
    if (models_.empty()) models_.resize(times_.size());
    double sum = 0.0;
    for (std::size_t i = 0; i < times_.size(); ++i) {
      const Timed& timed = *times_[i];
      std::vector<Guess>& guesses = models_[i];
      if (guesses.empty()) {
        for (const Timed::Tile& tile : timed.tiles) {
          guesses.push_back({std::log(tile.us), 0.0, tile.in_family, HasWiderTwin(timed, tile)});
        }
      }
      double best = HUGE_VAL, errors = 0.0;
      int near = 0;
      for (std::size_t j = 0; j < guesses.size(); ++j) {
        const Timed::Tile& tile = timed.tiles[j];
        if (part < 0 || part == PartOf(tile)) {
          guesses[j].model = std::log(tile.Predict(gpu_, constants));
        }
        best = std::min(best, guesses[j].us);
      }
      for (const Guess& g : guesses) {
        if (g.us > best + std::log(kNear)) continue;
        errors += std::abs(g.us - g.model);
        ++near;
      }
      sum += CostOf(guesses, true) + CostOf(guesses, false) + kOfErrors * errors / near;
    }
    double changes = 0.0;
    for (std::size_t i = 0; i < kConstants; ++i) {
      const double change = std::log(values[i] / first_[i]);
      changes += change * change;
    }
    return sum / double(times_.size()) + kOfChanges * changes;
  }

 private:
  static int PartOf(const Timed::Tile& tile) {
    switch (tile.facts->config.mainloop) {
      case gemm::Mainloop::kSimt:
      case gemm::Mainloop::kSimtAsync:
        return 0;
      case gemm::Mainloop::kWgmmaSm90:
        return tile.counts.wgmma.first_layer ? 3 : 2;
      case gemm::Mainloop::kOther:
        return 4;
      default:
        return 1;
    }
  }

  const std::vector<const Timed*>& times_;
  const Values first_ = std::bit_cast<Values>(ModelConstants());
  std::vector<std::vector<Guess>> models_;
  gemm::GpuFacts gpu_;
};

// A line "double name = value;" of the header.
struct Constant {
  std::string name;
  std::size_t begin = 0, end = 0;  // of the value
  double value = 0.0;
};

std::vector<Constant> ConstantsOf(const std::string& text) {
  std::vector<Constant> constants;
  const std::string start = "\n  double ";
  for (std::size_t at = text.find(start); at != std::string::npos; at = text.find(start, at)) {
    at += start.size();
    const std::size_t equals = text.find(" = ", at), end = text.find(';', at);
    if (equals == std::string::npos || end < equals) continue;
    constants.push_back(
        {text.substr(at, equals - at), equals + 3, end, std::atof(text.c_str() + equals + 3)});
  }
  return constants;
}

// "0.62", "730.0": three digits.
std::string Number(double value) {
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 2.0);
  std::string digits = absl::StrFormat("%.10g", std::round(value / unit) * unit);
  return digits.find('.') == std::string::npos ? digits + ".0" : digits;
}

}  // namespace

absl::StatusOr<ModelConstants> Fit(const std::string& path,
                                   const std::vector<const Timed*>& times) {
  WEFT_LET(std::string text, ReadFile(path));
  std::vector<Constant> constants = ConstantsOf(text);
  Values values = std::bit_cast<Values>(ModelConstants());
  bool same = constants.size() == kConstants;
  for (std::size_t i = 0; same && i < kConstants; ++i) same = constants[i].value == values[i];
  if (!same) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " has other constants than this program; build it again"));
  }
  constexpr std::size_t kEnds[] = {
      sizeof(gemm::internal::MemoryConstants) / 8, sizeof(gemm::internal::SimtConstants) / 8,
      sizeof(gemm::internal::MmaConstants) / 8, sizeof(gemm::internal::WgmmaConstants) / 8,
      sizeof(gemm::internal::FirstLayerConstants) / 8};
  Objective objective(times);
  double cost = objective(values, -1);
  std::printf("cost %.5f of %zu choices, %zu constants\n", cost, times.size(), kConstants);
  Values steps;
  steps.fill(0.25);
  for (int round = 0; round < kMostRounds; ++round) {
    const double before = cost;
    std::size_t i = 0;
    for (int part = -1; part < 4; ++part) {
      for (const std::size_t end = i + kEnds[part + 1]; i < end; ++i) {
        bool better = false;
        for (const double factor : {1.0 + steps[i], 1.0 / (1.0 + steps[i])}) {
          Values tried = values;
          tried[i] *= factor;
          if (!Allowed(constants[i].name, tried[i])) continue;
          const double tried_cost = objective(tried, part);
          if (tried_cost < cost - 1e-7) {
            values = tried, cost = tried_cost, better = true;
            break;
          }
        }
        if (!better) objective(values, part);
        steps[i] = better ? std::min(0.5, steps[i] * 1.3) : std::max(0.004, steps[i] * 0.6);
      }
    }
    std::printf("round %d: cost %.5f\n", round + 1, cost);
    std::fflush(stdout);
    if (before - cost < 1e-6 && *std::max_element(steps.begin(), steps.end()) < 0.01) break;
  }
  for (std::size_t i = kConstants; i-- > 0;) {
    const Constant& c = constants[i];
    std::printf("%-24s %10s %10s\n", c.name.c_str(), text.substr(c.begin, c.end - c.begin).c_str(),
                Number(values[i]).c_str());
    text.replace(c.begin, c.end - c.begin, Number(values[i]));
  }
  WEFT_TRY(WriteFile(path, text));
  return std::bit_cast<ModelConstants>(values);
}

}  // namespace weft::perf
