// Loops over many elements, by all cores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace weft::perf {

// Of ForEachPart, at most.
inline int MostParts() {
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

// Calls part(number, begin, end) for consecutive parts of [0, count) that begin at multiples of 64, a
// thread each.
template <class PartFunction>
void ForEachPart(std::int64_t count, const PartFunction& part) {
  const std::int64_t size = (count / MostParts() / 64 + 1) * 64;
  std::vector<std::thread> threads;
  for (std::int64_t begin = 0; begin < count; begin += size) {
    const int number = static_cast<int>(threads.size());
    const std::int64_t end = std::min(count, begin + size);
    threads.emplace_back([&part, number, begin, end] { part(number, begin, end); });
  }
  for (std::thread& thread : threads) thread.join();
}

// The same, element by element.
template <class Function>
void ForEachIndex(std::int64_t count, const Function& function) {
  ForEachPart(count, [&](int, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) function(i);
  });
}

}  // namespace weft::perf
