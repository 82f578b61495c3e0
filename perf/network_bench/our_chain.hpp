// A chain as a network on a GPU, whose convolutions are run again and again without what quantises their inputs.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "perf/network_bench/chain_tensors.hpp"
#include "perf/support/json.hpp"
#include "weft/network/network.hpp"
#include "weft/network/tune/tune.hpp"

namespace weft::perf {

class OurChain {
 public:
  // Plans and compiles the complete chain for the current GPU, and quantises its inputs. The errors of Network::Create and Run.
  // tensors: outlive this object.
  static absl::StatusOr<OurChain> Create(const Chain& chain, const ChainTensors& tensors,
                                         const std::vector<network::Format>& formats,
                                         Stream stream);

  // The network with the tiles that the model of times chooses, and with those that are the fastest in the chain.
  const network::Network& model() const { return model_; }
  const network::Network& tuned() const { return tuned_; }

  // Tunes the tiles of all convolutions in the chain.
  absl::StatusOr<network::Tuned> Tune(Stream stream, const network::TuneOptions& options);

  // All convolutions, or those behind the first one.
  absl::Status Enqueue(const network::Network& network, bool without_first, Stream stream) const;

  // Runs the convolutions, which read the inputs that were quantised at first, and counts the outputs that are not what the
  // reference says.
  absl::StatusOr<long long> Mismatches(const network::Network& network, Stream stream) const;

  // Of each kernel its name, tiles and microseconds.
  absl::StatusOr<Json> Steps(Stream stream) const;

 private:
  OurChain(network::Network network, const ChainTensors& tensors)
      : model_(network), tuned_(std::move(network)), tensors_(&tensors) {}

  network::Network model_, tuned_;
  const ChainTensors* tensors_;
  int begin_ = 0, end_ = 0;  // the steps that are timed
  DeviceBuffer arena_;
  std::vector<DeviceBuffer> outputs_;
  network::Network::Arguments args_;
};

}  // namespace weft::perf
