#include "network.hpp"

#include <absl/strings/str_cat.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "stream.hpp"
#include "weft/network/engine/gpus.hpp"
#include "weft/network/graph/model_text.hpp"
#include "weft/network/graph/names.hpp"

namespace weft::python {
namespace {

char LetterOf(network::Element element) {
  return element == network::Element::kFloat ? 'f' : element == network::Element::kInt8 ? 'b' : 'B';
}

}  // namespace

Network::Network(const nb::bytes& file, std::int64_t batch, bool gpu, bool fuse,
                 network::Tiles tiles, const std::vector<std::string>& layouts,
                 const std::string& machine, std::int64_t memory, const std::string& blocks) {
  network::NetworkOptions options = {.batch = batch,
                                     .back_end = gpu ? rtc::BackEnd::kGpu : rtc::BackEnd::kCpu,
                                     .fuse = fuse,
                                     .tiles = std::move(tiles),
                                     .most_arena_bytes = memory};
  const std::optional<network::Blocks> choice = network::BlocksOf(blocks);
  if (!choice.has_value()) {
    throw Error(ErrorKind::kArgument,
                absl::StrCat("weft: blocks=\"", blocks, "\"; give where_quicker, always or never"));
  }
  options.blocks = *choice;
  for (const std::string& layout : layouts) {
    const std::optional<network::Format> format = network::FormatOf(layout);
    if (!format.has_value()) {
      throw Error(ErrorKind::kArgument, absl::StrCat("weft: layouts has \"", layout,
                                                     "\"; give some of nhwc, nc4 and nc32"));
    }
    options.formats.push_back(*format);
  }
  if (!machine.empty()) {
    options.back_end = rtc::BackEnd::kGpu;
    options.gpu = Value(network::GpuNamed(machine));
  }
  const std::string_view bytes(file.c_str(), file.size());
  std::optional<absl::StatusOr<network::Network>> made;
  {
    nb::gil_scoped_release release;
    made = network::Network::Load(bytes, options);
  }
  network_ = std::make_shared<const network::Network>(Value(*std::move(made)));
}

Shape Network::ShapeOf(int tensor) const {
  const network::Tensor& t = network_->graph().tensors[static_cast<std::size_t>(tensor)];
  const std::int64_t n = network_->plan().batch;
  return t.h == 1 && t.w == 1 ? Shape{n, t.c} : Shape{n, t.c, t.h, t.w};
}

void Network::Run(const nb::list& inputs, const nb::list& outputs, const nb::object& arena,
                  const nb::object& stream) const {
  Over(inputs, outputs, arena, stream, [this](const network::Network::Arguments& args, Stream on) {
    return network_->on_gpu() ? network_->Run(args, on) : network_->RunOnCpu(args);
  });
}

void Network::Over(const nb::list& inputs, const nb::list& outputs, const nb::object& arena,
                   const nb::object& stream, const Use& use) const {
  const network::Graph& graph = network_->graph();
  std::vector<Array> arrays;  // which keep their memory
  const auto read = [&](const nb::list& given, const std::vector<int>& tensors, const char* what) {
    if (given.size() != tensors.size()) {
      throw Error(ErrorKind::kArgument,
                  absl::StrCat("weft: ", given.size(), " ", what, " are given; the network has ",
                               tensors.size()));
    }
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const network::Tensor& t = graph.tensors[static_cast<std::size_t>(tensors[i])];
      Array array = ArrayOf(given[i], t.name.c_str());
      CheckArray(array, t.name.c_str(), LetterOf(t.element), ShapeOf(tensors[i]),
                 "images, channels, rows, columns", "");
      arrays.push_back(std::move(array));
    }
  };
  read(inputs, graph.inputs, "inputs");
  read(outputs, graph.outputs, "outputs");
  arrays.push_back(ArrayOf(arena, "arena"));
  CheckArray(arrays.back(), "arena", 'B', {std::max<std::int64_t>(1, network_->arena_bytes())},
             "arena_bytes", "");
  for (const Array& array : arrays) {
    if (array.on_gpu == network_->on_gpu() && array.device == arrays[0].device) continue;
    throw Error(
        ErrorKind::kArgument,
        absl::StrCat("weft: an array lies ",
                     array.on_gpu ? absl::StrCat("on GPU ", array.device) : "in host memory",
                     ", and the network runs on ", network_->on_gpu() ? "one GPU" : "the CPU",
                     "; all arrays of a call lie where it runs"));
  }
  network::Network::Arguments args;
  for (std::size_t i = 0; i < inputs.size(); ++i) args.inputs.push_back(arrays[i].data);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Array& array = arrays[inputs.size() + i];
    if (array.read_only)
      throw Error(ErrorKind::kArgument,
                  "weft: an output is read-only; give an array that may be written");
    args.outputs.push_back(array.data);
  }
  if (arrays.back().read_only) {
    throw Error(ErrorKind::kArgument, "weft: arena is read-only; give memory that may be written");
  }
  args.arena = arrays.back().data;
  std::optional<OnDeviceOf> device;
  Stream on = nullptr;
  if (network_->on_gpu()) {
    device.emplace(arrays[0]);
    on = StreamOf(stream, arrays[0]);
  }
  absl::Status status;
  {
    nb::gil_scoped_release release;
    status = use(args, on);
  }
  Check(status);
}

