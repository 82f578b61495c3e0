#include "perf/network/chain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "perf/support/layers.hpp"
#include "tests/reference/reference.hpp"
#include "weft/network/network.hpp"

namespace weft::perf {
namespace {

using testing::HasSubstr;

const Chain& ResNet50() {
  static const Chain chain = Chain::ResNet50();
  return chain;
}

TEST(Chain, ResNet50HasTheConvolutionsOfItsList) {
  const Chain& chain = ResNet50();
  EXPECT_EQ(chain.layers(), 53);
  std::map<std::string, int> counts, want;
  for (int i = 0; i < chain.layers(); ++i) ++counts[LayerName(chain.ProblemOf(i, 16))];
  const absl::StatusOr<std::vector<Layer>> list = LayerList("resnet50");
  ASSERT_TRUE(list.ok()) << list.status();
  for (const Layer& layer : *list) want[LayerName(layer.problem)] += layer.count;
  EXPECT_EQ(counts, want);
  EXPECT_NEAR(chain.macs(1), 4.13e9, 0.03e9);  // with a fourth channel of the image
}

TEST(Chain, ResidualsAreTheBlocksInputs) {
  const Chain& chain = ResNet50();
  int residuals = 0, projections = 0;
  for (int i = 0; i < chain.layers(); ++i) {
    const std::string& name = chain.layer(i).name;
    const conv::Problem problem = chain.ProblemOf(i, 1);
    const network::Tensor& to = chain.tensor(chain.dst(i));
    EXPECT_EQ(to.Type(1, network::Format::kNchw).extents, problem.dst()) << name;
    projections += !chain.HasRelu(i);
    EXPECT_EQ(chain.HasRelu(i), name.find("project") == std::string::npos) << name;
    // The block's stride is in its 3x3 and in its projection.
    if (problem.stride_h == 2 && problem.r == 1) {
      EXPECT_THAT(name, HasSubstr("project"));
    }
    if (chain.residual(i) < 0) continue;
    ++residuals;
    const bool first = name.find(".0.") != std::string::npos;
    EXPECT_EQ(chain.residual(i), first ? chain.dst(i - 1) : chain.src(i - 2)) << name;
    EXPECT_EQ(chain.src(i), chain.dst(i - (first ? 2 : 1))) << name;
  }
  EXPECT_EQ(residuals, 16);
  EXPECT_EQ(projections, 4);
}

TEST(Chain, FactsOfValues) {
  const ValueFacts facts = FactsOf({0, 0, 3, -128, 127, 4, 0, 0});
  EXPECT_DOUBLE_EQ(facts.mean_square, (9.0 + 16384 + 16129 + 16) / 8);
  EXPECT_DOUBLE_EQ(facts.zeros, 0.5);
  EXPECT_DOUBLE_EQ(facts.saturated, 0.25);
  EXPECT_EQ(FactsOf({}).mean_square, 0.0);
}

TEST(Chain, ScalesFollowFromWhatALayerReads) {
  Chain loud("loud", 16, {{1, 64, 1}}), soft("soft", 16, {{1, 64, 1}});
  loud.SetScales(2, 1000.0), soft.SetScales(2, 250.0);
  EXPECT_EQ(loud.filter(2), soft.filter(2));
  const std::vector<float> a = loud.scales(2), b = soft.scales(2);
  ASSERT_EQ(a.size(), 64u);
  for (std::size_t k = 0; k < 64; ++k) {
    EXPECT_NEAR(b[k] / a[k], 2.0f, 1e-4f);
    // 10 / sqrt(576 * 5397 * 1000), within a quarter.
    EXPECT_NEAR(a[k], 10.0 / 55755.0, 2.6 / 55755.0);
    EXPECT_LE(std::abs(static_cast<float>(loud.biases(2)[k]) * a[k]), 2.6f);
  }
  for (const std::int8_t value : loud.filter(2)) ASSERT_NE(value, -128);
  // Nothing of an input that died becomes infinite.
  loud.SetScales(2, 0.0);
  EXPECT_TRUE(std::isfinite(loud.scales(2)[0]));
}

TEST(Chain, TheFirstLayersNumbersAreExactInHalf) {
  Chain chain("one", 16, {{1, 64, 1}});
  chain.SetScales(0, 5461.0);
  for (std::size_t k = 0; k < 64; ++k) {
    const float scale = chain.scales(0)[k];
    int exponent = 0;
    EXPECT_EQ(std::frexp(scale, &exponent), 0.5f);
    // 8 / sqrt(196 * 5397 * 5461) is 2^-13.2, and a half's least normal number 2^-14.
    EXPECT_THAT(exponent - 1, testing::AllOf(testing::Ge(-14), testing::Le(-12)));
    const float bias = scale * static_cast<float>(chain.biases(0)[k]);
    EXPECT_EQ(bias * 8, std::round(bias * 8));
    EXPECT_LE(std::abs(bias), 2.0f);
  }
}

TEST(Chain, WhatStandsForPoolingIsLikeAReLUsOutput) {
  const std::vector<std::int8_t> pooled = ResNet50().MakeInput(1, 2);
  EXPECT_EQ(pooled.size(), 2u * 64 * 56 * 56);
  const ValueFacts facts = FactsOf(pooled);
  EXPECT_NEAR(facts.zeros, 0.5, 0.02);
  EXPECT_EQ(facts.saturated, 0.0);
  // The first image of another batch is the same.
  const std::vector<std::int8_t> one = ResNet50().MakeInput(1, 1);
  EXPECT_TRUE(std::equal(one.begin(), one.end(), pooled.begin()));
}

// What network_bench expects of each layer: the reference with the same numbers.
std::vector<std::int8_t> Reference(const Chain& chain, int layer, std::int64_t batch,
                                   const std::vector<std::vector<std::int8_t>>& tensors) {
  const std::vector<float> scales = chain.scales(layer);
  const std::vector<std::int32_t> biases = chain.biases(layer);
  reference::EpilogueData e;
  e.channel_alpha = scales.data();
  e.sum_bias = biases.data();
  if (chain.residual(layer) >= 0) {
    e.residual = tensors[static_cast<std::size_t>(chain.residual(layer))].data();
  }
  const std::vector<std::int8_t>& src = tensors[static_cast<std::size_t>(chain.src(layer))];
  const auto run = [&](auto activation) {
    return reference::Convolve(chain.ProblemOf(layer, batch), src.data(),
                               chain.filter(layer).data(), e, activation, reference::kInt8);
  };
  return chain.HasRelu(layer) ? run(reference::ReluActivation{}) : run(reference::NoActivation{});
}

struct Free {
  void operator()(void* p) const { std::free(p); }
};

// A small chain as a network on the CPU, from which all steps, and then the convolutions alone, must make what the reference makes.
TEST(Chain, ANetworkMakesWhatTheReferenceMakes) {
  constexpr std::int64_t kBatch = 2;
  Chain chain("small", 24, {{1, 32, 2}});
  ASSERT_EQ(chain.layers(), 5);
  std::vector<std::vector<std::int8_t>> tensors(chain.graph().tensors.size());
  std::vector<std::vector<float>> inputs;
  for (int i = 0; i < Chain::kQuantised; ++i) {
    auto& values = tensors[static_cast<std::size_t>(chain.quantised(i))];
    values = chain.MakeInput(i, kBatch);
    inputs.emplace_back(values.begin(), values.end());
  }
  for (int i = 0; i < chain.layers(); ++i) {
    const auto& src = tensors[static_cast<std::size_t>(chain.src(i))];
    chain.SetScales(i, FactsOf(src).mean_square);
    auto& dst = tensors[static_cast<std::size_t>(chain.dst(i))];
    dst = Reference(chain, i, kBatch, tensors);
    const ValueFacts facts = FactsOf(dst);
    EXPECT_LT(facts.zeros, 0.75) << chain.layer(i).name;
    EXPECT_EQ(facts.saturated, 0.0) << chain.layer(i).name;
    EXPECT_GT(facts.mean_square, 15.0) << chain.layer(i).name;
  }
  const auto network =
      network::Network::Create(chain.graph(), {.batch = kBatch, .back_end = rtc::BackEnd::kCpu});
  ASSERT_TRUE(network.ok()) << network.status();
  const std::unique_ptr<void, Free> arena(
      std::aligned_alloc(256, static_cast<std::size_t>(network->arena_bytes())));
  network::Network::Arguments args = {.arena = arena.get()};
  for (const auto& input : inputs) args.inputs.push_back(input.data());
  std::vector<std::vector<std::int8_t>> outputs;
  for (std::size_t i = 0; i < chain.graph().outputs.size(); ++i) {
    outputs.emplace_back(static_cast<std::size_t>(network->output_bytes(static_cast<int>(i))));
  }
  for (auto& output : outputs) args.outputs.push_back(output.data());
  for (const int begin : {0, Chain::kQuantised}) {
    for (auto& output : outputs) std::fill(output.begin(), output.end(), std::int8_t{-75});
    args.begin = begin;
    ASSERT_TRUE(network->RunOnCpu(args).ok());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const int tensor = chain.graph().outputs[i];
      EXPECT_EQ(outputs[i], tensors[static_cast<std::size_t>(tensor)]) << chain.tensor(tensor).name;
    }
  }
}

}  // namespace
}  // namespace weft::perf
