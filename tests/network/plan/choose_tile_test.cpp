// Which tiles a convolution is offered, of each pair of formats, on a Hopper GPU, on an older one and on the CPU.
#include "weft/network/plan/choose_tile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace weft::network {
namespace {

using ::testing::HasSubstr;

conv::GpuFacts Gpu(int compute_capability) {
  arch::DeviceLimits limits;
  limits.compute_capability = compute_capability;
  limits.sm_count = 100;
  limits.shared_memory_per_block = 99 * 1024;
  limits.shared_memory_per_sm = 100 * 1024;
  if (compute_capability == 90) {
    limits.sm_count = 132;
    limits.shared_memory_per_block = 227 * 1024;
    limits.shared_memory_per_sm = 228 * 1024;
  }
  limits.registers_per_sm = 64 * 1024;
  limits.max_threads_per_sm = 1536;
  limits.l2_bytes = 40 << 20;
  return conv::GpuFactsOf(limits);
}

bool HasHopperTile(const std::vector<TileCandidate>& candidates) {
  return std::any_of(candidates.begin(), candidates.end(), [](const TileCandidate& candidate) {
    return candidate.tile.rfind("Wgmma", 0) == 0;
  });
}

TEST(ChooseTile, CandidatesAreTheFamilysQuickestFirst) {
  for (const Format src : {Format::kNc4, Format::kNc32, Format::kNhwc}) {
    for (const Format dst : {Format::kNc4, Format::kNc32, Format::kNhwc, Format::kNchw}) {
      for (const int features : {0, 1, 2, 3}) {
        const TileQuestion question = {.problem = conv::SquareProblem(8, 64, 28, 64, 3, 1, 1),
                                       .src = src,
                                       .dst = dst,
                                       .source_zero_point = features % 2 == 1,
                                       .adds = features > 1};
        for (const Machine& machine :
             {Machine(Gpu(90)), Machine(Gpu(80)), Machine(conv::CpuFacts{4})}) {
          const auto found = CandidateTiles(question, machine);
          ASSERT_TRUE(found.ok()) << found.status();
          EXPECT_GE(found->size(), 2u);
          std::set<std::string> names;
          for (std::size_t i = 0; i < found->size(); ++i) {
            EXPECT_TRUE(names.insert((*found)[i].tile).second) << (*found)[i].tile;
            EXPECT_GT((*found)[i].microseconds, 0.0);
            EXPECT_GE((*found)[i].microseconds, (*found)[i == 0 ? 0 : i - 1].microseconds);
          }
          // Tiles for Hopper write no blocks of 4 channels.
          const auto* gpu = std::get_if<conv::GpuFacts>(&machine);
          const bool on_hopper = gpu != nullptr && gpu->limits.compute_capability == 90;
          const bool wide = dst == Format::kNc32 || dst == Format::kNhwc;
          EXPECT_EQ(HasHopperTile(*found), on_hopper && wide);
        }
      }
    }
  }
}

TEST(ChooseTile, DepthwiseTilesAreThoseOfTheFormat) {
  conv::Problem problem = conv::SquareProblem(8, 64, 28, 64, 3, 1, 1);
  problem.groups = 64;
  for (const Format src : {Format::kNc4, Format::kNc32, Format::kNhwc}) {
    const auto found = CandidateTiles({.problem = problem, .src = src, .depthwise = true}, Gpu(90));
    ASSERT_TRUE(found.ok()) << found.status();
    for (const TileCandidate& candidate : *found) {
      EXPECT_THAT(candidate.tile, HasSubstr("Depthwise"));
      const bool by_four = candidate.tile.back() == '1';  // threads along the channels
      EXPECT_EQ(by_four, src == Format::kNc4) << candidate.tile;
    }
  }
}

TEST(ChooseTile, RefusesWhatNoTileTakes) {
  conv::Problem problem = conv::SquareProblem(8, 64, 28, 64, 3, 1, 1);
  const auto says = [&](Format src) {
    return std::string(
        CandidateTiles({.problem = problem, .src = src}, Gpu(90)).status().message());
  };
  EXPECT_THAT(says(Format::kNchw), HasSubstr("no convolution reads NCHW"));
  problem.stride_h = 0;
  EXPECT_THAT(says(Format::kNc32), HasSubstr("stride"));
}

}  // namespace
}  // namespace weft::network
