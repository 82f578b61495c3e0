#include "weft/network/plan/choose_pool.hpp"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "weft/network/plan/choose_formats.hpp"
#include "weft/network/plan/why_apart.hpp"

namespace weft::network {
namespace {

const Node& NodeOf(const Graph& graph, int index) {
  return graph.nodes[static_cast<std::size_t>(index)];
}

const Tensor& TensorOf(const Graph& graph, int index) {
  return graph.tensors[static_cast<std::size_t>(index)];
}

}  // namespace

conv::PoolFacts PoolOf(const Graph& graph, const Fusion& fusion) {
  if (fusion.pool < 0) return {};
  const Node& n = NodeOf(graph, fusion.pool);
  const Window& w = n.window;
  const conv::PoolFacts pool = {.size = static_cast<int>(w.h),
                                .step = static_cast<int>(w.stride_h),
                                .padding = static_cast<int>(w.pad_top)};
  const bool square = w.h == w.w && (w.h == 2 || w.h == 3) && w.stride_h == w.stride_w &&
                      w.stride_h == 2 && w.pad_top == w.pad_left && w.pad_top < w.h &&
                      w.dilation_h == 1 && w.dilation_w == 1;
  const Tensor &from = TensorOf(graph, n.inputs[0]), &to = TensorOf(graph, n.output);
  const bool all = square && pool.Windows(from.h) == to.h && pool.Windows(from.w) == to.w;
  return all ? pool : conv::PoolFacts();
}

std::string WhyPooledApart(const Graph& graph, const Fusion& fusion, TileQuestion question,
                           const std::vector<Format>& formats, const PlanOptions& options) {
  const Node& pool = NodeOf(graph, fusion.pool);
  const auto format = [&](int tensor) { return formats[static_cast<std::size_t>(tensor)]; };
  const int x = NodeOf(graph, fusion.convolution).inputs[0], between = pool.inputs[0];
  if (!question.pool.exists()) {
    return absl::StrCat(pool.name, " has windows of ", pool.window.h, "x", pool.window.w,
                        " and steps of ", pool.window.stride_h, "x", pool.window.stride_w,
                        ", and a convolution pools windows of 2x2 or 3x3 in steps of 2x2");
  }
  const auto by_format = [&](int tensor, Format takes) {
    return WhyByFormat(TensorOf(graph, tensor), format(tensor), takes);
  };
  if (std::string why = by_format(x, Format::kNc4); !why.empty()) return why;
  if (std::string why = by_format(pool.output, Format::kNc32); !why.empty()) return why;
  question.src = Format::kNc4, question.dst = Format::kNc32;
  if (const auto tiles = CandidateTiles(question, conv::GpuFacts()); !tiles.ok()) {
    return std::string(absl::StripPrefix(tiles.status().message(), "conv: "));
  }
  if (auto why = WhyByOptions(options); why.has_value()) return *std::move(why);
  const double one = options.time(question);
  question.pool = {}, question.dst = format(between);
  const auto bytes = [&](int tensor) {
    return static_cast<double>(TensorOf(graph, tensor).Type(options.batch, format(tensor)).bytes());
  };
  const double apart =
      options.time(question) + TensorTime(bytes(between) + bytes(pool.output), options);
  return WhyByTimes(one, apart);
}

}  // namespace weft::network
