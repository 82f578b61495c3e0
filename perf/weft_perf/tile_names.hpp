// Names of the tiles of perf/tiles.def, as result files and tables have them.
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "weft/conv/ready_made.hpp"
#include "weft/conv/tuning.hpp"

namespace weft::perf {

namespace internal {

template <class... Policies>
std::vector<std::string> PolicyNames(conv::Family<Policies...>) {
  return {conv::PolicyName(Policies::config)...};
}

// The policies of the ready-made family of a layout.
inline std::vector<std::string> FamilyOf(const std::string& layout) {
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

template <class Format>
const char* FormatName() {
  if (std::is_same_v<Format, NHWC>) return "nhwc";
  static_assert(std::is_same_v<Format, NHWC> || Format::kChannelRun == 4 ||
                Format::kChannelRun == 32);
  return Format::kChannelRun == 4 ? "nc4" : "nc32";
}

}  // namespace internal

// The name of a line of tiles.def.
template <class P>
std::string TileName(const std::string& kind, const std::vector<int>& n) {
  const auto tile = [](int m, int k, int last) { return absl::StrCat(m, "x", k, "x", last); };
  if (kind.ends_with("Depthwise")) return absl::StrCat("dw_", n[0], "x", n[1], "_t", n[2]);
  if (kind == "Nc32Sm75" || kind.ends_with("Sliced")) return conv::PolicyName(P::config);
  if (kind == "NhwcGather" || kind == "NhwcGather16") {
    return absl::StrCat(kind == "NhwcGather" ? "gather_" : "gather16_", n[0], "x", n[1], "_", n[2],
                        "x", n[3], "_b", n[4],
                        n.size() > 5 && n[5] > 1 ? absl::StrCat("_c", n[5]) : "",
                        n.size() > 6 ? absl::StrCat("_p", n[6]) : "");
  }
  if (kind == "Nc32Wgmma" || kind == "NhwcWgmma" || kind == "NhwcWgmma8") {
    return absl::StrCat("wgmma_", tile(n[0], n[1], n[2]), "_", n[3], "x", n[4], "_b", n[5],
                        n.size() > 6 && n[6] > 1 ? absl::StrCat("_c", n[6]) : "",
                        n.size() > 7 && n[7] > 1 ? absl::StrCat("_t", n[7]) : "",
                        n.size() > 8 ? absl::StrCat("_p", n[8]) : "",
                        kind == "NhwcWgmma8" ? "_d8" : "");
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

// The layout that a tile is of: OurLayout's name.
template <class P>
std::string LayoutOf() {
  const std::string src = internal::FormatName<typename P::SrcLayout>();
  const std::string dst = internal::FormatName<typename P::DstLayout>();
  return src == dst ? src : absl::StrCat(src, "_", dst);
}

// Whether the ready-made family of its layout has it.
template <class P>
bool InFamily() {
  const std::vector<std::string> family = internal::FamilyOf(LayoutOf<P>());
  return std::find(family.begin(), family.end(), conv::PolicyName(P::config)) != family.end();
}

}  // namespace weft::perf
