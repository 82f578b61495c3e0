#include "weft/network/plan/choose_tile.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "weft/conv/choose/consider.hpp"
#include "weft/conv/plan/policy_facts.hpp"
#include "weft/conv/ready_made.hpp"
#include "weft/conv/ready_made_operators.hpp"
#include "weft/network/graph/names.hpp"
#include "weft/network/plan/choose_block.hpp"

namespace weft::network {
namespace {

// How the compiler spells a policy.
template <class PolicyT>
constexpr std::string_view Spelling() {
  return __PRETTY_FUNCTION__;
}

// The policies of a family as values.
template <class FamilyT>
struct Policies;
template <class... PolicyT>
struct Policies<conv::Family<PolicyT...>> {
  static constexpr conv::ConvFacts kFacts[] = {conv::FactsOf<PolicyT>()...};
  static constexpr std::string_view kSpellings[] = {Spelling<PolicyT>()...};
};

// The name of a policy's tile: the last type of namespace weft::conv in its spelling.
std::string TileOf(std::string_view spelling) {
  constexpr std::string_view kNamespace = "weft::conv::";
  const std::string_view policy = spelling.substr(0, spelling.find(';'));
  const std::size_t begin = policy.rfind(kNamespace) + kNamespace.size();
  return std::string(policy.substr(begin, policy.find_first_of(",> ", begin) - begin));
}

// The stages of a step as far as they matter to the time of a tile.
using Plain = epilogues::Chain<epilogues::SumBias, epilogues::Scale, epilogues::RoundFirst,
                               epilogues::ClampTo<std::uint8_t>>;
using PlainWithZeroPoint = epilogues::QLinear<std::uint8_t>;
using Sum = epilogues::Chain<epilogues::SumBias, epilogues::Scale, epilogues::QuantizeSteps<>,
                             epilogues::QuantizedAdd<>, epilogues::ClampTo<std::uint8_t>>;
using SumWithZeroPoint =
    epilogues::Chain<epilogues::SourceZeroPoint, epilogues::SumBias, epilogues::Scale,
                     epilogues::QuantizeSteps<>, epilogues::QuantizedAdd<>,
                     epilogues::ClampTo<std::uint8_t>>;

template <int kSize, int kPadding>
using Pooled = epilogues::Chain<epilogues::SourceZeroPoint, epilogues::SumBias, epilogues::Scale,
                                epilogues::RoundFirst, epilogues::MaxPool<kSize, 2, kPadding>,
                                epilogues::ClampTo<std::uint8_t>>;

using Candidates = absl::StatusOr<std::vector<TileCandidate>>;

// The tiles of these policies that can answer the question, the quickest first, each once. spellings: those of the policies.
Candidates QuickestFirst(const TileQuestion& question, const Machine& machine,
                         absl::Span<const conv::ConvFacts> policies,
                         absl::Span<const std::string_view> spellings) {
  const auto considered = std::visit(
      [&](const auto& facts) { return conv::Consider(question.problem, facts, policies); },
      machine);
  if (!considered.ok()) return considered.status();
  std::vector<TileCandidate> found;
  for (std::size_t i = 0; i < policies.size(); ++i) {
    const conv::Candidate& candidate = (*considered)[i];
    if (candidate.status.ok()) {
      found.push_back({TileOf(spellings[i]), candidate.prediction.microseconds});
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const TileCandidate& a, const TileCandidate& b) {
    return a.microseconds < b.microseconds;
  });
  // Families over NHWC have some tiles more than once, with loads and stores of several widths.
  std::vector<TileCandidate> once;
  for (TileCandidate& candidate : found) {
    const bool is_there = std::any_of(once.begin(), once.end(), [&](const TileCandidate& other) {
      return other.tile == candidate.tile;
    });
    if (!is_there) once.push_back(std::move(candidate));
  }
  return once;
}

template <class FamilyT>
Candidates Consider(const TileQuestion& question, const Machine& machine) {
  using P = Policies<FamilyT>;
  return QuickestFirst(question, machine, P::kFacts, P::kSpellings);
}

// Of families that differ by the epilogue and the format of the output. To formats that few networks have, tiles are
// compared without what a zero point or an addition costs.
template <template <class Epilogue, class Dst> class FamilyOf>
Candidates ConsiderAmong(const TileQuestion& q, const Machine& machine) {
  if (q.dst == Format::kNhwc) return Consider<FamilyOf<Plain, NHWC>>(q, machine);
  if (q.dst != Format::kNc32) return Consider<FamilyOf<Plain, NCxHWx<4>>>(q, machine);
  if (q.adds) {
    return q.source_zero_point ? Consider<FamilyOf<SumWithZeroPoint, NCxHWx<32>>>(q, machine)
                               : Consider<FamilyOf<Sum, NCxHWx<32>>>(q, machine);
  }
  return q.source_zero_point ? Consider<FamilyOf<PlainWithZeroPoint, NCxHWx<32>>>(q, machine)
                             : Consider<FamilyOf<Plain, NCxHWx<32>>>(q, machine);
}

// Of a first layer that pools its output. The CPU runs the tiles of a Hopper GPU, which alone do.
Candidates ConsiderPooled(const TileQuestion& q, const Machine& given) {
  const bool on_cpu = std::holds_alternative<conv::CpuFacts>(given);
  const Machine machine = on_cpu ? Machine(conv::GpuFacts()) : given;
  if (q.src == Format::kNc4 && q.dst == Format::kNc32 && !q.depthwise && !q.adds &&
      q.pool.step == 2) {
    const auto is = [&](int size, int padding) {
      return q.pool.size == size && q.pool.padding == padding;
    };
    if (is(3, 1)) return Consider<conv::U8Conv4Family<Pooled<3, 1>, NCxHWx<32>>>(q, machine);
    if (is(3, 0)) return Consider<conv::U8Conv4Family<Pooled<3, 0>, NCxHWx<32>>>(q, machine);
    if (is(2, 0)) return Consider<conv::U8Conv4Family<Pooled<2, 0>, NCxHWx<32>>>(q, machine);
  }
  return absl::UnimplementedError(
      "network: no convolution pools its output so; give the pooling a kernel of its own");
}

}  // namespace

absl::StatusOr<std::vector<TileCandidate>> CandidateTiles(const TileQuestion& q,
                                                          const Machine& machine) {
  if (q.pool.exists()) return ConsiderPooled(q, machine);
  switch (q.src) {
    case Format::kNc4:
      return q.depthwise ? Consider<conv::U8Depthwise4Family<Plain, NCxHWx<4>>>(q, machine)
                         : ConsiderAmong<conv::U8Conv4Family>(q, machine);
    case Format::kNc32:
      return q.depthwise ? Consider<conv::U8Depthwise32Family<Plain, NCxHWx<32>>>(q, machine)
                         : ConsiderAmong<conv::U8Conv32Family>(q, machine);
    case Format::kNhwc:
      return q.depthwise ? Consider<conv::U8DepthwiseNhwcFamily<Plain, NHWC>>(q, machine)
                         : ConsiderAmong<conv::U8ConvNhwcFamily>(q, machine);
    case Format::kNchw:
      break;
  }
  return absl::InvalidArgumentError(
      "network: no convolution reads NCHW; give a source of NHWC or in blocks of 4 or 32 channels");
}

absl::StatusOr<std::vector<TileCandidate>> CandidateTiles(const Plan& plan, const Step& step,
                                                          const Machine& machine) {
  if (const auto* bottleneck = std::get_if<BottleneckStep>(&step.what)) {
    return CandidateTiles(*bottleneck, machine);
  }
  const auto& what = std::get<ConvolutionStep>(step.what);
  const TensorType& source = plan.tensors[static_cast<std::size_t>(step.src)].type;
  Candidates found =
      CandidateTiles({.problem = what.problem,
                      .src = source.format,
                      .dst = plan.tensors[static_cast<std::size_t>(step.dst)].type.format,
                      .depthwise = what.depthwise,
                      .source_zero_point = CorrectsSource(what.problem, source.quantization),
                      .adds = step.other >= 0,
                      .pool = what.pool},
                     machine);
  if (!found.ok()) return OfNode(found.status(), step.name);
  return found;
}

absl::StatusOr<std::string> ChooseTile(const Plan& plan, const Step& step, const Machine& machine,
                                       const std::string* wanted) {
  const Candidates found = CandidateTiles(plan, step, machine);
  if (!found.ok()) return found.status();
  if (wanted == nullptr) return found->front().tile;
  std::vector<std::string> names;
  for (const TileCandidate& candidate : *found) {
    if (candidate.tile == *wanted) return *wanted;
    names.push_back(candidate.tile);
  }
  return OfNode(absl::InvalidArgumentError(absl::StrCat(
                    "tile=", *wanted, " cannot run this ",
                    std::holds_alternative<BottleneckStep>(step.what) ? "block" : "convolution",
                    " here; give one of ", absl::StrJoin(names, ", "))),
                step.name);
}

}  // namespace weft::network
