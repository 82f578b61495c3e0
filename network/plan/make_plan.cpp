#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "weft/network/fuse/bottlenecks.hpp"
#include "weft/network/fuse/fusions.hpp"
#include "weft/network/graph/names.hpp"
#include "weft/network/plan/arena.hpp"
#include "weft/network/plan/choose_block.hpp"
#include "weft/network/plan/choose_formats.hpp"
#include "weft/network/plan/choose_pool.hpp"
#include "weft/network/plan/plan.hpp"

namespace weft::network {
namespace {

// Where a node writes: a place of the plan, and the channel of it where its output begins.
struct Target {
  int place = -1;
  std::int64_t channel = 0;
};

class Planner {
 public:
  Planner(const Graph& graph, const PlanOptions& options)
      : fusions_(graph, options.fuse), graph_(fusions_.graph()), options_(options) {
    plan_.batch = options.batch;
  }

  absl::StatusOr<Plan> Make() && {
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
      places_[{graph_.inputs[i], Format::kNchw}] =
          Place(graph_.inputs[i], Format::kNchw, PlacedTensor::Where::kInput, static_cast<int>(i));
    }
    if (absl::Status s = FindFormats(); !s.ok()) return s;
    ChooseBlocks();
    for (int i = 0; i < static_cast<int>(graph_.nodes.size()); ++i) {
      if (const auto block = blocks_.find(i); block != blocks_.end()) {
        AddBottleneck(block->second);
      } else if (fusions_.HasKernel(i) && in_blocks_.count(i) == 0) {
        AddNode(i);
      }
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
    NameConvolutions();
    PlaceInArena(&plan_);
    return std::move(plan_);
  }

 private:
  const Tensor& tensor(int index) const { return graph_.tensors[static_cast<std::size_t>(index)]; }
  const Node& node(int index) const { return graph_.nodes[static_cast<std::size_t>(index)]; }

  Format FormatOf(int index) const { return formats_[static_cast<std::size_t>(index)]; }

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
  int Source(int index) { return Source(index, FormatOf(index)); }

  // Floats are written where an output is wanted; other outputs are converted at the end.
  int Destination(int index) {
    const Format format = FormatOf(index);
    const auto output = std::find(graph_.outputs.begin(), graph_.outputs.end(), index);
    const bool is_output = format == Format::kNchw && output != graph_.outputs.end();
    const int place = is_output ? Place(index, format, PlacedTensor::Where::kOutput,
                                        static_cast<int>(output - graph_.outputs.begin()))
                                : Place(index, format, PlacedTensor::Where::kArena);
    return places_[{index, format}] = place;
  }

