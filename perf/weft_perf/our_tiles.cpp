#include "perf/weft_perf/our_tiles.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "perf/support/status.hpp"
#include "perf/weft_perf/tiles.hpp"
#include "weft/conv/convolution.hpp"
#include "weft/conv/family.hpp"
#include "weft/conv/ready_made.hpp"
#include "weft/conv/tuning.hpp"

namespace weft::perf {
namespace {

using Tiles = std::map<std::string, std::vector<Tile>>;  // by layout

template <class... Policies>
std::vector<std::string> PolicyNames(conv::Family<Policies...>) {
  return {conv::PolicyName(Policies::config)...};
}

// The policies of the ready-made family of a layout.
std::vector<std::string> FamilyOf(const std::string& layout) {
  if (layout == "nc4") return PolicyNames(conv::S8Conv4Family<>());
  if (layout == "nc4_nc32") {
    return PolicyNames(conv::S8Conv4Family<epilogues::BiasRelu<>, NCxHWx<32>>());
  }
  if (layout == "nc4_nhwc") {
    return PolicyNames(conv::S8Conv4Family<epilogues::BiasRelu<>, NHWC>());
  }
  if (layout == "nhwc") return PolicyNames(conv::S8ConvNhwcFamily<>());
  if (layout == "nc32") return PolicyNames(conv::S8Conv32Family<>());
  return {};
}

// The name of a line of tiles.def.
template <class P>
std::string TileName(const std::string& kind, const std::vector<int>& n) {
  const auto tile = [](int m, int k, int last) { return absl::StrCat(m, "x", k, "x", last); };
  if (kind.ends_with("Depthwise")) return absl::StrCat("dw_", n[0], "x", n[1], "_t", n[2]);
  if (kind == "Nc32Sm75") return conv::PolicyName(P::config);
  if (kind == "Nc32Wgmma" || kind == "NhwcWgmma") {
    return absl::StrCat("wgmma_", tile(n[0], n[1], n[2]), "_", n[3], "x", n[4], "_b", n[5],
                        n.size() > 6 ? absl::StrCat("_c", n[6]) : "");
  }
  if (kind == "Nc4To32Wgmma" || kind == "Nc4ToNhwcWgmma") {
    return absl::StrCat("wgmma_", n[0], "x", n[1], "_", n[2], "x", n[3], "_b", n[4]);
  }
  if (kind.rfind("Nc4", 0) == 0) {
    return absl::StrCat("simt_", tile(n[0], n[1], n[2]), "_", tile(n[3], n[4], n[5]), "_", n[6],
                        "x", n[7]);
  }
  const std::size_t at = kind.rfind("Nhwc", 0) == 0 ? 1 : 0;  // after the bytes of a load
  const std::string access = at == 0 || n[0] == 16 ? "" : absl::StrCat("_a", n[0]);
  return absl::StrCat("mma_", tile(n[at], n[at + 1], n[at + 2]), "_", n[at + 3], "x", n[at + 4],
                      "_s", n[at + 5], access);
}

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
      args.dst = given.dst;
      args.filter_is_constant = true;  // packed long before, as in a network
      return op.Run(args, stream, {.dependent = given.dependent});
    });
  };
  return tile;
}

template <class Format>
const char* FormatName() {
  if (std::is_same_v<Format, NHWC>) return "nhwc";
  static_assert(std::is_same_v<Format, NHWC> || Format::kChannelRun == 4 ||
                Format::kChannelRun == 32);
  return Format::kChannelRun == 4 ? "nc4" : "nc32";
}

template <class P>
void Add(const std::string& kind, const std::vector<int>& numbers, Tiles* tiles) {
  const std::string src = FormatName<typename P::SrcLayout>();
  const std::string dst = FormatName<typename P::DstLayout>();
  const std::string layout = src == dst ? src : absl::StrCat(src, "_", dst);
  Tile tile = MakeTile<P>(TileName<P>(kind, numbers));
  const std::vector<std::string> family = FamilyOf(layout);
  tile.in_family = std::find(family.begin(), family.end(), tile.policy) != family.end();
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
      Make<WithHSwish, std::min(kMostKinds, 0)>(), Make<WithNothing, std::min(kMostKinds, 1)>()};
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
