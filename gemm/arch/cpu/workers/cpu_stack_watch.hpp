// A sentence where a lane's stack is full, which else is a mere SIGSEGV. Private to the runtime (cpu_*.cpp).
#pragma once

#include <csignal>

#include "weft/gemm/arch/cpu/workers/cpu_worker.hpp"

namespace weft::arch::cpu {

// While one exists, a handler of SIGSEGV says whose stack is full, and hands every SIGSEGV on to the handler that was
// there before. Nothing of it is left when the last has gone. Where there is a sanitizer, which reports it better, it does
// nothing. Thread-safe.
class StackWatch {
 public:
  StackWatch();
  ~StackWatch();
  StackWatch(const StackWatch&) = delete;
  StackWatch& operator=(const StackWatch&) = delete;
};

// Gives this thread, which runs the worker's lanes meanwhile, a stack for the handler unless it has one.
class WatchedThread {
 public:
  explicit WatchedThread(Worker& worker);
  ~WatchedThread();
  WatchedThread(const WatchedThread&) = delete;
  WatchedThread& operator=(const WatchedThread&) = delete;

 private:
  const Worker* outer_;
  stack_t callers_{};
  bool has_own_stack_ = false;
};

}  // namespace weft::arch::cpu
