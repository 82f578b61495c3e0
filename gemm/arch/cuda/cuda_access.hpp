// PTX that loads and stores words of memory. An instruction has a form for each width, so that each
// function here is one instruction, and its overloads are the widths, which the type of the word
// chooses: uint8_t, uint16_t, uint32_t, uint2 (8 bytes) or uint4 (16 bytes). What the functions are
// for is said by Thread's (cuda_thread.hpp).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/isa/backend.hpp"

namespace weft::arch {
inline namespace WEFT_BACKEND {
namespace ptx {

// The word of an access of kBytes.
template <int kBytes>
struct WordOf;
template <>
struct WordOf<1> {
  using Type = uint8_t;
};
template <>
struct WordOf<2> {
  using Type = uint16_t;
};
template <>
struct WordOf<4> {
  using Type = uint32_t;
};
template <>
struct WordOf<8> {
  using Type = uint2;
};
template <>
struct WordOf<16> {
  using Type = uint4;
};
template <class Value>
using Word = typename WordOf<sizeof(Value)>::Type;

template <class Value>
WEFT_DEVICE Value FromWord(Word<Value> w) {
  static_assert(std::is_trivially_copyable_v<Value>);
  Value v;
  __builtin_memcpy(&v, &w, sizeof(Value));
  return v;
}
template <class Value>
WEFT_DEVICE Word<Value> ToWord(Value v) {
  static_assert(std::is_trivially_copyable_v<Value>);
  Word<Value> w;
  __builtin_memcpy(&w, &v, sizeof(Value));
  return w;
}

// ld.shared, at a 32-bit address.
WEFT_DEVICE void LoadShared(uint16_t& w, uint32_t addr) {
  asm volatile("ld.shared.u16 %0, [%1];" : "=h"(w) : "r"(addr) : "memory");
}
WEFT_DEVICE void LoadShared(uint32_t& w, uint32_t addr) {
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(w) : "r"(addr) : "memory");
}
WEFT_DEVICE void LoadShared(uint2& w, uint32_t addr) {
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(w.x), "=r"(w.y) : "r"(addr) : "memory");
}
WEFT_DEVICE void LoadShared(uint4& w, uint32_t addr) {
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(w.x), "=r"(w.y), "=r"(w.z), "=r"(w.w)
               : "r"(addr)
               : "memory");
}

// st.shared.
WEFT_DEVICE void StoreShared(uint32_t addr, uint16_t w) {
  asm volatile("st.shared.u16 [%0], %1;" ::"r"(addr), "h"(w) : "memory");
}
WEFT_DEVICE void StoreShared(uint32_t addr, uint32_t w) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(addr), "r"(w) : "memory");
}
WEFT_DEVICE void StoreShared(uint32_t addr, uint2 w) {
  asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(addr), "r"(w.x), "r"(w.y) : "memory");
}
WEFT_DEVICE void StoreShared(uint32_t addr, uint4 w) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(addr), "r"(w.x), "r"(w.y), "r"(w.z),
               "r"(w.w)
               : "memory");
}

