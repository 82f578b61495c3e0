// The greatest of bytes, four of a word at a time.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// Words are taken and given in an order of their own, in which bytes compare as unsigned ones: FromBytes and
// ToBytes go from and to Elements. Bytes 0 and 2 of a word, and 1 and 3, are kept as numbers of 16 bits; what
// the latter have in their lower halves does not matter.
template <class Element>
struct ByteMaxima {
  static constexpr std::uint32_t kFlip = std::is_signed_v<Element> ? 0x80808080u : 0;
  static constexpr std::uint32_t kNone = 0;  // not greater than any
  static constexpr std::uint32_t kEven = 0x00ff00ffu;

  std::uint32_t even = 0, odd = 0;

  WEFT_DEVICE ByteMaxima() {}
  WEFT_DEVICE explicit ByteMaxima(std::uint32_t word) : even(word & kEven), odd(word) {}

  WEFT_DEVICE static std::uint32_t FromBytes(std::uint32_t word) { return word ^ kFlip; }
  WEFT_DEVICE static std::uint32_t ToBytes(std::uint32_t word) { return word ^ kFlip; }

  WEFT_DEVICE void Take(arch::Thread t, std::uint32_t word) {
    even = t.MaxPairs(even, word & kEven);
    odd = t.MaxPairs(odd, word);
  }
  WEFT_DEVICE std::uint32_t Word() const { return even | (odd & ~kEven); }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
