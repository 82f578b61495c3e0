// The products of a BottleneckKernel, whose operands lie in shared memory in blocks of 32 channels.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/conv/bottleneck/bottleneck_params.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/arch/isa/wgmma.hpp"
#include "weft/gemm/hopper/wgmma_product.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

// A product of 64 channels by kRows pixels, in steps of 32 input channels.
template <int kRows, class Byte>
struct BottleneckProduct {
  struct Shape {
    static constexpr int kN = kRows;
    using Sum = std::int32_t;
    static constexpr arch::WgmmaType kType =
        std::is_same_v<Byte, std::uint8_t> ? arch::WgmmaType::kS8U8 : arch::WgmmaType::kS8;
    static constexpr bool kRowsMnMajor = false, kColumnsMnMajor = false;
  };
  using Sums = std::int32_t[kRows / 2];

  // One step. columns, rows: shared addresses. pitch: bytes from eight pixels to the next.
  template <int kPitch>
  WEFT_DEVICE static void Step(arch::Thread t, Sums& sums, std::uint32_t columns,
                               std::uint32_t rows, bool accumulate) {
    constexpr std::uint64_t kColumns = Operand(256), kRowsOperand = Operand(kPitch);
    gemm::WgmmaProduct<Shape>::Issue(
        t, sums, gemm::WithLowerHalf(kColumns, gemm::LowerHalf(kColumns) + (columns >> 4)),
        gemm::WithLowerHalf(kRowsOperand, gemm::LowerHalf(kRowsOperand) + (rows >> 4)), accumulate);
  }

  // All blocks of 32 input channels, `step` bytes apart in the operand of pixels. Commits nothing.
  template <int kPitch>
  WEFT_DEVICE static void Blocks(arch::Thread t, Sums& sums, std::uint32_t columns,
                                 std::uint32_t rows, int step, int blocks) {
    constexpr int kTogether = 4;
    const auto group = [&](auto count, int first) {
      t.WgmmaFence();
      WEFT_UNROLL
      for (int i = 0; i < count(); ++i) {
        const auto block = static_cast<std::uint32_t>(first + i);
        Step<kPitch>(t, sums, columns + block * BottleneckShape::kFilterBlock,
                     rows + block * static_cast<std::uint32_t>(step), first + i > 0);
      }
    };
    t.KeepInPlace(sums);
    int i = 0;
    WEFT_NO_UNROLL
    for (; i + kTogether <= blocks; i += kTogether) {
      group(std::integral_constant<int, kTogether>(), i);
    }
    WEFT_NO_UNROLL
    for (; i < blocks; ++i) group(std::integral_constant<int, 1>(), i);
  }

 private:
  static constexpr std::uint64_t Operand(std::uint32_t pitch) {
    return arch::WgmmaDescriptor(
        0, {.swizzle = arch::SwizzleSpan::k32, .leading = 16, .stride = pitch});
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
