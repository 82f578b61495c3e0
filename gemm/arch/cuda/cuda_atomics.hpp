// Numbers in global memory that all threads of a grid raise, lower or add to, as PTX. Base of Thread.
#pragma once

#include <cuda_runtime.h>

#include "weft/gemm/arch/isa/backend.hpp"

namespace weft::arch {
inline namespace WEFT_BACKEND {

struct AtomicThread {
  // *p becomes the lesser of *p and x, or the greater, atomically in the grid. NaN is passed over;
  // -0 counts as 0; *p is no NaN. Numbers that change nothing cost a load.
  WEFT_DEVICE static void LowerGlobal(float* p, float x) {
    if (x < LoadRelaxed(p)) Move<true>(p, x + 0.0f);
  }
  WEFT_DEVICE static void RaiseGlobal(float* p, float x) {
    if (x > LoadRelaxed(p)) Move<false>(p, x + 0.0f);
  }

  // *p += x, atomically in the grid, modulo 2^32.
  WEFT_DEVICE static void AddGlobal(int* p, int x) {
    asm volatile("red.relaxed.gpu.global.add.s32 [%0], %1;" ::"l"(p), "r"(x) : "memory");
  }

  // The same, and what *p was before. What the thread has written, or seen by a barrier, before is seen by
  // whoever adds to *p later in this way, and by those that it meets at a barrier then.
  WEFT_DEVICE static int FetchAddGlobal(int* p, int x) {
    int before;
    asm volatile("atom.acq_rel.gpu.global.add.s32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(p), "r"(x)
                 : "memory");
    return before;
  }

 private:
  WEFT_DEVICE static float LoadRelaxed(const float* p) {
    float x;
    asm volatile("ld.relaxed.gpu.global.f32 %0, [%1];" : "=f"(x) : "l"(p) : "memory");
    return x;
  }

  // Bits as signed integers order floats from +0 on, and put them above the negative ones; as
  // unsigned integers they order negative floats the other way round, and put them above the others.
  template <bool kDown>
  WEFT_DEVICE static void Move(float* p, float x) {
    const int bits = __float_as_int(x);
    if ((bits >= 0) == kDown) {
      if constexpr (kDown) {
        asm volatile("red.relaxed.gpu.global.min.s32 [%0], %1;" ::"l"(p), "r"(bits) : "memory");
      } else {
        asm volatile("red.relaxed.gpu.global.min.u32 [%0], %1;" ::"l"(p), "r"(bits) : "memory");
      }
    } else {
      if constexpr (kDown) {
        asm volatile("red.relaxed.gpu.global.max.u32 [%0], %1;" ::"l"(p), "r"(bits) : "memory");
      } else {
        asm volatile("red.relaxed.gpu.global.max.s32 [%0], %1;" ::"l"(p), "r"(bits) : "memory");
      }
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::arch
