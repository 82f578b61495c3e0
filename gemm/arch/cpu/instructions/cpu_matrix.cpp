// ldmatrix and mma: gather the lanes' registers by the fragment tables, compute, scatter.
#include <algorithm>
#include <bit>
#include <type_traits>

#include "weft/gemm/arch/cpu/executor/cpu_lane.hpp"
#include "weft/gemm/arch/cpu/instructions/cpu_collectives.hpp"
#include "weft/gemm/arch/cpu/instructions/cpu_dot.hpp"
#include "weft/gemm/arch/isa/fragments.hpp"
#include "weft/layouts/element/float16.hpp"
#include "weft/layouts/element/float8.hpp"
#include "weft/layouts/element/tf32.hpp"

namespace weft::arch::cpu {
namespace {

// The operands of the pending collective, as posted by each lane.
enum Operand { kA = 0, kB = 1, kC = 2 };

void RequireFullWarp(Lane* lane, Operation operation, Location at) {
  if (lane->warp_state->population == ~0u) return;
  FailF(lane, at, "%s needs a full warp, and the block's last warp has fewer lanes",
        Name(operation));
}

// out[word][row], so that the words of one k lie side by side.
template <int kRows, int kWords, class Value>
void GatherByWord(const Fragment<kRows, kWords>& fragment, const void* const* lanes, Value* out) {
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    const auto* registers = static_cast<const Value*>(lanes[lane]);
    for (int r = 0; r < fragment.kRegisters; ++r) {
      const FragmentPlace place = fragment.place[lane][r];
      out[place.word * kRows + place.row] = registers[r];
    }
  }
}

// out[row][word].
template <int kRows, int kWords, class Value>
void GatherByRow(const Fragment<kRows, kWords>& fragment, const void* const* lanes, Value* out) {
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    const auto* registers = static_cast<const Value*>(lanes[lane]);
    for (int r = 0; r < fragment.kRegisters; ++r) {
      const FragmentPlace place = fragment.place[lane][r];
      out[place.row * kWords + place.word] = registers[r];
    }
  }
}

template <int kRows, int kWords, class Value>
void ScatterByRow(const Fragment<kRows, kWords>& fragment, const Value* in, void* const* lanes) {
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    auto* registers = static_cast<Value*>(lanes[lane]);
    for (int r = 0; r < fragment.kRegisters; ++r) {
      const FragmentPlace place = fragment.place[lane][r];
      registers[r] = in[place.row * kWords + place.word];
    }
  }
}

// d = a * b + c for all lanes, whose operands are pointers to their registers.
template <const auto& kFragmentA, const auto& kFragmentB, const auto& kFragmentC, DotSigns kSigns>
bool Multiply(Block& block, Warp& warp, const Collective&) {
  constexpr int kM = kFragmentA.kRows;
  constexpr int kN = kFragmentB.kRows;
  constexpr int kWords = kFragmentA.kWords;
  static_assert(kFragmentB.kWords == kWords && kWords <= kMostWords);
  static_assert(kFragmentC.kRows == kM && kFragmentC.kWords == kN);
  alignas(64) uint32_t a[kWords * kM];
  alignas(64) uint32_t b[kWords * kN];
  alignas(64) int32_t c[kM * kN];
  GatherByWord(kFragmentA, warp.operand[kA], a);
  GatherByWord(kFragmentB, warp.operand[kB], b);
  GatherByRow(kFragmentC, warp.operand[kC], c);
  AddDotProducts(kSigns, c, a, b, kM, kN, kWords);
  ScatterByRow(kFragmentC, c, warp.result);
  ++block.stats.mma;
  return true;
}

// Element `part` of a word.
template <class Element>
float ValueIn(uint32_t word, int part) {
  if constexpr (std::is_same_v<Element, Tf32>) {
    return Tf32{std::bit_cast<float>(word)}.ToFloat();
  } else {
    using Bits = decltype(Element::bits);
    return Element::FromBits(static_cast<Bits>(word >> 8 * sizeof(Bits) * part)).ToFloat();
  }
}

