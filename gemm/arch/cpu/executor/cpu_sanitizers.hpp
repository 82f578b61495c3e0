// What the executor tells the sanitizers about its fibers. Private to the runtime (cpu_*.cpp).
//
// The runtime itself is never instrumented. The hooks are weak symbols that exist when the program
// around it is linked with a sanitizer, so one build of the runtime serves all builds of the tests.
//
// AddressSanitizer has to know which stack is in use. ThreadSanitizer takes each lane for a thread
// of its own: switching lanes orders nothing, only barriers do, through Release and Acquire on a
// token (any address). A race between two lanes is then reported like one between two threads.
#pragma once

#include <cstddef>

#include "weft/gemm/arch/cpu/executor/cpu_lane.hpp"

#define WEFT_WEAK __attribute__((weak))
extern "C" {
WEFT_WEAK void __sanitizer_start_switch_fiber(void** fake_stack_save, const void* bottom,
                                              size_t size);
WEFT_WEAK void __sanitizer_finish_switch_fiber(void* fake_stack_save, const void** bottom_old,
                                               size_t* size_old);
WEFT_WEAK void __asan_poison_memory_region(const volatile void* address, size_t size);
WEFT_WEAK void __asan_unpoison_memory_region(const volatile void* address, size_t size);
WEFT_WEAK void* __tsan_get_current_fiber();
WEFT_WEAK void* __tsan_create_fiber(unsigned flags);
WEFT_WEAK void __tsan_set_fiber_name(void* fiber, const char* name);
WEFT_WEAK void __tsan_destroy_fiber(void* fiber);
WEFT_WEAK void __tsan_switch_to_fiber(void* fiber, unsigned flags);
WEFT_WEAK void __tsan_acquire(void* token);
WEFT_WEAK void __tsan_release(void* token);
WEFT_WEAK void AnnotateIgnoreReadsBegin(const char* file, int line);
WEFT_WEAK void AnnotateIgnoreReadsEnd(const char* file, int line);
WEFT_WEAK void AnnotateIgnoreWritesBegin(const char* file, int line);
WEFT_WEAK void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#undef WEFT_WEAK

namespace weft::arch::cpu {

inline bool UnderAsan() {
  return &__sanitizer_start_switch_fiber != nullptr;
}
inline bool UnderTsan() {
  return &__tsan_create_fiber != nullptr;
}

// A token's releases happen before the acquires that follow.
inline void Release(void* token) {
  if (UnderTsan()) __tsan_release(token);
}
inline void Acquire(void* token) {
  if (UnderTsan()) __tsan_acquire(token);
}

// While it exists, ThreadSanitizer does not look at what the runtime does in the current lane's
// name: allocations and moves of memory are seen even in code that is not instrumented, and the
// runtime's own data is everybody's. No switch to another lane may happen meanwhile.
class Unseen {
 public:
  Unseen() {
    if (!UnderTsan()) return;
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    ++depth_;
  }
  ~Unseen() {
    if (UnderTsan()) End();
  }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;

  // For a lane that is left for good in the middle.
  static void EndAll() {
    while (depth_ > 0) End();
  }

 private:
  static void End() {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    --depth_;
  }

  static inline thread_local int depth_ = 0;
};

// The two halves of a switch. `from` is null when the flow that is left never resumes.
inline void StartSwitch(Context* from, const Context& to) {
  if (UnderAsan()) {
    __sanitizer_start_switch_fiber(from != nullptr ? &from->asan_fake_stack : nullptr, to.stack_low,
                                   to.stack_bytes);
  }
  constexpr unsigned kNoSync = 1;
  if (UnderTsan()) __tsan_switch_to_fiber(to.tsan_fiber, kNoSync);
}

// `resumed` is null on a fresh stack. `left`, if given, learns the stack that was switched from.
inline void FinishSwitch(Context* resumed, Context* left) {
  if (!UnderAsan()) return;
  const void* bottom = nullptr;
  size_t size = 0;
  __sanitizer_finish_switch_fiber(resumed != nullptr ? resumed->asan_fake_stack : nullptr, &bottom,
                                  &size);
  if (left != nullptr) {
    left->stack_low = bottom;
    left->stack_bytes = size;
  }
}

// Accesses to the region are errors (poison), or are not any more.
inline void AsanPoison(const void* p, size_t bytes) {
  if (UnderAsan() && bytes > 0) __asan_poison_memory_region(p, bytes);
}
inline void AsanUnpoison(const void* p, size_t bytes) {
  if (UnderAsan() && bytes > 0) __asan_unpoison_memory_region(p, bytes);
}

}  // namespace weft::arch::cpu
