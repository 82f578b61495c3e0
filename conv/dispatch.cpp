#include "weft/conv/dispatch.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "weft/conv/choose/consider.hpp"
#include "weft/conv/depthwise_pointwise.hpp"
#include "weft/gemm/dispatch_choice.hpp"

namespace weft::conv {

namespace {

using Tiles = gemm::internal::FamilyFacts<ConvolutionPlanner>;

// The source's channels or the output's.
struct Channels {
  char field;                           // c or k
  std::int64_t Problem::* count;        // the same of a problem
  int gemm::Alignment::* access_bytes;  // of a load or of a store
  const char* accesses;

  // As a remedy has it.
  std::string Capital() const { return {absl::ascii_toupper(static_cast<unsigned char>(field))}; }
};
constexpr Channels kC = {'c', &Problem::c, &gemm::Alignment::src, "loads"};
constexpr Channels kK = {'k', &Problem::k, &gemm::Alignment::dst, "stores"};

const Channels& OthersThan(const Channels& which) {
  return which.field == kC.field ? kK : kC;
}

// A problem, the family that was asked for it, and which of its policies was chosen.
struct Asked {
  const Problem& problem;
  const Tiles& family;
  const std::vector<Candidate>& candidates;
  std::size_t chosen;
  const arch::DeviceLimits* device;

  const ConvFacts& Facts() const { return family.policies[chosen]->facts; }

