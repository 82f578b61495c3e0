#include "perf/weft_perf/our_tiles.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "perf/support/status.hpp"
#include "perf/weft_perf/tile_names.hpp"
#include "perf/weft_perf/tiles.hpp"
#include "weft/conv/convolution.hpp"
#include "weft/conv/family.hpp"
#include "weft/conv/ready_made.hpp"
#include "weft/conv/tuning.hpp"

namespace weft::perf {
namespace {

using Tiles = std::map<std::string, std::vector<Tile>>;  // by layout

template <class P>
Tile MakeTile(const std::string& name) {
  using Op = conv::Convolution<P>;
  Tile tile = {name,  conv::PolicyName(P::config), conv::OperatorName<P>(),
               false, conv::FactsOf<P>(),          nullptr};
  tile.create = [](const conv::Problem& problem) -> absl::StatusOr<TileRun> {
    WEFT_LET(const Op op, Op::Create(problem));
    return TileRun([op](const TileArguments& given, Stream stream) {
      typename Op::Arguments args;
      args.src = given.src;
      args.filter = given.*TileArguments::Filter<typename P::FilterLayout>();
      args.channel_alpha = given.channel_alpha;
      args.bias = given.bias;
      if constexpr (P::Epilogue::kHasResidual) {
        args.residual = given.residual;
        args.gamma = given.gamma;
      }
      if constexpr (P::Epilogue::kHasOutputScale) args.output_scale = given.output_scale;
      args.dst = given.dst;
      args.filter_is_constant = true;  // packed long before, as in a network
      return op.Run(args, stream, {.dependent = given.dependent});
    });
  };
  return tile;
}

template <class P>
void Add(const std::string& kind, const std::vector<int>& numbers, Tiles* tiles) {
  const std::string layout = LayoutOf<P>();
  Tile tile = MakeTile<P>(TileName<P>(kind, numbers));
  tile.in_family = InFamily<P>();
  if (gemm::HasGpuCode<P>()) (*tiles)[layout].push_back(std::move(tile));
}

#if !WEFT_HAVE_CUDA
constexpr int kMostKinds = -1;
#elif !WEFT_PERF_ALL_TILES
constexpr int kMostKinds = 0;
#else
constexpr int kMostKinds = 2;
#endif

// The tiles of an epilogue, as far as they are compiled. kKinds: 0 BASIC, 1 also NETWORK, 2 also
// TILE.
template <template <class> class With, int kKinds>
Tiles Make() {
  Tiles tiles;
#define WEFT_ADD(least, Name, ...) \
  if constexpr (kKinds >= least) Add<With<Name<__VA_ARGS__>>>(#Name, {__VA_ARGS__}, &tiles);
#define BASIC(...) WEFT_ADD(0, __VA_ARGS__)
#define NETWORK(...) WEFT_ADD(1, __VA_ARGS__)
#define TILE(...) WEFT_ADD(2, __VA_ARGS__)
#include "perf/tiles.def"
#undef BASIC
#undef NETWORK
#undef TILE
#undef WEFT_ADD
  return tiles;
}

}  // namespace

const std::vector<std::string>& EpilogueNames() {
  static const std::vector<std::string> names = {"bias_relu", "residual", "hswish", "bias"};
  return names;
}

const std::vector<OurLayout>& OurLayouts() {
  using enum TensorFormatName;
  static const std::vector<OurLayout> layouts = {
      {"nc4", kNc4, kNc4},    {"nc4_nc32", kNc4, kNc32},   {"nc32", kNc32, kNc32},
      {"nhwc", kNhwc, kNhwc}, {"nhwc_nc32", kNhwc, kNc32}, {"nc4_nhwc", kNc4, kNhwc}};
  return layouts;
}

const std::vector<Tile>& OurTiles(const std::string& layout, Epilogue epilogue) {
  static std::array<Tiles, 4>* const all = new std::array<Tiles, 4>{
      Make<WithRelu, kMostKinds>(), Make<WithResidual, std::min(kMostKinds, 1)>(),
      Make<WithHSwish, std::min(kMostKinds, 1)>(), Make<WithNothing, std::min(kMostKinds, 1)>()};
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
