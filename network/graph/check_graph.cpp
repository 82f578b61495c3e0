#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "weft/network/graph/check_node.hpp"
#include "weft/network/graph/names.hpp"

namespace weft::network {
namespace {

constexpr std::int64_t kMostExtent = std::numeric_limits<std::int32_t>::max();

std::string ShapeOf(const Tensor& t) {
  return absl::StrCat("(", t.c, ", ", t.h, ", ", t.w, ")");
}

absl::Status CheckTensor(const Tensor& t) {
  const auto error = [&](auto... words) {
    return absl::InvalidArgumentError(absl::StrCat("network: tensor \"", t.name, "\" ", words...));
  };
  if (t.name.empty())
    return absl::InvalidArgumentError("network: a tensor has no name; give each one of its own");
  if (t.c < 1 || t.h < 1 || t.w < 1 || t.c > kMostExtent || t.h > kMostExtent ||
      t.w > kMostExtent || t.c > kMostExtent / t.h || t.c * t.h > kMostExtent / t.w) {
    return error("has the shape ", ShapeOf(t),
                 "; give extents of 1 or more with at most 2^31 - 1 elements");
  }
  const float scale = t.quantization.scale;
  const std::int32_t zero = t.quantization.zero_point;
  if (t.element == Element::kFloat) {
    return scale == 1.0f && zero == 0 ? absl::OkStatus()
                                      : error("has floats and scale=", scale, ", zero_point=", zero,
                                              "; floats stand for themselves, leave both out");
  }
  if (!std::isfinite(scale) || !(scale > 0.0f))
    return error("has scale=", scale, "; give a positive finite number");
  const std::int32_t low = LeastOf(t.element), high = low + 255;
  if (zero < low || zero > high) {
    return error("has zero_point=", zero, "; ", NameOf(t.element), " takes ", low, " to ", high);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckGraph(const Graph& graph) {
  std::set<std::string> names;
  for (const Tensor& tensor : graph.tensors) {
    if (absl::Status s = CheckTensor(tensor); !s.ok()) return s;
    if (!names.insert(tensor.name).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          "network: two tensors are called \"", tensor.name, "\"; give each a name of its own"));
    }
  }
  const int count = static_cast<int>(graph.tensors.size());
  std::vector<bool> known(graph.tensors.size());
  const auto is_known = [&](int tensor) {
    return tensor >= 0 && tensor < count && known[static_cast<std::size_t>(tensor)];
  };
  if (graph.inputs.empty() || graph.outputs.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("network: the graph has ", graph.inputs.size(),
                                                   " inputs and ", graph.outputs.size(),
                                                   " outputs; give one or more of each"));
  }
  const auto name_of = [&](int tensor) {
    return tensor >= 0 && tensor < count
               ? absl::StrCat("\"", graph.tensors[static_cast<std::size_t>(tensor)].name, "\"")
               : absl::StrCat("tensor ", tensor, " of ", count);
  };
  for (const int input : graph.inputs) {
    if (input < 0 || input >= count || is_known(input)) {
      return absl::InvalidArgumentError(
          absl::StrCat("network: the graph's input ", name_of(input),
                       " is no tensor, or stands there twice; name each once"));
    }
    known[static_cast<std::size_t>(input)] = true;
  }
  std::set<std::string> nodes;
  for (const Node& node : graph.nodes) {
    if (node.name.empty() || !nodes.insert(node.name).second) {
      return absl::InvalidArgumentError(absl::StrCat("network: a node is called \"", node.name,
                                                     "\"; give each a name of its own"));
    }
    for (const int input : node.inputs) {
      if (!is_known(input)) {
        return absl::InvalidArgumentError(
            absl::StrCat("network: node \"", node.name, "\" reads ", name_of(input),
                         ", which no input and no node before it makes; put nodes in the order of "
                         "their results"));
      }
    }
    if (node.output < 0 || node.output >= count || is_known(node.output)) {
      return absl::InvalidArgumentError(
          absl::StrCat("network: node \"", node.name, "\" writes ", name_of(node.output),
                       ", which is none or has been made; give each node a tensor of its own"));
    }
    if (absl::Status s = CheckNode(graph, node); !s.ok()) return s;
    known[static_cast<std::size_t>(node.output)] = true;
  }
  std::set<int> outputs;
  for (const int output : graph.outputs) {
    const bool is_input =
        std::find(graph.inputs.begin(), graph.inputs.end(), output) != graph.inputs.end();
    if (!is_known(output) || is_input || !outputs.insert(output).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("network: the graph's output ", name_of(output),
                       " is a tensor that no node makes, or stands there twice; name each once"));
    }
  }
  return absl::OkStatus();
}

}  // namespace weft::network
