// Atoms: the smallest products that threads compute together, an mma instruction of a warp or the
// arithmetic of one thread, as thread-value layouts and a call.
//
//     struct Atom {
//       static constexpr int kThreads;      // 32, or 1
//       static constexpr int kM, kN, kK;    // in elements
//       using Element, ElementB, Sum;       // elements of A, of B, and of the accumulators
//       using Word;                         // a register of A or B: one element, or 32 bits of k
//       using LayoutA, LayoutB;  // (thread, register) -> row + rows * word; B's rows are C's columns
//       using LayoutC;  // (thread, (columns, rows)) -> row + rows * column
//       static constexpr arch::Requires kRequires;
//       WEFT_DEVICE static void Multiply(arch::Thread t, Sum (&c)[], const Word (&a)[],
//                                        const Word (&b)[]);  // c += a b, a thread's registers
//     };
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/arch/isa/fragments.hpp"
#include "weft/gemm/arch/isa/kernel.hpp"
#include "weft/layouts/algebra/layout.hpp"
#include "weft/layouts/element/complex.hpp"
#include "weft/layouts/element/float16.hpp"
#include "weft/layouts/element/float8.hpp"
#include "weft/layouts/element/tf32.hpp"

namespace weft::gemm {

namespace internal {

// Shape is an instruction's shape (arch/isa/fragments.hpp); a word of it holds one ElementT.
template <class Shape, class ElementT>
struct WordAtom {
  static constexpr int kThreads = 32;
  static constexpr int kM = Shape::kM, kN = Shape::kN, kK = Shape::kWords;
  using Element = ElementT;
  using ElementB = ElementT;
  using Sum = ElementT;
  using Word = ElementT;
  using LayoutA = typename Shape::LayoutA;
  using LayoutB = typename Shape::LayoutB;
  using LayoutC = typename Shape::LayoutC;
};

template <class ElementT>
inline constexpr bool kIsByte =
    std::is_same_v<ElementT, std::int8_t> || std::is_same_v<ElementT, std::uint8_t>;

// A word has 32 bits, and holds one ElementT or several. Bytes of A may be unsigned, those of B are
// signed.
template <class Shape, class ElementT>
struct WarpAtom : WordAtom<Shape, std::uint32_t> {
  static constexpr bool kByteElements = kIsByte<ElementT>;
  static constexpr int kK = Shape::kWords * (4 / static_cast<int>(sizeof(ElementT)));
  using Element = ElementT;
  using ElementB = std::conditional_t<kByteElements, std::int8_t, ElementT>;
  using Sum = std::conditional_t<kByteElements, std::int32_t, float>;
};

template <class ElementT, int kDepth>
struct ThreadAtom {
  static constexpr int kThreads = 1, kM = 1, kN = 1, kK = kDepth;
  static constexpr arch::Requires kRequires = {.min = 75};
  using Element = ElementT;
  using One = layouts::LayoutOf<layouts::Ints<1, 1>, layouts::Ints<0, 0>>;
  using LayoutA = One;
  using LayoutB = One;
  using LayoutC = layouts::LayoutOf<layouts::Nest<layouts::Int<1>, layouts::Ints<1, 1>>,
                                    layouts::Nest<layouts::Int<0>, layouts::Ints<0, 0>>>;
};

}  // namespace internal

inline namespace WEFT_BACKEND {

// mma.m16n8k32 of bytes and 8-bit floats, m16n8k16 of 16-bit floats, m16n8k8 of tf32; the
// specialization below is m16n8k8 of doubles.
template <class ElementT>
struct MmaSm80Atom : internal::WarpAtom<arch::MmaM16N8, ElementT> {
  static constexpr bool kFloat8 =
      std::is_same_v<ElementT, Float8E4m3> || std::is_same_v<ElementT, Float8E5m2>;
  static_assert(internal::kIsByte<ElementT> || std::is_same_v<ElementT, Half> ||
                    std::is_same_v<ElementT, Bfloat16> || std::is_same_v<ElementT, Tf32> || kFloat8,
                "weft: MmaSm80Atom<E> multiplies std::int8_t, std::uint8_t, weft::Half, "
                "weft::Bfloat16, weft::Tf32, weft::Float8E4m3, weft::Float8E5m2, double or "
                "weft::Complex<double>");
  static constexpr arch::Requires kRequires = {.min = kFloat8 ? 89 : 80};
  using Sum = typename internal::WarpAtom<arch::MmaM16N8, ElementT>::Sum;

  WEFT_DEVICE static void Multiply(arch::Thread t, Sum (&c)[4], const std::uint32_t (&a)[4],
                                   const std::uint32_t (&b)[2]) {
    Issue(std::type_identity<ElementT>(), t, c, a, b);
  }

 private:
  using WordsA = std::uint32_t[4];
  using WordsB = std::uint32_t[2];
  WEFT_DEVICE static void Issue(std::type_identity<std::int8_t>, arch::Thread t, Sum (&c)[4],
                                const WordsA& a, const WordsB& b) {
    t.MmaM16N8K32S8(c, a, b, c);
  }
  WEFT_DEVICE static void Issue(std::type_identity<std::uint8_t>, arch::Thread t, Sum (&c)[4],
                                const WordsA& a, const WordsB& b) {
    t.MmaM16N8K32U8S8(c, a, b, c);
  }
  WEFT_DEVICE static void Issue(std::type_identity<Half>, arch::Thread t, Sum (&c)[4],
                                const WordsA& a, const WordsB& b) {
    t.MmaM16N8K16F16(c, a, b, c);
  }
  WEFT_DEVICE static void Issue(std::type_identity<Bfloat16>, arch::Thread t, Sum (&c)[4],
                                const WordsA& a, const WordsB& b) {
    t.MmaM16N8K16Bf16(c, a, b, c);
  }
  WEFT_DEVICE static void Issue(std::type_identity<Tf32>, arch::Thread t, Sum (&c)[4],
                                const WordsA& a, const WordsB& b) {
    t.MmaM16N8K8Tf32(c, a, b, c);
  }
  WEFT_DEVICE static void Issue(std::type_identity<Float8E4m3>, arch::Thread t, Sum (&c)[4],
                                const WordsA& a, const WordsB& b) {
    t.MmaM16N8K32E4m3(c, a, b, c);
  }
  WEFT_DEVICE static void Issue(std::type_identity<Float8E5m2>, arch::Thread t, Sum (&c)[4],
                                const WordsA& a, const WordsB& b) {
    t.MmaM16N8K32E5m2(c, a, b, c);
  }
};

// mma.m16n8k8 of doubles.
template <>
struct MmaSm80Atom<double> : internal::WordAtom<arch::MmaM16N8, double> {
  static constexpr arch::Requires kRequires = {.min = 80};

  WEFT_DEVICE static void Multiply(arch::Thread t, double (&c)[4], const double (&a)[4],
                                   const double (&b)[2]) {
    t.MmaM16N8K8F64(c, a, b, c);
  }
};

// Complex doubles, by four mma.m16n8k8 of their real and imaginary parts.
template <>
struct MmaSm80Atom<Complex<double>> : internal::WordAtom<arch::MmaM16N8, Complex<double>> {
  static constexpr arch::Requires kRequires = {.min = 80};

  WEFT_DEVICE static void Multiply(arch::Thread t, Sum (&c)[4], const Word (&a)[4],
                                   const Word (&b)[2]) {
    const double a_re[] = {a[0].re, a[1].re, a[2].re, a[3].re};
    const double a_im[] = {a[0].im, a[1].im, a[2].im, a[3].im};
    const double minus_a_im[] = {-a[0].im, -a[1].im, -a[2].im, -a[3].im};
    const double b_re[] = {b[0].re, b[1].re}, b_im[] = {b[0].im, b[1].im};
    double re[] = {c[0].re, c[1].re, c[2].re, c[3].re};
    double im[] = {c[0].im, c[1].im, c[2].im, c[3].im};
    t.MmaM16N8K8F64(re, a_re, b_re, re);
    t.MmaM16N8K8F64(im, a_re, b_im, im);
    t.MmaM16N8K8F64(re, minus_a_im, b_im, re);
    t.MmaM16N8K8F64(im, a_im, b_re, im);
    WEFT_UNROLL
    for (int r = 0; r < 4; ++r) c[r] = {re[r], im[r]};
  }
};

// mma.m16n8k16 of halves with accumulators that are halves, two to a register. LayoutC counts
// single accumulators; MmaTile knows that they come in pairs.
struct MmaSm80HalfSumAtom : internal::WarpAtom<arch::MmaM16N8, Half> {
  static constexpr arch::Requires kRequires = {.min = 80};
  using Sum = Half;
  static constexpr int kSumWords = 2;

  WEFT_DEVICE static void Multiply(arch::Thread t, std::uint32_t (&c)[2],
                                   const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
    t.MmaM16N8K16F16HalfSums(c, a, b, c);
  }
};

// mma.m8n8k16 of bytes.
template <class ElementT>
struct MmaSm75Atom : internal::WarpAtom<arch::MmaM8N8, ElementT> {
  static_assert(internal::kIsByte<ElementT>,
                "weft: MmaSm75Atom<E> multiplies std::int8_t, std::uint8_t or weft::Half");
  static constexpr arch::Requires kRequires = {.min = 75};

  WEFT_DEVICE static void Multiply(arch::Thread t, std::int32_t (&c)[2],
                                   const std::uint32_t (&a)[1], const std::uint32_t (&b)[1]) {
    if constexpr (std::is_same_v<ElementT, std::uint8_t>) {
      t.MmaM8N8K16U8S8(c, a[0], b[0], c);
    } else {
      t.MmaM8N8K16S8(c, a[0], b[0], c);
    }
  }
};

// mma.m16n8k8 of halves.
template <>
struct MmaSm75Atom<Half> : internal::WarpAtom<arch::MmaM16N8Short, Half> {
  static constexpr arch::Requires kRequires = {.min = 75};

  WEFT_DEVICE static void Multiply(arch::Thread t, float (&c)[4], const std::uint32_t (&a)[2],
                                   const std::uint32_t (&b)[1]) {
    t.MmaM16N8K8F16(c, a, b, c);
  }
};

// Two 4-bit values to a byte, by mma.m16n8k64 (sm_80) and m8n8k32 (sm_75). To everything but the
// instruction an element is a byte, so that kK counts pairs.
template <class ElementT>
struct MmaSm80PairAtom : MmaSm80Atom<ElementT> {
  static_assert(internal::kIsByte<ElementT>);
  WEFT_DEVICE static void Multiply(arch::Thread t, std::int32_t (&c)[4],
                                   const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
    if constexpr (std::is_same_v<ElementT, std::uint8_t>) {
      t.MmaM16N8K64U4S4(c, a, b, c);
    } else {
      t.MmaM16N8K64S4(c, a, b, c);
    }
  }
};
template <class ElementT>
struct MmaSm75PairAtom : MmaSm75Atom<ElementT> {
  WEFT_DEVICE static void Multiply(arch::Thread t, std::int32_t (&c)[2],
                                   const std::uint32_t (&a)[1], const std::uint32_t (&b)[1]) {
    if constexpr (std::is_same_v<ElementT, std::uint8_t>) {
      t.MmaM8N8K32U4S4(c, a[0], b[0], c);
    } else {
      t.MmaM8N8K32S4(c, a[0], b[0], c);
    }
  }
};

// dp4a: one thread multiplies four bytes of k.
template <class ElementT>
struct Dp4aAtom : internal::ThreadAtom<ElementT, 4> {
  static_assert(internal::kIsByte<ElementT>,
                "weft: Dp4aAtom<E> multiplies std::int8_t or std::uint8_t");
  using ElementB = std::int8_t;
  using Sum = std::int32_t;
  using Word = std::uint32_t;

  WEFT_DEVICE static void Multiply(arch::Thread t, Sum (&c)[1], const Word (&a)[1],
                                   const Word (&b)[1]) {
    if constexpr (std::is_same_v<ElementT, std::uint8_t>) {
      c[0] = t.Dp4aU8S8(a[0], b[0], c[0]);
    } else {
      c[0] = t.Dp4a(a[0], b[0], c[0]);
    }
  }
};

// One thread computes one fma of float or double.
template <class ElementT>
struct FmaAtom : internal::ThreadAtom<ElementT, 1> {
  static_assert(std::is_floating_point_v<ElementT>, "weft: FmaAtom<E> multiplies float or double");
  using ElementB = ElementT;
  using Sum = ElementT;
  using Word = ElementT;

  WEFT_DEVICE static void Multiply(arch::Thread t, ElementT (&c)[1], const ElementT (&a)[1],
                                   const ElementT (&b)[1]) {
    t.FmaOuter(reinterpret_cast<ElementT(&)[1][1]>(c), a, b);
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
