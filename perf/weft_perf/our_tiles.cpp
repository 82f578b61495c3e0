#include "perf/weft_perf/our_tiles.hpp"

#include <array>

#include "perf/weft_perf/make_tiles.hpp"

namespace weft::perf {

const std::vector<std::string>& EpilogueNames() {
  static const std::vector<std::string> names = {"bias_relu", "residual", "hswish", "bias"};
  return names;
}

const std::vector<OurLayout>& OurLayouts() {
  using enum TensorFormatName;
  static const std::vector<OurLayout> layouts = {{"nc4", kNc4, kNc4},
                                                 {"nc4_nc32", kNc4, kNc32},
                                                 {"nc32", kNc32, kNc32},
                                                 {"nhwc", kNhwc, kNhwc}};
  return layouts;
}

namespace {

template <template <class> class With>
TilesByLayout OfAllSources() {
  TilesByLayout tiles;
  MakeTiles<With, NCxHWx<32>>(&tiles);
  MakeTiles<With, NHWC>(&tiles);
  MakeTiles<With, NCxHWx<4>>(&tiles);
  return tiles;
}

}  // namespace

const std::vector<Tile>& OurTiles(const std::string& layout, Epilogue epilogue) {
  static auto* const all =
      new std::array<TilesByLayout, 4>{OfAllSources<WithRelu>(), OfAllSources<WithResidual>(),
                                       OfAllSources<WithHSwish>(), OfAllSources<WithNothing>()};
  return (*all)[static_cast<int>(epilogue)][layout];
}

int ModelsChoice(const conv::Problem& problem, const std::vector<Tile>& tiles,
                 const std::vector<bool>& usable, const conv::GpuFacts& gpu) {
  bool family = false;
  for (std::size_t i = 0; i < tiles.size(); ++i) family |= usable[i] && tiles[i].in_family;
  int choice = -1;
  double least = 0.0;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    if (!usable[i] || (family && !tiles[i].in_family)) continue;
    const double us = conv::Predict(problem, tiles[i].facts, gpu).microseconds;
    if (choice >= 0 && us >= least) continue;
    choice = static_cast<int>(i);
    least = us;
  }
  return choice;
}

}  // namespace weft::perf
