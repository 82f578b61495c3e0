#include "perf/network/network.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "perf/network/parameters.hpp"
#include "perf/support/layers.hpp"
#include "tests/reference/reference.hpp"

namespace weft::perf {
namespace {

using testing::HasSubstr;

TEST(Network, ResNet50HasTheConvolutionsOfItsList) {
  const Network network = ResNet50(16);
  EXPECT_EQ(network.layers.size(), 53u);
  std::map<std::string, int> counts, want;
  for (const NetworkLayer& layer : network.layers) {
    EXPECT_EQ(layer.problem.n, 16);
    ++counts[LayerName(layer.problem)];
  }
  const absl::StatusOr<std::vector<Layer>> list = LayerList("resnet50");
  ASSERT_TRUE(list.ok()) << list.status();
  for (const Layer& layer : *list) want[LayerName(layer.problem)] += layer.count;
  EXPECT_EQ(counts, want);
}

TEST(Network, ResNet50IsAChain) {
  const Network network = ResNet50(1);
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const NetworkLayer& layer = network.layers[i];
    const int made = network.OutputOf(static_cast<int>(i));
    ASSERT_GE(layer.src, 0);
    ASSERT_LT(layer.src, made);
    EXPECT_EQ(network.Extents(layer.src), layer.problem.src()) << layer.name;
    EXPECT_EQ(layer.residual >= 0, layer.after == After::kResidualRelu) << layer.name;
    if (layer.residual < 0) continue;
    ASSERT_LT(layer.residual, made);
    EXPECT_EQ(network.Extents(layer.residual), layer.problem.dst()) << layer.name;
  }
  EXPECT_EQ(network.Extents(network.tensors() - 1), (TensorExtents{1, 2048, 7, 7}));
  int residuals = 0, plain = 0, unread = 0;
  std::vector<bool> read(network.tensors(), false);
  for (const NetworkLayer& layer : network.layers) {
    residuals += layer.after == After::kResidualRelu;
    plain += layer.after == After::kNothing;
    // The block's stride is in its 3x3 and in its projection.
    if (layer.problem.stride_h == 2 && layer.problem.r == 1) {
      EXPECT_THAT(layer.name, HasSubstr("project"));
    }
    read[layer.src] = true;
    if (layer.residual >= 0) read[layer.residual] = true;
  }
  EXPECT_EQ(residuals, 16);
  EXPECT_EQ(plain, 4);
  // conv1's output, whose pooling is left out, and the last one.
  for (int i = 0; i < network.tensors(); ++i) {
    if (!read[i]) ++unread;
  }
  EXPECT_EQ(unread, 2);
  EXPECT_FALSE(read[network.OutputOf(0)]);
  EXPECT_NEAR(network.macs(), 4.13e9, 0.03e9);  // with a fourth channel of the image
}

TEST(Network, ResidualsAreTheBlocksInputs) {
  const Network network = ResNet50(1);
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const NetworkLayer& layer = network.layers[i];
    if (layer.after != After::kResidualRelu) continue;
    const bool first = layer.name.find(".0.") != std::string::npos;
    if (first) {
      EXPECT_EQ(layer.residual, network.OutputOf(static_cast<int>(i) - 1)) << layer.name;
    } else {
      EXPECT_EQ(layer.residual, network.layers[i - 2].src) << layer.name;
    }
    EXPECT_EQ(layer.src, network.OutputOf(static_cast<int>(i) - (first ? 2 : 1))) << layer.name;
  }
}

TEST(Network, ByName) {
  EXPECT_TRUE(NetworkByName("resnet50", 1).ok());
  EXPECT_THAT(std::string(NetworkByName("resnet18", 1).status().message()),
              HasSubstr("'resnet18' does not exist; there is resnet50"));
}

TEST(NetworkParameters, FactsOfValues) {
  const ValueFacts facts = FactsOf({0, 0, 3, -128, 127, 4, 0, 0});
  EXPECT_DOUBLE_EQ(facts.mean_square, (9.0 + 16384 + 16129 + 16) / 8);
  EXPECT_DOUBLE_EQ(facts.zeros, 0.5);
  EXPECT_DOUBLE_EQ(facts.saturated, 0.25);
  EXPECT_EQ(FactsOf({}).mean_square, 0.0);
}

