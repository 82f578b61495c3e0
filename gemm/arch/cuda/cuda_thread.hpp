// The CUDA back end of arch::Thread: PTX and compiler intrinsics, nothing else.
//
// Every method has the signature of its counterpart in cpu_thread.hpp (less the source location
// that the CPU side adds). Thread is empty here and costs nothing.
//
// Memory clobbers: an instruction that orders memory (barriers, copies, waits) is `volatile` with a
// "memory" clobber. A warp-wide product (mma) is `volatile`, so that it stays in convergent code,
// but has no clobber; a load of data nobody writes (LoadGlobal) is neither, so that it can be
// scheduled.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/cuda/cuda_access.hpp"
#include "weft/gemm/arch/cuda/cuda_atomics.hpp"
#include "weft/gemm/arch/cuda/cuda_dot.hpp"
#include "weft/gemm/arch/cuda/cuda_hopper.hpp"
#include "weft/gemm/arch/cuda/cuda_mma.hpp"
#include "weft/gemm/arch/isa/backend.hpp"

namespace weft::arch {
inline namespace WEFT_BACKEND {

struct Thread : HopperThread, AtomicThread, DotThread, MmaThread {
  // --- Indices ---------------------------------------------------------------------------------

  // Index in the block, in the warp, of the warp in the block, of the block in the grid; its extent.
  WEFT_DEVICE static int tid() { return threadIdx.x; }
  WEFT_DEVICE static int lane() { return threadIdx.x & 31; }
  WEFT_DEVICE static int warp() { return threadIdx.x >> 5; }
  WEFT_DEVICE static int block_x() { return blockIdx.x; }
  WEFT_DEVICE static int block_y() { return blockIdx.y; }
  WEFT_DEVICE static int block_z() { return blockIdx.z; }
  WEFT_DEVICE static int grid_x() { return gridDim.x; }
  WEFT_DEVICE static int thread_count() { return blockDim.x; }

  // --- Barriers --------------------------------------------------------------------------------

  WEFT_DEVICE static void SyncThreads() { __syncthreads(); }

  // Named barrier `id` (0 to 15; 0 is SyncThreads') over `n` threads, a multiple of 32.
  WEFT_DEVICE static void BarSync(int id, int n) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(n) : "memory");
  }
  WEFT_DEVICE static void BarArrive(int id, int n) {
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(n) : "memory");
  }

  WEFT_DEVICE static void SyncWarp(uint32_t mask = ~0u) { __syncwarp(mask); }

  // --- Warp exchange (not memory fences) -------------------------------------------------------

  template <class Value>
  WEFT_DEVICE static Value Shfl(Value v, int src_lane, uint32_t mask = ~0u) {
    static_assert(std::is_arithmetic_v<Value> && (sizeof(Value) == 4 || sizeof(Value) == 8));
    return __shfl_sync(mask, v, src_lane);
  }
  template <class Value>
  WEFT_DEVICE static Value ShflXor(Value v, int x, uint32_t mask = ~0u) {
    static_assert(std::is_arithmetic_v<Value> && (sizeof(Value) == 4 || sizeof(Value) == 8));
    return __shfl_xor_sync(mask, v, x);
  }
  WEFT_DEVICE static uint32_t Ballot(bool pred, uint32_t mask = ~0u) {
    return __ballot_sync(mask, pred);
  }

  // --- Shared memory ---------------------------------------------------------------------------

  // The 32-bit address that cp.async, ldmatrix and descriptors take.
  WEFT_DEVICE static uint32_t SharedAddress(const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
  }

  // One access of sizeof(Value) = 1, 2, 4, 8 or 16 bytes; `p` is aligned to sizeof(Value).
  template <class Value>
  WEFT_DEVICE static Value LoadShared(const Value* p) {
    return ptx::FromWord<Value>(*reinterpret_cast<const ptx::Word<Value>*>(p));
  }
  template <class Value>
  WEFT_DEVICE static void StoreShared(Value* p, Value v) {
    *reinterpret_cast<ptx::Word<Value>*>(p) = ptx::ToWord(v);
  }

  // LoadShared and StoreShared at a 32-bit address; 2, 4, 8 or 16 bytes.
  template <class Value>
  WEFT_DEVICE static Value LoadSharedAt(uint32_t addr) {
    ptx::Word<Value> w;
    ptx::LoadShared(w, addr);
    return ptx::FromWord<Value>(w);
  }
  template <class Value>
  WEFT_DEVICE static void StoreSharedAt(uint32_t addr, Value v) {
    static_assert(sizeof(Value) >= 2);
    ptx::StoreShared(addr, ptx::ToWord(v));
  }

  // --- Global memory ---------------------------------------------------------------------------

  // One access of sizeof(Value) = 1, 2, 4, 8 or 16 bytes; `p` is aligned to sizeof(Value). Loads take the
  // read-only path: the kernel that loads a location this way must not write it.
  template <class Value>
  WEFT_DEVICE static Value LoadGlobal(const Value* p) {
    ptx::Word<Value> w;
    ptx::LoadReadOnly(w, p);
    return ptx::FromWord<Value>(w);
  }

  // As LoadGlobal, but not by the read-only path, for memory that is written while the kernel runs:
  // by itself, or, in a dependent launch, by earlier grids before WaitForEarlierGrids returned.
  template <class Value>
  WEFT_DEVICE static Value LoadGlobalCoherent(const Value* p) {
    ptx::Word<Value> w;
    ptx::LoadCoherent(w, p);
    return ptx::FromWord<Value>(w);
  }

  // As LoadGlobal if `ok`; otherwise touches no memory and returns all-zero bytes.
  template <class Value>
  WEFT_DEVICE static Value LoadGlobalOr0(const Value* p, bool ok) {
    ptx::Word<Value> w{};
    ptx::LoadReadOnlyIf(w, p, ok);
    return ptx::FromWord<Value>(w);
  }

  // As LoadGlobalCoherent if `ok`; otherwise touches no memory and returns all-zero bytes. 4, 8 or
  // 16 bytes.
  template <class Value>
  WEFT_DEVICE static Value LoadGlobalCoherentOr0(const Value* p, bool ok) {
    ptx::Word<Value> w{};
    ptx::LoadCoherentIf(w, p, ok);
    return ptx::FromWord<Value>(w);
  }

  template <class Value>
  WEFT_DEVICE static void StoreGlobal(Value* p, Value v) {
    *reinterpret_cast<ptx::Word<Value>*>(p) = ptx::ToWord(v);
  }

  // If `ok`, as StoreGlobal, and by an instruction with a predicate, no branch: 4 or 8 bytes.
  template <class Value>
  WEFT_DEVICE static void StoreGlobalIf(Value* p, Value v, bool ok) {
    static_assert(sizeof(Value) == 4 || sizeof(Value) == 8);
    ptx::StoreGlobalIf(p, ptx::ToWord(v), ok);
  }

  // Asks the L2 for the 32 bytes that *p lies in, which may come or not; legal before WaitForEarlierGrids.
  // Reads nothing: what is written later is seen all the same.
  WEFT_DEVICE static void PrefetchL2(const void* p) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
  }

  // --- Asynchronous copies, global to shared (sm_80) -------------------------------------------

  // Copies `src_bytes` (0 to Bytes) and fills the rest of the Bytes = 4, 8 or 16 with zeros. Both
  // addresses are aligned to Bytes, also when src_bytes is 0.
  template <int Bytes = 16>
  WEFT_DEVICE static void CpAsync(uint32_t dst, const void* src, int src_bytes = Bytes) {
    static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
    if constexpr (Bytes == 16) {  // past L1, which a copy into shared memory does not profit from
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(dst), "l"(src),
                   "r"(src_bytes)
                   : "memory");
    } else {
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(dst), "l"(src), "n"(Bytes),
                   "r"(src_bytes)
                   : "memory");
    }
  }
  WEFT_DEVICE static void CpAsyncCommit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

  // Waits until at most kN of this thread's committed groups are still in flight.
  template <int kN>
  WEFT_DEVICE static void CpAsyncWait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(kN) : "memory");
  }

  // --- Matrix loads: lane 8i + j gives the address of row j of matrix i (16-byte aligned) --------

  WEFT_DEVICE static void LdMatrixX1(uint32_t (&r)[1], uint32_t addr) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(r[0])
                 : "r"(addr)
                 : "memory");
  }
  WEFT_DEVICE static void LdMatrixX2(uint32_t (&r)[2], uint32_t addr) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(addr)
                 : "memory");
  }
  WEFT_DEVICE static void LdMatrixX4(uint32_t (&r)[4], uint32_t addr) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(addr)
                 : "memory");
  }

  // The same of 1, 2 or 4 transposed matrices, one for each word of r: r[i] are two b16 of one
  // column.
  WEFT_DEVICE static void LdMatrixTrans(uint32_t (&r)[1], uint32_t addr) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(r[0])
                 : "r"(addr)
                 : "memory");
  }
  WEFT_DEVICE static void LdMatrixTrans(uint32_t (&r)[2], uint32_t addr) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(addr)
                 : "memory");
  }
  WEFT_DEVICE static void LdMatrixTrans(uint32_t (&r)[4], uint32_t addr) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(addr)
                 : "memory");
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::arch
