// How the outputs of a network on the CPU differ from those of plain loops.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "tests/network/plain_network.hpp"
#include "weft/network/network.hpp"

namespace weft::network {

struct Free {
  void operator()(void* p) const { std::free(p); }
};

// How many floats of the outputs differ from the plain ones. The arena is full of other numbers before.
inline std::int64_t Differences(const Network& network) {
  const Graph& graph = network.graph();
  std::mt19937 random(3);
  std::vector<float> x(static_cast<std::size_t>(network.input_bytes(0) / 4));
  for (float& value : x)
    value = static_cast<float>(static_cast<int>(random() % 601) - 300) / 100.0f;
  std::vector<std::vector<float>> outputs;
  std::vector<void*> addresses;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    outputs.emplace_back(static_cast<std::size_t>(network.output_bytes(static_cast<int>(i)) / 4));
    addresses.push_back(outputs.back().data());
  }
  const auto bytes = static_cast<std::size_t>(network.arena_bytes());
  const std::unique_ptr<void, Free> arena(std::aligned_alloc(256, bytes));
  std::memset(arena.get(), 0xa5, bytes);
  const absl::Status status =
      network.RunOnCpu({.inputs = {x.data()}, .outputs = addresses, .arena = arena.get()});
  EXPECT_TRUE(status.ok()) << status;
  const std::vector<PlainTensor> all = RunPlainly(graph, network.plan().batch, {x});
  std::int64_t differences = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const PlainTensor& wanted = all[static_cast<std::size_t>(graph.outputs[i])];
    for (std::size_t j = 0; j < wanted.size(); ++j) differences += outputs[i][j] != wanted[j];
    EXPECT_GT(std::set<float>(wanted.begin(), wanted.end()).size(),
              5u);  // they are not all one number
  }
  return differences;
}

inline std::int64_t Differences(const Graph& graph, const NetworkOptions& options) {
  const auto network = Network::Create(graph, options);
  EXPECT_TRUE(network.ok()) << network.status();
  return network.ok() ? Differences(*network) : -1;
}

inline NetworkOptions OnCpu(std::int64_t batch = 1, bool fuse = true) {
  return {.batch = batch, .back_end = rtc::BackEnd::kCpu, .fuse = fuse};
}

}  // namespace weft::network
