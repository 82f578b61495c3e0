#include <array>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "weft/conv/dispatch.hpp"
#include "weft/conv/ready_made.hpp"
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

template <class FamilyT>
absl::StatusOr<std::string> Choose(const conv::Problem& problem, const Machine& machine) {
  using Op = conv::Dispatch<FamilyT>;
  const auto op =
      std::visit([&](const auto& facts) { return Op::Create(problem, facts); }, machine);
  if (!op.ok()) return op.status();
  static const auto tiles = TilesOf(static_cast<const FamilyT*>(nullptr));
  return tiles[static_cast<std::size_t>(op->index())];
}

}  // namespace

absl::StatusOr<std::string> ChooseTile(const Plan& plan, const Step& step, const Machine& machine) {
  using Epilogue = epilogues::QLinear<std::uint8_t>;
  const auto& what = std::get<ConvolutionStep>(step.what);
  const Format src = plan.tensors[static_cast<std::size_t>(step.src)].type.format;
  const Format dst = plan.tensors[static_cast<std::size_t>(step.dst)].type.format;
  if (what.depthwise) return src == Format::kNc4 ? "Depthwise7x1" : "Depthwise7x8";
  // The tiles for Hopper do not write blocks of 4 channels.
  if (dst != Format::kNc32) return src == Format::kNc4 ? "Tile64x64" : "Mma128x64";
  absl::StatusOr<std::string> tile =
      src == Format::kNc4
          ? Choose<conv::U8Conv4Family<Epilogue, NCxHWx<32>>>(what.problem, machine)
          : Choose<conv::U8Conv32Family<Epilogue, NCxHWx<32>>>(what.problem, machine);
  if (tile.ok()) return tile;
  return absl::Status(
      tile.status().code(),
      absl::StrCat("network: node \"", step.name, "\": ", std::string(tile.status().message())));
}

}  // namespace weft::network
