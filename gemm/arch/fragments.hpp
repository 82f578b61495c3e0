// Who holds what: the register fragments of ldmatrix and mma, as data.
//
// In every case a 32-bit register of a lane holds one 32-bit word of one row of a matrix:
//   A (M x K, row major)  rows are m; a word is four consecutive k of signed bytes (or two
//                         of 16-bit floats), lowest first
//   B (K x N, col major)  rows are n, since k runs fastest; words as in A
//   C, D (M x N)          rows are m; a word is one int32 or float
//   8x8 matrices of b16   rows are the 16 bytes an address names; a word is two b16
// The CPU executor reads these tables; kernels and layouts may.
#pragma once

#include <cstdint>

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

// place(lane, register) fills the table.
template <int kRows, int kWords, class Place>
constexpr Fragment<kRows, kWords> MakeFragment(Place place) {
  Fragment<kRows, kWords> fragment{};
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < fragment.kRegisters; ++r) fragment.place[lane][r] = place(lane, r);
  }
  return fragment;
}

constexpr FragmentPlace At(int row, int word) {
  return {static_cast<std::uint8_t>(row), static_cast<std::uint8_t>(word)};
}

}  // namespace internal

// One 8x8 matrix of ldmatrix (register i of an .xN belongs to matrix i, this being its place).
inline constexpr Fragment<8, 4> kLdMatrixFragment =
    internal::MakeFragment<8, 4>([](int lane, int) { return internal::At(lane / 4, lane % 4); });

// mma.m8n8k16, s8 x s8 -> s32.
inline constexpr Fragment<8, 4> kMmaM8N8K16S8A = kLdMatrixFragment;
inline constexpr Fragment<8, 4> kMmaM8N8K16S8B = kLdMatrixFragment;
inline constexpr Fragment<8, 8> kMmaM8N8K16S8C = internal::MakeFragment<8, 8>(
    [](int lane, int r) { return internal::At(lane / 4, lane % 4 * 2 + r); });

// mma.m16n8k32, s8 x s8 -> s32: registers 0 and 1 of A are the upper and lower eight rows of the
// first sixteen k, registers 2 and 3 those of the last; likewise with C's pairs of registers.
inline constexpr Fragment<16, 8> kMmaM16N8K32S8A = internal::MakeFragment<16, 8>(
    [](int lane, int r) { return internal::At(lane / 4 + r % 2 * 8, lane % 4 + r / 2 * 4); });
inline constexpr Fragment<8, 8> kMmaM16N8K32S8B = internal::MakeFragment<8, 8>(
    [](int lane, int r) { return internal::At(lane / 4, lane % 4 + r * 4); });
inline constexpr Fragment<16, 8> kMmaM16N8K32S8C = internal::MakeFragment<16, 8>(
    [](int lane, int r) { return internal::At(lane / 4 + r / 2 * 8, lane % 4 * 2 + r % 2); });

// mma.m16n8k16, f16 x f16 or bf16 x bf16 -> f32: the same words, each of two k, and floats for
// sums.
inline constexpr Fragment<16, 8> kMmaM16N8K16A = kMmaM16N8K32S8A;
inline constexpr Fragment<8, 8> kMmaM16N8K16B = kMmaM16N8K32S8B;
inline constexpr Fragment<16, 8> kMmaM16N8K16C = kMmaM16N8K32S8C;

}  // namespace weft::arch
