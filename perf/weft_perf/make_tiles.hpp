// The tiles of one epilogue and one source layout. An operator's Create and Run take a compiler a few megabytes, so
// perf/operators.cmake makes a file of each of these.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "perf/weft_perf/our_tiles.hpp"
#include "perf/weft_perf/tiles.hpp"

namespace weft::perf {

using TilesByLayout = std::map<std::string, std::vector<Tile>>;

// Adds those of epilogue With (WithRelu, ...) and source layout Src that this program holds GPU code for.
template <template <class> class With, class Src>
void MakeTiles(TilesByLayout* tiles);

}  // namespace weft::perf
