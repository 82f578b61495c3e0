// A network for a number of images: arrays of Python are given to it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "arrays.hpp"
#include "weft/network/network.hpp"

namespace weft::python {

class Network {
 public:
  // file: the bytes of a model's file (docs/networks.md). back_end: "cpu", "gpu" or "any".
  Network(const nb::bytes& file, std::int64_t batch, const std::string& back_end, bool fuse);

  const network::Network& get() const { return *network_; }

  // (name, dtype, shape) of each input or output, of all images: (n, c, h, w), or (n, c) of one pixel.
  nb::list Inputs() const { return Ports(network_->graph().inputs); }
  nb::list Outputs() const { return Ports(network_->graph().outputs); }

  // Runs over arrays as Inputs and Outputs have them, and an arena of arena_bytes of uint8, aligned to 256 bytes. On a
  // GPU it is enqueued, elsewhere it has been computed.
  void Run(const nb::list& inputs, const nb::list& outputs, const nb::object& arena,
           const nb::object& stream) const;

 private:
  nb::list Ports(const std::vector<int>& tensors) const;
  Shape ShapeOf(int tensor) const;

  std::shared_ptr<const network::Network> network_;
};

// Adds the class to the module.
void BindNetwork(nb::module_& m);

}  // namespace weft::python
