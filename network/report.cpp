#include "weft/network/report.hpp"

#include <algorithm>
#include <set>
#include <variant>

#include "absl/strings/str_cat.h"
#include "weft/network/graph/names.hpp"

namespace weft::network {
namespace {

class Reporter {
 public:
  explicit Reporter(const Network& network)
      : graph_(network.graph()), plan_(network.plan()), kernels_(network.Kernels()) {
    for (const PlacedTensor& placed : plan_.tensors) placed_.insert(placed.tensor);
  }

  StepReport Of(std::size_t index) const {
    const Step& step = plan_.steps[index];
    StepReport report = {.name = step.name,
                         .nodes = NodesOf(step),
                         .kernel = kernels_[index],
                         .src = step.src,
                         .other = step.other,
                         .dst = step.dst};
    if (const auto* convolution = std::get_if<ConvolutionStep>(&step.what)) {
      report.first_channel = convolution->first_channel;
      report.channels = convolution->problem.k;
    } else if (const auto* bottleneck = std::get_if<BottleneckStep>(&step.what)) {
      report.channels = bottleneck->problem.k;
    } else {  // whose operators write as many channels as they read
      const auto& problem = std::get<TensorProblem>(step.what);
      report.first_channel = problem.first_channel;
      report.channels = problem.src.extents.c;
    }
    const TensorType& dst = place(step.dst).type;
    report.bytes = place(step.src).type.bytes() +
                   (step.other < 0 ? 0 : place(step.other).type.bytes()) +
                   dst.bytes() * report.channels / dst.extents.c;
    for (const int n : report.nodes) AddNode(node(n), &report);
    return report;
  }

 private:
  const Node& node(int index) const { return graph_.nodes[static_cast<std::size_t>(index)]; }
  const Tensor& tensor(int index) const { return graph_.tensors[static_cast<std::size_t>(index)]; }
  const PlacedTensor& place(int index) const {
    return plan_.tensors[static_cast<std::size_t>(index)];
  }
  bool IsPlaced(int tensor) const { return placed_.count(tensor) != 0; }

  // The step's main node, and those before and behind it whose results have no place in the plan.
  std::vector<int> NodesOf(const Step& step) const {
    const int to = place(step.dst).tensor;
    if (to == place(step.src).tensor) return {};
    std::set<int> nodes = {step.node};
    std::vector<int> before = {*nodes.begin()};
    const auto count = static_cast<int>(graph_.nodes.size());
    while (!before.empty()) {
      const Node& last = node(before.back());
      before.pop_back();
      if (last.kind == Kind::kConcat)
        continue;  // its other inputs are written by steps of their own
      for (const int input : last.inputs) {
        if (IsPlaced(input)) continue;
        for (int i = 0; i < count; ++i) {
          if (node(i).output == input && nodes.insert(i).second) before.push_back(i);
        }
      }
    }
    for (int i = step.node, made = node(step.node).output; made != to && !IsPlaced(made); ++i) {
      if (i == count) break;
      const auto& inputs = node(i).inputs;
      if (std::find(inputs.begin(), inputs.end(), made) == inputs.end()) continue;
      nodes.insert(i);
      made = node(i).output;
    }
    return {nodes.begin(), nodes.end()};
  }

  void AddNode(const Node& n, StepReport* report) const {
    report->bytes += n.filter.bytes + n.filter_scale.bytes + n.bias.bytes + n.table.bytes;
    const Tensor& out = tensor(n.output);
    // Each byte of a filter is multiplied once for each pixel of the output.
    report->operations += 2.0 * double(n.filter.bytes) * double(out.h * out.w * plan_.batch);
    const Window& w = n.window;
    const auto add = [report](const std::string& text) {
      absl::StrAppend(&report->detail, report->detail.empty() ? "" : ", ", text);
    };
    if (n.kind == Kind::kConvolution || n.kind == Kind::kMaxPool || n.kind == Kind::kAveragePool) {
      const bool strides = w.stride_h != 1 || w.stride_w != 1;
      add(absl::StrCat(w.h, "x", w.w,
                       strides ? absl::StrCat(" / ", w.stride_h, "x", w.stride_w) : ""));
    }
    if (n.groups > 1) add(absl::StrCat(n.groups, " groups"));
  }

  const Graph& graph_;
  const Plan& plan_;
  const std::vector<std::string> kernels_;
  std::set<int> placed_;  // tensors of the graph that lie in memory
};

}  // namespace

std::vector<StepReport> ReportOf(const Network& network) {
  const Reporter reporter(network);
  std::vector<StepReport> reports;
  for (std::size_t i = 0; i < network.plan().steps.size(); ++i) reports.push_back(reporter.Of(i));
  return reports;
}

double FloorMicroseconds(const StepReport& step, const gemm::GpuFacts& gpu) {
  return std::max(static_cast<double>(step.bytes) / gpu.bytes_per_us,
                  step.operations / 2.0 / gemm::Int8MacsPerMicrosecond(gpu));
}

std::string Network::Describe() const {
  const auto tensor = [&](int place) {
    const PlacedTensor& t = plan().tensors[static_cast<std::size_t>(place)];
    return absl::StrCat(graph().tensors[static_cast<std::size_t>(t.tensor)].name, " (",
                        NameOf(t.type.element), " ", t.type.extents.c, "x", t.type.extents.h, "x",
                        t.type.extents.w, " ", NameOf(t.type.format), ")");
  };
  std::string text =
      absl::StrCat("network ", graph().name, ": ", plan().batch, " images, ", plan().steps.size(),
                   " kernels, ", arena_bytes(), " bytes of arena, ", constant_bytes(),
                   " of constants, on ", on_gpu() ? "a GPU" : "the CPU", "\n");
  if (!note().empty()) absl::StrAppend(&text, note(), "\n");
  const std::vector<StepReport> steps = ReportOf(*this);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const StepReport& step = steps[i];
    absl::StrAppend(&text, i, " ", step.name, ": ", tensor(step.src),
                    step.other < 0 ? "" : absl::StrCat(" and ", tensor(step.other)), " -> ",
                    tensor(step.dst));
    if (step.channels != plan().tensors[static_cast<std::size_t>(step.dst)].type.extents.c) {
      absl::StrAppend(&text, " from channel ", step.first_channel, " on");
    }
    absl::StrAppend(&text, "; ", step.kernel, step.detail.empty() ? "" : ", ", step.detail, "\n");
  }
  const auto add = [&text](const char* what, const BlockNote& note) {
    absl::StrAppend(
        &text, what, note.name, ": ",
        note.why_apart.empty() ? "one kernel" : "kernels of their own: ", note.why_apart, "\n");
  };
  for (const BlockNote& block : plan().blocks) add("block ", block);
  for (const BlockNote& pool : plan().pools) add("pooling ", pool);
  return text;
}

}  // namespace weft::network
