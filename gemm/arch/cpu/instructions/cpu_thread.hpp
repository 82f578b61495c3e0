// The CPU back end of arch::Thread: one fiber of the executor, checked while it runs.
//
// Every method has the signature of its counterpart in cuda_thread.hpp plus a defaulted source
// location, which names the kernel's line in reports. Breaking a rule of the hardware ends the
// launch with a report (cpu_launch.hpp); the method then does not return.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/cpu/executor/cpu_lane.hpp"
#include "weft/gemm/arch/cpu/instructions/cpu_dot.hpp"
#include "weft/gemm/arch/cpu/instructions/cpu_hopper.hpp"
#include "weft/gemm/arch/isa/backend.hpp"
#include "weft/gemm/arch/isa/int4_products.hpp"

namespace weft::arch {
inline namespace WEFT_BACKEND {

struct Thread : HopperThread, DotThread {
  // --- Indices ---------------------------------------------------------------------------------

  // Index in the block, in the warp, and of the warp in the block; the block's index in the grid;
  // the grid's extent.
  int tid() const { return self->tid; }
  int lane() const { return self->lane; }
  int warp() const { return self->warp; }
  int block_x() const { return self->block_index.x; }
  int block_y() const { return self->block_index.y; }
  int block_z() const { return self->block_index.z; }
  int grid_x() const { return self->grid.x; }
  int thread_count() const { return self->thread_count; }

  // --- Barriers --------------------------------------------------------------------------------

  void SyncThreads(Location at = Location::current()) const { cpu::BarrierSync(self, 0, -1, at); }

  // Named barrier `id` (0 to 15; 0 is SyncThreads') over `n` threads, a multiple of 32.
  void BarSync(int id, int n, Location at = Location::current()) const {
    cpu::BarrierSync(self, id, n < 0 ? 0 : n, at);
  }
  void BarArrive(int id, int n, Location at = Location::current()) const {
    cpu::BarrierArrive(self, id, n < 0 ? 0 : n, at);
  }

  void SyncWarp(uint32_t mask = ~0u, Location at = Location::current()) const {
    cpu::SyncWarp(self, mask, at);
  }

  // --- Warp exchange (not memory fences) -------------------------------------------------------

  template <class Value>
  Value Shfl(Value v, int src_lane, uint32_t mask = ~0u, Location at = Location::current()) const {
    static_assert(std::is_arithmetic_v<Value> && (sizeof(Value) == 4 || sizeof(Value) == 8));
    using Bits = std::conditional_t<sizeof(Value) == 4, uint32_t, uint64_t>;
    const uint64_t bits = cpu::Shuffle(self, mask, std::bit_cast<Bits>(v), src_lane & 31, at);
    return std::bit_cast<Value>(static_cast<Bits>(bits));
  }
  template <class Value>
  Value ShflXor(Value v, int x, uint32_t mask = ~0u, Location at = Location::current()) const {
    return Shfl(v, self->lane ^ x, mask, at);
  }
  uint32_t Ballot(bool pred, uint32_t mask = ~0u, Location at = Location::current()) const {
    return cpu::Ballot(self, mask, pred, at);
  }

  // --- Shared memory ---------------------------------------------------------------------------

  // The 32-bit address that cp.async, ldmatrix and descriptors take.
  uint32_t SharedAddress(const void* p, Location at = Location::current()) const {
    return OffsetInShared(p, 0, at) + cpu::kSharedWindow;
  }

  // One access of sizeof(Value) = 1, 2, 4, 8 or 16 bytes; `p` is aligned to sizeof(Value).
  template <class Value>
  Value LoadShared(const Value* p, Location at = Location::current()) const {
    CheckSharedAccess<Value>(p, /*is_store=*/false, at);
    return *p;
  }
  template <class Value>
  void StoreShared(Value* p, Value v, Location at = Location::current()) const {
    CheckSharedAccess<Value>(p, /*is_store=*/true, at);
    *p = v;
  }

  // LoadShared and StoreShared at a 32-bit address; 2, 4, 8 or 16 bytes.
  template <class Value>
  Value LoadSharedAt(uint32_t addr, Location at = Location::current()) const {
    static_assert(sizeof(Value) >= 2);
    return LoadShared(reinterpret_cast<const Value*>(SharedPointer(addr, sizeof(Value), at)), at);
  }
  template <class Value>
  void StoreSharedAt(uint32_t addr, Value v, Location at = Location::current()) const {
    static_assert(sizeof(Value) >= 2);
    StoreShared(reinterpret_cast<Value*>(SharedPointer(addr, sizeof(Value), at)), v, at);
  }

  // --- Global memory ---------------------------------------------------------------------------

  // One access of sizeof(Value) = 1, 2, 4, 8 or 16 bytes; `p` is aligned to sizeof(Value). Loads take the
  // read-only path: the kernel that loads a location this way must not write it.
  template <class Value>
  Value LoadGlobal(const Value* p, Location at = Location::current()) const {
    CheckGlobalAccess<Value>(p, /*is_store=*/false, at);
    if (self->dependent) cpu::CheckReadOnlyLoad(self, p, sizeof(Value), at);
    return *p;
  }

  // As LoadGlobal, but not by the read-only path, for memory that is written while the kernel runs:
  // by itself, or, in a dependent launch, by earlier grids before WaitForEarlierGrids returned.
  template <class Value>
  Value LoadGlobalCoherent(const Value* p, Location at = Location::current()) const {
    CheckGlobalAccess<Value>(p, /*is_store=*/false, at);
    return *p;
  }

  // As LoadGlobal if `ok`; otherwise touches no memory and returns all-zero bytes.
  template <class Value>
  Value LoadGlobalOr0(const Value* p, bool ok, Location at = Location::current()) const {
    return ok ? LoadGlobal(p, at) : Zeros<Value>();
  }

  // If `ok`, as StoreGlobal, and by an instruction with a predicate, no branch: 4 or 8 bytes.
  template <class Value>
  void StoreGlobalIf(Value* p, Value v, bool ok, Location at = Location::current()) const {
    static_assert(sizeof(Value) == 4 || sizeof(Value) == 8);
    if (ok) StoreGlobal(p, v, at);
  }

  // Asks the L2 for the 32 bytes that *p lies in, which may come or not; legal before WaitForEarlierGrids.
  // Reads nothing: what is written later is seen all the same. Here a sanitizer sees whether *p exists.
  static void PrefetchL2(const void* p) { (void)*static_cast<const volatile char*>(p); }

  // As LoadGlobalCoherent if `ok`; otherwise touches no memory and returns all-zero bytes.
  template <class Value>
  Value LoadGlobalCoherentOr0(const Value* p, bool ok, Location at = Location::current()) const {
    return ok ? LoadGlobalCoherent(p, at) : Zeros<Value>();
  }

  template <class Value>
  void StoreGlobal(Value* p, Value v, Location at = Location::current()) const {
    CheckGlobalAccess<Value>(p, /*is_store=*/true, at);
    *p = v;
  }

  // *p becomes the lesser of *p and x, or the greater, atomically in the grid. NaN is passed over;
  // -0 counts as 0; *p is no NaN.
  void LowerGlobal(float* p, float x, Location at = Location::current()) const {
    CheckGlobalAccess<float>(p, /*is_store=*/true, at);
    x = x + 0.0f;
    const std::atomic_ref<float> cell(*p);
    float old = cell.load(std::memory_order_relaxed);
    while (x < old && !cell.compare_exchange_weak(old, x, std::memory_order_relaxed)) {
    }
  }
  void RaiseGlobal(float* p, float x, Location at = Location::current()) const {
    CheckGlobalAccess<float>(p, /*is_store=*/true, at);
    x = x + 0.0f;
    const std::atomic_ref<float> cell(*p);
    float old = cell.load(std::memory_order_relaxed);
    while (x > old && !cell.compare_exchange_weak(old, x, std::memory_order_relaxed)) {
    }
  }
  // *p += x, atomically in the grid, modulo 2^32.
  void AddGlobal(int32_t* p, int32_t x, Location at = Location::current()) const {
    CheckGlobalAccess<int32_t>(p, /*is_store=*/true, at);
    std::atomic_ref<int32_t>(*p).fetch_add(x, std::memory_order_relaxed);
  }

  // The same, and what *p was before. What the thread has written, or seen by a barrier, before is seen by
  // whoever adds to *p later in this way, and by those that it meets at a barrier then.
  int32_t FetchAddGlobal(int32_t* p, int32_t x, Location at = Location::current()) const {
    CheckGlobalAccess<int32_t>(p, /*is_store=*/true, at);
    if (self->preemptive) cpu::Preempt(self);
    return std::atomic_ref<int32_t>(*p).fetch_add(x, std::memory_order_acq_rel);
  }

  // --- Asynchronous copies, global to shared ---------------------------------------------------

  // Copies `src_bytes` (0 to Bytes) and fills the rest of the Bytes = 4, 8 or 16 with zeros. Both
  // addresses are aligned to Bytes, also when src_bytes is 0.
  template <int Bytes = 16>
  void CpAsync(uint32_t dst, const void* src, int src_bytes = Bytes,
               Location at = Location::current()) const {
    static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
    if (self->preemptive) cpu::Preempt(self);
    char* to = SharedPointer(dst, Bytes, at);
    if (dst % Bytes != 0) cpu::Fail(self, at, "cp.async: misaligned shared address");
    if (reinterpret_cast<uintptr_t>(src) % Bytes != 0) {
      cpu::Fail(self, at, "cp.async: misaligned global address");
    }
    if (src_bytes < 0 || src_bytes > Bytes) {
      cpu::Fail(self, at, "cp.async: src_bytes is negative or more than the copy's size");
    }
    if (src_bytes > 0) {
      CheckDependency(src, src_bytes, /*is_store=*/false, at);
      CountGlobal(src, src_bytes, /*is_store=*/false, at);
    }
    NoteWrite(dst - cpu::kSharedWindow, Bytes);
    self->copies.Issue(to, src, Bytes, src_bytes);
  }
  void CpAsyncCommit() const { self->copies.Commit(); }

  // Waits until at most kN of this thread's committed groups are still in flight.
  template <int kN>
  void CpAsyncWait() const {
    static_assert(kN >= 0);
    // Written now, whatever the lane has fenced since it began the copies.
    self->copies.Wait(kN, [this](char* to, int bytes) {
      NoteWrite(static_cast<uint32_t>(to - self->shared_base), static_cast<size_t>(bytes));
    });
    if (self->preemptive) cpu::Preempt(self);
  }

  // --- Matrix loads: lane 8i + j gives the address of row j of matrix i (16-byte aligned) --------

  void LdMatrixX1(uint32_t (&r)[1], uint32_t addr, Location at = Location::current()) const {
    LdMatrix(r, 1, addr, at);
  }
  void LdMatrixX2(uint32_t (&r)[2], uint32_t addr, Location at = Location::current()) const {
    LdMatrix(r, 2, addr, at);
  }
  void LdMatrixX4(uint32_t (&r)[4], uint32_t addr, Location at = Location::current()) const {
    LdMatrix(r, 4, addr, at);
  }

  // The same of kMatrices = 1, 2 or 4 transposed matrices: r[i] are two b16 of one column.
  template <int kMatrices>
  void LdMatrixTrans(uint32_t (&r)[kMatrices], uint32_t addr,
                     Location at = Location::current()) const {
    LdMatrix(r, kMatrices, addr, at, /*transposed=*/true);
  }

  // --- Matrix products, d = a * b + c (fragments.hpp says who holds what) -----------------------

  // Of signed bytes; U8S8: a's are unsigned.

  void MmaM16N8K32S8(int32_t (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                     const int32_t (&c)[4], Location at = Location::current()) const {
    cpu::MmaM16N8K32(self, false, d, a, b, c, at);
  }
  void MmaM16N8K32U8S8(int32_t (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                       const int32_t (&c)[4], Location at = Location::current()) const {
    cpu::MmaM16N8K32(self, true, d, a, b, c, at);
  }
  // Of four bits each, S4 and U4S4, two to a byte, whose places are those of the bytes of m16n8k32 and
  // m8n8k16.
  void MmaM16N8K64S4(int32_t (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                     const int32_t (&c)[4], Location at = Location::current()) const {
    MmaOfInt4<false>(d, a, b, c, at);
  }
  void MmaM16N8K64U4S4(int32_t (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                       const int32_t (&c)[4], Location at = Location::current()) const {
    MmaOfInt4<true>(d, a, b, c, at);
  }
  void MmaM8N8K32S4(int32_t (&d)[2], uint32_t a, uint32_t b, const int32_t (&c)[2],
                    Location at = Location::current()) const {
    MmaOfInt4<false>(d, {a}, {b}, c, at);
  }
  void MmaM8N8K32U4S4(int32_t (&d)[2], uint32_t a, uint32_t b, const int32_t (&c)[2],
                      Location at = Location::current()) const {
    MmaOfInt4<true>(d, {a}, {b}, c, at);
  }
  void MmaM8N8K16S8(int32_t (&d)[2], uint32_t a, uint32_t b, const int32_t (&c)[2],
                    Location at = Location::current()) const {
    cpu::MmaM8N8K16(self, false, d, a, b, c, at);
  }
  void MmaM8N8K16U8S8(int32_t (&d)[2], uint32_t a, uint32_t b, const int32_t (&c)[2],
                      Location at = Location::current()) const {
    cpu::MmaM8N8K16(self, true, d, a, b, c, at);
  }

  // f16 or bf16 operands, tf32 or 8-bit floats, float sums: here k in ascending order, each product and
  // each sum rounded to float. The hardware's order is its own, so results agree within rounding only.
  void MmaM16N8K16F16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                      const float (&c)[4], Location at = Location::current()) const {
    cpu::MmaFloats(self, cpu::Operation::kMmaM16N8K16F16, d, a, b, c, at);
  }
  void MmaM16N8K16Bf16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                       const float (&c)[4], Location at = Location::current()) const {
    cpu::MmaFloats(self, cpu::Operation::kMmaM16N8K16Bf16, d, a, b, c, at);
  }
  void MmaM16N8K8Tf32(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                      const float (&c)[4], Location at = Location::current()) const {
    cpu::MmaFloats(self, cpu::Operation::kMmaM16N8K8Tf32, d, a, b, c, at);
  }
  void MmaM16N8K32E4m3(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                       const float (&c)[4], Location at = Location::current()) const {
    cpu::MmaFloats(self, cpu::Operation::kMmaM16N8K32E4m3, d, a, b, c, at);
  }
  void MmaM16N8K32E5m2(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                       const float (&c)[4], Location at = Location::current()) const {
    cpu::MmaFloats(self, cpu::Operation::kMmaM16N8K32E5m2, d, a, b, c, at);
  }
  // Half as many k.
  void MmaM16N8K8F16(float (&d)[4], const uint32_t (&a)[2], const uint32_t (&b)[1],
                     const float (&c)[4], Location at = Location::current()) const {
    cpu::MmaFloats(self, cpu::Operation::kMmaM16N8K8F16, d, a, b, c, at);
  }
  // f16 operands and sums, two to a word of c and d: here as the above, from c on, and the 16 products'
  // sum rounded to f16 once.
  void MmaM16N8K16F16HalfSums(uint32_t (&d)[2], const uint32_t (&a)[4], const uint32_t (&b)[2],
                              const uint32_t (&c)[2], Location at = Location::current()) const {
    cpu::MmaM16N8K16F16HalfSums(self, d, a, b, c, at);
  }
  // Doubles: here one fma for each k in ascending order, from c on. The hardware's order is not
  // documented, so results agree within rounding only.
  void MmaM16N8K8F64(double (&d)[4], const double (&a)[4], const double (&b)[2],
                     const double (&c)[4], Location at = Location::current()) const {
    cpu::MmaM16N8K8F64(self, d, a, b, c, at);
  }

 private:
  template <class Value>
  static Value Zeros() {
    static_assert(std::is_trivially_copyable_v<Value>);
    struct Bytes {
      unsigned char bytes[sizeof(Value)];
    };
    return std::bit_cast<Value>(Bytes{});
  }

  template <bool kUnsignedA, int kA, int kB, int kC>
  void MmaOfInt4(int32_t (&d)[kC], const uint32_t (&a)[kA], const uint32_t (&b)[kB],
                 const int32_t (&c)[kC], Location at) const {
    const auto mma = [&](auto& to, const auto& x, const auto& y, const auto& sum) {
      if constexpr (kC == 4) {
        cpu::MmaM16N8K32(self, kUnsignedA, to, x, y, sum, at);
      } else {
        cpu::MmaM8N8K16(self, kUnsignedA, to, x[0], y[0], sum, at);
      }
    };
    MmaOfHalves<kUnsignedA>(mma, d, a, b, c);
  }
  void LdMatrix(uint32_t* r, int matrices, uint32_t addr, Location at,
                bool transposed = false) const {
    struct alignas(16) Row {
      uint32_t words[4];
    };
    if (self->preemptive) cpu::Preempt(self);
    // Lanes whose row an .x1 or .x2 does not use must pass a valid address too: sm_75 wants it.
    const char* p = SharedPointer(addr, sizeof(Row), at);
    if (addr % sizeof(Row) != 0) cpu::Fail(self, at, "ldmatrix: misaligned shared address");
    Row row{};
    if (self->lane < 8 * matrices) row = *reinterpret_cast<const Row*>(p);
    cpu::LdMatrix(self, r, matrices, transposed, row.words, addr, at);
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::arch
