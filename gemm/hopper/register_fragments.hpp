// RS products of wgmma_sm90: the instruction takes its operand A, the columns of the product
// (wgmma_rs.hpp), from registers, because in shared memory they are narrower than what is
// multiplied. Each class here says how a lane makes its fragment, four words, of 64 columns for one
// step of k.
//
// Own(t): where, in bytes, a lane's first element is in the columns of a warpgroup.
// LoadFragments(t, columns, plan, step, x, fragment): makes the four words for the 64-column block
// x; `columns` is the shared address of the lane's first element. Warp w of the warpgroup has
// columns 16 w to 16 w + 15 of the block, and of these a lane has columns lane / 4 (words 0 and 2)
// and 8 + lane / 4 (words 1 and 3). Words 0 and 1 are of the first half of the step's k, words 2
// and 3 of the second; each holds four bytes from 4 (lane % 4) on, or two 16-bit floats from 2
// (lane % 4) on.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/arch/isa/tensor_map.hpp"
#include "weft/gemm/policy/load_functor.hpp"
#include "weft/layouts/packed_int4.hpp"

namespace weft::gemm {

// A K-major B that is upcast: bytes of k that a column has in a stage, its line. One TMA copy loads
// them, with a swizzle of as many bytes, so that eight columns at the same k are in different
// banks.
constexpr int UpcastLineBytes(int stage_k, int bits) {
  return stage_k * bits / 8;
}
constexpr bool IsUpcastLine(int bytes) {
  return bytes == 32 || bytes == 64 || bytes == 128;
}
// An MN-major B that is upcast: bytes of 64 columns, the line of one k, with a swizzle of as many
// bytes. Each 64 columns are one TMA copy.
constexpr int UpcastMnMajorBytes(int bits) {
  return 64 * bits / 8;
}

inline namespace WEFT_BACKEND {

// B in blocks of int4 (layouts/packed_int4.hpp): 16 bytes of a column for the 32 k of a step, one
// column after the other.
struct Int4BlockColumns {
  WEFT_DEVICE static std::uint32_t Own(arch::Thread t) {
    return static_cast<std::uint32_t>(t.warp() % 4 * 256 + t.lane() * 4);
  }
  template <class Plan>
  WEFT_DEVICE static void LoadFragments(arch::Thread t, std::uint32_t columns, const Plan& plan,
                                        int step, int x, std::uint32_t (&fragment)[4]) {
    const std::uint32_t at =
        columns + ((plan.step_b[step] + static_cast<std::uint32_t>(x) * plan.b_block) << 4);
    WEFT_UNROLL
    for (int e = 0; e < 2; ++e) {
      const auto word = t.template LoadSharedAt<std::uint32_t>(at + e * 8 * 16);
      fragment[e] = LowerInt4(word);
      fragment[2 + e] = UpperInt4(word);
    }
  }
};

// Makes two 16-bit floats of two integers, exactly (Upcast): the integers' bits are put into the
// lowest mantissa bits of numbers whose ulp is 1, and what these have too much is subtracted.
template <class Load>
struct UpcastPair;
template <class Element, class From>
struct UpcastPair<Upcast<Element, From>> {
  static_assert(kUpcastsInRegisters<Upcast<Element, From>>);
  static constexpr bool kHalf = std::is_same_v<Element, Half>;
  static constexpr std::uint32_t kUlps = kHalf ? 0x64006400u : 0x43004300u;

  // Upcasts bytes i and j of a word, as Selector(i, j) chooses them.
  WEFT_DEVICE static std::uint32_t OfBytes(arch::Thread t, std::uint32_t word,
                                           std::uint32_t selector) {
    const std::uint32_t above = t.BytePermute(word, kUlps, selector);
    if constexpr (kHalf) {
      return t.template SubPairs<Element>(above ^ 0x00800080u, kUlps | 0x00800080u);
    } else {
      // A Bfloat16 has 7 mantissa bits: the sign bit, which stands for -128, is subtracted.
      return t.template SubPairs<Element>(above & 0xff7fff7fu, above & 0xff80ff80u);
    }
  }
  static constexpr std::uint32_t Selector(std::uint32_t i, std::uint32_t j) {
    return 0x5050u | i | j << 8;
  }
  // Upcasts the two int4 in byte i of a word.
  WEFT_DEVICE static std::uint32_t OfByte(arch::Thread t, std::uint32_t word, std::uint32_t i) {
    return OfHalves(t, t.BytePermute(word, 0, 0x4440u | i) * 0x1001u);
  }
  // Upcasts the int4 in the lowest four bits of either half of a word.
  WEFT_DEVICE static std::uint32_t OfHalves(arch::Thread t, std::uint32_t word) {
    const std::uint32_t above = (word & 0x000f000fu) ^ (kUlps | 0x00080008u);
    return t.template SubPairs<Element>(above, kUlps | 0x00080008u);
  }
};

// Fragments of a K-major B of int8 or int4 that becomes 16-bit floats. A column's line is kLine
// bytes of k, swizzled. The address bits that the swizzle exchanges hold nothing else but the
// step's offset in the line, which can therefore be added by an exclusive or.
template <class Load, int kLine>
struct UpcastKMajor;
template <class Element, class From, int kLine>
struct UpcastKMajor<Upcast<Element, From>, kLine> {
  static_assert(IsUpcastLine(kLine));
  using Pair = UpcastPair<Upcast<Element, From>>;
  static constexpr bool kInt4 = std::is_same_v<From, Int4>;
  struct alignas(8) Words {
    std::uint32_t word[2];
  };
  static constexpr int kStep = kInt4 ? 8 : 16;  // bytes of k of a column in a step

  WEFT_DEVICE static std::uint32_t Own(arch::Thread t) {
    const int line = (t.warp() % 4 * 16 + t.lane() / 4) * kLine;
    const int pair = kInt4 ? 0 : t.lane() % 4 * 2;
    return arch::SwizzledAddress(static_cast<arch::SwizzleSpan>(kLine),
                                 static_cast<std::uint32_t>(line)) +
           static_cast<std::uint32_t>(pair);
  }
  template <class Plan>
  WEFT_DEVICE static void LoadFragments(arch::Thread t, std::uint32_t columns, const Plan&,
                                        int step, int x, std::uint32_t (&fragment)[4]) {
    const std::uint32_t at = (columns ^ static_cast<std::uint32_t>(step * kStep)) +
                             static_cast<std::uint32_t>(x * 64 * kLine);
    WEFT_UNROLL
    for (int e = 0; e < 2; ++e) {
      const std::uint32_t column = at + static_cast<std::uint32_t>(e * 8 * kLine);
      if constexpr (kInt4) {
        // Four lanes load the same 8 bytes, a column's part of the step, and each takes its byte of
        // either half.
        const auto all = t.template LoadSharedAt<Words>(column);
        const auto own = static_cast<std::uint32_t>(t.lane() % 4);
        fragment[e] = Pair::OfByte(t, all.word[0], own);
        fragment[2 + e] = Pair::OfByte(t, all.word[1], own);
      } else {
        constexpr std::uint32_t kPair = Pair::Selector(0, 1);
        fragment[e] = Pair::OfBytes(t, t.template LoadSharedAt<std::uint16_t>(column), kPair);
        fragment[2 + e] =
            Pair::OfBytes(t, t.template LoadSharedAt<std::uint16_t>(column + 8), kPair);
      }
    }
  }
};

// Fragments of an MN-major B, whose lines hold 64 columns, one line for each k. ldmatrix gives each
// lane two bytes of columns for two neighbouring k, which is what a word is made of; but the lanes
// of lane / 4 = i get columns from 2 i on (of int4 from 4 i on) instead of column i, so that the
// lanes have to exchange words.
template <class Load>
struct UpcastMnMajor;
template <class Element, class From>
struct UpcastMnMajor<Upcast<Element, From>> {
  using Pair = UpcastPair<Upcast<Element, From>>;
  static constexpr bool kInt4 = std::is_same_v<From, Int4>;
  static constexpr int kLine = UpcastMnMajorBytes(kInt4 ? 4 : 8);
  static constexpr int kSwapped = kInt4 ? 4 : 2;  // columns that ldmatrix gives a lane

  // ldmatrix reads at the addresses of lanes 0 to 15: a k each, and of its line the 16 bytes that
  // hold the warp's columns.
  WEFT_DEVICE static std::uint32_t Own(arch::Thread t) {
    const int line = t.lane() % 16 * kLine, warp = t.warp() % 4;
    return arch::SwizzledAddress(static_cast<arch::SwizzleSpan>(kLine),
                                 static_cast<std::uint32_t>(line + (kInt4 ? warp / 2 : warp) * 16));
  }
  template <class Plan>
  WEFT_DEVICE static void LoadFragments(arch::Thread t, std::uint32_t columns, const Plan& plan,
                                        int step, int x, std::uint32_t (&fragment)[4]) {
    std::uint32_t word[2];
    t.LdMatrixTrans(word, columns + static_cast<std::uint32_t>(step * 16 * kLine) +
                              ((static_cast<std::uint32_t>(x) * plan.b_block) << 4));
    const int first = kInt4 ? t.warp() % 2 * 16 : 0, own = t.lane() / 4;
    WEFT_UNROLL
    for (int e = 0; e < 2; ++e) {
      const int from = (first + 8 * e + own) / kSwapped * 4 + t.lane() % 4;
      WEFT_UNROLL
      for (int half = 0; half < 2; ++half) {
        const std::uint32_t all = t.Shfl(word[half], from);
        if constexpr (kInt4) {
          fragment[2 * half + e] = Pair::OfHalves(t, all >> (4 * (own % 4)));
        } else {
          const auto i = static_cast<std::uint32_t>(own % 2);
          fragment[2 * half + e] = Pair::OfBytes(t, all, Pair::Selector(i, i + 2));
        }
      }
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
