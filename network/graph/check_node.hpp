// What is asked of one node of a graph.
#pragma once

#include "weft/layouts/base/abseil.hpp"
#include "weft/network/graph/graph.hpp"

namespace weft::network {

// CheckGraph's errors about a node whose inputs and output are places of tensors that were checked.
absl::Status CheckNode(const Graph& graph, const Node& node);

}  // namespace weft::network
