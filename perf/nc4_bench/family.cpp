#include "perf/nc4_bench/family.hpp"

#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "perf/nc4_bench/tiles.hpp"
#include "weft/conv/convolution.hpp"

namespace weft::perf {
namespace {

template <class P>
Tile MakeTile() {
  const gemm::Config& c = P::config;
  Tile tile;
  tile.name =
      absl::StrCat("simt_", c.threadblock.m, "x", c.threadblock.n, "x", c.threadblock.k, "_",
                   c.warp.m, "x", c.warp.n, "x", c.warp.k, "_", c.thread.m, "x", c.thread.n);
  tile.facts = conv::FactsOf<P>();
  tile.create = [](const conv::Problem& problem) -> absl::StatusOr<RunFunction> {
    using Op = conv::Convolution<P>;
    const absl::StatusOr<Op> op = Op::Create(problem);
    if (!op.ok()) return op.status();
    return RunFunction([op = *op](const RunArguments& a, Stream stream) {
      typename Op::Arguments args;
      args.src = a.src;
      args.filter = a.filter;
      args.bias = a.bias;
      args.channel_alpha = a.channel_alpha;
      args.alpha = a.alpha;
      args.dst = a.dst;
      return op.Run(args, stream);
    });
  };
  return tile;
}

template <class... Policies>
std::vector<Tile> MakeFamily(std::tuple<Policies...>*) {
  return {MakeTile<Policies>()...};
}

}  // namespace

const std::vector<Tile>& Family() {
  static const std::vector<Tile> family = MakeFamily(static_cast<Nc4Family*>(nullptr));
  return family;
}

}  // namespace weft::perf
