#include "perf/weft_perf/find_best.hpp"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "perf/support/layers.hpp"

namespace weft::perf {
namespace {

// Checks and times one variant.
absl::StatusOr<double> Try(Peer& peer, int variant, const Search& search, Contender* c,
                           Differences* found) {
  WEFT_TRY(peer.Build(variant));
  WEFT_LET(*found, search.check(variant));
  if (search.tiles != nullptr) {
    c->differences += found->count;
    c->largest = std::max(c->largest, found->largest);
    if (found->count != 0 && c->note.empty()) {
      c->note =
          absl::StrCat(peer.variants()[variant].name, " differs at ", found->count, " outputs");
    }
  } else if (found->largest > kRoundingAllowance) {
    return absl::DataLossError(
        absl::StrCat("differs at ", found->count, " outputs, by up to ", found->largest));
  }
  if (!search.time) return 0.0;
  return TimeOf(peer, variant, *search.watch, search.sets, search.sample_us,
                c->best >= 0 ? c->short_us : -1.0);
}

std::string ChoiceName(const conv::Problem& problem, const std::string& peer) {
  return absl::StrCat(LayerName(problem, true), " ", peer);
}

}  // namespace

absl::Status FindBest(Peer& peer, const PeerOptions& options, const Search& search, Contender* c) {
  const bool ours = search.tiles != nullptr;
  c->offered = static_cast<int>(peer.variants().size());
  if (ours) c->tile_us.assign(c->offered, 0.0);
  const auto in_family = [](const Tile& tile) { return tile.in_family; };
  const bool family =
      ours && search.family && std::any_of(search.tiles->begin(), search.tiles->end(), in_family);
  std::string why = "no variant ran";
  for (int i = 0; i < c->offered; ++i) {
    const std::string name = peer.variants()[i].name;
    if (ours) c->tiles.push_back(name);
    if (!options.Wants(name) || !absl::StrContains(name, search.only)) continue;
    if (family && !in_family((*search.tiles)[i])) continue;
    options.about_to(name);
    Differences found;
    const absl::StatusOr<double> us = Try(peer, i, search, c, &found);
    if (!us.ok()) {
      why = absl::StrCat(name, ": ", std::string(us.status().message()));
      if (ours && !absl::IsInvalidArgument(us.status()) && !absl::IsUnimplemented(us.status()) &&
          !absl::IsOutOfRange(us.status())) {
        return absl::Status(us.status().code(), why);
      }
      peer.Release(i);
      WEFT_TRY(CudaStatus(cudaDeviceSynchronize(), name.c_str()));
      continue;
    }
    ++c->ran;
    if (ours) c->tile_us[i] = *us;
    if (c->best >= 0 && *us >= c->short_us) {
      peer.Release(i);
      continue;
    }
    if (c->best >= 0) peer.Release(c->best);
    c->best = i;
    c->short_us = *us;
    c->variant = name;
    if (!ours) c->differences = found.count, c->largest = found.largest;
  }
  return c->best < 0 ? absl::UnimplementedError(why) : absl::OkStatus();
}

Json ChoiceLine(const conv::Problem& problem, const std::string& peer, const std::string& variant) {
  return {{"choice", {{ChoiceName(problem, peer), variant}}}};
}

std::string ChoiceOf(const Choices& choices, const conv::Problem& problem,
                     const std::string& peer) {
  return choices.value(ChoiceName(problem, peer), "");
}

}  // namespace weft::perf