  Target TargetOf(int index) {
    if (const Slice* const slice = fusions_.SliceOf(index); slice != nullptr) {
      const Target whole = TargetOf(slice->of);
      const Target part = {whole.place, whole.channel + slice->channel};
      if (slice->is_read && places_.count({index, type(part.place).format}) == 0) {
        const int place = Place(index, type(part.place).format, PlacedTensor::Where::kArena);
        PlacedTensor& placed = plan_.tensors[static_cast<std::size_t>(place)];
        placed.within = part.place, placed.first_channel = part.channel;
        places_[{index, placed.type.format}] = place;
      }
      return part;
    }
    const auto at = places_.find({index, FormatOf(index)});
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

  // Tiles are given by the names of convolutions and bottlenecks, each of which has one of its own.
  void NameConvolutions() {
    std::set<std::string> names;
    for (Step& step : plan_.steps) {
      if (std::holds_alternative<TensorProblem>(step.what)) continue;
      const std::string name = step.name;
      for (int i = 2; !names.insert(step.name).second; ++i) {
        step.name = absl::StrCat(name, " (", i, ")");
      }
    }
  }

  // Results of concats stay in blocks, whose slices convolutions write.
  absl::Status FindFormats() {
    std::vector<bool> in_blocks(graph_.tensors.size(), false);
    for (const Node& n : graph_.nodes) {
      if (n.kind == Kind::kConcat) in_blocks[static_cast<std::size_t>(n.output)] = true;
    }
    for (const bool slices_are_known : {false, true}) {
      absl::StatusOr<std::vector<Format>> formats =
          ChooseFormats(graph_, slices_are_known ? FormatKernels() : std::vector<FormatKernel>(),
                        in_blocks, options_);
      if (!formats.ok()) return formats.status();
      formats_ = *std::move(formats);
      if (slices_are_known) break;
      fusions_.FindPools([this](const Fusion& fusion) { return Pools(fusion); });
      fusions_.FindSlices(formats_, options_.batch);
      for (std::size_t i = 0; i < graph_.tensors.size(); ++i) {
        const Slice* const slice = fusions_.SliceOf(static_cast<int>(i));
        if (slice != nullptr && slice->is_read) in_blocks[i] = true;
      }
    }
    return absl::OkStatus();
  }

  // Of each bottleneck whether it is one kernel.
  void ChooseBlocks() {
    if (!options_.fuse) return;
    for (const Bottleneck& b : FindBottlenecks(fusions_)) {
      plan_.blocks.push_back({NameOf(b), WhyApart(graph_, b, formats_, options_)});
      if (!plan_.blocks.back().why_apart.empty()) continue;
      blocks_[b.last()] = b;
      in_blocks_.insert({b.first, b.second, b.third, b.projection});
    }
  }

  std::string NameOf(const Bottleneck& b) const {
    std::string name;
    for (const int part : {b.first, b.second, b.third, b.projection, b.add}) {
      if (part >= 0) absl::StrAppend(&name, name.empty() ? "" : " + ", node(part).name);
    }
    return name;
  }

  // The kernels that steps will be, as far as formats matter to them: as if no bottleneck were one.
  std::vector<FormatKernel> FormatKernels() const {
    std::vector<FormatKernel> kernels;
    for (int i = 0; i < static_cast<int>(graph_.nodes.size()); ++i) {
      const Node& n = node(i);
      if (!fusions_.HasKernel(i)) continue;
      const int dst = fusions_.RootOf(n.output);
      if (const Fusion* const fusion = fusions_.KernelOf(i); fusion != nullptr) {
        kernels.push_back(ConvolutionKernel(*fusion, dst));
      } else if (n.kind == Kind::kConcat) {
        std::int64_t channel = 0;
        for (const int input : n.inputs) {
          if (!fusions_.IsThere(input, n.output, channel)) {
            kernels.push_back({.src = input, .dst = dst});
          }
          channel += tensor(input).c;
        }
      } else {
        const int other = n.inputs.size() > 1 ? n.inputs[1] : -1;
        kernels.push_back({.src = n.inputs[0], .other = other, .dst = dst});
      }
    }
    return kernels;
  }

  // Whether a convolution takes in the max pooling behind it.
  bool Pools(const Fusion& fusion) {
    const TileQuestion question = ConvolutionKernel(fusion, node(fusion.pool).output).question;
    plan_.pools.push_back(
        {absl::StrCat(node(fusion.convolution).name, " + ", node(fusion.pool).name),
         WhyPooledApart(graph_, fusion, question, formats_, options_)});
    return plan_.pools.back().why_apart.empty();
  }

  FormatKernel ConvolutionKernel(const Fusion& fusion, int dst) const {
    const Node& n = node(fusion.convolution);
    FormatKernel k = {.src = n.inputs[0], .dst = dst, .is_convolution = true};
    k.question.problem = ProblemOf(n, &k.question.depthwise);
    k.question.source_zero_point =
        CorrectsSource(k.question.problem, tensor(n.inputs[0]).quantization);
    k.question.adds = fusions_.Adds(fusion);
    k.question.pool = PoolOf(graph_, fusion);
    if (n.inputs.size() > 1) k.other = n.inputs[1];
    if (fusion.add >= 0) k.other = node(fusion.add).inputs[fusions_.SumIsFirst(fusion) ? 1 : 0];
    return k;
  }

  void AddNode(int index) {
    const Node& n = node(index);
    if (const Fusion* const fusion = fusions_.KernelOf(index); fusion != nullptr) {
      return AddConvolution(*fusion, n.output);
    }
    if (n.kind == Kind::kConcat) return AddConcat(index);
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
    const std::string behind = fusions_.Requantised(n.output);
    if (n.kind == Kind::kTable || !behind.empty()) {
      problem.kind = Kind::kTable;
      problem.table = Composed(fusions_.table(index), behind);
    }
    plan_.steps.push_back(
        {.src = src, .other = other, .dst = dst, .what = problem, .name = n.name, .node = index});
  }

  // A step for each input that is not there yet, which writes its channels of the result.
  void AddConcat(int index) {
    const Node& n = node(index);
    const auto [dst, first] = TargetOf(n.output);
    std::int64_t channel = first;
    for (const int input : n.inputs) {
      if (fusions_.IsThere(input, n.output, channel - first)) {
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
                             .name = n.name,
                             .node = index});
      channel += tensor(input).c;
    }
  }

