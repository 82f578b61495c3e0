// The CPU executor seen from a kernel's thread: the Lane that a Thread points to, and the services
// of the runtime (cpu_*.cpp) it calls.
//
// The runtime is compiled without sanitizers. Accesses to memory that belong to the kernel are
// therefore never made there but inline in cpu_thread.hpp and cpu_copies.hpp, with the kernel's own
// compiler flags, so that AddressSanitizer and ThreadSanitizer see them in the right lane's name.
// For the same reason the runtime's files must not include cpu_thread.hpp: the linker could pick
// their uninstrumented copies of its functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <vector>

#include "weft/gemm/arch/cpu/executor/cpu_copies.hpp"
#include "weft/gemm/arch/isa/backend.hpp"
#include "weft/layouts/element/complex.hpp"

namespace weft::arch::cpu {

// Where in the kernel an operation was called from.
using Location = std::source_location;

// The first shared address of every block: an offset from the window's start taken for an address
// is out of the window and noticed.
inline constexpr uint32_t kSharedWindow = 1024;

// The operations that can stop a lane; for messages and for telling collectives apart.
enum class Operation : uint8_t {
  kNone,  // has not waited yet
  kNotStarted,
  kExited,
  kBarrierSync,
  kBarrierArrive,
  kSyncWarp,
  kShuffle,
  kBallot,
  kLdMatrixX1,
  kLdMatrixX2,
  kLdMatrixX4,
  kMmaM16N8K32S8,
  kMmaM16N8K32U8S8,
  kMmaM8N8K16S8,
  kMmaM8N8K16U8S8,
  kMmaM16N8K16F16,
  kMmaM16N8K16Bf16,
  kMmaM16N8K8F16,
  kMmaM16N8K8Tf32,
  kMmaM16N8K32E4m3,
  kMmaM16N8K32E5m2,
  kMmaM16N8K16F16HalfSums,
  kMmaM16N8K8F64,
  kStMatrix,
  kElect,
  kMbarWait,
  kWgmma,
  kWgmmaFence,
  kWgmmaCommit,
  kWgmmaWait,
  kSetMaxReg,
  kClusterArrive,
  kClusterWait,
};

// Bytes of the block's shared memory, from its start.
struct SharedRange {
  uint32_t offset;
  uint32_t bytes;
};

struct AccessLog;
struct Async;
struct Block;
struct Lane;
struct Warp;

// A suspended flow of control: a lane, or the worker that runs its block.
struct Context {
  void* fcontext = nullptr;         // where to jump to; valid while suspended
  const void* stack_low = nullptr;  // lowest address of the stack, and its size in bytes
  size_t stack_bytes = 0;
  void* asan_fake_stack = nullptr;
  void* tsan_fiber = nullptr;
  Lane* target = nullptr;  // the lane that this flow has switched to
};

// One thread of a block. Lanes are pooled: everything here is set anew for each block.
struct Lane {
  Context context;

  int tid = 0;
  int lane = 0;
  int warp = 0;
  int thread_count = 0;
  Dim3 block_index{};  // each from 0
  Dim3 grid{};

  char* shared_base = nullptr;
  size_t shared_bytes = 0;

  // The random schedule may switch lanes at every operation, not only where one has to wait.
  bool preemptive = false;
  AccessLog* access_log = nullptr;  // null unless this block's accesses are counted
  int64_t loaded_bytes = 0;         // of global memory, so far
  int64_t stored_bytes = 0;
  int64_t bulk_bytes = 0;  // asked of TMA

  CopyQueue copies;

  // Of kernels for sm_90 (else null): the block's engines, and the image of its shared memory that
  // they see. What the lane writes reaches that image by FenceProxyAsync only; `unfenced` lists the
  // bytes it has written since.
  Async* async = nullptr;
  char* async_base = nullptr;
  std::vector<SharedRange> unfenced;
  int64_t store_groups = 0;  // of stores of TMA, committed so far

  // False until the lane, or one that it has synchronised with, has waited for earlier grids.
  bool dependency_met = true;
  bool dependent = false;  // the launch may overlap with earlier grids

