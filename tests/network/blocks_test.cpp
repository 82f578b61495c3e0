// Networks on the CPU in which bottlenecks are one kernel, against plain loops. Tests use few kernels, since each is compiled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/network/differences.hpp"
#include "tests/network/graphs.hpp"
#include "weft/network/network.hpp"

namespace weft::network {
namespace {

using ::testing::HasSubstr;

// Bottlenecks as one kernel have the bits of their convolutions by themselves.
void ExpectBlockIsEqual(BlockCase of, std::int64_t batch = 1) {
  NetworkOptions options = OnCpu(batch);
  options.blocks = Blocks::kAlways;
  const auto network = Network::Create(ResidualBlock(of), options);
  ASSERT_TRUE(network.ok()) << network.status();
  EXPECT_THAT(network->Kernels(), ::testing::Contains(HasSubstr("Bottleneck")));
  EXPECT_EQ(Differences(*network), 0);
}

TEST(Bottlenecks, Projection) {
  ExpectBlockIsEqual({}, 2);
}
TEST(Bottlenecks, ProjectionOfSigned) {
  ExpectBlockIsEqual(
      {.element = Element::kInt8, .sum_is_first = false, .h = 3, .w = 4, .c = 32, .k = 128});
}
TEST(Bottlenecks, Identity) {
  ExpectBlockIsEqual({.projects = false, .sum_is_first = false, .h = 9, .w = 12});
}
TEST(Bottlenecks, IdentityOfSigned) {
  ExpectBlockIsEqual({.element = Element::kInt8, .projects = false});
}
TEST(Bottlenecks, ThatRoundOnce) {
  ExpectBlockIsEqual({.projects = false, .rounds_once = true});
  ExpectBlockIsEqual({.element = Element::kInt8, .rounds_once = true, .w = 4});
}

TEST(Bottlenecks, AreDescribedAndHaveTiles) {
  NetworkOptions options = OnCpu();
  options.blocks = Blocks::kAlways;
  const Graph graph = ResidualBlock({.w = 4});
  const auto network = Network::Create(graph, options);
  ASSERT_TRUE(network.ok()) << network.status();
  const char* const name = "node2 + node3 + node5 + node4 + node6";
  EXPECT_THAT(network->Describe(),
              HasSubstr("block node2 + node3 + node5 + node4 + node6: one kernel"));
  EXPECT_EQ(network->tiles().at(name), "Bottleneck4x1x2");
  const auto other = network->WithTiles({{name, "Bottleneck8x3x4"}});
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_EQ(other->tiles().at(name), "Bottleneck8x3x4");
  EXPECT_EQ(Differences(*other), 0);
  EXPECT_THAT(network->WithTiles({{name, "Mma128x64"}}).status().message(),
              HasSubstr("give one of Bottleneck4x1x2"));
  const auto apart =
      Network::Create(ResidualBlock({.projects = false, .sum_is_first = false, .w = 4}), OnCpu());
  ASSERT_TRUE(apart.ok()) << apart.status();
  EXPECT_THAT(apart->Describe(), HasSubstr("kernels of their own: on the CPU"));
}

TEST(Bottlenecks, AreInEngines) {
  NetworkOptions options = OnCpu();
  options.blocks = Blocks::kAlways;
  const auto network =
      Network::Create(ResidualBlock({.projects = false, .sum_is_first = false, .w = 4}), options);
  ASSERT_TRUE(network.ok()) << network.status();
  const auto file = network->Save();
  ASSERT_TRUE(file.ok()) << file.status();
  NetworkOptions without = OnCpu();
  without.compiler = "/nowhere/no-compiler";
  without.cache_bytes = 0;
  const auto loaded = Network::Load(*file, without);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->Kernels(), network->Kernels());
  EXPECT_EQ(Differences(*loaded), 0);
}

}  // namespace
}  // namespace weft::network
