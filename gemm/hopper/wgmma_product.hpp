// One step of wgmma_sm90 (wgmma_sm90.hpp): the instruction of each element type, and the
// descriptors of its operands.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/arch/isa/wgmma.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// Start addresses lie in a descriptor's lower half, and no sum of them leaves it. Only the halves
// are added, and the plan has rows and columns apart: with sums of 64 bits and pairs it was ptxas's
// luck whether two instructions or nine came between products (docs/log/wgmma.md).
WEFT_DEVICE std::uint32_t LowerHalf(std::uint64_t descriptor) {
  return static_cast<std::uint32_t>(descriptor);
}
WEFT_DEVICE std::uint64_t WithLowerHalf(std::uint64_t descriptor, std::uint32_t low) {
  return std::uint64_t{static_cast<std::uint32_t>(descriptor >> 32)} << 32 | low;
}

// Shape: a WgmmaShape.
template <class Shape>
struct WgmmaProduct {
  static constexpr int kN = Shape::kN;
  using Accumulators = typename Shape::Sum[kN / 2];
  using Descriptor = std::uint64_t;
  using Fragment = std::uint32_t[4];

  // acc += columns * rows, or, if !accumulate, acc = columns * rows. columns: a Descriptor (SS), or
  // a Fragment in registers (RS).
  template <class Columns>
  WEFT_DEVICE static void Issue(arch::Thread t, Accumulators& acc, const Columns& columns,
                                Descriptor rows, bool accumulate) {
    IssueOf(OfType<Shape::kType>(), t, acc, columns, rows, accumulate);
  }

 private:
  template <arch::WgmmaType kType>
  using OfType = std::integral_constant<arch::WgmmaType, kType>;
  using enum arch::WgmmaType;
  static constexpr bool kRowsMnMajor = Shape::kRowsMnMajor;
  static constexpr bool kColumnsMnMajor = Shape::kColumnsMnMajor;

  // Bytes.
  template <class Columns>
  WEFT_DEVICE static void IssueOf(OfType<kS8>, arch::Thread t, Accumulators& acc,
                                  const Columns& columns, Descriptor rows, bool accumulate) {
    t.template WgmmaS8<kN>(acc, columns, rows, accumulate);
  }
  template <class Columns>
  WEFT_DEVICE static void IssueOf(OfType<kS8U8>, arch::Thread t, Accumulators& acc,
                                  const Columns& columns, Descriptor rows, bool accumulate) {
    t.template WgmmaS8U8<kN>(acc, columns, rows, accumulate);
  }

  // Floats of 16 bits, whose operands in shared memory may be MN-major.
  WEFT_DEVICE static void IssueOf(OfType<kF16>, arch::Thread t, Accumulators& acc,
                                  Descriptor columns, Descriptor rows, bool accumulate) {
    t.template WgmmaF16<kN, kColumnsMnMajor, kRowsMnMajor>(acc, columns, rows, accumulate);
  }
  WEFT_DEVICE static void IssueOf(OfType<kF16>, arch::Thread t, Accumulators& acc,
                                  const Fragment& columns, Descriptor rows, bool accumulate) {
    t.template WgmmaF16<kN, kRowsMnMajor>(acc, columns, rows, accumulate);
  }
  WEFT_DEVICE static void IssueOf(OfType<kBf16>, arch::Thread t, Accumulators& acc,
                                  Descriptor columns, Descriptor rows, bool accumulate) {
    t.template WgmmaBf16<kN, kColumnsMnMajor, kRowsMnMajor>(acc, columns, rows, accumulate);
  }
  WEFT_DEVICE static void IssueOf(OfType<kBf16>, arch::Thread t, Accumulators& acc,
                                  const Fragment& columns, Descriptor rows, bool accumulate) {
    t.template WgmmaBf16<kN, kRowsMnMajor>(acc, columns, rows, accumulate);
  }

  // Other floats.
  template <class Columns>
  WEFT_DEVICE static void IssueOf(OfType<kE4m3>, arch::Thread t, Accumulators& acc,
                                  const Columns& columns, Descriptor rows, bool accumulate) {
    t.template WgmmaE4m3<kN>(acc, columns, rows, accumulate);
  }
  template <class Columns>
  WEFT_DEVICE static void IssueOf(OfType<kE5m2>, arch::Thread t, Accumulators& acc,
                                  const Columns& columns, Descriptor rows, bool accumulate) {
    t.template WgmmaE5m2<kN>(acc, columns, rows, accumulate);
  }
  template <class Columns>
  WEFT_DEVICE static void IssueOf(OfType<kTf32>, arch::Thread t, Accumulators& acc,
                                  const Columns& columns, Descriptor rows, bool accumulate) {
    t.template WgmmaTf32<kN>(acc, columns, rows, accumulate);
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
