// The family of tiles with their types erased.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/conv/problem.hpp"
#include "weft/conv/tile_model.hpp"
#include "weft/gemm/arch/backend.hpp"
#include "weft/layouts/packed_filter.hpp"

namespace weft::perf {

// GPU addresses. Either channel_alpha or alpha scales.
struct RunArguments {
  const std::int8_t* src = nullptr;
  PackedFilter<CxRSKx<4>, std::int8_t> filter;
  const float* bias = nullptr;
  const float* channel_alpha = nullptr;
  float alpha = 1.0f;
  std::int8_t* dst = nullptr;
};

using RunFunction = std::function<absl::Status(const RunArguments&, Stream)>;

struct Tile {
  std::string name;  // simt_128x64x32_64x32x32_8x8: threadblock, warp, thread
  conv::TileFacts facts;
  std::function<absl::StatusOr<RunFunction>(const conv::Problem&)> create;
};

const std::vector<Tile>& Family();

}  // namespace weft::perf
