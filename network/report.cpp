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
    report.bytes = place(step.src).type.bytes() +
                   (step.other < 0 ? 0 : place(step.other).type.bytes()) + BytesWritten(step);
    for (const int n : report.nodes) AddNode(node(n), &report);
    if (const auto* part = PartOf(step)) {
      report.detail = absl::StrCat("channels ", part->first_channel, " to ",
                                   part->first_channel + part->src.extents.c - 1);
    }
    return report;
  }

 private:
  const Node& node(int index) const { return graph_.nodes[static_cast<std::size_t>(index)]; }
  const PlacedTensor& place(int index) const {
    return plan_.tensors[static_cast<std::size_t>(index)];
  }
  bool IsPlaced(int tensor) const { return placed_.count(tensor) != 0; }

  // The problem of a step that writes some of a tensor's channels; null of others.
  static const TensorProblem* PartOf(const Step& step) {
    const auto* problem = std::get_if<TensorProblem>(&step.what);
    const bool part = problem != nullptr && problem->kind == Kind::kConvert &&
                      problem->src.extents.c != problem->dst.extents.c;
    return part ? problem : nullptr;
  }

  std::int64_t BytesWritten(const Step& step) const {
    const TensorType& dst = place(step.dst).type;
    const auto* part = PartOf(step);
    return part == nullptr ? dst.bytes() : dst.bytes() * part->src.extents.c / dst.extents.c;
  }

  // The nodes between what a step reads and what it writes. Tensors between them have no place in the plan.
  std::vector<int> NodesOf(const Step& step) const {
    const int to = place(step.dst).tensor;
    std::set<int> read = {place(step.src).tensor};
    if (step.other >= 0) read.insert(place(step.other).tensor);
    if (read.count(to) != 0) return {};
    const auto* convolution = std::get_if<ConvolutionStep>(&step.what);
    const auto count = static_cast<int>(graph_.nodes.size());
    std::set<int>
        made;  // tensors that depend on what is read, through the convolution if there is one
    std::vector<int> behind;
    for (int i = 0; i < count; ++i) {
      const auto& inputs = node(i).inputs;
      const bool follows = std::any_of(inputs.begin(), inputs.end(), [&](int input) {
        return made.count(input) != 0 || (convolution == nullptr && read.count(input) != 0);
      });
      if (!follows && !(convolution != nullptr && convolution->node == i)) continue;
      behind.push_back(i);
      if (!IsPlaced(node(i).output)) made.insert(node(i).output);
    }
    std::set<int> wanted = {to};
    std::vector<int> nodes;
    for (auto i = behind.rbegin(); i != behind.rend(); ++i) {
      if (wanted.count(node(*i).output) == 0) continue;
      nodes.insert(nodes.begin(), *i);
      for (const int input : node(*i).inputs) {
        if (!IsPlaced(input)) wanted.insert(input);
      }
    }
    return nodes;
  }

  void AddNode(const Node& n, StepReport* report) const {
    report->bytes += n.filter.bytes + n.filter_scale.bytes + n.bias.bytes + n.table.bytes;
    const Tensor& out = graph_.tensors[static_cast<std::size_t>(n.output)];
    // Each byte of a filter is multiplied once for each pixel of the output.
    report->operations += 2.0 * double(n.filter.bytes) * double(out.h * out.w * plan_.batch);
    const Window& w = n.window;
    const auto add = [&](const std::string& text) {
      absl::StrAppend(&report->detail, report->detail.empty() ? "" : ", ", text);
    };
    if (n.kind == Kind::kConvolution || n.kind == Kind::kMaxPool || n.kind == Kind::kAveragePool) {
      add(absl::StrCat(w.h, "x", w.w,
                       w.stride_h == 1 && w.stride_w == 1
                           ? ""
                           : absl::StrCat(" / ", w.stride_h, "x", w.stride_w)));
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
  const std::vector<StepReport> steps = ReportOf(*this);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const StepReport& step = steps[i];
    absl::StrAppend(&text, i, " ", step.name, ": ", tensor(step.src),
                    step.other < 0 ? "" : absl::StrCat(" and ", tensor(step.other)), " -> ",
                    tensor(step.dst), "; ", step.kernel, step.detail.empty() ? "" : ", ",
                    step.detail, "\n");
  }
  return text;
}

}  // namespace weft::network
