// What an OS thread needs to run blocks, kept from block to block and from launch to launch.
// Private to the runtime (cpu_*.cpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "weft/gemm/arch/cpu_block.hpp"

namespace weft::arch::cpu {

class Worker {
 public:
  Worker() = default;
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Runs block number `index` of the grid (x fastest). Returns what CpuReport::error says.
  std::string RunBlock(const GridLaunch& launch, const CpuOptions& options, int64_t index);

  // The counts since the last call.
  CpuStats TakeStats();

  // From the pool of idle workers, or new; and back.
  static std::unique_ptr<Worker> Take();
  static void Give(std::unique_ptr<Worker> worker);

 private:
  bool Reserve(int threads, size_t shared_bytes);  // false: out of memory
  bool AddWarp();
  void StartBlock(const GridLaunch& launch, const CpuOptions& options, int64_t index);
  void FillShared(uint64_t seed, bool poison);
  bool SharedFenceIntact() const;
  void Abandon();  // the lanes of a failed block, so that the next block can use their stacks

  // In chunks of a warp, so that growing moves nothing.
  std::vector<std::unique_ptr<Lane[]>> lanes_;
  std::vector<Lane*> warp_lanes_;  // the same, for Lane::warps
  std::vector<char*> stacks_;      // the memory behind each chunk's stacks
  std::unique_ptr<Warp[]> warps_;
  std::vector<AccessLog> logs_;

  char* arena_ = nullptr;  // the shared memory, between two fences
  size_t arena_bytes_ = 0;
  size_t shared_bytes_ = 0;

  Block block_;
};

}  // namespace weft::arch::cpu
