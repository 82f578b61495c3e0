#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "weft/network/graph/names.hpp"
#include "weft/network/plan/arena.hpp"
#include "weft/network/plan/plan.hpp"

namespace weft::network {
namespace {

bool IsConvolution(const Node& node) {
  return node.kind == Kind::kConvolution || node.kind == Kind::kFullyConnected;
}

class Planner {
 public:
  Planner(const Graph& graph, const PlanOptions& options) : graph_(graph), options_(options) {
    plan_.batch = options.batch;
    readers_.resize(graph.tensors.size());
    maker_.resize(graph.tensors.size(), -1);
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      for (const int input : graph.nodes[i].inputs) ++readers_[static_cast<std::size_t>(input)];
      maker_[static_cast<std::size_t>(graph.nodes[i].output)] = static_cast<int>(i);
    }
    for (const int output : graph.outputs) ++readers_[static_cast<std::size_t>(output)];
  }

  absl::StatusOr<Plan> Make() && {
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
      places_[{graph_.inputs[i], Format::kNchw}] =
          Place(graph_.inputs[i], Format::kNchw, PlacedTensor::Where::kInput, static_cast<int>(i));
    }
    const std::vector<int> fused = Fusions();
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (std::find(fused.begin(), fused.end(), static_cast<int>(i)) != fused.end()) continue;
      AddNode(static_cast<int>(i));
    }
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      if (places_.count({graph_.outputs[i], Format::kNchw}) != 0)
        continue;  // it has been written there
      const int place = Place(graph_.outputs[i], Format::kNchw, PlacedTensor::Where::kOutput,
                              static_cast<int>(i));
      AddConvert(FirstPlaceOf(graph_.outputs[i]), place, tensor(graph_.outputs[i]).name);
    }
    for (const Step& step : plan_.steps) {
      const auto* problem = std::get_if<TensorProblem>(&step.what);
      if (problem == nullptr) continue;
      if (absl::Status s = CheckTensorProblem(*problem); !s.ok()) {
        return OfNode(s, step.name);
      }
    }
    PlaceInArena(&plan_);
    return std::move(plan_);
  }

 private:
  const Tensor& tensor(int index) const { return graph_.tensors[static_cast<std::size_t>(index)]; }
  const Node& node(int index) const { return graph_.nodes[static_cast<std::size_t>(index)]; }

  // Blocks of 32 channels are what tensor cores multiply quickest; of at most 4, blocks of 4 have the fewest zeros.
  Format FormatOf(const Tensor& t) const {
    if (t.element == Element::kFloat) return Format::kNchw;
    return t.c <= 4 ? Format::kNc4 : Format::kNc32;
  }

  int Place(int index, Format format, PlacedTensor::Where where, int port = 0) {
    plan_.tensors.push_back({.tensor = index,
                             .type = tensor(index).Type(options_.batch, format),
                             .where = where,
                             .port = port});
    return static_cast<int>(plan_.tensors.size()) - 1;
  }

  int FirstPlaceOf(int index) const { return places_.lower_bound({index, Format::kNhwc})->second; }

  // The tensor in its format, converted if it exists only in another one.
  int Source(int index, Format format) {
    if (const auto at = places_.find({index, format}); at != places_.end()) return at->second;
    const int from = FirstPlaceOf(index);
    const int place = Place(index, format, PlacedTensor::Where::kArena);
    places_[{index, format}] = place;
    AddConvert(from, place, tensor(index).name);
    return place;
  }
  int Source(int index) { return Source(index, FormatOf(tensor(index))); }

  // Floats are written where an output is wanted; other outputs are converted at the end.
  int Destination(int index) {
    const Format format = FormatOf(tensor(index));
    const auto output = std::find(graph_.outputs.begin(), graph_.outputs.end(), index);
    const bool is_output = format == Format::kNchw && output != graph_.outputs.end();
    const int place = is_output ? Place(index, format, PlacedTensor::Where::kOutput,
                                        static_cast<int>(output - graph_.outputs.begin()))
                                : Place(index, format, PlacedTensor::Where::kArena);
    return places_[{index, format}] = place;
  }

  const TensorType& type(int place) const {
    return plan_.tensors[static_cast<std::size_t>(place)].type;
  }

  void AddConvert(int from, int to, const std::string& name) {
    plan_.steps.push_back(
        {.src = from,
         .dst = to,
         .what = TensorProblem{.kind = Kind::kConvert, .src = type(from), .dst = type(to)},
         .name = name});
  }

  // For each addition the convolution that makes one of its operands and no other node reads: the later one, whose
  // kernel then adds the other operand. They are in fusion_, by the addition; the result is the convolutions.
  std::vector<int> Fusions() {
    std::vector<int> fused;
    for (std::size_t i = 0; options_.fuse && i < graph_.nodes.size(); ++i) {
      const Node& add = graph_.nodes[i];
      if (add.kind != Kind::kAdd || add.inputs[0] == add.inputs[1]) continue;
      int best = -1;
      for (const int input : add.inputs) {
        const int maker = maker_[static_cast<std::size_t>(input)];
        if (maker < 0 || !IsConvolution(node(maker)) ||
            readers_[static_cast<std::size_t>(input)] != 1)
          continue;
        best = std::max(best, maker);
      }
      if (best < 0) continue;
      fused.push_back(best);
      fusion_[static_cast<int>(i)] = best;
    }
    return fused;
  }

  void AddNode(int index) {
    const Node& n = node(index);
    if (const auto at = fusion_.find(index); at != fusion_.end())
      return AddConvolution(at->second, index);
    if (IsConvolution(n)) return AddConvolution(index, -1);
    if (n.kind == Kind::kConcat) return AddConcat(n);
    TensorProblem problem;
    problem.kind = n.kind;
    const int src = Source(n.inputs[0]);
    const int other = n.inputs.size() > 1 ? Source(n.inputs[1]) : -1;
    const int dst = Destination(n.output);
    problem.src = type(src), problem.dst = type(dst);
    if (other >= 0) problem.other = type(other);
    problem.window = n.window;
    problem.count_padding = n.count_padding;
    problem.factor_h = n.factor_h, problem.factor_w = n.factor_w;
    problem.table = std::string(n.table.exists() ? graph_.Bytes(n.table) : "");
    plan_.steps.push_back(
        {.src = src, .other = other, .dst = dst, .what = problem, .name = n.name});
  }

  // A step for each input, which writes its channels of the result.
  void AddConcat(const Node& n) {
    const int dst = Destination(n.output);
    std::int64_t channel = 0;
    for (const int input : n.inputs) {
      const int src = Source(input);
      plan_.steps.push_back({.src = src,
                             .dst = dst,
                             .what = TensorProblem{.kind = Kind::kConvert,
                                                   .src = type(src),
                                                   .dst = type(dst),
                                                   .first_channel = channel},
                             .name = n.name});
      channel += tensor(input).c;
    }
  }

  void AddConvolution(int index, int add) {
    const Node& n = node(index);
    const Tensor& in = tensor(n.inputs[0]);
    ConvolutionStep step{.node = index, .element = tensor(n.output).element, .add = add};
    conv::Problem& p = step.problem;
    p.n = options_.batch, p.c = in.c, p.h = in.h, p.w = in.w, p.k = tensor(n.output).c;
    if (n.kind == Kind::kFullyConnected) {
      p.r = in.h, p.s = in.w;  // one window, which is the whole image
    } else {
      const Window& w = n.window;
      p.r = w.h, p.s = w.w;
      p.pad_top = w.pad_top, p.pad_left = w.pad_left, p.pad_bottom = w.pad_bottom,
      p.pad_right = w.pad_right;
      p.stride_h = w.stride_h, p.stride_w = w.stride_w;
      p.dilation_h = w.dilation_h, p.dilation_w = w.dilation_w;
      step.depthwise = n.groups == in.c && n.groups > 1;
      if (step.depthwise)
        p.groups = n.groups;  // other groups become zeros of a filter for all channels
    }
    const int src = Source(n.inputs[0]);
    int other = -1, output = n.output;
    std::string name = n.name;
    if (add >= 0) {
      const Node& addition = node(add);
      step.sum_is_first = addition.inputs[0] == n.output;
      other = Source(addition.inputs[step.sum_is_first ? 1 : 0]);
      output = addition.output;
      absl::StrAppend(&name, " + ", addition.name);
    }
    const int dst = Destination(output);
    plan_.steps.push_back({.src = src, .other = other, .dst = dst, .what = step, .name = name});
  }

  const Graph& graph_;
  const PlanOptions& options_;
  Plan plan_;
  std::vector<int> readers_;  // how many nodes and outputs read a tensor
  std::vector<int> maker_;    // the node that makes a tensor; -1: none
  std::map<int, int> fusion_;
  std::map<std::pair<int, Format>, int> places_;  // of tensors of the graph by formats
};

}  // namespace

absl::StatusOr<Plan> MakePlan(const Graph& graph, const PlanOptions& options) {
  for (const Tensor& t : graph.tensors) {
    constexpr std::int64_t kMost = std::int64_t{1} << 40;
    const std::int64_t each = 4 * RoundUp(t.c, 32) * t.h * t.w;  // bytes of an image at most
    if (options.batch > kMost / each) {
      return absl::InvalidArgumentError(
          absl::StrCat("network: batch=", options.batch, " makes tensor \"", t.name,
                       "\" larger than 2^40 bytes; give fewer images"));
    }
  }
  if (options.batch < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("network: batch=", options.batch, "; give 1 or more images"));
  }
  return Planner(graph, options).Make();
}

}  // namespace weft::network
