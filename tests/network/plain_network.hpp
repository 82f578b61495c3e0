// A graph by plain loops over NCHW, by the formulas of docs/networks.md, for tests to compare with.
#pragma once

#include <cstdint>
#include <vector>

#include "weft/network/graph/graph.hpp"

namespace weft::network {

// A tensor of n images, NCHW: integers as they are, floats as they are.
using PlainTensor = std::vector<float>;

// All tensors of the graph, as graph.tensors, for `batch` images of its inputs.
std::vector<PlainTensor> RunPlainly(const Graph& graph, std::int64_t batch,
                                    const std::vector<PlainTensor>& inputs);

}  // namespace weft::network
