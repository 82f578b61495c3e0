#include "weft/network/in_parallel.hpp"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace weft::network {

void InParallel(std::size_t count, const std::function<void(std::size_t)>& job) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) job(i);
  };
  std::vector<std::thread> threads;
  const auto processors = std::max<std::size_t>(1, std::thread::hardware_concurrency());
  try {
    for (std::size_t i = 1; i < std::min(count, processors); ++i) threads.emplace_back(work);
  } catch (const std::system_error&) {
    // The machine has no more threads for this process; those that there are do the jobs.
  }
  work();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace weft::network
