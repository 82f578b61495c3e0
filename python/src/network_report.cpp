// What a network's plan does and how long it takes, as lists and dicts, which weft/network/_profile.py names.
#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "network.hpp"
#include "weft/network/graph/names.hpp"
#include "weft/network/profile.hpp"
#include "weft/network/report.hpp"
#include "weft/rtc/gpu/driver.hpp"

namespace weft::python {
namespace {

// The tensors of the plan: those of the graph, and copies of them in other formats.
nb::list TensorsOf(const Network& n) {
  using Where = network::PlacedTensor::Where;
  nb::list tensors;
  for (const network::PlacedTensor& placed : n.get().plan().tensors) {
    const network::Tensor& t = n.get().graph().tensors[static_cast<std::size_t>(placed.tensor)];
    nb::dict of;
    of["name"] = t.name;
    of["element"] = network::NameOf(t.element);
    of["shape"] = nb::make_tuple(n.get().plan().batch, t.c, t.h, t.w);
    of["format"] = network::NameOf(placed.type.format);
    of["bytes"] = placed.type.bytes();
    of["where"] = placed.where == Where::kArena   ? "arena"
                  : placed.where == Where::kInput ? "input"
                                                  : "output";
    of["offset"] = placed.offset;
    tensors.append(of);
  }
  return tensors;
}

// The kernels of the plan. source, other and destination are places in TensorsOf.
nb::list StepsOf(const Network& n) {
  std::optional<gemm::GpuFacts> gpu;
  if (n.get().on_gpu()) gpu = gemm::GpuFactsOf(Value(rtc::CurrentDevice()));
  nb::list steps;
  for (const network::StepReport& step : network::ReportOf(n.get())) {
    nb::list nodes;
    for (const int node : step.nodes)
      nodes.append(n.get().graph().nodes[static_cast<std::size_t>(node)].name);
    nb::dict of;
    of["name"] = step.name;
    of["nodes"] = nb::tuple(nodes);
    of["kernel"] = step.kernel;
    of["detail"] = step.detail;
    of["source"] = step.src;
    of["other"] = step.other < 0 ? nb::object(nb::none()) : nb::object(nb::int_(step.other));
    of["destination"] = step.dst;
    of["channels"] = nb::make_tuple(step.first_channel, step.first_channel + step.channels);
    of["bytes"] = step.bytes;
    of["operations"] = step.operations;
    of["floor_us"] = gpu.has_value() ? nb::object(nb::float_(FloorMicroseconds(step, *gpu)))
                                     : nb::object(nb::none());
    steps.append(of);
  }
  return steps;
}

// The bottlenecks of the graph: their nodes, and why each is several kernels; None of one that is one.
nb::list BlocksOf(const Network& n) {
  nb::list blocks;
  for (const network::BlockNote& block : n.get().plan().blocks) {
    nb::dict of;
    of["name"] = block.name;
    of["why_apart"] = block.why_apart.empty() ? nb::object(nb::none())
                                              : nb::object(nb::str(block.why_apart.c_str()));
    blocks.append(of);
  }
  return blocks;
}

nb::tuple Measure(const Network& n, const nb::list& inputs, const nb::list& outputs,
                  const nb::object& arena, const nb::object& stream, int repeats) {
  network::Profile profile;
  n.Over(inputs, outputs, arena, stream, [&](const network::Network::Arguments& args, Stream on) {
    auto made = n.get().on_gpu() ? network::MeasureOnGpu(n.get(), args, on, repeats)
                                 : network::MeasureOnCpu(n.get(), args, repeats);
    if (made.ok()) profile = *std::move(made);
    return made.status();
  });
  nb::list steps;
  for (const double us : profile.step_us) steps.append(us);
  return nb::make_tuple(steps, profile.run_us);
}

}  // namespace

void BindNetworkReport(nb::class_<Network>& network) {
  network
      .def("tensors", &TensorsOf, nb::sig("def tensors(self) -> list[dict[str, typing.Any]]"),
           "The tensors of the plan, and where each lies.")
      .def("steps", &StepsOf, nb::sig("def steps(self) -> list[dict[str, typing.Any]]"),
           "The kernels of the plan, in their order.")
      .def("blocks", &BlocksOf, nb::sig("def blocks(self) -> list[dict[str, typing.Any]]"),
           "The bottlenecks of the graph, and why each is not one kernel.")
      .def("measure", &Measure, nb::arg("inputs"), nb::arg("outputs"), nb::arg("arena"),
           nb::arg("stream") = nb::none(), nb::arg("repeats") = 3,
           nb::sig("def measure(self, inputs: list, outputs: list, arena: typing.Any, stream: "
                   "typing.Any = None, repeats: int = 3) -> tuple[list[float], float]"),
           "Microseconds of each kernel, medians of several runs, and of a run without anything "
           "between them.");
}

}  // namespace weft::python
