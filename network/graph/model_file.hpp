// The file of a model (docs/networks.md says what is in it): a graph and, if the file is an engine, plans of it with their compiled code.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weft/gemm/arch/device.hpp"
#include "weft/layouts/base/abseil.hpp"
#include "weft/network/graph/blocks.hpp"
#include "weft/network/graph/graph.hpp"
#include "weft/rtc/cache/archive.hpp"

namespace weft::network {

// What a plan of the graph was made for, from which the same plan is made again.
struct SavedPlan {
  std::int64_t batch = 1;
  bool fuse = true;
  Blocks blocks = Blocks::kWhereQuicker;
  std::vector<Format> formats{};               // that the planner chose among; empty: its rule
  arch::DeviceLimits gpu{};                    // compute_capability is 0 of a plan for the CPU
  std::map<std::string, std::string> tiles{};  // of its convolutions, by the names of their steps
};

struct Model {
  Graph graph{};
  std::vector<SavedPlan> plans{};
  std::string headers{};  // of plans, rtc::HeadersDigest() of the library that compiled their code
  std::shared_ptr<const rtc::Archive> code{};  // of the kernels of all plans; null: there are none
};

// The file's bytes, and what bytes hold. InvalidArgument if they are no file, are damaged or are of a newer version, and the
// errors of CheckGraph.
std::string WriteModel(const Model& model);
absl::StatusOr<Model> ReadModel(std::string_view bytes);

}  // namespace weft::network
