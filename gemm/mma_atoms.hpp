// The instructions of the mma_sm80 mainloop. All have fragments of the same bytes: 16 rows of 32
// bytes of k for A, 8 for B, and 16 x 8 sums.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/arch.hpp"
#include "weft/layouts/float16.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

struct MmaS8 {
  using Sum = std::int32_t;
  // acc += a b
  WEFT_DEVICE static void Add(arch::Thread t, Sum (&acc)[4], const std::uint32_t (&a)[4],
                              const std::uint32_t (&b)[2]) {
    t.MmaM16N8K32S8(acc, a, b, acc);
  }
};

struct MmaF16 {
  using Sum = float;
  WEFT_DEVICE static void Add(arch::Thread t, Sum (&acc)[4], const std::uint32_t (&a)[4],
                              const std::uint32_t (&b)[2]) {
    t.MmaM16N8K16F16(acc, a, b, acc);
  }
};

struct MmaBf16 {
  using Sum = float;
  WEFT_DEVICE static void Add(arch::Thread t, Sum (&acc)[4], const std::uint32_t (&a)[4],
                              const std::uint32_t (&b)[2]) {
    t.MmaM16N8K16Bf16(acc, a, b, acc);
  }
};

// The instruction that multiplies Elements.
template <class Element>
struct MmaAtomFor;
template <>
struct MmaAtomFor<std::int8_t> {
  using type = MmaS8;
};
template <>
struct MmaAtomFor<Half> {
  using type = MmaF16;
};
template <>
struct MmaAtomFor<Bfloat16> {
  using type = MmaBf16;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
