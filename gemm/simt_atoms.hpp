// The arithmetic of the simt mainloop: what a packet is, and how outer products of packets are
// added up.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// Four int8 a packet, exact int32 sums.
struct Dp4aAtom {
  using Packet = std::uint32_t;
  using Sum = std::int32_t;
  static constexpr int kElements = 4;
  // acc[i][j] += a[i] . b[j]
  template <int kM, int kN>
  WEFT_DEVICE static void Add(arch::Thread t, Sum (&acc)[kM][kN], const Packet (&a)[kM],
                              const Packet (&b)[kN]) {
    t.template Dp4aOuter<kM, kN>(acc, a, b);
  }
};

// One float or double a packet; each sum is one fma for every k, in ascending order.
template <class T>
struct FmaAtom {
  using Packet = T;
  using Sum = T;
  static constexpr int kElements = 1;
  template <int kM, int kN>
  WEFT_DEVICE static void Add(arch::Thread t, Sum (&acc)[kM][kN], const Packet (&a)[kM],
                              const Packet (&b)[kN]) {
    t.FmaOuter(acc, a, b);
  }
};

template <class Element>
using SimtAtomFor =
    std::conditional_t<std::is_same_v<Element, std::int8_t>, Dp4aAtom, FmaAtom<Element>>;

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
