// What every part of the CPU's arch::Thread does before it touches memory: addresses to pointers,
// alignment, windows, bookkeeping.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/cpu/executor/cpu_lane.hpp"
#include "weft/gemm/arch/isa/backend.hpp"

namespace weft::arch {
inline namespace WEFT_BACKEND {

struct LaneAccess {
  using Location = cpu::Location;

  cpu::Lane* self;

 protected:
  static constexpr bool IsAccessSize(size_t n) {
    return n == 1 || n == 2 || n == 4 || n == 8 || n == 16;
  }

  // The byte offset of [p, p + bytes) in the block's shared memory, which must contain it.
  uint32_t OffsetInShared(const void* p, size_t bytes, Location at) const {
    const size_t offset =
        reinterpret_cast<uintptr_t>(p) - reinterpret_cast<uintptr_t>(self->shared_base);
    if (offset > self->shared_bytes || self->shared_bytes - offset < bytes) {
      cpu::Fail(self, at, "shared memory: the address is not in the block's SharedStorage");
    }
    return static_cast<uint32_t>(offset);
  }

  // The same of the shared addresses [addr, addr + bytes).
  uint32_t OffsetInWindow(uint32_t addr, size_t bytes, Location at) const {
    const size_t offset = size_t{addr} - cpu::kSharedWindow;
    if (offset > self->shared_bytes || self->shared_bytes - offset < bytes) {
      cpu::Fail(self, at, "shared memory: the 32-bit address is outside the block's window");
    }
    return static_cast<uint32_t>(offset);
  }
  char* SharedPointer(uint32_t addr, size_t bytes, Location at) const {
    return self->shared_base + OffsetInWindow(addr, bytes, at);
  }

  // The engines do not see these bytes before the lane's, or a synchronised lane's,
  // FenceProxyAsync.
  void NoteWrite(uint32_t offset, size_t bytes) const {
    if (self->async != nullptr) {
      self->unfenced.push_back({offset, static_cast<uint32_t>(bytes)});
    }
  }

  template <class Value>
  void CheckSharedAccess(const Value* p, bool is_store, Location at) const {
    static_assert(std::is_trivially_copyable_v<Value> && IsAccessSize(sizeof(Value)));
    if (self->preemptive) cpu::Preempt(self);
    const uint32_t offset = OffsetInShared(p, sizeof(Value), at);
    if (offset % sizeof(Value) != 0) {
      cpu::Fail(self, at, "shared memory: access not aligned to its size");
    }
    if (self->access_log != nullptr) {
      cpu::LogSharedAccess(self, offset + cpu::kSharedWindow, sizeof(Value), is_store, at);
    }
    if (is_store) NoteWrite(offset, sizeof(Value));
  }

  template <class Value>
  void CheckGlobalAccess(const Value* p, bool is_store, Location at) const {
    static_assert(std::is_trivially_copyable_v<Value> && IsAccessSize(sizeof(Value)));
    if (reinterpret_cast<uintptr_t>(p) % sizeof(Value) != 0) {
      cpu::Fail(self, at, "global memory: access not aligned to its size");
    }
    CheckDependency(p, sizeof(Value), is_store, at);
    CountGlobal(p, sizeof(Value), is_store, at);
  }

  void CountGlobal(const void* p, int bytes, bool is_store, Location at) const {
    (is_store ? self->stored_bytes : self->loaded_bytes) += bytes;
    if (self->access_log != nullptr) cpu::LogGlobalAccess(self, p, bytes, is_store, at);
  }

  void CheckDependency(const void* p, size_t bytes, bool is_store, Location at) const {
    if (!self->dependency_met) cpu::CheckEarlyAccess(self, p, bytes, is_store, at);
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::arch
