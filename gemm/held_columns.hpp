// Columns of a product that the tensor cores of wgmma_sm90 take from registers (wgmma_sm90.hpp), because they
// are narrower in shared memory than what is multiplied: how a lane makes its words of 64 columns' step.
//
// Own(t): where, in bytes, a lane's first is in the columns of a warpgroup. Fill(t, columns, plan, step, x,
// held): the four words of 64-column block x, columns being the address of the lane's own. Warp w of the four
// has columns 16 w to + 15, a lane columns lane / 4 (words 0 and 2) and 8 + lane / 4 (1 and 3); words 0 and 1
// are of the step's first half of k, four bytes from 4 (lane % 4) or two 16-bit floats from 2 (lane % 4) on,
// words 2 and 3 of its second half.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/arch/tensor_map.hpp"
#include "weft/gemm/load_functor.hpp"
#include "weft/layouts/packed_int4.hpp"

namespace weft::gemm {

// Bytes of k of a column's line in a stage of a wgmma_sm90 product whose B is widened: one copy, with the swizzle of
// as many bytes, so that eight columns at the same k are in different banks.
constexpr int WidenedLineBytes(int slice_k, int bits) {
  return slice_k * bits / 8;
}
constexpr bool IsWidenedLine(int bytes) {
  return bytes == 32 || bytes == 64 || bytes == 128;
}

inline namespace WEFT_BACKEND {

// Blocks of int4, 16 bytes for the 32 k of a step (layouts/packed_int4.hpp), one column after the other.
struct Int4BlockColumns {
  WEFT_DEVICE static std::uint32_t Own(arch::Thread t) {
    return static_cast<std::uint32_t>(t.warp() % 4 * 256 + t.lane() * 4);
  }
  template <class Plan>
  WEFT_DEVICE static void Fill(arch::Thread t, std::uint32_t columns, const Plan& plan, int step,
                               int x, std::uint32_t (&held)[4]) {
    const std::uint32_t at =
        columns + ((plan.step_b[step] + static_cast<std::uint32_t>(x) * plan.b_block) << 4);
    WEFT_UNROLL
    for (int e = 0; e < 2; ++e) {
      const auto word = t.template LoadSharedAt<std::uint32_t>(at + e * 8 * 16);
      held[e] = LowerInt4(word);
      held[2 + e] = UpperInt4(word);
    }
  }
};

// Lines of kLine bytes of k, swizzled, of integers of kBits that become 16-bit floats. The line's swizzle
// exchanges bits of an address that only the step's place has besides, which may thus be put in by an exclusive or.
template <class Load, int kLine>
struct WidenedLines;
template <class Element, class From, int kLine>
struct WidenedLines<Widen<Element, From>, kLine> {
  static_assert(kWidensInRegisters<Widen<Element, From>> && IsWidenedLine(kLine));
  static constexpr bool kInt4 = std::is_same_v<From, Int4>;
  static constexpr bool kHalf = std::is_same_v<Element, Half>;
  struct alignas(8) Words {
    std::uint32_t word[2];
  };
  static constexpr int kStep = kInt4 ? 8 : 16;  // bytes of k

  WEFT_DEVICE static std::uint32_t Own(arch::Thread t) {
    const int line = (t.warp() % 4 * 16 + t.lane() / 4) * kLine;
    const int pair = kInt4 ? 0 : t.lane() % 4 * 2;
    return arch::SwizzledAddress(static_cast<arch::SwizzleSpan>(kLine),
                                 static_cast<std::uint32_t>(line)) +
           static_cast<std::uint32_t>(pair);
  }
  template <class Plan>
  WEFT_DEVICE static void Fill(arch::Thread t, std::uint32_t columns, const Plan&, int step, int x,
                               std::uint32_t (&held)[4]) {
    const std::uint32_t at = (columns ^ static_cast<std::uint32_t>(step * kStep)) +
                             static_cast<std::uint32_t>(x * 64 * kLine);
    WEFT_UNROLL
    for (int e = 0; e < 2; ++e) {
      const std::uint32_t column = at + static_cast<std::uint32_t>(e * 8 * kLine);
      if constexpr (kInt4) {
        // All of the step, the same for four lanes, of which each takes its byte of either half.
        const auto all = t.template LoadSharedAt<Words>(column);
        const std::uint32_t own = 0x4440u | static_cast<std::uint32_t>(t.lane() % 4);
        held[e] = WidenPair(t, t.BytePermute(all.word[0], 0, own));
        held[2 + e] = WidenPair(t, t.BytePermute(all.word[1], 0, own));
      } else {
        held[e] = WidenPair(t, t.template LoadSharedAt<std::uint16_t>(column));
        held[2 + e] = WidenPair(t, t.template LoadSharedAt<std::uint16_t>(column + 8));
      }
    }
  }

  // Two elements as the last places of numbers whose ulp is 1, less what is too much: exact (Widen).
  WEFT_DEVICE static std::uint32_t WidenPair(arch::Thread t, std::uint32_t pair) {
    constexpr std::uint32_t kUlps = kHalf ? 0x64006400u : 0x43004300u;
    if constexpr (kInt4) {
      const std::uint32_t above = ((pair * 0x1001u) & 0x000f000fu) ^ (kUlps | 0x00080008u);
      return t.template SubPairs<Element>(above, kUlps | 0x00080008u);
    } else {
      const std::uint32_t above = t.BytePermute(pair, kUlps, 0x5150);
      if constexpr (kHalf) {
        return t.template SubPairs<Element>(above ^ 0x00800080u, kUlps | 0x00800080u);
      } else {
        // A Bfloat16 has 7 places: the sign's bit, of -128, is subtracted.
        return t.template SubPairs<Element>(above & 0xff7fff7fu, above & 0xff80ff80u);
      }
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
