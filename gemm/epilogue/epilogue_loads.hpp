// How an epilogue reads global memory.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/arch.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// Loads *address, or zero without touching memory if !inside. kDependent: the kernel is a dependent
// launch, so that earlier kernels may still be writing what is read here, and the load must not
// take the read-only path.
template <bool kDependent, class Type>
WEFT_DEVICE Type LoadOr0(arch::Thread t, const Type* address, bool inside) {
  if constexpr (kDependent) {
    return inside ? t.LoadGlobalCoherent(address) : Type();
  } else {
    return t.LoadGlobalOr0(address, inside);
  }
}

// A coherent load, which stays where the program has it: of read-only loads ptxas would hoist those
// of all of a thread's pixels at once, and spill.
WEFT_DEVICE std::int32_t LoadInOrder(arch::Thread t, const std::int32_t* address, bool inside) {
  return inside ? t.LoadGlobalCoherent(address) : 0;
}

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
