// Chained products (block.hpp): the accumulators of one become operand A of the next, in registers.
#pragma once

#include <cstdint>
#include <cstring>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/arch/isa/fragments.hpp"

namespace weft::gemm {

namespace internal {

// Register r of a lane's operand A holds a word of row lane / 4, plus 8 for odd r: word lane % 4 of
// the first 16 bytes of k for r < 2, and of the second 16 bytes from r = 2 on.
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

// Operand A of a tensor-core product, in the registers of the warps that multiply it. A thread has
// the same rows and words of these fragments as of the accumulator map if kRun accumulators make a
// word, as BlockPolicy chooses kRun: row i of a thread and its group g of columns are register
// i % 2 + g % 2 * 2 of the fragment of rows 16 (i / 2) and k group g / 2. So no data is exchanged.
template <class Mma, class Element, int kKTiles, int kK>
struct BlockRegistersA {
  static constexpr int kPerWord = 4 / static_cast<int>(sizeof(Element));
  typename Mma::FragmentsA k_tile[kKTiles];

  // Makes operand A from accumulators; convert(sum) is an Element.
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

 private:
  // The word of k from accumulators of group `group` of a row; past the accumulators and past k it
  // is 0.
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
