// Which first layers pool their own output (epilogues::MaxPool), and why others do not.
#pragma once

#include <string>
#include <vector>

#include "weft/conv/policy/facts.hpp"
#include "weft/network/fuse/fusions.hpp"
#include "weft/network/plan/choose_tile.hpp"
#include "weft/network/plan/plan.hpp"

namespace weft::network {

// The windows of a fusion's pooling as a convolution makes them; none if there is no pooling, or no convolution makes such ones.
conv::PoolFacts PoolOf(const Graph& graph, const Fusion& fusion);

// Why a convolution and the max pooling behind it are two kernels; empty: they are one. question: of the one, but for formats, which
// are those of tensors.
std::string WhyPooledApart(const Graph& graph, const Fusion& fusion, TileQuestion question,
                           const std::vector<Format>& formats, const PlanOptions& options);

}  // namespace weft::network
