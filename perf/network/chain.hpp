// A network as a chain of our operators: fused epilogues, NCxHWx<32> throughout, the first layer
// from NCxHWx<4> to NCxHWx<32> in one kernel.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "perf/network/network.hpp"
#include "perf/network/parameters.hpp"
#include "perf/support/data_kernels.hpp"
#include "perf/weft_perf/our_tiles.hpp"

namespace weft::perf {

// The tiles of each kind of layer.
struct NetworkTiles {
  std::vector<Tile> first;  // fewer than 32 input channels, ReLU
  std::vector<Tile> relu, residual_relu, nothing;

  const std::vector<Tile>& For(const NetworkLayer& layer) const {
    if (layer.problem.c < 32) return first;
    return layer.after == After::kRelu      ? relu
           : layer.after == After::kNothing ? nothing
                                            : residual_relu;
  }
};

// Memory of the machine that runs the chain.
class ChainMemory {
 public:
  virtual ~ChainMemory() = default;
  // 256-byte aligned; freed with this object.
  virtual absl::StatusOr<void*> Allocate(std::int64_t bytes) = 0;
  // Both wait for what is under way.
  virtual absl::Status Write(void* to, const void* from, std::int64_t bytes) = 0;
  virtual absl::Status Read(void* to, const void* from, std::int64_t bytes) = 0;
};

// One image of a layer, planar: what a reference needs to compute its output.
struct ReferenceLayer {
  conv::Problem problem;  // of one image
  After after = After::kRelu;
  std::vector<std::int8_t> src, residual;
  const LayerParameters* parameters = nullptr;
};
// The output of one image, planar.
using Reference = std::function<absl::StatusOr<std::vector<std::int8_t>>(const ReferenceLayer&)>;

class OurChain {
 public:
  // Allocates every tensor (each layer has an output of its own), makes the parameters and runs the
  // layers once, each with the first tile that accepts it, which is then the chosen one. The scale
  // of a layer follows from the first image of its input, so it is the same for every batch.
  // Unimplemented names a layer that no tile accepts. Layers read what is made before them; `tiles`
  // and `memory` outlive the chain.
  static absl::StatusOr<std::unique_ptr<OurChain>> Create(const Network& network,
                                                          const NetworkTiles& tiles,
                                                          ChainMemory* memory, Stream stream);

  const Network& network() const { return network_; }
  int size() const { return static_cast<int>(network_.layers.size()); }
  const std::vector<Tile>& tiles(int layer) const { return tiles_.For(network_.layers[layer]); }

  // Enqueues one layer with a tile. InvalidArgument or Unimplemented if the tile refuses the layer.
  absl::Status Run(int layer, int tile, Stream stream);

  int chosen(int layer) const { return layers_[layer].chosen; }
  void Choose(int layer, int tile) { layers_[layer].chosen = tile; }
  // The layers from `first` on in order, with the chosen tiles.
  absl::Status Enqueue(int first, Stream stream);

  // Of a tensor: its address and its bytes, in NCxHWx<4> below 32 channels, else in NCxHWx<32>.
  std::int8_t* Address(int tensor) const { return tensors_[tensor]; }
  std::int64_t Bytes(int tensor) const;
  // One image of it, planar.
  absl::StatusOr<std::vector<std::int8_t>> ReadImage(int tensor, std::int64_t image) const;

  const LayerParameters& parameters(int layer) const { return layers_[layer].parameters; }
  const float* channel_alpha(int layer) const { return layers_[layer].arguments.channel_alpha; }
  const float* bias(int layer) const { return layers_[layer].arguments.bias; }
  // Of the first image of the layer's output.
  const ValueFacts& facts(int layer) const { return layers_[layer].facts; }

  // The outputs of one image that differ from the reference, given what the layer reads now.
  absl::StatusOr<Differences> Check(int layer, std::int64_t image,
                                    const Reference& reference) const;

 private:
  struct Layer {
    LayerParameters parameters;
    TileArguments arguments;
    std::vector<TileRun> runs;  // of each tile; empty: not created yet
    int chosen = -1;
    ValueFacts facts;
  };

  OurChain(const Network& network, const NetworkTiles& tiles, ChainMemory* memory)
      : network_(network), tiles_(tiles), memory_(memory) {}
  absl::Status AllocateTensors();
  absl::Status Start(int layer, Stream stream);
  absl::StatusOr<void*> Upload(const void* data, std::int64_t bytes);
  template <class Format>
  absl::Status PackFilterOf(int layer);

  Network network_;
  const NetworkTiles& tiles_;
  ChainMemory* memory_;
  std::vector<std::int8_t*> tensors_;
  std::vector<Layer> layers_;
};

}  // namespace weft::perf
