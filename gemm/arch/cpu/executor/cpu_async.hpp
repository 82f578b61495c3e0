// The engines of a block while it runs: mbarriers, copies in flight, products in flight. Private to
// the runtime (cpu_*.cpp).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "weft/gemm/arch/cpu/executor/cpu_block.hpp"
#include "weft/gemm/arch/cpu/executor/cpu_engines.hpp"
#include "weft/gemm/arch/cpu/executor/cpu_sanitizers.hpp"

namespace weft::arch::cpu {

struct Mbarrier {
  uint32_t offset = 0;
  int count = 0;            // arrivals of a phase
  int pending = 0;          // arrivals still to come in this one
  int64_t tx = 0;           // bytes expected less bytes arrived
  int64_t phase = 0;        // how many have been completed
  bool fenced = false;      // the engines know of it
  bool dependency = false;  // who arrived had waited for earlier grids
  const Lane* initialiser = nullptr;
  Location init_at{};
  int waiter_count = 0;
  uint32_t waiting[kMaxWarps] = {};
  std::vector<int32_t> seen;  // by thread: the last phase that it saw end
  char token[2];              // by parity of the phase
};

// A copy in flight: of TMA, or some cp.async on their way to an arrival.
struct Copy {
  CopyWork work{};
  bool is_cp_async = false;
  CopyQueue queue;  // cp.async only
  void (*finish)(CopyQueue&) = nullptr;
  std::vector<SharedRange> unfenced;  // likewise
  Mbarrier* barrier = nullptr;
  Block* block = nullptr;  // of the barrier
  Lane* lane = nullptr;    // that issued it
  Location at{};
  bool dependency = false;
  char token;
};

// A store in flight: of TMA, from shared memory to global memory.
struct Store {
  CopyWork work{};
  Lane* lane = nullptr;
  Location at{};
  int64_t group = 0;  // of the lane's
  char token;
};

// One warp's share of the sums of a product: 16 rows.
struct Sums {
  void* registers[kWarpLanes];
  int n = 0;
  int in_flight = 0;
  int64_t group = 0;  // number of the group that the latest product belongs to
  WgmmaType type{};
  Location at{};                // of the latest product
  std::vector<uint32_t> value;  // [16][n]
};

struct Product {
  WgmmaWork work;
  Sums* sums = nullptr;
  // Where a is in registers: the lanes', and what they held when the product was issued, [8][16].
  const uint32_t* a_registers[kWarpLanes] = {};
  std::vector<uint32_t> a;
};

// Who works in an engine's name. For ThreadSanitizer that is a thread of its own, with a stack of
// its own: on a lane's, the engine's locals would race with the lane's.
class Engine {
 public:
  Engine() = default;
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Calls f(), which must not fail nor switch to a lane. `name` is shown in reports; %d in it is
  // the number.
  template <class Functor>
  void Run(const char* name, int number, Functor f) {
    if (UnderTsan()) {
      RunOnOwnStack(name, number, [](void* p) { (*static_cast<Functor*>(p))(); }, &f);
    } else {
      f();
    }
  }

  // What it did so far happens before the acquires of the token that follow.
  void ReleaseTo(void* token);

 private:
  void RunOnOwnStack(const char* name, int number, void (*call)(void*), void* argument);

  void* tsan_fiber_ = nullptr;
  char* stack_ = nullptr;
};

// A warp's view of its tensor core: products are made in the order of their issue.
struct TensorCore {
  std::deque<Product> products;  // not made yet
  std::deque<int> groups;        // committed: how many products each still has
  int uncommitted = 0;           // products at the queue's end
  int64_t committed = 0;         // groups so far
  std::vector<std::unique_ptr<Sums>> sums;
  bool fenced = false;
  bool waits = false;  // the warp, until at most `wait_for` groups are left
  int wait_for = 0;
  int64_t issued = 0;
  Engine engine;
  WgmmaWork work;           // of the product being made
  std::vector<uint32_t> a;  // its operands, as the engine has read them
  std::vector<uint32_t> b;
  char issue_token;
  char done_token;
};

// What the four warps of a warpgroup have issued: they must agree.
struct WarpgroupLog {
  std::deque<uint64_t> entries;
  int64_t first = 0;
};

struct Async {
  bool deferred = true;
  bool poison = true;
  // A schedule lets an asynchronous unit do its work before it must once in so many decisions; with
  // 0 it never does.
  uint64_t early_one_in = 0;
  std::vector<std::unique_ptr<Mbarrier>> barriers;
  std::vector<std::unique_ptr<Copy>> copies;  // in flight, in the order of issue
  std::vector<std::unique_ptr<Copy>> spare;
  std::vector<std::unique_ptr<Store>> stores;  // likewise
  std::vector<SharedRange> handed_over;
  TensorCore tensor[kMaxWarps];
  WarpgroupLog warpgroups[kMaxWarps / 4];
  int registers[kMaxWarps];         // of a thread, by warp
  int registers_wanted[kMaxWarps];  // 0: the warp does not wait for registers
  int register_budget = 0;          // the sum over the warps
  Engine tma;

  void Reset(Block& block, const CpuOptions& options);
  void ReleaseTo(void* token);  // all engines
};

// cpu_mbarrier.cpp
// The barrier's phase ends if nothing is pending; those who wait then run. `lane` and `at` are who
// is to blame if more bytes have come than were expected.
void Settle(Block& block, Mbarrier& barrier, Lane* lane, Location at);
Mbarrier& FindMbarrier(Lane* lane, const MbarPlace& place, Location at);
void DescribeMbarriers(const Block& block, std::string* text);

// cpu_engines.cpp
bool EngineStep(Block& block, bool useful_only);
void CheckStoresAtExit(Lane* lane);
void LandValues(Block& block);  // those of StoreRemoteAsync, which need their sender no more

// cpu_wgmma.cpp
bool TensorStep(Block& block, int warp, bool useful_only);
void CheckTensorAtExit(Lane* lane);

}  // namespace weft::arch::cpu
