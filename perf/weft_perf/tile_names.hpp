// Names of the tiles that weft_perf measures, as result files and tables have them.
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "weft/conv/choose/tuning.hpp"
#include "weft/conv/ready_made.hpp"
#include "weft/conv/ready_made_operators.hpp"

namespace weft::perf {

namespace internal {

template <class... Policies>
std::vector<std::string> PolicyNames(conv::Family<Policies...>) {
  return {conv::PolicyName(Policies::config)...};
}

// Of a family of convolutions and one of depthwise convolutions, which have the same layouts.
template <class FamilyT, class DepthwiseFamilyT>
std::vector<std::string> PolicyNames(FamilyT family, DepthwiseFamilyT depthwise) {
  std::vector<std::string> names = PolicyNames(family);
  for (std::string& name : PolicyNames(depthwise)) names.push_back(std::move(name));
  return names;
}

// The policies of the ready-made families of a layout.
inline std::vector<std::string> FamilyOf(const std::string& layout) {
  if (layout == "nc4") return PolicyNames(conv::S8Conv4Family<>(), conv::S8Depthwise4Family<>());
  if (layout == "nc4_nc32") {
    return PolicyNames(conv::S8Conv4Family<epilogues::BiasRelu<>, NCxHWx<32>>());
  }
  if (layout == "nhwc") {
    return PolicyNames(conv::S8ConvNhwcFamily<>(), conv::S8DepthwiseNhwcFamily<>());
  }
  if (layout == "nc32") {
    return PolicyNames(conv::S8Conv32Family<>(), conv::S8Depthwise32Family<>());
  }
  return {};
}

// The same of the small families.
inline std::vector<std::string> SmallFamilyOf(const std::string& layout) {
  using Relu = epilogues::BiasRelu<>;
  if (layout == "nc4") return PolicyNames(conv::S8Conv4SmallFamily<>());
  if (layout == "nc4_nc32") return PolicyNames(conv::S8Conv4SmallFamily<Relu, NCxHWx<32>>());
  if (layout == "nhwc") return PolicyNames(conv::S8ConvNhwcSmallFamily<>());
  if (layout == "nc32") return PolicyNames(conv::S8Conv32SmallFamily<>());
  return {};
}

template <class Format>
const char* FormatName() {
  if (std::is_same_v<Format, NHWC>) return "nhwc";
  static_assert(std::is_same_v<Format, NHWC> || Format::kChannelRun == 4 ||
                Format::kChannelRun == 32);
  return Format::kChannelRun == 4 ? "nc4" : "nc32";
}

}  // namespace internal

// The name of a tile, of its config's numbers: mma_128x64x64_64x32_s4.
template <class P>
std::string TileName() {
  constexpr auto c = P::config;
  constexpr gemm::Mainloop kMainloop = decltype(c)::kMainloop;
  const auto tile = [](const gemm::TileShape& t) { return absl::StrCat(t.m, "x", t.n, "x", t.k); };
  const auto sides = [](const gemm::TileShape& t) { return absl::StrCat(t.m, "x", t.n); };
  const auto above = [](int count, const char* letter, int least) {
    return count > least ? absl::StrCat(letter, count) : "";
  };
  if constexpr (kMainloop == gemm::Mainloop::kOther) {
    return absl::StrCat("dw_", c.rows, "x", c.lanes, "_t", c.threads);
  } else if constexpr (kMainloop == gemm::Mainloop::kSimt) {
    return absl::StrCat("simt_", tile(c.threadblock), "_", tile(c.warp), "_", sides(c.thread));
  } else if constexpr (kMainloop == gemm::Mainloop::kMmaSm80) {
    if (c.warp.k < c.threadblock.k) return conv::PolicyName(c);
    return absl::StrCat("mma_", tile(c.threadblock), "_", sides(c.warp), "_s", c.stages,
                        c.alignment.src < 16 ? absl::StrCat("_a", c.alignment.src) : "");
  } else if constexpr (kMainloop == gemm::Mainloop::kWgmmaSm90) {
    // Loaded by threads (src 8), a first layer's 4 channels (src 4), or by TMA.
    const std::string of =
        c.alignment.src == 8 ? (c.alignment.dst == 8 ? "gather_" : "gather16_") : "wgmma_";
    return absl::StrCat(of, c.alignment.src == 16 ? tile(c.threadblock) : sides(c.threadblock), "_",
                        sides(c.warp), "_b", c.blocks_per_sm, above(c.cluster_split_k, "_c", 1),
                        above(c.packed_rows, "_t", 1), above((c.ping_pong ? 2 : 1), "_p", 1),
                        c.alignment.src == 16 && c.alignment.dst == 8 ? "_d8" : "");
  } else {
    return conv::PolicyName(c);
  }
}

// The layout that a tile is of: OurLayout's name.
template <class P>
std::string LayoutOf() {
  const std::string src = internal::FormatName<typename P::SrcLayout>();
  const std::string dst = internal::FormatName<typename P::DstLayout>();
  return src == dst ? src : absl::StrCat(src, "_", dst);
}

// Whether the ready-made family of its layout has it, and the small one.
template <class P>
bool InFamily() {
  const std::vector<std::string> family = internal::FamilyOf(LayoutOf<P>());
  return std::find(family.begin(), family.end(), conv::PolicyName(P::config)) != family.end();
}
template <class P>
bool InSmallFamily() {
  const std::vector<std::string> family = internal::SmallFamilyOf(LayoutOf<P>());
  return std::find(family.begin(), family.end(), conv::PolicyName(P::config)) != family.end();
}

}  // namespace weft::perf
