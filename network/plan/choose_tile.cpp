#include <array>
#include <string_view>
#include <utility>

#include "weft/conv/dispatch.hpp"
#include "weft/conv/ready_made.hpp"
#include "weft/network/graph/names.hpp"
#include "weft/network/plan/convolution_policy.hpp"

namespace weft::network {
namespace {

// The name of a policy's tile: the last type of namespace weft::conv in how the compiler spells the policy.
template <class PolicyT>
std::string TileOf() {
  const std::string_view spelling = __PRETTY_FUNCTION__;
  constexpr std::string_view kNamespace = "weft::conv::";
  const std::string_view policy = spelling.substr(0, spelling.find(';'));
  const std::size_t begin = policy.rfind(kNamespace) + kNamespace.size();
  return std::string(policy.substr(begin, policy.find_first_of(",> ", begin) - begin));
}

template <class... Policies>
std::array<std::string, sizeof...(Policies)> TilesOf(const conv::Family<Policies...>*) {
  return {TileOf<Policies>()...};
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

template <class FamilyT>
absl::StatusOr<std::string> Choose(const conv::Problem& problem, const Machine& machine) {
  using Op = conv::Dispatch<FamilyT>;
  const auto op =
      std::visit([&](const auto& facts) { return Op::Create(problem, facts); }, machine);
  if (!op.ok()) return op.status();
  static const auto tiles = TilesOf(static_cast<const FamilyT*>(nullptr));
  return tiles[static_cast<std::size_t>(op->index())];
}

template <template <class Epilogue, class Dst> class FamilyOf>
absl::StatusOr<std::string> ChooseAmong(const ConvolutionStep& step, bool has_zero_point,
                                        const Machine& machine) {
  if (step.add >= 0) {
    return has_zero_point ? Choose<FamilyOf<SumWithZeroPoint, NCxHWx<32>>>(step.problem, machine)
                          : Choose<FamilyOf<Sum, NCxHWx<32>>>(step.problem, machine);
  }
  return has_zero_point ? Choose<FamilyOf<PlainWithZeroPoint, NCxHWx<32>>>(step.problem, machine)
                        : Choose<FamilyOf<Plain, NCxHWx<32>>>(step.problem, machine);
}

}  // namespace

absl::StatusOr<std::string> ChooseTile(const Plan& plan, const Step& step, const Machine& machine) {
  const auto& what = std::get<ConvolutionStep>(step.what);
  const TensorType& source = plan.tensors[static_cast<std::size_t>(step.src)].type;
  const Format dst = plan.tensors[static_cast<std::size_t>(step.dst)].type.format;
  const bool has_zero_point = source.quantization.zero_point != 0;
  const bool by_four = source.format == Format::kNc4;
  if (what.depthwise) return by_four ? "Depthwise7x1" : "Depthwise7x8";
  // The tiles for Hopper do not write blocks of 4 channels.
  if (dst != Format::kNc32) return by_four ? "Tile64x64" : "Mma128x64";
  absl::StatusOr<std::string> tile =
      by_four ? ChooseAmong<conv::U8Conv4Family>(what, has_zero_point, machine)
              : ChooseAmong<conv::U8Conv32Family>(what, has_zero_point, machine);
  if (!tile.ok()) return OfNode(tile.status(), step.name);
  return tile;
}

}  // namespace weft::network
