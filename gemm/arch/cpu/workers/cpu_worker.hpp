// What an OS thread needs to run clusters of blocks, kept from launch to launch. Private to the
// runtime (cpu_*.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "weft/gemm/arch/cpu/workers/cpu_slot.hpp"

namespace weft::arch::cpu {

class Worker {
 public:
  static constexpr std::size_t kSignalStackBytes = 64 * 1024;

  // Runs cluster number `index` of the grid (x fastest; a cluster is one block unless the launch
  // asks for more) side by side. Returns what CpuReport::error says.
  std::string RunCluster(const GridLaunch& launch, const CpuOptions& options, int64_t index);

  // The counts since the last call, added to `stats`.
  void TakeStats(CpuStats* stats);

  // Whether the address is behind the end of a lane's stack; then the stack's size. For a signal handler.
  std::size_t FullStack(const void* address) const;
  // Memory for the stack of a signal handler of the thread that has this worker.
  std::span<char> signal_stack() { return signal_stack_; }

  // From the pool of idle workers, or new; and back.
  static std::unique_ptr<Worker> Take();
  static void Give(std::unique_ptr<Worker> worker);

 private:
  std::vector<std::unique_ptr<Slot>> slots_;
  Cluster cluster_;
  std::vector<char> signal_stack_ = std::vector<char>(kSignalStackBytes);
};

}  // namespace weft::arch::cpu
