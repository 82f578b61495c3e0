// Our operators as lists of tiles that can be tried one by one, their types forgotten.
#pragma once

#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "perf/peers/formats.hpp"
#include "weft/conv/choose/tile_model.hpp"
#include "weft/layouts/packed_filter.hpp"

namespace weft::perf {

// What follows the sums, besides scale per channel and float bias.
enum class Epilogue { kRelu, kResidual, kHSwish, kNothing };

// "bias_relu", "residual", "hswish", "bias": in the enumeration's order.
const std::vector<std::string>& EpilogueNames();

// What a layout's tensors are. nc4 and nc4_nc32 (source NCxHWx<4>, destination NCxHWx<32>) run on
// any GPU; the others need tensor cores.
struct OurLayout {
  std::string name;
  TensorFormatName src, dst;
};
// What --layout takes.
const std::vector<OurLayout>& OurLayouts();

// What a layer is run with. Addresses that the machine can use. Of the filters the one is set that
// the layer's tiles read.
struct TileArguments {
  const std::int8_t* src = nullptr;
  std::tuple<PackedFilter<CxRSKx<4>>, PackedFilter<KRSC>, PackedFilter<CxRSKx<32>>,
             PackedFilter<KRSx4x4, std::int8_t, prologues::Depthwise>>
      filters;
  const float* channel_alpha = nullptr;
  const float* bias = nullptr;
  const std::int8_t* residual = nullptr;
  float gamma = 1.0f;
  float output_scale = 0.0f;
  std::int8_t* dst = nullptr;
};
using TileRun = std::function<absl::Status(const TileArguments&, Stream)>;

struct Tile {
  std::string name;    // in tables: mma_128x64x64_64x32_s4
  std::string policy;  // in tuning tables: conv::PolicyName
  std::string operator_name;
  bool in_family = false;  // of those that the ready-made family lets Dispatch choose from
  conv::ConvFacts facts;
  std::function<absl::StatusOr<TileRun>(const conv::Problem&)> create;
};

// The tiles of perf/tiles.def and then of the table of tiles for which this program holds GPU code.
const std::vector<Tile>& OurTiles(const std::string& layout, Epilogue epilogue);

// What Dispatch without a tuning table chooses of the tiles with usable[i]: one of the ready-made
// family where it has some of them. -1 if none is usable.
int ModelsChoice(const conv::Problem& problem, const std::vector<Tile>& tiles,
                 const std::vector<bool>& usable, const conv::GpuFacts& gpu);

}  // namespace weft::perf
