// How long each kernel of a network takes, in the order of a run.
//
//     auto profile = weft::network::MeasureOnGpu(network, {.inputs = {x}, .outputs = {y}, .arena = arena}, stream);
//     for (std::size_t i = 0; i < steps.size(); ++i) std::cout << steps[i].name << profile->step_us[i];
#pragma once

#include <vector>

#include "weft/network/network.hpp"

namespace weft::network {

// Microseconds, medians of several runs.
struct Profile {
  std::vector<double> step_us{};  // as plan().steps
  // A run without anything between its kernels. On a GPU it is less than the sum of the steps, which wait for each other there,
  // about a microsecond each.
  double run_us = 0.0;
};

// Runs the network a few times, whole and with events around each kernel, and waits for them; outputs are those of a run. The
// first run is not counted. InvalidArgument if repeats is not positive; the errors of Network::Run.
absl::StatusOr<Profile> MeasureOnGpu(const Network& network, const Network::Arguments& args,
                                     Stream stream, int repeats = 20);

// The same by a clock of the CPU, on which run_us is the sum of the steps. The errors of Network::RunOnCpu.
absl::StatusOr<Profile> MeasureOnCpu(
    const Network& network, const Network::Arguments& args, int repeats = 3,
    const gemm::CpuOptions& options = gemm::CpuOptions::FromEnvironment());

}  // namespace weft::network