// ld.global.nc: by the read-only path.
WEFT_DEVICE void LoadReadOnly(uint8_t& w, const void* p) {
  uint16_t byte;
  asm("ld.global.nc.u8 %0, [%1];" : "=h"(byte) : "l"(p));
  w = static_cast<uint8_t>(byte);
}
WEFT_DEVICE void LoadReadOnly(uint16_t& w, const void* p) {
  asm("ld.global.nc.u16 %0, [%1];" : "=h"(w) : "l"(p));
}
WEFT_DEVICE void LoadReadOnly(uint32_t& w, const void* p) {
  asm("ld.global.nc.u32 %0, [%1];" : "=r"(w) : "l"(p));
}
WEFT_DEVICE void LoadReadOnly(uint2& w, const void* p) {
  asm("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(w.x), "=r"(w.y) : "l"(p));
}
WEFT_DEVICE void LoadReadOnly(uint4& w, const void* p) {
  asm("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(w.x), "=r"(w.y), "=r"(w.z), "=r"(w.w)
      : "l"(p));
}

// The same with a predicate: if !ok, w stays as it is.
WEFT_DEVICE void LoadReadOnlyIf(uint8_t& w, const void* p, int ok) {
  uint16_t byte = w;
  asm("{ .reg .pred p; setp.ne.b32 p, %2, 0; @p ld.global.nc.u8 %0, [%1]; }"
      : "+h"(byte)
      : "l"(p), "r"(ok));
  w = static_cast<uint8_t>(byte);
}
WEFT_DEVICE void LoadReadOnlyIf(uint16_t& w, const void* p, int ok) {
  asm("{ .reg .pred p; setp.ne.b32 p, %2, 0; @p ld.global.nc.u16 %0, [%1]; }"
      : "+h"(w)
      : "l"(p), "r"(ok));
}
WEFT_DEVICE void LoadReadOnlyIf(uint32_t& w, const void* p, int ok) {
  asm("{ .reg .pred p; setp.ne.b32 p, %2, 0; @p ld.global.nc.u32 %0, [%1]; }"
      : "+r"(w)
      : "l"(p), "r"(ok));
}
WEFT_DEVICE void LoadReadOnlyIf(uint2& w, const void* p, int ok) {
  asm("{ .reg .pred p; setp.ne.b32 p, %3, 0; @p ld.global.nc.v2.u32 {%0, %1}, [%2]; }"
      : "+r"(w.x), "+r"(w.y)
      : "l"(p), "r"(ok));
}
WEFT_DEVICE void LoadReadOnlyIf(uint4& w, const void* p, int ok) {
  asm("{ .reg .pred p; setp.ne.b32 p, %5, 0; @p ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4]; }"
      : "+r"(w.x), "+r"(w.y), "+r"(w.z), "+r"(w.w)
      : "l"(p), "r"(ok));
}

// ld.global: not by the read-only path.
WEFT_DEVICE void LoadCoherent(uint8_t& w, const void* p) {
  uint16_t byte;
  asm volatile("ld.global.u8 %0, [%1];" : "=h"(byte) : "l"(p) : "memory");
  w = static_cast<uint8_t>(byte);
}
WEFT_DEVICE void LoadCoherent(uint16_t& w, const void* p) {
  asm volatile("ld.global.u16 %0, [%1];" : "=h"(w) : "l"(p) : "memory");
}
WEFT_DEVICE void LoadCoherent(uint32_t& w, const void* p) {
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(w) : "l"(p) : "memory");
}
WEFT_DEVICE void LoadCoherent(uint2& w, const void* p) {
  asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(w.x), "=r"(w.y) : "l"(p) : "memory");
}
WEFT_DEVICE void LoadCoherent(uint4& w, const void* p) {
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(w.x), "=r"(w.y), "=r"(w.z), "=r"(w.w)
               : "l"(p)
               : "memory");
}

// The same with a predicate: if !ok, w stays as it is.
WEFT_DEVICE void LoadCoherentIf(uint32_t& w, const void* p, int ok) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; @p ld.global.u32 %0, [%1]; }"
               : "+r"(w)
               : "l"(p), "r"(ok)
               : "memory");
}
WEFT_DEVICE void LoadCoherentIf(uint2& w, const void* p, int ok) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %3, 0; @p ld.global.v2.u32 {%0, %1}, [%2]; }"
               : "+r"(w.x), "+r"(w.y)
               : "l"(p), "r"(ok)
               : "memory");
}
WEFT_DEVICE void LoadCoherentIf(uint4& w, const void* p, int ok) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %5, 0; @p ld.global.v4.u32 {%0, %1, %2, %3}, [%4]; }"
               : "+r"(w.x), "+r"(w.y), "+r"(w.z), "+r"(w.w)
               : "l"(p), "r"(ok)
               : "memory");
}

// st.global with a predicate.
WEFT_DEVICE void StoreGlobalIf(void* p, uint32_t w, int ok) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; @p st.global.u32 [%0], %1; }" ::"l"(p),
               "r"(w), "r"(ok)
               : "memory");
}
WEFT_DEVICE void StoreGlobalIf(void* p, uint2 w, int ok) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %3, 0; @p st.global.v2.u32 [%0], {%1, %2}; }" ::"l"(p),
      "r"(w.x), "r"(w.y), "r"(ok)
      : "memory");
}

}  // namespace ptx
}  // namespace WEFT_BACKEND
}  // namespace weft::arch
