#include "weft/conv/dispatch.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "weft/conv/depthwise_pointwise.hpp"

namespace weft::conv {

namespace {

using Tiles = gemm::internal::FamilyFacts<ConvolutionPlanner>;

// The source's channels and the output's, of which padding changes one or both.
struct Channels {
  const char* name;                     // in capitals, as the remedy has it
  std::int64_t Problem::* count;        // c or k
  int gemm::Alignment::* access_bytes;  // of a load or of a store
  const char* accesses;
};
constexpr Channels kC = {"C", &Problem::c, &gemm::Alignment::src, "loads"};
constexpr Channels kK = {"K", &Problem::k, &gemm::Alignment::dst, "stores"};

// The number that C or K is to be a multiple of for accesses of `bytes` bytes: their channels, and of patches
// that are read as columns of s * c channels fewer.
std::int64_t ChannelsOf(const Channels& which, const Problem& p, const ConvFacts& f, int bytes) {
  if (which.count == kK.count) return 8 * bytes / f.store.element_bits;
  const std::int64_t channels = 8 * bytes / f.source.bits;
  return ReadsPatches(p, f) ? channels / std::gcd(channels, p.s) : channels;
}

// `p` whose groups each have a multiple of `multiple` of these channels.
Problem Padded(Problem p, const Channels& which, std::int64_t multiple) {
  std::int64_t& count = p.*which.count;
  count = p.groups * RoundUp(count / p.groups, multiple);
  return p;
}

// Says what padding these channels, and where that is not enough the others as well, would gain.
// takes(policy, problem): whether a policy of the family can be used for a problem.
template <class Takes>
std::string NoteOn(const Channels& which, const Problem& p, const Tiles& family,
                   const std::vector<Candidate>& candidates, int chosen, const Takes& takes) {
  const Channels& others = which.count == kC.count ? kK : kC;
  const ConvFacts& facts = family.policies[static_cast<std::size_t>(chosen)];
  const auto bytes_of = [&](std::size_t i) {
    return family.policies[i].config.alignment.*which.access_bytes;
  };
  const int now = facts.config.alignment.*which.access_bytes;
  std::vector<int> widths;  // the widest first; those that padding is not needed for end the list
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (bytes_of(i) > now) widths.push_back(bytes_of(i));
  }
  std::sort(widths.begin(), widths.end(), std::greater<>());
  widths.erase(std::unique(widths.begin(), widths.end()), widths.end());
  for (const int width : widths) {
    const std::int64_t multiple = ChannelsOf(which, p, facts, width);
    const Problem padded = Padded(p, which, multiple);
    std::int64_t with_others = 0;  // the other channels that it takes besides, if any
    bool gains = false;
    for (std::size_t i = 0; i < candidates.size() && (!gains || with_others != 0); ++i) {
      if (bytes_of(i) != width) continue;
      if (candidates[i].status.ok()) return "";  // the model found narrower accesses quicker
      if (padded.*which.count == p.*which.count) continue;
      const Problem both = Padded(
          padded, others,
          ChannelsOf(others, p, facts, family.policies[i].config.alignment.*others.access_bytes));
      if (takes(i, padded)) {
        gains = true, with_others = 0;
      } else if (!gains && takes(i, both)) {
        gains = true, with_others = both.*others.count;
      }
    }
    if (!gains) continue;
    const char* const field = which.count == kC.count ? "c" : "k";
    std::string note =
        absl::StrCat(field, p.groups > 1 ? "/groups=" : "=", p.*which.count / p.groups,
                     " is not a multiple of ", multiple, ": ", now, "-byte ", which.accesses,
                     ", pad ", which.name, " to ", padded.*which.count);
    if (with_others != 0) absl::StrAppend(&note, " and ", others.name, " to ", with_others);
    absl::StrAppend(&note, " for ", width, "-byte ones; ");
    return note;
  }
  return "";
}

}  // namespace

std::string AccessNote(const Problem& problem, const Tiles& family,
                       const std::vector<Candidate>& candidates, int chosen,
                       const arch::DeviceLimits* device) {
  const ConvFacts& facts = family.policies[static_cast<std::size_t>(chosen)];
  // Channels of a depthwise convolution are groups, and an empty problem has no accesses.
  if (facts.depthwise || problem.IsEmpty()) return "";
  const auto takes = [&](std::size_t i, const Problem& p) {
    return HasCode(family, i, device != nullptr) &&
           ConvolutionPlanner::Make(p, family.policies[i], device).ok();
  };
  std::string note;
  // Blocked layouts pad C and K by themselves.
  if (facts.source.nhwc) note += NoteOn(kC, problem, family, candidates, chosen, takes);
  if (facts.output.channel_run == 0) {
    note += NoteOn(kK, problem, family, candidates, chosen, takes);
  }
  return note;
}

}  // namespace weft::conv

namespace weft::gemm::internal {

WEFT_CHOOSE(, conv::ConvolutionPlanner)
WEFT_CHOOSE(, conv::DepthwisePointwisePlanner)

}  // namespace weft::gemm::internal
