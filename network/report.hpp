// What the kernels of a network do, as data. Descriptions, profiles and pages are made of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weft/gemm/choose/tile_model.hpp"
#include "weft/network/network.hpp"

namespace weft::network {

// Of one step of a network's plan.
struct StepReport {
  std::string name{};                  // those of its nodes
  std::vector<int> nodes{};            // of the graph; none where it only changes a tensor's format
  std::string kernel{};                // as Network::Kernels
  std::string detail{};                // windows, strides and groups, such as "3x3 / 2x2"; or empty
  int src = -1, other = -1, dst = -1;  // places in Plan::tensors
  // The channels of dst that it writes, not all where this is a concat's.
  std::int64_t first_channel = 0, channels = 0;
  // What it reads and writes at least: its tensors, and its nodes' constants.
  std::int64_t bytes = 0;
  double operations = 0.0;  // multiplications and additions of products
};

// One for each step of the plan.
std::vector<StepReport> ReportOf(const Network& network);

// The least time of a step on a GPU: that of its bytes in the GPU's memory, or of its operations in the tensor cores. A kernel
// whose tensors lie in the L2 cache may be faster.
double FloorMicroseconds(const StepReport& step, const gemm::GpuFacts& gpu);

}  // namespace weft::network
