// Tiles of a network's convolutions, for Python.
#include <absl/strings/str_cat.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <utility>

#include "network.hpp"
#include "weft/network/tune/tune.hpp"

namespace weft::python {
namespace {

nb::dict DictOf(const network::TuneProgress& p) {
  nb::dict told;
  told["groups"] = p.groups, told["candidates"] = p.candidates, told["group"] = p.group;
  told["step"] = p.step, told["steps"] = p.steps, told["tile"] = p.tile;
  told["us"] = p.microseconds, told["before_us"] = p.before, told["kept"] = p.kept;
  return told;
}

// Tunes, and calls `progress` with a dict now and then. What it raises ends the tuning and comes out of it, as does Ctrl-C.
nb::dict Tune(const network::Network& network, const nb::object& progress, std::size_t most) {
  std::exception_ptr raised;
  const auto report = [&](const network::TuneProgress& now) {
    const nb::gil_scoped_acquire acquire;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (!progress.is_none()) progress(DictOf(now));
    } catch (...) {
      raised = std::current_exception();
      return absl::CancelledError("the caller ended it");
    }
    return absl::OkStatus();
  };
  std::optional<absl::StatusOr<network::Tuned>> tuned;
  {
    nb::gil_scoped_release release;
    tuned = network::Tune(network, {.most_tiles = most, .report = report});
  }
  if (raised != nullptr) std::rethrow_exception(raised);
  const network::Tuned result = Value(*std::move(tuned));
  nb::dict told;
  told["tiles"] = result.tiles;
  told["before_us"] = result.before, told["after_us"] = result.after;
  told["refused"] = result.refused;
  return told;
}

}  // namespace

void BindNetworkTune(nb::class_<Network>& network) {
  network
      .def_prop_ro(
          "tiles", [](const Network& n) { return n.get().tiles(); },
          "The tile of each convolution, by its name.")
      .def(
          "tune",
          [](const Network& n, const nb::object& progress, std::size_t most) {
            return Tune(n.get(), progress, most);
          },
          nb::arg("progress") = nb::none(), nb::arg("most") = 8,
          nb::sig("def tune(self, progress: typing.Any = None, most: int = 8) -> dict"),
          "Finds the tiles with which a run on the current GPU is quickest.");
}

}  // namespace weft::python
