// What one block needs to run: stacks, lanes, shared memory. Kept from block to block and from
// launch to launch. Private to the runtime (cpu_*.cpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "weft/gemm/arch/cpu/executor/cpu_async.hpp"
#include "weft/gemm/arch/cpu/executor/cpu_block.hpp"

namespace weft::arch::cpu {

class Slot {
 public:
  Slot() = default;
  ~Slot();
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  // Prepares the block at `at` of the grid and makes it the cluster's next. False: out of memory.
  bool StartBlock(const GridLaunch& launch, const CpuOptions& options, Dim3 at, Cluster* cluster);
  // After the cluster has run: what CpuReport::error says about this block.
  std::string EndBlock();
  // The lanes of a cluster that failed, so that the next block can use their stacks.
  void Abandon();

  // Whether the address is in a guard: no signal handler may do more than compare.
  bool IsBehindStack(const void* address) const;
  size_t stack_bytes() const { return stack_bytes_; }

  Block& block() { return block_; }
  // The counts since the last call.
  CpuStats TakeStats() { return std::exchange(block_.stats, CpuStats{}); }

 private:
  bool Reserve(const GridLaunch& launch, size_t stack_bytes);
  size_t WarpStacks() const;
  void FreeWarps();
  bool AddWarp();
  void FillShared(uint64_t seed, bool poison);
  bool SharedFenceIntact() const;

  // In chunks of a warp, so that growing moves nothing.
  std::vector<std::unique_ptr<Lane[]>> lanes_;
  std::vector<Lane*> warp_lanes_;  // the same, for Lane::warps
  std::vector<char*> stacks_;      // the memory behind each chunk's stacks
  size_t stack_bytes_ = 0;         // of one stack
  std::unique_ptr<Warp[]> warps_;
  std::vector<AccessLog> logs_;
  bool logs_accesses_ = false;

  char* arena_ = nullptr;  // the shared memory, between two fences
  size_t arena_bytes_ = 0;
  size_t shared_bytes_ = 0;
  char* async_image_ = nullptr;  // the engines' view of it
  size_t async_bytes_ = 0;
  std::unique_ptr<Async> async_;

  Block block_;
};

}  // namespace weft::arch::cpu
