// A small network on the CPU, through the code that builds ResNet-50's chain on the GPU.
#include "perf/network/chain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "perf/weft_perf/tiles.hpp"
#include "tests/reference/reference.hpp"

namespace weft::perf {
namespace {

using testing::HasSubstr;

class HostMemory : public ChainMemory {
 public:
  absl::StatusOr<void*> Allocate(std::int64_t bytes) override {
    constexpr std::uintptr_t kAlignment = 256;
    blocks_.push_back(std::make_unique<char[]>(bytes + kAlignment));
    const auto address = reinterpret_cast<std::uintptr_t>(blocks_.back().get());
    return reinterpret_cast<void*>((address + kAlignment - 1) / kAlignment * kAlignment);
  }
  absl::Status Write(void* to, const void* from, std::int64_t bytes) override {
    std::memcpy(to, from, bytes);
    return absl::OkStatus();
  }
  absl::Status Read(void* to, const void* from, std::int64_t bytes) override {
    std::memcpy(to, from, bytes);
    return absl::OkStatus();
  }

 private:
  std::vector<std::unique_ptr<char[]>> blocks_;
};

absl::StatusOr<std::vector<std::int8_t>> ReferenceOnCpu(const ReferenceLayer& layer) {
  reference::EpilogueData e;
  e.channel_alpha = layer.parameters->channel_alpha.data();
  e.bias = layer.parameters->bias.data();
  if (layer.after == After::kResidualRelu) {
    e.residual = layer.residual.data();
    e.gamma = kNetworkGamma;
  }
  const auto run = [&](auto activation) {
    return reference::Convolve(layer.problem, layer.src.data(), layer.parameters->filter.data(), e,
                               activation, reference::kInt8);
  };
  if (layer.after == After::kNothing) return run(reference::NoActivation{});
  return run(reference::ReluActivation{});
}

template <template <class> class With>
std::vector<Tile> SmallTiles() {
  return {MakeTile<With<Nc32<32, 32, 64, 16, 32, 3>>, Backend::kCpu>("a"),
          MakeTile<With<Nc32<64, 32, 64, 32, 32, 3>>, Backend::kCpu>("b")};
}

const NetworkTiles& CpuTiles() {
  static const NetworkTiles tiles = {
      {MakeTile<Nc4To32<64, 32, 32, 32, 32, 32, 4, 8>, Backend::kCpu>("dp4a"),
       MakeTile<NhwcTo32<4, 64, 64, 64, 32, 32, 4>, Backend::kCpu>("mma")},
      SmallTiles<WithRelu>(),
      SmallTiles<WithResidual>(),
      SmallTiles<WithNothing>()};
  return tiles;
}

// A first layer of 4 channels, then a block with a projection and stride 2, and one without.
Network Small(std::int64_t batch) {
  Network network;
  network.name = "small";
  network.inputs = {{batch, 4, 12, 12}, {batch, 32, 8, 8}};
  NetworkLayer first;
  first.name = "conv1";
  first.problem = conv::SquareProblem(batch, 4, 12, 32, 7, 3, 2);
  network.layers.push_back(first);
  AddBottlenecks(&network, "2", 1, 2, 32, 2);
  return network;
}

std::vector<std::int8_t> All(const OurChain& chain, int tensor) {
  std::vector<std::int8_t> values;
  for (std::int64_t n = 0; n < chain.network().inputs[0].n; ++n) {
    const absl::StatusOr<std::vector<std::int8_t>> image = chain.ReadImage(tensor, n);
    EXPECT_TRUE(image.ok()) << image.status();
    if (image.ok()) values.insert(values.end(), image->begin(), image->end());
  }
  return values;
}

TEST(NetworkChain, EveryLayerEqualsTheReference) {
  HostMemory memory;
  const Network network = Small(2);
  ASSERT_EQ(network.layers.size(), 8u);
  const auto chain = OurChain::Create(network, CpuTiles(), &memory, nullptr);
  ASSERT_TRUE(chain.ok()) << chain.status();
  for (int layer = 0; layer < (*chain)->size(); ++layer) {
    for (std::int64_t image = 0; image < 2; ++image) {
      const absl::StatusOr<Differences> found = (*chain)->Check(layer, image, ReferenceOnCpu);
      ASSERT_TRUE(found.ok()) << found.status();
      EXPECT_EQ(found->count, 0) << network.layers[layer].name << ", image " << image;
    }
    // The scales keep values alive and within range.
    const ValueFacts& facts = (*chain)->facts(layer);
    EXPECT_LT(facts.zeros, 0.75) << network.layers[layer].name;
    EXPECT_LT(facts.saturated, 0.02) << network.layers[layer].name;
    EXPECT_GT(facts.mean_square, 50.0) << network.layers[layer].name;
  }
}

TEST(NetworkChain, EveryTileGivesTheSame) {
  HostMemory memory;
  const Network network = Small(1);
  const auto made = OurChain::Create(network, CpuTiles(), &memory, nullptr);
  ASSERT_TRUE(made.ok()) << made.status();
  OurChain& chain = **made;
  for (int layer = 0; layer < chain.size(); ++layer) {
    const int tensor = network.OutputOf(layer);
    const std::vector<std::int8_t> want = All(chain, tensor);
    for (int tile = 0; tile < static_cast<int>(chain.tiles(layer).size()); ++tile) {
      std::fill_n(chain.Address(tensor), chain.Bytes(tensor), std::int8_t{0x55});
      const absl::Status ran = chain.Run(layer, tile, nullptr);
      ASSERT_TRUE(ran.ok()) << ran;
      EXPECT_EQ(All(chain, tensor), want)
          << network.layers[layer].name << ", " << chain.tiles(layer)[tile].name;
    }
  }
}

TEST(NetworkChain, EnqueueRunsAllOfIt) {
  HostMemory memory;
  const Network network = Small(1);
  const auto made = OurChain::Create(network, CpuTiles(), &memory, nullptr);
  ASSERT_TRUE(made.ok()) << made.status();
  OurChain& chain = **made;
  const int last = network.tensors() - 1;
  const std::vector<std::int8_t> want = All(chain, last);
  for (int layer = 0; layer < chain.size(); ++layer) {
    EXPECT_EQ(chain.chosen(layer), 0);
    chain.Choose(layer, 1);
    const int tensor = network.OutputOf(layer);
    std::fill_n(chain.Address(tensor), chain.Bytes(tensor), std::int8_t{0x55});
  }
  const absl::Status ran = chain.Enqueue(0, nullptr);
  ASSERT_TRUE(ran.ok()) << ran;
  EXPECT_EQ(All(chain, last), want);
}

TEST(NetworkChain, ScalesDoNotDependOnTheBatch) {
  HostMemory memory;
  const auto one = OurChain::Create(Small(1), CpuTiles(), &memory, nullptr);
  const auto two = OurChain::Create(Small(2), CpuTiles(), &memory, nullptr);
  ASSERT_TRUE(one.ok()) << one.status();
  ASSERT_TRUE(two.ok()) << two.status();
  for (int layer = 0; layer < (*one)->size(); ++layer) {
    EXPECT_EQ((*one)->parameters(layer).channel_alpha, (*two)->parameters(layer).channel_alpha);
  }
}

TEST(NetworkChain, CheckFindsADifference) {
  HostMemory memory;
  const Network network = Small(1);
  const auto chain = OurChain::Create(network, CpuTiles(), &memory, nullptr);
  ASSERT_TRUE(chain.ok()) << chain.status();
  std::int8_t* const value = (*chain)->Address(network.OutputOf(3)) + 5;
  *value = static_cast<std::int8_t>(*value < 0 ? *value + 3 : *value - 3);
  const absl::StatusOr<Differences> found = (*chain)->Check(3, 0, ReferenceOnCpu);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->count, 1);
  EXPECT_EQ(found->largest, 3);
}

TEST(NetworkChain, SaysWhichLayerHasNoTile) {
  HostMemory memory;
  NetworkTiles tiles = CpuTiles();
  tiles.nothing.clear();
  const absl::Status status = OurChain::Create(Small(1), tiles, &memory, nullptr).status();
  EXPECT_TRUE(absl::IsUnimplemented(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("layer 2.0.project"));
}

}  // namespace
}  // namespace weft::perf
