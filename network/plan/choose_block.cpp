#include "weft/network/plan/choose_block.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "weft/conv/bottleneck/bottleneck_image.hpp"
#include "weft/conv/bottleneck/bottleneck_plan.hpp"
#include "weft/conv/policy/bottleneck_policy.hpp"
#include "weft/epilogues/quantized_add.hpp"
#include "weft/network/plan/why_apart.hpp"

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

// Policies like those of networks; which stages and elements these have changes nothing of what fits.
using Part = epilogues::Chain<epilogues::SumBias, epilogues::Scale, epilogues::RoundFirst,
                              epilogues::ClampTo<std::int8_t>>;
using Last =
    epilogues::Chain<epilogues::SumBias, epilogues::Scale, epilogues::QuantizeSteps<std::int8_t>,
                     epilogues::QuantizedAdd<std::int8_t>, epilogues::ClampTo<std::int8_t>>;
using AddsX = conv::S8Bottleneck<Part, Part, Last>;
using Projects = conv::ProjectedS8Bottleneck<Part, Part, Last, Part>;

// Whether a tile takes these extents, and fits in shared memory.
absl::Status CheckTile(const BottleneckProblem& p, bool projects, const BottleneckConfig& tile) {
  conv::BottleneckFacts facts =
      projects ? conv::BottleneckFactsOf<Projects>() : conv::BottleneckFactsOf<AddsX>();
  facts.rows = tile.rows, facts.warpgroups = tile.warpgroups, facts.patches = tile.patches;
  return conv::PlanBottleneck(p, facts).status();
}

// The same of the extents. first, second: channels of what these convolutions make.
std::string WhyNot(const BottleneckProblem& p, bool projects, std::int64_t first,
                   std::int64_t second) {
  if (first != BottleneckProblem::kMiddle || second != first) {
    return absl::StrCat("it has ", std::max(first, second),
                        " channels between its convolutions, and one kernel has ",
                        BottleneckProblem::kMiddle);
  }
  // The last one takes the least memory.
  const absl::Status s = CheckTile(p, projects, *std::rbegin(kTiles));
  return std::string(absl::StripPrefix(s.message(), "conv: "));
}

// Why kernels of their own are quicker by the model of times; empty: they are not.
std::string WhyQuickerApart(const BottleneckProblem& p, bool projects, const PlanOptions& options) {
  const auto time = [&](const conv::Problem& problem, bool adds) {
    return options.time({.problem = problem, .adds = adds});
  };
  const double apart = time(p.first(), false) + time(p.second(), false) + time(p.third(), true) +
                       (projects ? time(p.projection(), false) : 0.0);
  return WhyByTimes(BlockMicroseconds(p, projects, options.gpu.sm_count), apart);
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
  if (std::string why = WhyNot(p, b.projection >= 0, channels(b.first), channels(b.second));
      !why.empty()) {
    return why;
  }
  for (const int t : {b.x, node(b.last()).output}) {
    const auto index = static_cast<std::size_t>(t);
    if (std::string why = WhyByFormat(graph.tensors[index], formats[index], Format::kNc32);
        !why.empty()) {
      return why;
    }
  }
  if (auto why = WhyByOptions(options); why.has_value()) return *std::move(why);
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
  const auto* gpu = std::get_if<conv::GpuFacts>(&machine);
  const int processors = gpu == nullptr ? 1 : gpu->limits.sm_count;
  const std::string usual =
      NameOf(gpu == nullptr ? *std::rbegin(kTiles) : conv::BottleneckTileFor(p, processors));
  const double time = gpu == nullptr ? 0.0 : BlockMicroseconds(p, step.projects(), processors);
  std::vector<TileCandidate> found;
  for (const BottleneckConfig& tile : kTiles) {
    if (!CheckTile(p, step.projects(), tile).ok()) continue;
    const std::string name = NameOf(tile);
    found.insert(name == usual ? found.begin() : found.end(), {name, time});
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
