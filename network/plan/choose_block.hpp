// Which bottlenecks of a graph are one kernel, and with which tile.
#pragma once

#include <string>
#include <vector>

#include "weft/conv/problem/bottleneck_problem.hpp"
#include "weft/network/fuse/bottlenecks.hpp"
#include "weft/network/plan/choose_tile.hpp"
#include "weft/network/plan/plan.hpp"

namespace weft::network {

// Extents of a bottleneck of a graph, for a number of images.
conv::BottleneckProblem ProblemOf(const Graph& graph, const Bottleneck& bottleneck,
                                  std::int64_t batch);

// Why the convolutions of a bottleneck are kernels of their own: what the one kernel cannot do, or that they are quicker on the
// machine of the options. Empty: one kernel runs them. formats: by tensors of the graph.
std::string WhyApart(const Graph& graph, const Bottleneck& bottleneck,
                     const std::vector<Format>& formats, const PlanOptions& options);

// The microseconds of the one kernel on a GPU of compute capability 9.0 that has so many multiprocessors.
double BlockMicroseconds(const conv::BottleneckProblem& problem, bool projects,
                         int multiprocessors);

// The tiles of a bottleneck, such as "Bottleneck14x2x3" (conv::BottleneckConfig), the one for so many images first.
std::vector<TileCandidate> CandidateTiles(const BottleneckStep& step, const Machine& machine);

// A tile by its name, as a type of namespace weft::conv: "BottleneckTile<14, 2, 3>".
std::string BottleneckTileType(const std::string& tile);

}  // namespace weft::network
