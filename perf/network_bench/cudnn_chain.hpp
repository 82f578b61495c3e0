// A chain on cuDNN: int8 in NHWC, one plan of its graph API for each layer, which has scales, bias, ReLU and the residual.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "perf/bench/bench.hpp"
#include "perf/network_bench/chain_tensors.hpp"
#include "perf/peers/peer.hpp"
#include "perf/support/stopwatch.hpp"

namespace weft::perf {

class CudnnChain {
 public:
  // How the first of a layer's plans that are the fastest did, running alone over and over.
  struct Layer {
    std::shared_ptr<Peer> peer;
    int variant = 0, set = 0;
    std::string plan;
    int tried = 0;  // plans that ran
    double us = 0.0;
    Differences differences;  // where it reads what the reference reads, from the reference
  };

  // All of it outlives this object. threads: on which plans are compiled. plans: by names of layers those that were the fastest in
  // an earlier run, which alone are tried where they run.
  CudnnChain(const Chain& chain, const ChainTensors& tensors, const Stopwatch& watch,
             const Measuring& measuring, int threads, std::map<std::string, std::string> plans)
      : chain_(chain),
        tensors_(tensors),
        watch_(watch),
        measuring_(measuring),
        threads_(threads),
        plans_(std::move(plans)) {}

  // Copies what each tensor must hold, and finds the fastest plan of each layer; layers alike get one. Unavailable if there is no
  // cuDNN; the last refusal if no plan of a layer runs.
  absl::Status Choose();

  // All layers from `first` on.
  absl::Status Enqueue(int first) const;
  // Runs all layers over poisoned tensors. Of the end, which has what the rounding of all layers has made of it.
  absl::StatusOr<Differences> CompareEnd() const;

  const std::vector<Layer>& layers() const { return layers_; }
  std::int64_t outputs() const { return Bytes(chain_.dst(chain_.layers() - 1)); }

 private:
  std::int64_t Bytes(int tensor) const { return tensors_[tensor].bytes(); }
  absl::Status ToNhwc(int tensor, void* nhwc) const;
  PeerTensors Sets(const std::vector<int>& kind) const;
  absl::Status ChooseFor(const std::vector<int>& kind);
  absl::Status ChoosePlan(const std::vector<int>& kind, const std::string& name,
                          const std::string& only);
  absl::StatusOr<Differences> TryPlan(Peer& peer, int plan, int set, int layer) const;

  const Chain& chain_;
  const ChainTensors& tensors_;
  const Stopwatch& watch_;
  const Measuring& measuring_;
  const int threads_;
  const std::map<std::string, std::string> plans_;
  std::vector<DeviceBuffer> nhwc_;  // by tensors
  DeviceBuffer want_;               // any tensor, in NHWC
  std::vector<Layer> layers_;
};

}  // namespace weft::perf
