#include "weft/network/plan/choose_block.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "weft/conv/policy/bottleneck_policy.hpp"
#include "weft/network/graph/names.hpp"

namespace weft::network {
namespace {

using conv::BottleneckConfig, conv::BottleneckProblem;

constexpr BottleneckConfig kTiles[] = {conv::kBottleneck14x2x3, conv::kBottleneck8x3x4,
                                       conv::kBottleneck4x1x2};

std::string NameOf(const BottleneckConfig& tile) {
  return absl::StrCat("Bottleneck", tile.rows, "x", tile.warpgroups, "x", tile.patches);
}

// What keeps a convolution from being part of the kernel, whatever its channels are; empty: nothing.
std::string WhyNot(const Node& n) {
  const Window& w = n.window;
  const std::int64_t padding = w.h / 2;
  if (w.stride_h != 1 || w.stride_w != 1) {
    return absl::StrCat(n.name, " has stride ", w.stride_h, "x", w.stride_w,
                        ", and one kernel has 1x1");
  }
  if (w.dilation_h != 1 || w.dilation_w != 1) {
    return absl::StrCat(n.name, " has dilation ", w.dilation_h, "x", w.dilation_w,
                        ", and one kernel has 1x1");
  }
  for (const std::int64_t pad : {w.pad_top, w.pad_left, w.pad_bottom, w.pad_right}) {
    if (pad != padding) {
      return absl::StrCat(n.name, " has a padding of ", pad, ", and one kernel has ", padding);
    }
  }
  return "";
}

// The same of the extents.
std::string WhyNot(const BottleneckProblem& p, std::int64_t middle, std::int64_t second) {
  constexpr std::int64_t kMostChannels = 256;  // of which filters and tiles fit in shared memory
  if (middle != BottleneckProblem::kMiddle || second != middle) {
    return absl::StrCat("it has ", std::max(middle, second),
                        " channels between its convolutions, and one kernel has ",
                        BottleneckProblem::kMiddle);
  }
  if (p.w % 4 != 0 || p.w > 128) {
    return absl::StrCat("w=", p.w, ", and one kernel takes multiples of 4, at most 128");
  }
  if (p.c % 32 != 0) return absl::StrCat("c=", p.c, " is not a multiple of 32");
  if (p.k % 64 != 0) return absl::StrCat("k=", p.k, " is not a multiple of 64");
  if (std::max(p.c, p.k) > kMostChannels) {
    return absl::StrCat("the filters of ", std::max(p.c, p.k),
                        " channels do not fit in shared memory, those of ", kMostChannels, " do");
  }
  return "";
}

// Why the machine's kernels of their own are quicker; empty: they are not.
std::string WhyQuickerApart(const BottleneckProblem& p, bool projects, const PlanOptions& options) {
  const int capability = options.gpu.compute_capability;
  if (capability == 0) return "on the CPU kernels of their own are quicker";
  if (capability != 90) {
    return absl::StrCat("the one kernel is for compute capability 9.0, and the GPU's is ",
                        capability / 10, ".", capability % 10);
  }
  if (!options.time) return "";
  const auto time = [&](const conv::Problem& problem, bool adds) {
    return options.time({.problem = problem, .adds = adds});
  };
  const double apart = time(p.first(), false) + time(p.second(), false) + time(p.third(), true) +
                       (projects ? time(p.projection(), false) : 0.0);
  const double one = BlockMicroseconds(p, projects, options.gpu.sm_count);
  if (one < apart) return "";
  return absl::StrCat("the model expects ", std::ceil(apart), " us of kernels of their own, and ",
                      std::ceil(one), " us of one");
}

}  // namespace

BottleneckProblem ProblemOf(const Graph& graph, const Bottleneck& b, std::int64_t batch) {
  const auto tensor = [&](int index) -> const Tensor& {
    return graph.tensors[static_cast<std::size_t>(index)];
  };
  const Tensor& x = tensor(b.x);
  const Tensor& y = tensor(graph.nodes[static_cast<std::size_t>(b.last())].output);
  return {.n = batch, .h = x.h, .w = x.w, .c = x.c, .k = y.c};
}

std::string WhyApart(const Graph& graph, const Bottleneck& b, const std::vector<Format>& formats,
                     const PlanOptions& options) {
  const auto node = [&](int index) -> const Node& {
    return graph.nodes[static_cast<std::size_t>(index)];
  };
  const auto channels = [&](int index) {
    return graph.tensors[static_cast<std::size_t>(node(index).output)].c;
  };
  for (const int part : {b.first, b.second, b.third, b.projection}) {
    if (part < 0) continue;
    if (std::string why = WhyNot(node(part)); !why.empty()) return why;
  }
  const BottleneckProblem p = ProblemOf(graph, b, options.batch);
  if (std::string why = WhyNot(p, channels(b.first), channels(b.second)); !why.empty()) return why;
  for (const int t : {b.x, node(b.last()).output}) {
    const Format format = formats[static_cast<std::size_t>(t)];
    if (format == Format::kNc32) continue;
    return absl::StrCat("\"", graph.tensors[static_cast<std::size_t>(t)].name, "\" is ",
                        NameOf(format), ", and one kernel takes ", NameOf(Format::kNc32));
  }
  if (options.blocks == Blocks::kNever) return "blocks are off";
  if (options.blocks == Blocks::kAlways) return "";
  return WhyQuickerApart(p, b.projection >= 0, options);
}

// Fitted to the times of conv/bottleneck on an H200 of 132 multiprocessors, of 56x56 pixels and 256 channels, N of 1, 16 and 64.
double BlockMicroseconds(const BottleneckProblem& p, bool projects, int multiprocessors) {
  constexpr double kStart = 3.4, kOfEachOutput = 6.1e-5;  // of one multiprocessor
  const auto pixels = static_cast<double>(p.n * p.h * p.w);
  const auto outputs =
      static_cast<double>(2 * BottleneckProblem::kMiddle + p.k * (projects ? 2 : 1));
  return kStart + pixels * outputs * kOfEachOutput / multiprocessors;
}

std::vector<TileCandidate> CandidateTiles(const BottleneckStep& step, const Machine& machine) {
  const BottleneckProblem& p = step.problem;
  const BottleneckConfig& usual = kTiles[p.n >= 32 ? 0 : p.n >= 4 ? 1 : 2];
  const auto* gpu = std::get_if<conv::GpuFacts>(&machine);
  const double time =
      gpu == nullptr ? 0.0 : BlockMicroseconds(p, step.projects(), gpu->limits.sm_count);
  std::vector<TileCandidate> found = {{NameOf(usual), time}};
  for (const BottleneckConfig& tile : kTiles) {
    if (NameOf(tile) != found[0].tile) found.push_back({NameOf(tile), time});
  }
  return found;
}

std::string BottleneckTileType(const std::string& tile) {
  for (const BottleneckConfig& t : kTiles) {
    if (NameOf(t) != tile) continue;
    return absl::StrCat("BottleneckTile<", t.rows, ", ", t.warpgroups, ", ", t.patches, ">");
  }
  return "";  // the policy does not compile
}

}  // namespace weft::network
