// Families of policies as lists of tiles that can be tried one by one, their types forgotten.
#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "perf/network/network.hpp"
#include "weft/conv/dispatch.hpp"
#include "weft/layouts/packed_filter.hpp"

namespace weft::perf {

// What a layer is run with. Addresses that the machine can use. Of the filters those are set that
// the layer's operators read.
struct LayerArguments {
  const std::int8_t* src = nullptr;
  PackedFilter<CxRSKx<4>> filter4;
  PackedFilter<KRSC> filter_krsc;
  PackedFilter<CxRSKx<32>> filter32;
  const float* channel_alpha = nullptr;
  const float* bias = nullptr;
  const std::int8_t* residual = nullptr;
  float gamma = 1.0f;
  std::int8_t* dst = nullptr;
};
using LayerRun = std::function<absl::Status(const LayerArguments&, Stream)>;

struct LayerTile {
  std::string name;
  std::function<absl::StatusOr<LayerRun>(const conv::Problem&)> create;
};

// What conv::Dispatch chooses without measuring.
struct ModelChoice {
  int tile = -1;  // none
  double microseconds = 0.0;
};

// Where operators run. The CPU's kernels are compiled for every tile that is to run there, so a set
// of tiles is for one machine.
enum class Backend { kGpu, kCpu };

struct TileSet {
  std::vector<LayerTile> tiles;
  std::vector<std::function<ModelChoice(const conv::Problem&, const conv::GpuFacts&)>> models;

  ModelChoice Choose(const conv::Problem& problem, const conv::GpuFacts& gpu) const {
    ModelChoice best;
    for (const auto& model : models) {
      const ModelChoice choice = model(problem, gpu);
      if (choice.tile < 0) continue;
      if (best.tile < 0 || choice.microseconds < best.microseconds) best = choice;
    }
    return best;
  }
};

// The tiles of each kind of layer.
struct NetworkTiles {
  TileSet first;  // fewer than 32 input channels, ReLU
  TileSet relu, residual_relu, nothing;

  const TileSet& For(const NetworkLayer& layer) const {
    if (layer.problem.c < 32) return first;
    return layer.after == After::kRelu      ? relu
           : layer.after == After::kNothing ? nothing
                                            : residual_relu;
  }
};

// All tiles that this program has GPU code for. Empty sets without WEFT_HAVE_CUDA.
const NetworkTiles& GpuNetworkTiles();

namespace internal {

template <class Op>
typename Op::Arguments ArgumentsOf(const LayerArguments& layer) {
  typename Op::Arguments args;
  args.src = layer.src;
  if constexpr (std::is_same_v<typename Op::Filter, PackedFilter<CxRSKx<4>>>) {
    args.filter = layer.filter4;
  } else if constexpr (std::is_same_v<typename Op::Filter, PackedFilter<KRSC>>) {
    args.filter = layer.filter_krsc;
  } else {
    args.filter = layer.filter32;
  }
  args.channel_alpha = layer.channel_alpha;
  args.bias = layer.bias;
  if constexpr (!std::is_void_v<typename Op::ResidualElement>) {
    args.residual = layer.residual;
    args.gamma = layer.gamma;
  }
  args.dst = layer.dst;
  return args;
}

template <class F>
struct Policies;
template <class... Ps>
struct Policies<conv::Family<Ps...>> {
  static std::vector<bool> HaveGpuCode() { return {conv::HasGpuCode<Ps>()...}; }
};

}  // namespace internal

// Appends the policies of family F. For the GPU, those that this program holds code for.
template <class F, Backend kBackend>
void AddFamily(TileSet* set) {
  using Op = conv::Dispatch<F>;
  std::vector<int> place(Op::kPolicies, -1);
  const std::vector<bool> has_code = internal::Policies<F>::HaveGpuCode();
  for (int i = 0; i < Op::kPolicies; ++i) {
    if (kBackend == Backend::kGpu && !has_code[i]) continue;
    place[i] = static_cast<int>(set->tiles.size());
    LayerTile tile;
    tile.name = conv::PolicyName(Op::Configs()[i]);
    tile.create = [i](const conv::Problem& problem) -> absl::StatusOr<LayerRun> {
      absl::StatusOr<Op> op = Op::CreateAt(problem, i);
      if (!op.ok()) return op.status();
      return LayerRun([op = *std::move(op)](const LayerArguments& layer, Stream stream) {
        const typename Op::Arguments args = internal::ArgumentsOf<Op>(layer);
        if constexpr (kBackend == Backend::kGpu) {
          return op.Run(args, stream);
        } else {
          return op.RunOnCpu(args);
        }
      });
    };
    set->tiles.push_back(std::move(tile));
  }
  set->models.push_back([place](const conv::Problem& problem, const conv::GpuFacts& gpu) {
    ModelChoice choice;
    const absl::StatusOr<Op> op = Op::Create(problem, gpu);
    if (!op.ok() || place[op->index()] < 0) return choice;
    choice.tile = place[op->index()];
    choice.microseconds = op->candidates()[op->index()].prediction.microseconds;
    return choice;
  });
}

}  // namespace weft::perf