  Lane* const* warps = nullptr;  // warps[w]: the lanes of warp w; for debuggers (cpu_lanes.gdb)
  Block* block = nullptr;
  Warp* warp_state = nullptr;
  // What the lane waits in, or waited in last if it can run.
  Operation waiting_in = Operation::kNone;
  int waiting_key = 0;  // of a barrier: its id
  Location waiting_at{};
};

// Ends the launch: reports `rule` (a sentence without a full stop) with the lane, its block and
// `at`, and where every other lane of the block stands. Nothing in this block runs any further.
[[noreturn]] void Fail(Lane* lane, Location at, const char* rule);

// Lets another lane run now and then; for preemptive schedules.
void Preempt(Lane* lane);

void BarrierSync(Lane* lane, int id, int threads, Location at);  // threads < 0: the whole block
void BarrierArrive(Lane* lane, int id, int threads, Location at);
void SyncWarp(Lane* lane, uint32_t mask, Location at);

// The bits that `source_lane` passed; a recognisable garbage if it does not take part.
uint64_t Shuffle(Lane* lane, uint32_t mask, uint64_t bits, int source_lane, Location at);
uint32_t Ballot(Lane* lane, uint32_t mask, bool pred, Location at);

// `row` holds the 16 bytes at this lane's `address`; `r` receives `matrices` (1, 2 or 4) registers.
// Transposed: register i is of the transpose of matrix i.
void LdMatrix(Lane* lane, uint32_t* r, int matrices, bool transposed, const uint32_t* row,
              uint32_t address, Location at);
// The other way round: `row` receives the 16 bytes for this lane's `address`.
void StMatrix(Lane* lane, const uint32_t* r, int matrices, bool transposed, uint32_t* row,
              uint32_t address, Location at);

void MmaM16N8K32(Lane* lane, bool unsigned_a, int32_t* d, const uint32_t* a, const uint32_t* b,
                 const int32_t* c, Location at);
void MmaM8N8K16(Lane* lane, bool unsigned_a, int32_t* d, uint32_t a, uint32_t b, const int32_t* c,
                Location at);
// One of the products of floats into floats.
void MmaFloats(Lane* lane, Operation operation, float* d, const uint32_t* a, const uint32_t* b,
               const float* c, Location at);
void MmaM16N8K16F16HalfSums(Lane* lane, uint32_t* d, const uint32_t* a, const uint32_t* b,
                            const uint32_t* c, Location at);
void MmaM16N8K8F64(Lane* lane, double* d, const double* a, const double* b, const double* c,
                   Location at);

// acc[i * n + j] = fma (of complex numbers MulAdd)(a[i], b[j], acc[i * n + j]).
void FmaOuter(float* acc, const float* a, const float* b, int m, int n);
void FmaOuter(double* acc, const double* a, const double* b, int m, int n);
void FmaOuter(Complex<float>* acc, const Complex<float>* a, const Complex<float>* b, int m, int n);
void FmaOuter(Complex<double>* acc, const Complex<double>* a, const Complex<double>* b, int m,
              int n);

// acc[i * n + j] += the dot product of the four signed bytes of a[i] and b[j].
void Dp4aOuter(bool unsigned_a, int32_t* acc, const uint32_t* a, const uint32_t* b, int m, int n);

// Ends the launch unless the lane may read [p, p + bytes) (or write it) before it has waited for
// earlier grids.
void CheckEarlyAccess(Lane* lane, const void* p, size_t bytes, bool is_store, Location at);

// Ends the launch unless the range is constant in this dependent launch.
void CheckReadOnlyLoad(Lane* lane, const void* p, size_t bytes, Location at);

// Notes one access for the counts of bank conflicts, or of sectors.
void LogSharedAccess(Lane* lane, uint32_t address, int bytes, bool is_store, Location at);
void LogGlobalAccess(Lane* lane, const void* p, int bytes, bool is_store, Location at);

}  // namespace weft::arch::cpu
