// Independent jobs on all processors.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <system_error>
#include <thread>
#include <vector>

namespace weft::network {

// Calls `job` for 0 to count - 1, on as many threads as there are processors, and returns when all are done.
inline void InParallel(std::size_t count, const std::function<void(std::size_t)>& job) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) job(i);
  };
  std::vector<std::thread> threads;
  const std::size_t most =
      (std::min)(count,
                 static_cast<std::size_t>((std::max)(1u, std::thread::hardware_concurrency())));
  try {
    for (std::size_t i = 1; i < most; ++i) threads.emplace_back(work);
  } catch (const std::system_error&) {
    // The machine has no more threads for this process; those that there are do the jobs.
  }
  work();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace weft::network
