// What NVRTC makes of every tile is what g++ makes of it: the numbers by which kernels are launched, and those that
// their threads divide registers and barriers by. No GPU is needed; without NVRTC it is skipped.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "weft/conv/ready_made.hpp"
#include "weft/rtc/gpu/compile.hpp"
#include "weft/rtc/policy/policy_record.hpp"

#define WEFT_BOTH(...) \
  __VA_ARGS__          \
  constexpr char kTilesText[] = #__VA_ARGS__;

WEFT_BOTH(namespace weft::rtc {
  struct TileNumbers {
    int number[32] = {};
    int count = 0;
    constexpr void Add(int n) { number[count++] = n; }
    constexpr bool operator==(const TileNumbers& other) const {
      for (int i = 0; i < 32; ++i) {
        if (number[i] != other.number[i]) return false;
      }
      return count == other.count;
    }
  };

  template <class PolicyT>
  constexpr TileNumbers NumbersOf() {
    constexpr PolicyRecord kRecord = RecordOf<PolicyT>();
    const conv::ConvFacts& facts = kRecord.image.facts;
    TileNumbers n;
    n.Add(facts.threads), n.Add(facts.blocks_by_registers), n.Add(facts.shared_bytes);
    n.Add(facts.resident_blocks), n.Add(facts.wgmma.stage_bytes);
    n.Add(facts.wgmma.row_threads), n.Add(facts.wgmma.gathers);
    for (int i = 0; i < 3; ++i) {
      const conv::ParamsLayout& at = kRecord.image.params[i].at;
      n.Add(at.bytes), n.Add(at.output), n.Add(at.b.at), n.Add(at.ring);
      n.Add(kRecord.kernel[i].threads), n.Add(kRecord.kernel[i].shared_bytes);
    }
    if constexpr (conv::CheckedPolicy<PolicyT>::kWgmma) {
      using Kernel = KernelOf<PolicyT, 0>;
      using Mainloop = typename Kernel::Mainloop;
      n.Add(Mainloop::kRegisters), n.Add(Mainloop::kProducerRegisters);
      n.Add(Kernel::Pipeline::kFirstTransformWarp);
    }
    return n;
  }

  template <class FamilyT>
  struct TilesOf;
  template <class... Policies>
  struct TilesOf<gemm::Family<Policies...>> {
    static constexpr int kCount = sizeof...(Policies);
    TileNumbers tile[kCount] = {NumbersOf<Policies>()...};
  };

  using TileEpilogue = epilogues::BiasRelu<>;
  constexpr TilesOf<conv::S8Conv4Family<TileEpilogue, NCxHWx<32>>> kNc4Tiles{};
  constexpr TilesOf<conv::S8Conv32Family<TileEpilogue>> kNc32Tiles{};
  constexpr TilesOf<conv::S8ConvNhwcFamily<TileEpilogue>> kNhwcTiles{};
  constexpr TilesOf<conv::U8Conv32SmallFamily<>> kZeroPointTiles{};
  constexpr TilesOf<
      gemm::Family<conv::S8Depthwise4<>, conv::S8Depthwise32<>, conv::S8DepthwiseNhwc<>>>
      kDepthwiseTiles{};
})

namespace weft::rtc {
namespace {

// Says of each tile of `tiles` what its numbers are.
template <class Tiles>
void Assert(const char* name, const Tiles& tiles, std::string* source) {
  for (int i = 0; i < Tiles::kCount; ++i) {
    const TileNumbers& n = tiles.tile[i];
    absl::StrAppend(source, "static_assert(weft::rtc::", name, ".tile[", i,
                    "] == weft::rtc::TileNumbers{{", absl::StrJoin(n.number, ", "), "}, ", n.count,
                    "}, \"", name, " ", i, "\");\n");
  }
}

TEST(TilesTest, NvrtcMakesOfThemWhatGxxMakes) {
  std::string source = kTilesText;
  source += "\n";
  Assert("kNc4Tiles", kNc4Tiles, &source);
  Assert("kNc32Tiles", kNc32Tiles, &source);
  Assert("kNhwcTiles", kNhwcTiles, &source);
  Assert("kZeroPointTiles", kZeroPointTiles, &source);
  Assert("kDepthwiseTiles", kDepthwiseTiles, &source);
  source += "struct Op : weft::conv::S8Depthwise4<> {};\n";
  const absl::Status s = Program::Compile(source, {.policy = "Op"}).status();
  if (absl::IsNotFound(s)) GTEST_SKIP() << s;
  EXPECT_EQ(s, absl::OkStatus());
}

}  // namespace
}  // namespace weft::rtc