TEST(NetworkParameters, ScaleFollowsFromTheInput) {
  const Network network = ResNet50(1);
  const LayerParameters loud = MakeParameters(network, 2, 1000.0);
  const LayerParameters soft = MakeParameters(network, 2, 250.0);
  EXPECT_EQ(loud.filter, soft.filter);
  EXPECT_EQ(loud.bias, soft.bias);
  ASSERT_EQ(loud.channel_alpha.size(), 64u);
  for (std::size_t k = 0; k < 64; ++k) {
    EXPECT_NEAR(soft.channel_alpha[k] / loud.channel_alpha[k], 2.0f, 1e-4f);
    // 32 / sqrt(576 * 5397 * 1000), within a quarter.
    EXPECT_NEAR(loud.channel_alpha[k], 32.0 / 55755.0, 8.1 / 55755.0);
    EXPECT_LE(std::abs(loud.bias[k]), 8.0f);
  }
  for (const std::int8_t value : loud.filter) ASSERT_NE(value, -128);
  // Nothing of an input that died becomes infinite.
  EXPECT_TRUE(std::isfinite(MakeParameters(network, 2, 0.0).channel_alpha[0]));
}

TEST(NetworkParameters, FirstLayersScaleIsExactInHalf) {
  const LayerParameters made = MakeParameters(ResNet50(1), 0, 5461.0);
  for (std::size_t k = 0; k < 64; ++k) {
    int exponent = 0;
    EXPECT_EQ(std::frexp(made.channel_alpha[k], &exponent), 0.5f);
    // 32 / sqrt(196 * 5397 * 5461) is 2^-11.2.
    EXPECT_THAT(exponent - 1, testing::AllOf(testing::Ge(-12), testing::Le(-10)));
    EXPECT_EQ(made.bias[k] * 8, std::round(made.bias[k] * 8));
    EXPECT_LE(std::abs(made.bias[k]), 8.0f);
  }
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

// The chain that weft_perf runs, computed by the reference.
TEST(NetworkParameters, KeepActivationsAlive) {
  const Network network = Small(1);
  ASSERT_EQ(network.layers.size(), 8u);
  std::vector<std::vector<std::int8_t>> tensors = {MakeInput(network, 0), MakeInput(network, 1)};
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const NetworkLayer& layer = network.layers[i];
    const LayerParameters made =
        MakeParameters(network, static_cast<int>(i), FactsOf(tensors[layer.src]).mean_square);
    reference::EpilogueData e;
    e.channel_alpha = made.channel_alpha.data();
    e.bias = made.bias.data();
    if (layer.residual >= 0) {
      e.residual = tensors[layer.residual].data();
      e.gamma = kNetworkGamma;
    }
    const auto run = [&](auto activation) {
      return reference::Convolve(layer.problem, tensors[layer.src].data(), made.filter.data(), e,
                                 activation, reference::kInt8);
    };
    tensors.push_back(layer.after == After::kNothing ? run(reference::NoActivation{})
                                                     : run(reference::ReluActivation{}));
    const ValueFacts facts = FactsOf(tensors.back());
    EXPECT_LT(facts.zeros, 0.75) << layer.name;
    EXPECT_LT(facts.saturated, 0.02) << layer.name;
    EXPECT_GT(facts.mean_square, 50.0) << layer.name;
  }
}

TEST(NetworkParameters, InputsAfterTheImageAreLikeReLUs) {
  const Network network = ResNet50(2);
  const std::vector<std::int8_t> pooled = MakeInput(network, 1);
  EXPECT_EQ(pooled.size(), 2u * 64 * 56 * 56);
  const ValueFacts facts = FactsOf(pooled);
  EXPECT_NEAR(facts.zeros, 0.5, 0.02);
  EXPECT_EQ(facts.saturated, 0.0);
  // The first image of another batch is the same.
  const std::vector<std::int8_t> one = MakeInput(ResNet50(1), 1);
  EXPECT_TRUE(std::equal(one.begin(), one.end(), pooled.begin()));
}

}  // namespace
}  // namespace weft::perf
