#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "weft/network/graph/names.hpp"
#include "weft/network/operators/tensor_plan.hpp"
#include "weft/network/plan/arena.hpp"
#include "weft/network/plan/fold_tables.hpp"
#include "weft/network/plan/plan.hpp"

namespace weft::network {
namespace {

bool IsConvolution(const Node& node) {
  return node.kind == Kind::kConvolution || node.kind == Kind::kFullyConnected;
}

// Where a concat wants the tensor that it alone reads: `channel` on of tensor `of`, its output.
struct Slice {
  int of = -1;
  std::int64_t channel = 0;
};

// Where a node writes: a place of the plan, and the channel of it where its output begins.
struct Target {
  int place = -1;
  std::int64_t channel = 0;
};

// A convolution and what its kernel does besides; the kernel makes the output of the last node.
struct Fusion {
  int convolution = -1, add = -1, table = -1;  // nodes; -1: there is none
};

class Planner {
 public:
  Planner(const Graph& graph, const PlanOptions& options)
      : folded_(options.fuse ? FoldTables(graph) : WithoutFolds(graph)),
        graph_(folded_.graph),
        options_(options) {
    plan_.batch = options.batch;
    readers_.resize(graph_.tensors.size());
    maker_.resize(graph_.tensors.size(), -1);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (folded_.gone[i]) continue;
      for (const int input : graph_.nodes[i].inputs) ++readers_[static_cast<std::size_t>(input)];
      maker_[static_cast<std::size_t>(graph_.nodes[i].output)] = static_cast<int>(i);
    }
    for (const int output : graph_.outputs) ++readers_[static_cast<std::size_t>(output)];
  }

  absl::StatusOr<Plan> Make() && {
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
      places_[{graph_.inputs[i], Format::kNchw}] =
          Place(graph_.inputs[i], Format::kNchw, PlacedTensor::Where::kInput, static_cast<int>(i));
    }
    FindFusions();
    if (options_.fuse) FindSlices();
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!folded_.gone[i] && !taken_[i]) AddNode(static_cast<int>(i));
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