  // Whether a policy of the family can be used for a problem.
  bool Takes(std::size_t policy, const Problem& p) const {
    return HasCode(family, policy, device != nullptr) &&
           ConvolutionPlanner::Make(p, family.policies[policy]->facts, device).ok();
  }
  // The bytes of a policy's loads of C, or of its stores of K.
  int BytesOf(const Channels& which, std::size_t policy) const {
    return family.policies[policy]->facts.config.alignment.*which.access_bytes;
  }
};

// The number that C or K is to be a multiple of for accesses of `bytes` bytes: their channels, and of patches
// that are read as columns of s * c channels fewer.
std::int64_t ChannelsOf(const Asked& a, const Channels& which, int bytes) {
  const ConvFacts& f = a.Facts();
  if (which.field == kK.field) return 8 * bytes / f.store.element_bits;
  const std::int64_t channels = 8 * bytes / f.source.bits;
  return ReadsPatches(a.problem, f) ? channels / std::gcd(channels, a.problem.s) : channels;
}

// `p` whose groups each have a multiple of `multiple` of these channels.
Problem Padded(Problem p, const Channels& which, std::int64_t multiple) {
  std::int64_t& count = p.*which.count;
  count = p.groups * RoundUp(count / p.groups, multiple);
  return p;
}

// The widths of accesses that are wider than those of the chosen policy, the widest first.
std::vector<int> WiderThanChosen(const Asked& a, const Channels& which) {
  std::vector<int> widths;
  for (std::size_t i = 0; i < a.candidates.size(); ++i) {
    if (a.BytesOf(which, i) > a.BytesOf(which, a.chosen)) widths.push_back(a.BytesOf(which, i));
  }
  std::sort(widths.begin(), widths.end(), std::greater<>());
  widths.erase(std::unique(widths.begin(), widths.end()), widths.end());
  return widths;
}

std::vector<std::size_t> PoliciesWith(const Asked& a, const Channels& which, int width) {
  std::vector<std::size_t> policies;
  for (std::size_t i = 0; i < a.candidates.size(); ++i) {
    if (a.BytesOf(which, i) == width) policies.push_back(i);
  }
  return policies;
}

// What C and K become so that one of `policies` can be used. Both have to be padded where the accesses
// to the others of that policy are too wide for the problem as well. Nothing, if padding gains no policy.
std::optional<Problem> PaddedFor(const Asked& a, const Channels& which, std::int64_t multiple,
                                 const std::vector<std::size_t>& policies) {
  const Problem padded = Padded(a.problem, which, multiple);
  if (padded.*which.count == a.problem.*which.count) return std::nullopt;
  for (const std::size_t policy : policies) {
    if (a.Takes(policy, padded)) return padded;
  }
  const Channels& others = OthersThan(which);
  for (const std::size_t policy : policies) {
    const Problem both = Padded(padded, others, ChannelsOf(a, others, a.BytesOf(others, policy)));
    if (a.Takes(policy, both)) return both;
  }
  return std::nullopt;
}

std::string Note(const Asked& a, const Channels& which, std::int64_t multiple, int width,
                 const Problem& padded) {
  const Problem& p = a.problem;
  const Channels& others = OthersThan(which);
  const bool both = padded.*others.count != p.*others.count;
  return absl::StrCat(
      std::string(1, which.field), p.groups > 1 ? "/groups=" : "=", p.*which.count / p.groups,
      " is not a multiple of ", multiple, ": ", a.BytesOf(which, a.chosen), "-byte ",
      which.accesses, ", pad ", which.Capital(), " to ", padded.*which.count,
      both ? absl::StrCat(" and ", others.Capital(), " to ", padded.*others.count) : "", " for ",
      width, "-byte ones; ");
}

// Says what padding these channels, and where that is not enough the others as well, would gain.
std::string NoteOn(const Asked& a, const Channels& which) {
  for (const int width : WiderThanChosen(a, which)) {
    const std::vector<std::size_t> policies = PoliciesWith(a, which, width);
    const bool usable = std::any_of(policies.begin(), policies.end(),
                                    [&](std::size_t i) { return a.candidates[i].status.ok(); });
    if (usable) return "";  // the model found narrower accesses quicker
    const std::int64_t multiple = ChannelsOf(a, which, width);
    const std::optional<Problem> padded = PaddedFor(a, which, multiple, policies);
    if (padded.has_value()) return Note(a, which, multiple, width, *padded);
  }
  return "";
}

// Refuses the tiles that a Dispatch of these policies would not compile for the CPU.
void RefuseWithoutCpuCode(absl::Span<const ConvFacts> policies,
                          std::vector<Candidate>* candidates) {
  std::vector<gemm::TileDescription> tiles;
  for (const ConvFacts& facts : policies) tiles.push_back(facts.config);
  const auto on_cpu = std::make_unique<bool[]>(tiles.size());
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    on_cpu[i] = gemm::internal::IsForCpu(tiles, i);
  }
  gemm::internal::RefuseWithoutCpuCode("conv", on_cpu.get(), candidates);
}

template <class Machine>
absl::StatusOr<std::vector<Candidate>> ConsiderOn(const Problem& problem, const Machine& machine,
                                                  absl::Span<const ConvFacts> policies) {
  if (policies.empty()) {
    return absl::InvalidArgumentError("conv: policies is empty; give at least one");
  }
  if (absl::Status s = CheckFacts("conv", machine); !s.ok()) return s;
  const auto facts_of = [&](std::size_t i) -> const ConvFacts& { return policies[i]; };
  std::vector<Candidate> candidates =
      gemm::internal::ConsiderPlans<ConvolutionPlanner>(problem, machine, policies.size(), facts_of)
          .second;
  if constexpr (std::is_same_v<Machine, CpuFacts>) RefuseWithoutCpuCode(policies, &candidates);
  if (gemm::internal::Cheapest(candidates) < 0) return candidates[0].status;
  return candidates;
}

}  // namespace

absl::StatusOr<std::vector<Candidate>> Consider(const Problem& problem, const GpuFacts& gpu,
                                                absl::Span<const ConvFacts> policies) {
  return ConsiderOn(problem, gpu, policies);
}

absl::StatusOr<std::vector<Candidate>> Consider(const Problem& problem, const CpuFacts& cpu,
                                                absl::Span<const ConvFacts> policies) {
  return ConsiderOn(problem, cpu, policies);
}

std::string AccessNote(const Problem& problem, const Tiles& family,
                       const std::vector<Candidate>& candidates, int chosen,
                       const arch::DeviceLimits* device) {
  const Asked asked = {problem, family, candidates, static_cast<std::size_t>(chosen), device};
  const ConvFacts& facts = asked.Facts();
  // Channels of a depthwise convolution are groups, and an empty problem has no accesses.
  if (facts.IsDepthwise() || problem.IsEmpty()) return "";
  std::string note;
  // Blocked layouts pad C and K by themselves.
  if (facts.source.nhwc) note += NoteOn(asked, kC);
  if (facts.output.channel_run == 0) note += NoteOn(asked, kK);
  return note;
}

}  // namespace weft::conv

namespace weft::gemm::internal {

template struct Choice<conv::ConvolutionPlanner>;
template struct Choice<conv::DepthwisePointwisePlanner>;

}  // namespace weft::gemm::internal
