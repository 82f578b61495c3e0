// Who holds what: the register fragments of ldmatrix and mma.
//
// In every case a 32-bit register of a lane (of doubles a pair of them) holds one word of one row of a
// matrix:
//   A (M x K, row major)  rows are m; a word is four consecutive k of signed bytes (or two
//                         of 16-bit floats), lowest first
//   B (K x N, col major)  rows are n, since k runs fastest; words as in A
//   C, D (M x N)          rows are m; a word is one int32 or float
//   8x8 matrices of b16   rows are the 16 bytes an address names; a word is two b16
// They are thread-value layouts of layouts/, (lane, register) -> row + rows * word. From these come
// the tables by which the CPU executor multiplies, which must reproduce the golden vectors that a
// GPU gave, and the maps of mainloops and of users' own kernels (gemm/tiled_mma.hpp).
#pragma once

#include <cstdint>

#include "weft/layouts/algebra/layout.hpp"

namespace weft::arch {

// Register r of lane l holds word `word` of row `row`.
struct FragmentPlace {
  std::uint8_t row;
  std::uint8_t word;
};

// A matrix of kRows rows of kWords words over the 32 lanes of a warp, kRegisters to each.
template <int kRows_, int kWords_>
struct Fragment {
  static constexpr int kRows = kRows_;
  static constexpr int kWords = kWords_;
  static constexpr int kRegisters = kRows * kWords / 32;

  FragmentPlace place[32][kRegisters];  // [lane][register]
};

namespace internal {

using layouts::Ints;
using layouts::LayoutOf;
using layouts::Nest;

// What a thread-value layout says, as a table.
template <int kRows, int kWords, class Layout>
constexpr Fragment<kRows, kWords> FragmentOf() {
  Fragment<kRows, kWords> fragment{};
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < fragment.kRegisters; ++r) {
      const int index = Layout()(lane, r);
      fragment.place[lane][r] = {static_cast<std::uint8_t>(index % kRows),
                                 static_cast<std::uint8_t>(index / kRows)};
    }
  }
  return fragment;
}

}  // namespace internal

// One 8x8 matrix of ldmatrix (register i of an .xN belongs to matrix i, this being its place).
using LdMatrixLayout = internal::LayoutOf<internal::Nest<internal::Ints<4, 8>, internal::Ints<1>>,
                                          internal::Nest<internal::Ints<8, 1>, internal::Ints<0>>>;

// mma.m8n8k16, s8 x s8 -> s32. In layouts of C a lane's registers are (columns, rows).
struct MmaM8N8 {
  static constexpr int kM = 8, kN = 8, kWords = 4;
  using LayoutA = LdMatrixLayout;
  using LayoutB = LdMatrixLayout;
  using LayoutC = internal::LayoutOf<internal::Nest<internal::Ints<4, 8>, internal::Ints<2, 1>>,
                                     internal::Nest<internal::Ints<16, 1>, internal::Ints<8, 0>>>;
};

// mma.m16n8k32, s8 x s8 -> s32: registers 0 and 1 of A are the upper and lower eight rows of the
// first sixteen k, registers 2 and 3 those of the last; likewise with C's pairs of registers.
// mma.m16n8k16, f16 x f16 or bf16 x bf16 -> f32: the same words, each of two k, and floats for
// sums; mma.m16n8k32 of 8-bit floats and m16n8k8 of tf32: words of four and of one.
// mma.m16n8k8, f64 x f64 -> f64: the same places, but a register and a word are a double.
struct MmaM16N8 {
  static constexpr int kM = 16, kN = 8, kWords = 8;
  using LayoutA = internal::LayoutOf<internal::Nest<internal::Ints<4, 8>, internal::Ints<2, 2>>,
                                     internal::Nest<internal::Ints<16, 1>, internal::Ints<8, 64>>>;
  using LayoutB = internal::LayoutOf<internal::Nest<internal::Ints<4, 8>, internal::Ints<2>>,
                                     internal::Nest<internal::Ints<8, 1>, internal::Ints<32>>>;
  using LayoutC = internal::LayoutOf<internal::Nest<internal::Ints<4, 8>, internal::Ints<2, 2>>,
                                     internal::Nest<internal::Ints<32, 1>, internal::Ints<16, 8>>>;
};

// mma.m16n8k8, f16 x f16 -> f32: the first half of that.
struct MmaM16N8Short : MmaM16N8 {
  static constexpr int kWords = 4;
  using LayoutA = internal::LayoutOf<internal::Nest<internal::Ints<4, 8>, internal::Ints<2>>,
                                     internal::Nest<internal::Ints<16, 1>, internal::Ints<8>>>;
  using LayoutB = LdMatrixLayout;
};

// mma.m16n8k16, f16 x f16 -> f16: the same A and B; a word of C is two halves, adjacent columns.
struct MmaM16N8Halves : MmaM16N8 {
  using WordsOfC = internal::LayoutOf<internal::Nest<internal::Ints<4, 8>, internal::Ints<2>>,
                                      internal::Nest<internal::Ints<16, 1>, internal::Ints<8>>>;
};

inline constexpr auto kLdMatrixFragment = internal::FragmentOf<8, 4, LdMatrixLayout>();

inline constexpr auto kMmaM8N8K16S8A = internal::FragmentOf<8, 4, MmaM8N8::LayoutA>();
inline constexpr auto kMmaM8N8K16S8B = internal::FragmentOf<8, 4, MmaM8N8::LayoutB>();
inline constexpr auto kMmaM8N8K16S8C = internal::FragmentOf<8, 8, MmaM8N8::LayoutC>();

inline constexpr auto kMmaM16N8K32S8A = internal::FragmentOf<16, 8, MmaM16N8::LayoutA>();
inline constexpr auto kMmaM16N8K32S8B = internal::FragmentOf<8, 8, MmaM16N8::LayoutB>();
inline constexpr auto kMmaM16N8K32S8C = internal::FragmentOf<16, 8, MmaM16N8::LayoutC>();

inline constexpr Fragment<16, 8> kMmaM16N8K16A = kMmaM16N8K32S8A;
inline constexpr Fragment<8, 8> kMmaM16N8K16B = kMmaM16N8K32S8B;
inline constexpr Fragment<16, 8> kMmaM16N8K16C = kMmaM16N8K32S8C;
inline constexpr auto kMmaM16N8K8F16A = internal::FragmentOf<16, 4, MmaM16N8Short::LayoutA>();
inline constexpr auto kMmaM16N8K8F16B = internal::FragmentOf<8, 4, MmaM16N8Short::LayoutB>();
inline constexpr Fragment<16, 8> kMmaM16N8K8F64A = kMmaM16N8K32S8A;
inline constexpr Fragment<8, 8> kMmaM16N8K8F64B = kMmaM16N8K32S8B;
inline constexpr Fragment<16, 8> kMmaM16N8K8F64C = kMmaM16N8K32S8C;
inline constexpr auto kMmaM16N8K16HalvesOfC =
    internal::FragmentOf<16, 4, MmaM16N8Halves::WordsOfC>();

}  // namespace weft::arch
