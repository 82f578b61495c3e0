// The engines of sm_90 seen from a kernel's thread: what cpu_hopper.hpp asks of the runtime.
//
// TMA and tensor cores are pseudo-lanes of the block: they work when the schedule lets
// them, after the instruction that asked for it and, unless copies are eager, as late as the
// program allows. They see an image of shared memory of their own, `Lane::async_base`.
//
// The runtime is never instrumented (cpu_lane.hpp), so what an engine does to the kernel's memory
// is a function from the kernel's translation unit that the runtime calls in the engine's name.
#pragma once

#include <cstddef>
#include <cstdint>

#include "weft/gemm/arch/cpu/executor/cpu_lane.hpp"
#include "weft/gemm/arch/isa/wgmma.hpp"

namespace weft::arch::cpu {

// Shared addresses of another block of the cluster: rank + 1 above the bits of the address.
inline constexpr int kClusterRankShift = 20;

// --- mbarriers. `word` is what shared memory holds at `offset` of the barrier's block. -----------

struct MbarPlace {
  Block* block;
  uint32_t offset;
  uint64_t word;
};

// The word to be stored there.
uint64_t MbarInit(Lane* lane, uint32_t offset, uint64_t old_word, int count, Location at);
void FenceMbarInit(Lane* lane);
// `tx_bytes` > 0: the phase also waits for as many bytes.
void MbarArrive(Lane* lane, const MbarPlace& place, int tx_bytes, Location at);
void MbarWait(Lane* lane, const MbarPlace& place, int parity, Location at);
void MbarPassed(Lane* lane, const MbarPlace& place, Location at);

// --- TMA ---------------------------------------------------------------------------------

struct CopyWork {
  TensorMapSpec spec;  // used if `source` is null
  const char* source;  // of a bulk copy
  bool is_value;       // of 16 bytes, that `coordinate` holds
  int32_t coordinate[5];
  uint16_t offset[3];  // of im2col
  uint32_t target;     // offset in the shared memory of the block that receives
  uint32_t bytes;      // written, and reported to the barrier
  char* generic;       // that block's two images
  char* async;
  void (*poison)(const CopyWork& work);   // fills the target with garbage
  void (*perform)(const CopyWork& work);  // fills it with what is to come
};

void IssueCopy(Lane* lane, const MbarPlace& barrier, const CopyWork& work, Location at);

// A store of TMA. `work` reads `bytes` bytes from `target` on of the engines' image. The lane's stores
// since its last CommitStores are a group, and WaitForStores waits until at most `groups` of its groups
// have not been read; unless copies are eager, the oldest others are read only then.
void IssueStore(Lane* lane, const CopyWork& work, Location at);
void CommitStores(Lane* lane);
void WaitForStores(Lane* lane, int groups);

// The lane's cp.async in flight; they arrive at the barrier when done. `finish` moves their bytes.
void IssueCpAsyncArrive(Lane* lane, const MbarPlace& barrier, void (*finish)(CopyQueue&),
                        Location at);

// --- Proxies -------------------------------------------------------------------------------------

// What the lane has written and not fenced is for others to fence from here on: it synchronises.
void HandOverWrites(Lane* lane);
inline void HandOver(Lane* lane) {
  if (lane->async != nullptr && !lane->unfenced.empty()) HandOverWrites(lane);
}
// Hands those bytes to the engines without a race being seen: they are of all lanes, also of those
// that this one has not synchronised with.
void PublishHandedOver(Lane* lane);

// --- Tensor cores: by whole warps
// -----------------------------------------------------------------

struct WgmmaWork {
  WgmmaType type;
  int n;
  uint64_t a;  // descriptors
  uint64_t b;
  const uint32_t* a_registers;  // or this lane's four registers of a, and a is 0
  bool a_mn_major;
  bool b_mn_major;
  bool accumulate;  // onto the sums there are; else onto zeros
  // Reads 16 rows of a, unless it is in registers, from `first_row` on, and all n rows of b: 8 words a
  // row, out[word][row].
  void (*gather)(const WgmmaWork& work, const char* async, int first_row, uint32_t* a, uint32_t* b);
};

void Wgmma(Lane* lane, void* sums, const WgmmaWork& work, Location at);
void WgmmaFence(Lane* lane, Location at);
void WgmmaCommit(Lane* lane, Location at);
void WgmmaWait(Lane* lane, int groups_in_flight, Location at);

// --- Registers, clusters, dependent launch -------------------------------------------------------

void SetMaxReg(Lane* lane, int registers, bool increase, Location at);

struct Peer {
  Block* block;
  char* generic;
  char* async;
  uint32_t offset;
};

// The memory behind the cluster's shared addresses [addr, addr + bytes), of whichever block.
Peer FindPeer(Lane* lane, uint32_t addr, size_t bytes, Location at);
int ClusterRank(const Lane* lane);
int ClusterSize(const Lane* lane);
void ClusterArrive(Lane* lane, Location at);
void ClusterWait(Lane* lane, Location at);

void WaitForEarlierGrids(Lane* lane);
uint32_t Elect(Lane* lane, Location at);  // a mask of one lane

}  // namespace weft::arch::cpu
