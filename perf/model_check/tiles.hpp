// The tiles that weft_perf measures as the tile model knows them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "weft/conv/choose/tile_model.hpp"

namespace weft::perf {

// Of weft_perf's rows, as result files name them.
inline const std::vector<std::string> kEpilogues = {"bias_relu", "residual", "hswish", "bias"};

struct ModelTile {
  conv::ConvFacts facts[4];  // with each epilogue
  bool in_family = false;    // of those that the ready-made family lets Dispatch choose from
  bool in_small = false;     // of those of the small family
};
using ModelTiles = std::map<std::string, std::map<std::string, ModelTile>>;  // by layout, by name
const ModelTiles& AllModelTiles();

// The products of gemm_bench, by family of perf/gemms.def and by name; their epilogue is "sums".
const std::map<std::string, std::map<std::string, gemm::GemmFacts>>& AllProductTiles();

}  // namespace weft::perf