  Target TargetOf(int index) {
    if (const auto slice = slices_.find(index); slice != slices_.end()) {
      const Target whole = TargetOf(slice->second.of);
      return {whole.place, whole.channel + slice->second.channel};
    }
    const auto at = places_.find({index, FormatOf(tensor(index))});
    return {at != places_.end() ? at->second : Destination(index), 0};
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

  // Whether a kernel reads a second tensor: what an addition reads, or a residual.
  bool Adds(const Fusion& fusion) const {
    return fusion.add >= 0 || node(fusion.convolution).inputs.size() > 1;
  }

  // The fusion that makes a tensor and that a node may take in, since nothing else reads the tensor; -1: there is none. It is
  // in fusions_ by its last node.
  int FusionBehind(int input) const {
    const int maker = maker_[static_cast<std::size_t>(input)];
    return fusions_.count(maker) != 0 && readers_[static_cast<std::size_t>(input)] == 1 ? maker
                                                                                        : -1;
  }

  // Finds for each convolution what its kernel does besides: a table and an addition behind it, in either order; one that has
  // a residual takes no addition. Of two convolutions that could take an addition, the later one does.
  void FindFusions() {
    taken_.resize(graph_.nodes.size(), false);
    for (int i = 0; i < static_cast<int>(graph_.nodes.size()); ++i) {
      const Node& n = node(i);
      if (folded_.gone[static_cast<std::size_t>(i)]) continue;
      if (IsConvolution(n)) fusions_[i].convolution = i;
      if (!options_.fuse) continue;
      int taken = -1;
      if (n.kind == Kind::kAdd && n.inputs[0] != n.inputs[1]) {
        for (const int input : n.inputs) {
          const int behind = FusionBehind(input);
          if (behind >= 0 && !Adds(fusions_[behind])) taken = std::max(taken, behind);
        }
        if (taken >= 0) fusions_[i] = fusions_[taken], fusions_[i].add = i;
      }
      if (!folded_.tables[static_cast<std::size_t>(i)].empty()) {
        const int behind = FusionBehind(n.inputs[0]);
        if (behind >= 0 && fusions_[behind].table < 0) taken = behind;
        if (taken >= 0) fusions_[i] = fusions_[taken], fusions_[i].table = i;
      }
      if (taken >= 0) taken_[static_cast<std::size_t>(taken)] = true;
    }
  }

  // Finds the tensors that only a concat reads and that their makers can write where it wants them.
  void FindSlices() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& n = graph_.nodes[i];
      if (n.kind != Kind::kConcat) continue;
      const Tensor& whole = tensor(n.output);
      const std::int64_t block =
          VisitFormat(FormatOf(whole), []<class Layout>() { return Layout::kInterleave; });
      std::int64_t channel = 0;
      for (const int input : n.inputs) {
        const std::int64_t c = tensor(input).c;
        const bool whole_blocks =
            channel % block == 0 && (c % block == 0 || channel + c == whole.c);
        if (whole_blocks && readers_[static_cast<std::size_t>(input)] == 1 &&
            WritesSlice(input, whole)) {
          slices_[input] = {n.output, channel};
        }
        channel += c;
      }
    }
  }

  // Whether the kernel that makes a tensor can write it into `whole`, with the scale that this has. If that is another one, a
  // table does it, which is put into requantised_.
  bool WritesSlice(int index, const Tensor& whole) {
    const int maker = maker_[static_cast<std::size_t>(index)];
    if (maker < 0) return false;
    const Node& n = node(maker);
    const std::string table =
        ConvertTable(tensor(index).Type(1, Format::kNhwc), whole.Type(1, Format::kNhwc));
    const auto fusion = fusions_.find(maker);
    if (fusion != fusions_.end()) {
      const Fusion& f = fusion->second;
      // What is added is no slice: of several images it lies in another way.
      if (Adds(f) && options_.batch > 1) return false;
      if (!table.empty() && f.table >= 0 && f.table < f.add) return false;
    } else if (n.kind == Kind::kConcat) {
      if (FormatOf(tensor(index)) != FormatOf(whole)) return false;
    } else if (n.kind == Kind::kQuantize || n.kind == Kind::kDequantize) {
      return false;
    }
    if (table.empty()) return true;
    if (fusion == fusions_.end() && n.kind != Kind::kTable && n.kind != Kind::kConvert)
      return false;
    requantised_[index] = table;
    return true;
  }

  // The table that the maker of a tensor applies behind its own: that of the concat that it writes for.
  std::string Requantised(int index) const {
    const auto at = requantised_.find(index);
    return at != requantised_.end() ? at->second : "";
  }

  void AddNode(int index) {
    const Node& n = node(index);
    if (const auto at = fusions_.find(index); at != fusions_.end()) {
      return AddConvolution(at->second, n.output);
    }
    if (n.kind == Kind::kConcat) return AddConcat(n);
    TensorProblem problem;
    problem.kind = n.kind;
    const int src = Source(n.inputs[0]);
    const int other = n.inputs.size() > 1 ? Source(n.inputs[1]) : -1;
    const auto [dst, channel] = TargetOf(n.output);
    problem.src = type(src), problem.dst = type(dst), problem.first_channel = channel;
    if (other >= 0) problem.other = type(other);
    problem.window = n.window;
    problem.count_padding = n.count_padding;
    problem.factor_h = n.factor_h, problem.factor_w = n.factor_w;
    const std::string behind = Requantised(n.output);
    if (n.kind == Kind::kTable || !behind.empty()) {
      problem.kind = Kind::kTable;
      problem.table = Composed(folded_.tables[static_cast<std::size_t>(index)], behind);
    }
    plan_.steps.push_back(
        {.src = src, .other = other, .dst = dst, .what = problem, .name = n.name});
  }

  // A step for each input that is not there yet, which writes its channels of the result.
  void AddConcat(const Node& n) {
    auto [dst, channel] = TargetOf(n.output);
    for (const int input : n.inputs) {
      if (slices_.count(input) != 0) {
        channel += tensor(input).c;
        continue;
      }
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

  void AddConvolution(const Fusion& fusion, int output) {
    const Node& n = node(fusion.convolution);
    const Tensor& in = tensor(n.inputs[0]);
    ConvolutionStep step{
        .node = fusion.convolution, .element = tensor(n.output).element, .add = fusion.add};
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
    int other = n.inputs.size() > 1 ? Source(n.inputs[1]) : -1;
    if (fusion.table >= 0) {
      step.table = folded_.tables[static_cast<std::size_t>(fusion.table)];
      step.table_element = tensor(node(fusion.table).output).element;
      step.table_is_last = fusion.table > fusion.add;
    }
    if (const std::string behind = Requantised(output); !behind.empty()) {
      step.table = Composed(step.table, behind);
      step.table_element = tensor(slices_.at(output).of).element;
    }
    if (fusion.add >= 0) {
      const Node& addition = node(fusion.add);
      const int own = step.table_is_last ? n.output : node(fusion.table).output;
      step.sum_is_first = addition.inputs[0] == own;
      other = Source(addition.inputs[step.sum_is_first ? 1 : 0]);
    }
    std::string name = n.name;
    for (const int behind :
         {std::min(fusion.add, fusion.table), std::max(fusion.add, fusion.table)}) {
      if (behind >= 0) absl::StrAppend(&name, " + ", node(behind).name);
    }
    const auto [dst, channel] = TargetOf(output);
    step.first_channel = channel;
    plan_.steps.push_back({.src = src, .other = other, .dst = dst, .what = step, .name = name});
  }

  const FoldedGraph folded_;
  const Graph& graph_;  // that of folded_
  const PlanOptions& options_;
  Plan plan_;
  std::vector<int> readers_;                // how many nodes and outputs read a tensor
  std::vector<int> maker_;                  // the node that makes a tensor; -1: none
  std::map<int, Slice> slices_;             // by tensors
  std::map<int, std::string> requantised_;  // by tensors
  std::map<int, Fusion> fusions_;           // by their last nodes
  std::vector<bool> taken_;  // by node: it is part of a larger fusion, and not its last node
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