// c += a * b of floats, [row][column] of m16n8: k in ascending order, each product and each sum rounded
// to float.
template <class Element, const auto& kFragmentA = kMmaM16N8K16A,
          const auto& kFragmentB = kMmaM16N8K16B>
void AddFloats(const Warp& warp, float* c) {
  constexpr int kM = 16, kN = 8, kWords = kFragmentA.kWords, kParts = 4 / sizeof(Element);
  uint32_t a[kWords * kM];
  uint32_t b[kWords * kN];
  GatherByWord(kFragmentA, warp.operand[kA], a);
  GatherByWord(kFragmentB, warp.operand[kB], b);
  for (int word = 0; word < kWords; ++word) {
    for (int part = 0; part < kParts; ++part) {
      float column[kN];
      for (int j = 0; j < kN; ++j) column[j] = ValueIn<Element>(b[word * kN + j], part);
      for (int i = 0; i < kM; ++i) {
        const float x = ValueIn<Element>(a[word * kM + i], part);
        for (int j = 0; j < kN; ++j) c[i * kN + j] += x * column[j];
      }
    }
  }
}

// d = a * b + c of floats of any type, into floats.
template <class Element, const auto& kFragmentA = kMmaM16N8K16A,
          const auto& kFragmentB = kMmaM16N8K16B>
bool MultiplyFloats(Block& block, Warp& warp, const Collective&) {
  float c[16 * 8];
  GatherByRow(kMmaM16N8K16C, warp.operand[kC], c);
  AddFloats<Element, kFragmentA, kFragmentB>(warp, c);
  ScatterByRow(kMmaM16N8K16C, c, warp.result);
  ++block.stats.mma;
  return true;
}

// The same with sums that are halves: rounded once.
bool MultiplyToHalves(Block& block, Warp& warp, const Collective&) {
  constexpr int kWords = 16 * 4;
  uint32_t words[kWords];
  float c[2 * kWords];
  GatherByRow(kMmaM16N8K16HalvesOfC, warp.operand[kC], words);
  for (int i = 0; i < 2 * kWords; ++i) {
    c[i] = Half::FromBits(static_cast<uint16_t>(words[i / 2] >> 16 * (i % 2))).ToFloat();
  }
  AddFloats<Half>(warp, c);
  for (int i = 0; i < kWords; ++i) {
    words[i] = Half::FromFloat(c[2 * i]).bits | uint32_t{Half::FromFloat(c[2 * i + 1]).bits} << 16;
  }
  ScatterByRow(kMmaM16N8K16HalvesOfC, words, warp.result);
  ++block.stats.mma;
  return true;
}

// d = a * b + c of doubles: one fma for each k in ascending order.
bool MultiplyDoubles(Block& block, Warp& warp, const Collective&) {
  constexpr int kM = 16, kN = 8, kDepth = 8;
  double a[kDepth * kM], b[kDepth * kN], c[kM * kN];
  GatherByWord(kMmaM16N8K8F64A, warp.operand[kA], a);
  GatherByWord(kMmaM16N8K8F64B, warp.operand[kB], b);
  GatherByRow(kMmaM16N8K8F64C, warp.operand[kC], c);
  for (int k = 0; k < kDepth; ++k) FmaOuter(c, a + k * kM, b + k * kN, kM, kN);
  ScatterByRow(kMmaM16N8K8F64C, c, warp.result);
  ++block.stats.mma;
  return true;
}

void MmaM16N8(Lane* lane, Operation operation, void* d, const void* a, const void* b, const void* c,
              Location at, bool (*multiply)(Block&, Warp&, const Collective&)) {
  RequireFullWarp(lane, operation, at);
  Warp& warp = *lane->warp_state;
  warp.operand[kA][lane->lane] = a;
  warp.operand[kB][lane->lane] = b;
  warp.operand[kC][lane->lane] = c;
  warp.result[lane->lane] = d;
  Join(lane, operation, 0, ~0u, Convergence::kWarp, at, multiply);
}

