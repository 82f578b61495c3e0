// Work that may crash, done in child processes.
//
// cuDNN is known to crash on some int8 convolutions. What measures it therefore runs in a child,
// writes into memory shared with its parent, and is started again after a crash.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace weft::perf {

struct Workers {
  // In the parent: the first piece of work not done yet, or -1.
  std::function<int()> first_open;
  // In a child: does what is open from `first` on, and returns the child's exit status, 0 for
  // "finished". May not return at all.
  std::function<int(int first)> work;
  // In the parent, after a child that did not return 0: how it ended ("signal 11", "exit 3",
  // "silent for 90 s"). Must see to it that first_open() comes to an end; false gives up.
  std::function<bool(const std::string& how)> died;
  // Counted up by the child as it goes on; one that does not for `stuck_ms` is killed.
  const volatile int* beats = nullptr;
  int stuck_ms = 90000;
};

// True if all is done.
bool RunWorkers(const Workers& workers);

// A zero-initialised T in memory that children share with their parent; null if there is none. T is
// trivially destructible.
template <class T>
std::shared_ptr<T> MakeShared();

namespace internal {
std::shared_ptr<void> SharedMemory(std::size_t bytes);
}  // namespace internal

template <class T>
std::shared_ptr<T> MakeShared() {
  static_assert(std::is_trivially_destructible_v<T>);
  const std::shared_ptr<void> memory = internal::SharedMemory(sizeof(T));
  if (memory == nullptr) return nullptr;
  return {memory, new (memory.get()) T()};
}

}  // namespace weft::perf
