// One product's sums as the next one's operand A, in registers.
#pragma once

#include <cstdint>
#include <cstring>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/arch/isa/fragments.hpp"

namespace weft::gemm {

namespace internal {

// Register r of a lane's operand A holds row lane / 4, + 8 for odd r, and the word lane % 4 of the
// first, from r = 2 on the second 16 bytes of k.
constexpr bool WordsOfAAreAsChained() {
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < 4; ++r) {
      const arch::FragmentPlace place = arch::kMmaM16N8K32S8A.place[lane][r];
      if (place.row != lane / 4 + r % 2 * 8 || place.word != lane % 4 + r / 2 * 4) return false;
    }
  }
  return true;
}
static_assert(WordsOfAAreAsChained());

}  // namespace internal

inline namespace WEFT_BACKEND {

// Operand A of a product of tensor cores, in the registers of the warps that multiply it. Its
// fragments' rows and words are those that a sum's map has where kRun sums make a word
// (BlockPolicy): row i of a thread and its group g of columns are register i % 2 + g % 2 * 2 of rows
// 16 (i / 2) and k group g / 2.
template <class Mma, class Element, int kKTiles, int kK>
struct BlockRegistersA {
  static constexpr int kPerWord = 4 / static_cast<int>(sizeof(Element));
  typename Mma::FragmentsA k_tile[kKTiles];

  // `convert` makes an Element of a sum.
  template <class Accumulators, class Convert>
  WEFT_DEVICE static BlockRegistersA From(arch::Thread t, const Accumulators& acc,
                                          const Convert& convert) {
    BlockRegistersA result;
    WEFT_UNROLL
    for (int group = 0; group < kKTiles * Mma::kGroups; ++group) {
      WEFT_UNROLL
      for (int i = 0; i < Mma::kFragmentsM; ++i) {
        WEFT_UNROLL
        for (int r = 0; r < 4; ++r) {
          result.k_tile[group / Mma::kGroups][group % Mma::kGroups][i][r] =
              Word(t, acc, i * 2 + r % 2, group * 2 + r / 2, convert);
        }
      }
    }
    return result;
  }

  // Before and after products by wgmma (block_wgmma.hpp).
  WEFT_DEVICE void Keep(arch::Thread t) const {
    WEFT_UNROLL
    for (int s = 0; s < kKTiles; ++s) Mma::Keep(t, k_tile[s]);
  }

 private:
  // What lies past the sums, or past k, is 0.
  template <class Accumulators, class Convert>
  WEFT_DEVICE static std::uint32_t Word(arch::Thread t, const Accumulators& acc, int row, int group,
                                        const Convert& convert) {
    constexpr int kGroups = Accumulators::kSize / (Accumulators::kRows * Accumulators::kRun);
    if (group >= kGroups) return 0;
    Element element[kPerWord];
    WEFT_UNROLL
    for (int e = 0; e < kPerWord; ++e) {
      const int sum = (row * kGroups + group) * kPerWord + e;
      element[e] = Accumulators::At(t, sum).column < kK ? convert(acc[sum]) : Element{};
    }
    std::uint32_t word;
    memcpy(&word, element, sizeof(word));
    return word;
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