// Eight rows of 16 bytes are one phase; rows that share a group of four banks take turns, unless
// they are the same row.
void CountRows(const uint32_t* addresses, CpuStats* stats) {
  constexpr int kRows = 8;
  constexpr uint32_t kRowBytes = 16;
  int load[kRows] = {};
  int most = 0;
  for (int i = 0; i < kRows; ++i) {
    if (std::find(addresses, addresses + i, addresses[i]) != addresses + i) continue;
    most = std::max(most, ++load[addresses[i] / kRowBytes % kRows]);
  }
  ++stats->ldmatrix_phases;
  stats->ldmatrix_wavefronts += most;
}

// Bit 3 of the key of a load or store of matrices: they are transposed.
constexpr int kTransposed = 8;

// Element (row, column) of the 8x8 b16 whose rows these are.
uint32_t ElementOf(const uint32_t (*rows)[4], int row, int column) {
  return rows[row][column / 2] >> column % 2 * 16 & 0xFFFF;
}

bool LoadMatrices(Block& block, Warp& warp, const Collective& collective) {
  const int matrices = collective.key % kTransposed;
  const bool transposed = collective.key >= kTransposed;
  uint32_t rows[kWarpLanes][4];
  for (int l = 0; l < 8 * matrices; ++l) {
    const auto* row = static_cast<const uint32_t*>(warp.operand[0][l]);
    std::copy(row, row + 4, rows[l]);
  }
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    const FragmentPlace place = kLdMatrixFragment.place[lane][0];
    auto* r = static_cast<uint32_t*>(warp.result[lane]);
    for (int i = 0; i < matrices; ++i) {
      const auto* matrix = rows + 8 * i;
      r[i] = !transposed ? matrix[place.row][place.word]
                         : ElementOf(matrix, 2 * place.word, place.row) |
                               ElementOf(matrix, 2 * place.word + 1, place.row) << 16;
    }
  }
  for (int i = 0; i < matrices; ++i) CountRows(warp.number + 8 * i, &block.stats);
  return true;
}

// The lanes that give addresses receive the rows that are to be stored there.
bool StoreMatrices(Block&, Warp& warp, const Collective& collective) {
  const int matrices = collective.key % kTransposed;
  const bool transposed = collective.key >= kTransposed;
  for (int i = 0; i < matrices; ++i) {
    uint32_t a_registers[8][4];
    for (int lane = 0; lane < kWarpLanes; ++lane) {
      const FragmentPlace place = kLdMatrixFragment.place[lane][0];
      a_registers[place.row][place.word] = static_cast<const uint32_t*>(warp.operand[0][lane])[i];
    }
    for (int row = 0; row < 8; ++row) {
      auto* out = static_cast<uint32_t*>(warp.result[8 * i + row]);
      for (int word = 0; word < 4; ++word) {
        out[word] = !transposed ? a_registers[row][word]
                                : ElementOf(a_registers, 2 * word, row) |
                                      ElementOf(a_registers, 2 * word + 1, row) << 16;
      }
    }
  }
  return true;
}

}  // namespace

void StMatrix(Lane* lane, const uint32_t* r, int matrices, bool transposed, uint32_t* row, uint32_t,
              Location at) {
  RequireFullWarp(lane, Operation::kStMatrix, at);
  Warp& warp = *lane->warp_state;
  warp.operand[0][lane->lane] = r;
  warp.result[lane->lane] = row;
  Join(lane, Operation::kStMatrix, matrices | (transposed ? kTransposed : 0), ~0u,
       Convergence::kWarp, at, &StoreMatrices);
}

void LdMatrix(Lane* lane, uint32_t* r, int matrices, bool transposed, const uint32_t* row,
              uint32_t address, Location at) {
  const Operation operation = matrices == 1   ? Operation::kLdMatrixX1
                              : matrices == 2 ? Operation::kLdMatrixX2
                                              : Operation::kLdMatrixX4;
  RequireFullWarp(lane, operation, at);
  Warp& warp = *lane->warp_state;
  warp.operand[0][lane->lane] = row;
  warp.number[lane->lane] = address;
  warp.result[lane->lane] = r;
  Join(lane, operation, matrices | (transposed ? kTransposed : 0), ~0u, Convergence::kWarp, at,
       &LoadMatrices);
}

