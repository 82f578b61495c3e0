// Why nodes that one kernel could run are several kernels: what bottlenecks and first layers that pool have in common.
#pragma once

#include <optional>
#include <string>

#include "weft/network/graph/graph.hpp"
#include "weft/network/plan/plan.hpp"

namespace weft::network {

// That a tensor lies in another format than the one kernel takes; empty: it lies in that one.
std::string WhyByFormat(const Tensor& tensor, Format has, Format takes);

// What the options and the machine say, whatever the kernel takes: why it is none, empty where it is one, nothing where times
// decide.
std::optional<std::string> WhyByOptions(const PlanOptions& options);

// That the model expects `one` kernel to take no less than those `apart`, in microseconds; empty: it expects less.
std::string WhyByTimes(double one, double apart);

}  // namespace weft::network
