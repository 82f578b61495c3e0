// A network for a number of images: arrays of Python are given to it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "arrays.hpp"
#include "weft/network/network.hpp"

namespace weft::python {

class Network {
 public:
  // file: the bytes of a model's file (docs/networks.md). gpu: for the current GPU, else for the CPU. tiles: by the names of
  // convolutions; those that it does not name have the ones that the model of times chooses. machine: the name of a GPU that
  // need not be here, which it is only compiled for; or empty.
  Network(const nb::bytes& file, std::int64_t batch, bool gpu, bool fuse, network::Tiles tiles,
          const std::string& machine);

  const network::Network& get() const { return *network_; }

  // Runs over arrays NCHW, or (n, c) of one pixel, of all images, and an arena of arena_bytes of uint8, aligned to 256 bytes. On a
  // GPU it is enqueued, elsewhere it has been computed.
  void Run(const nb::list& inputs, const nb::list& outputs, const nb::object& arena,
           const nb::object& stream) const;

 private:
  Shape ShapeOf(int tensor) const;

  std::shared_ptr<const network::Network> network_;
};

// Adds the class to the module.
void BindNetwork(nb::module_& m);
// Adds to the class what chooses tiles.
void BindNetworkTune(nb::class_<Network>& network);

}  // namespace weft::python