void MmaM16N8K32(Lane* lane, bool unsigned_a, int32_t* d, const uint32_t* a, const uint32_t* b,
                 const int32_t* c, Location at) {
  const Operation operation = unsigned_a ? Operation::kMmaM16N8K32U8S8 : Operation::kMmaM16N8K32S8;
  RequireFullWarp(lane, operation, at);
  Warp& warp = *lane->warp_state;
  warp.operand[kA][lane->lane] = a;
  warp.operand[kB][lane->lane] = b;
  warp.operand[kC][lane->lane] = c;
  warp.result[lane->lane] = d;
  Join(lane, operation, 0, ~0u, Convergence::kWarp, at,
       unsigned_a ? &Multiply<kMmaM16N8K32S8A, kMmaM16N8K32S8B, kMmaM16N8K32S8C, DotSigns::kOnlyB>
                  : &Multiply<kMmaM16N8K32S8A, kMmaM16N8K32S8B, kMmaM16N8K32S8C, DotSigns::kBoth>);
}

void MmaM8N8K16(Lane* lane, bool unsigned_a, int32_t* d, uint32_t a, uint32_t b, const int32_t* c,
                Location at) {
  const Operation operation = unsigned_a ? Operation::kMmaM8N8K16U8S8 : Operation::kMmaM8N8K16S8;
  RequireFullWarp(lane, operation, at);
  Warp& warp = *lane->warp_state;
  warp.operand[kA][lane->lane] = &a;  // on this lane's stack, where it stays while the lane waits
  warp.operand[kB][lane->lane] = &b;
  warp.operand[kC][lane->lane] = c;
  warp.result[lane->lane] = d;
  Join(lane, operation, 0, ~0u, Convergence::kWarp, at,
       unsigned_a ? &Multiply<kMmaM8N8K16S8A, kMmaM8N8K16S8B, kMmaM8N8K16S8C, DotSigns::kOnlyB>
                  : &Multiply<kMmaM8N8K16S8A, kMmaM8N8K16S8B, kMmaM8N8K16S8C, DotSigns::kBoth>);
}

void MmaFloats(Lane* lane, Operation operation, float* d, const uint32_t* a, const uint32_t* b,
               const float* c, Location at) {
  const auto multiply = [operation] {
    switch (operation) {
      case Operation::kMmaM16N8K16Bf16:
        return &MultiplyFloats<Bfloat16>;
      case Operation::kMmaM16N8K8F16:
        return &MultiplyFloats<Half, kMmaM16N8K8F16A, kMmaM16N8K8F16B>;
      case Operation::kMmaM16N8K8Tf32:
        return &MultiplyFloats<Tf32>;
      case Operation::kMmaM16N8K32E4m3:
        return &MultiplyFloats<Float8E4m3>;
      case Operation::kMmaM16N8K32E5m2:
        return &MultiplyFloats<Float8E5m2>;
      default:
        return &MultiplyFloats<Half>;
    }
  };
  MmaM16N8(lane, operation, d, a, b, c, at, multiply());
}

void MmaM16N8K16F16HalfSums(Lane* lane, uint32_t* d, const uint32_t* a, const uint32_t* b,
                            const uint32_t* c, Location at) {
  MmaM16N8(lane, Operation::kMmaM16N8K16F16HalfSums, d, a, b, c, at, &MultiplyToHalves);
}

void MmaM16N8K8F64(Lane* lane, double* d, const double* a, const double* b, const double* c,
                   Location at) {
  MmaM16N8(lane, Operation::kMmaM16N8K8F64, d, a, b, c, at, &MultiplyDoubles);
}

void Dp4aOuter(bool unsigned_a, int32_t* acc, const uint32_t* a, const uint32_t* b, int m, int n) {
  AddDotProducts(unsigned_a ? DotSigns::kOnlyB : DotSigns::kBoth, acc, a, b, m, n, 1);
}

}  // namespace weft::arch::cpu
