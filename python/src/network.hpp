// A network for a number of images: arrays of Python are given to it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "weft/network/network.hpp"

namespace weft::python {

class Network {
 public:
  // file: the bytes of a model's file (docs/networks.md). gpu: for the current GPU, else for the CPU. tiles: by the names of
  // convolutions; those that it does not name have the ones that the model of times chooses. layouts: what integers may lie
  // in, by the names of network::Format. machine: the name of a GPU that
  // need not be here, which it is only compiled for; or empty. memory: what the arena may have at most, in
  // bytes; 0: any number.
  Network(const nb::bytes& file, std::int64_t batch, bool gpu, bool fuse, network::Tiles tiles,
          const std::vector<std::string>& layouts, const std::string& machine, std::int64_t memory,
          const std::string& blocks);

  const network::Network& get() const { return *network_; }

  // Runs over arrays NCHW, or (n, c) of one pixel, of all images, and an arena of arena_bytes of uint8, aligned to 256 bytes. On a
  // GPU it is enqueued, elsewhere it has been computed.
  void Run(const nb::list& inputs, const nb::list& outputs, const nb::object& arena,
           const nb::object& stream) const;

  // Calls `use` with the addresses of such arrays, and on a GPU with the stream, on which Python's lock is free.
  using Use = std::function<absl::Status(const network::Network::Arguments&, Stream)>;
  void Over(const nb::list& inputs, const nb::list& outputs, const nb::object& arena,
            const nb::object& stream, const Use& use) const;

 private:
  Shape ShapeOf(int tensor) const;

  std::shared_ptr<const network::Network> network_;
};

// Adds the class to the module.
void BindNetwork(nb::module_& m);
// Adds to the class what chooses tiles.
void BindNetworkTune(nb::class_<Network>& network);
// Adds to the class what says what a plan does and how long it takes.
void BindNetworkReport(nb::class_<Network>& network);

}  // namespace weft::python
