// Engines: files of a graph that also have plans of it with their compiled kernels, so that a program needs no compiler.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "weft/gemm/arch/device.hpp"
#include "weft/layouts/base/abseil.hpp"
#include "weft/network/graph/model_file.hpp"

namespace weft::network {

// One plan of an engine, with the code of all of its kernels.
struct EnginePart {
  const Graph* graph = nullptr;
  SavedPlan plan{};
  std::shared_ptr<const rtc::Archive> code{};
};

// The file of an engine of these plans. InvalidArgument if there is none, they are not of one graph, or two are for the same
// images and the same machine.
absl::StatusOr<std::string> WriteEngine(absl::Span<const EnginePart> parts);

// What an engine has for a run.
struct FoundPlan {
  const SavedPlan* plan = nullptr;  // null: nothing
  std::string note{};               // a sentence about what it has, for reports and errors
};

// The plan for a number of images on a machine, that of its own GPU before that of another one of its compute capability. gpu:
// compute_capability 0 is the CPU. Code of another version of Weft is none.
FoundPlan FindPlan(const Model& model, std::int64_t batch, const arch::DeviceLimits& gpu);

}  // namespace weft::network