void BindNetwork(nb::module_& m) {
  nb::class_<Network> network(m, "Network",
                              "A network for a number of images; weft.network.Network makes it.");
  network
      .def(nb::init<const nb::bytes&, std::int64_t, bool, bool, network::Tiles,
                    const std::vector<std::string>&, const std::string&, std::int64_t,
                    const std::string&>(),
           nb::arg("file"), nb::arg("batch") = 1, nb::arg("gpu") = false, nb::arg("fuse") = true,
           nb::arg("tiles") = network::Tiles(), nb::arg("layouts") = std::vector<std::string>(),
           nb::arg("machine") = "", nb::arg("memory") = 0, nb::arg("blocks") = "where_quicker")
      .def_prop_ro(
          "arena_bytes", [](const Network& n) { return n.get().arena_bytes(); },
          "Bytes of memory that a run needs for what lies between inputs and outputs.")
      .def_prop_ro(
          "constant_bytes", [](const Network& n) { return n.get().constant_bytes(); },
          "Bytes of filters and their like.")
      .def(
          "describe", [](const Network& n) { return n.get().Describe(); },
          "A line for each kernel.")
      .def(
          "prepare",
          [](const Network& n) {
            absl::Status status;
            {
              nb::gil_scoped_release release;
              status = n.get().Prepare();
            }
            Check(status);
          },
          "Loads kernels and filters into the GPU that is current, as the first run does.")
      .def("run", &Network::Run, nb::arg("inputs"), nb::arg("outputs"), nb::arg("arena"),
           nb::arg("stream") = nb::none(),
           nb::sig("def run(self, inputs: list, outputs: list, arena: typing.Any, stream: "
                   "typing.Any = None) -> None"),
           "Runs the network over arrays where they lie.");
  BindNetworkTune(network);
  BindNetworkReport(network);
  m.def(
      "check_graph",
      [](const nb::bytes& text, const nb::bytes& constants, bool engine) {
        const std::string_view read(text.c_str(), text.size());
        network::Model model;
        absl::Status status;
        {
          const nb::gil_scoped_release release;
          status = network::ReadText(read, engine, &model);
          model.graph.constants =
              std::make_shared<const std::string>(constants.c_str(), constants.size());
          if (status.ok()) status = network::CheckGraph(model.graph);
        }
        Check(status);
      },
      nb::arg("text"), nb::arg("constants"), nb::arg("engine") = false,
      "ArgumentError, with the name of a node or tensor, if a file with this text and these "
      "constants has no graph "
      "that a network can run.");
  m.def(
      "save_engine",
      [](const nb::list& networks) {
        std::vector<network::Network> all;
        for (const nb::handle one : networks) all.push_back(nb::cast<const Network&>(one).get());
        std::optional<absl::StatusOr<std::string>> file;
        {
          nb::gil_scoped_release release;
          file = network::Network::Save(all);
        }
        const std::string bytes = Value(*std::move(file));
        return nb::bytes(bytes.data(), bytes.size());
      },
      nb::arg("networks"),
      "The bytes of a file with the compiled kernels of these networks, which are of one graph.");
}

}  // namespace weft::python