  conv::Problem ProblemOf(const Node& n, bool* depthwise) const {
    const Tensor& in = tensor(n.inputs[0]);
    conv::Problem p;
    p.n = options_.batch, p.c = in.c, p.h = in.h, p.w = in.w, p.k = tensor(n.output).c;
    if (n.kind == Kind::kFullyConnected) {
      p.r = in.h, p.s = in.w;  // one window, which is the whole image
      return p;
    }
    const Window& w = n.window;
    p.r = w.h, p.s = w.w;
    p.pad_top = w.pad_top, p.pad_left = w.pad_left, p.pad_bottom = w.pad_bottom,
    p.pad_right = w.pad_right;
    p.stride_h = w.stride_h, p.stride_w = w.stride_w;
    p.dilation_h = w.dilation_h, p.dilation_w = w.dilation_w;
    *depthwise = n.groups == in.c && n.groups > 1;
    if (*depthwise) p.groups = n.groups;  // other groups become zeros of a filter for all channels
    return p;
  }

  void AddConvolution(const Fusion& fusion, int output) {
    const Node& n = node(fusion.convolution);
    ConvolutionStep step{
        .node = fusion.convolution, .element = tensor(n.output).element, .add = fusion.add};
    step.problem = ProblemOf(n, &step.depthwise);
    const int src = Source(n.inputs[0]);
    // What is added lies as the output does.
    const Format format = FormatOf(fusions_.RootOf(output));
    int other = n.inputs.size() > 1 ? Source(n.inputs[1], format) : -1;
    if (fusion.table >= 0) {
      step.table = fusions_.table(fusion.table);
      step.table_element = tensor(node(fusion.table).output).element;
      step.table_is_last = fusion.table > fusion.add;
    }
    if (const std::string behind = fusions_.Requantised(output); !behind.empty()) {
      step.table = Composed(step.table, behind);
      step.table_element = tensor(fusions_.SliceOf(output)->of).element;
    }
    step.pool = PoolOf(graph_, fusion);
    if (fusion.add >= 0) {
      step.sum_is_first = fusions_.SumIsFirst(fusion);
      const int operand = node(fusion.add).inputs[step.sum_is_first ? 1 : 0];
      other = Source(operand, format);
    }
    std::string name = n.name;
    for (const int behind :
         {std::min(fusion.add, fusion.table), std::max(fusion.add, fusion.table)}) {
      if (behind >= 0) absl::StrAppend(&name, " + ", node(behind).name);
    }
    if (fusion.pool >= 0) absl::StrAppend(&name, " + ", node(fusion.pool).name);
    const auto [dst, channel] = TargetOf(output);
    step.first_channel = channel;
    plan_.steps.push_back({.src = src,
                           .other = other,
                           .dst = dst,
                           .what = step,
                           .name = name,
                           .node = fusion.convolution});
  }

  ConvolutionStep PartOf(int index) const {
    const Node& n = node(index);
    ConvolutionStep part{.node = index, .element = tensor(n.output).element};
    part.problem = ProblemOf(n, &part.depthwise);
    return part;
  }

  void AddBottleneck(const Bottleneck& b) {
    const int y = node(b.last()).output;
    BottleneckStep step{.problem = network::ProblemOf(graph_, b, options_.batch),
                        .first = PartOf(b.first),
                        .second = PartOf(b.second),
                        .third = PartOf(b.third)};
    if (b.projection >= 0) step.projection = PartOf(b.projection);
    if (b.add >= 0) {
      step.third.add = b.add;
      step.third.sum_is_first = node(b.add).inputs[0] == node(b.third).output;
    }
    const int added = b.projection >= 0 ? node(b.projection).output : b.x;
    step.added = tensor(added).Type(options_.batch, Format::kNc32);
    step.padding = tensor(node(b.second).inputs[0]).quantization.zero_point;
    const int src = Source(b.x);
    plan_.steps.push_back(
        {.src = src, .dst = TargetOf(y).place, .what = step, .name = NameOf(b), .node = b.last()});
  }

  Fusions fusions_;
  const Graph& graph_;  // that of fusions_
  const PlanOptions& options_;
  Plan plan_;
  std::vector<Format> formats_;                   // by tensors of the graph
  std::map<std::pair<int, Format>, int> places_;  // of tensors of the graph by formats
  std::map<int, Bottleneck> blocks_;              // that are one kernel, by their last nodes
  std::set<int> in_blocks_;                       // their convolutions
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
