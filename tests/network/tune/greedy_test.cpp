// The search for tiles by a clock that is a function: what is faster in the chain is found, noise and drift are not.
#include "weft/network/tune/greedy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace weft::network {
namespace {

using ::testing::Contains;
using ::testing::Pair;

// A chain's time is the sum of the times of its tiles, and noise that some samples have much of.
class Clock {
 public:
  explicit Clock(double noise, unsigned seed = 5) : noise_(noise), random_(seed) {}

  std::map<std::string, double> of_tiles;  // "step/tile"
  std::function<double(const Tiles&)> more = [](const Tiles&) { return 0.0; };
  double drift = 0.0;  // of each sample, as a part of the time
  int samples = 0;

  TuneSample sample() {
    return [this](const Tiles& tiles) -> absl::StatusOr<double> {
      double time = more(tiles);
      for (const auto& [step, tile] : tiles) time += of_tiles.at(step + "/" + tile);
      ++samples;
      time *= 1.0 + drift * samples;
      time *= 1.0 + noise_ * std::normal_distribution<double>()(random_);
      if (samples % 7 == 0) time *= 1.0 + 20.0 * noise_;  // somebody else used the GPU
      return time;
    };
  }

 private:
  double noise_;
  std::mt19937 random_;
};

const std::vector<TuneGroup> kGroups = {{{"a", "b"}, {"slow", "fast", "slower"}},
                                        {{"c"}, {"good", "bad", "same"}}};

Clock Simple(double noise) {
  Clock clock(noise);
  clock.of_tiles = {{"a/slow", 100.0}, {"a/fast", 98.0}, {"a/slower", 130.0},
                    {"b/slow", 100.0}, {"b/fast", 98.0}, {"b/slower", 130.0},
                    {"c/good", 50.0},  {"c/bad", 53.0},  {"c/same", 50.0}};
  return clock;
}

TEST(Greedy, FindsWhatIsFaster) {
  for (const double noise : {0.0, 0.001, 0.003}) {
    Clock clock = Simple(noise);
    const auto best = TuneGreedily(kGroups, clock.sample(), nullptr);
    ASSERT_TRUE(best.ok()) << best.status();
    EXPECT_EQ(*best, (Tiles{{"a", "fast"}, {"b", "fast"}, {"c", "good"}})) << noise;
  }
}

// Nothing is changed for a gain that the noise of the samples hides, or that a drift feigns.
TEST(Greedy, NoiseAndDriftAreNoGain) {
  int changed = 0;
  for (const double drift : {0.0, 0.0005, -0.0005}) {
    for (unsigned seed = 0; seed < 20; ++seed) {
      Clock clock(0.002, seed);
      clock.drift = drift;
      clock.of_tiles = {{"a/0", 100.0}, {"a/1", 100.0}, {"a/2", 100.001}, {"a/3", 100.0}};
      const auto best = TuneGreedily({{{"a"}, {"0", "1", "2", "3"}}}, clock.sample(), nullptr);
      ASSERT_TRUE(best.ok()) << best.status();
      changed += best->at("a") != "0";
    }
  }
  EXPECT_LE(changed,
            12);  // of 60, with three comparisons each, some of which are wrong now and then
}

// The first tile is quicker by itself, and makes what comes behind it slower.
TEST(Greedy, TheChainCounts) {
  Clock clock(0.001);
  clock.of_tiles = {{"a/0", 100.0}, {"a/alone", 95.0}, {"a/chain", 99.0}, {"b/0", 100.0}};
  clock.more = [](const Tiles& tiles) { return tiles.at("a") == "alone" ? 10.0 : 0.0; };
  const auto best =
      TuneGreedily({{{"a"}, {"0", "alone", "chain"}}, {{"b"}, {"0"}}}, clock.sample(), nullptr);
  ASSERT_TRUE(best.ok()) << best.status();
  EXPECT_THAT(*best, Contains(Pair("a", "chain")));
}

// What is much slower costs two pairs of samples, and nothing costs more than 21.
TEST(Greedy, SamplesAreFew) {
  Clock slow(0.001);
  slow.of_tiles = {{"a/0", 100.0}, {"a/1", 120.0}};
  ASSERT_TRUE(TuneGreedily({{{"a"}, {"0", "1"}}}, slow.sample(), nullptr).ok());
  EXPECT_EQ(slow.samples, 4);
  Clock same(0.01);
  same.of_tiles = {{"a/0", 100.0}, {"a/1", 100.0}};
  ASSERT_TRUE(TuneGreedily({{{"a"}, {"0", "1"}}}, same.sample(), nullptr).ok());
  EXPECT_LE(same.samples, 42);
}

TEST(Greedy, TellsEachCandidate) {
  Clock clock = Simple(0.0);
  std::vector<TuneProgress> told;
  const auto best = TuneGreedily(kGroups, clock.sample(), [&](const TuneProgress& progress) {
    told.push_back(progress);
    return absl::OkStatus();
  });
  ASSERT_TRUE(best.ok()) << best.status();
  ASSERT_EQ(told.size(), 5u);
  EXPECT_EQ(told[0].group, 0u);
  EXPECT_EQ(told[0].groups, 2u);
  EXPECT_EQ(told[0].candidates, 4u);
  EXPECT_EQ(told[1].tile, "fast");
  EXPECT_EQ(told[1].step, "a");
  EXPECT_EQ(told[1].steps, 2u);
  EXPECT_TRUE(told[1].kept);
  EXPECT_DOUBLE_EQ(told[1].before, 250.0);
  EXPECT_DOUBLE_EQ(told[1].microseconds, 246.0);
  EXPECT_DOUBLE_EQ(told[2].before, 246.0);  // of the best so far
  EXPECT_EQ(told[4].group, 2u);
  EXPECT_FALSE(told[4].kept);
}

TEST(Greedy, AnErrorEndsIt) {
  const auto fails = [](const Tiles&) -> absl::StatusOr<double> {
    return absl::InternalError("the clock has stopped");
  };
  EXPECT_EQ(TuneGreedily(kGroups, fails, nullptr).status().message(), "the clock has stopped");
  Clock clock = Simple(0.0);
  const auto ends = [](const TuneProgress& progress) {
    return progress.group == 0 ? absl::OkStatus() : absl::CancelledError("enough");
  };
  EXPECT_EQ(TuneGreedily(kGroups, clock.sample(), ends).status().message(), "enough");
}

}  // namespace
}  // namespace weft::network
