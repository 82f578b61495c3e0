// Warpgroup products. Each warp is served on its own: it issues, its tensor core makes the products
// of its 16 rows later, in order, and its sums are garbage until it has waited for them.
#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "weft/gemm/arch/cpu/executor/cpu_async.hpp"
#include "weft/gemm/arch/cpu/instructions/cpu_collectives.hpp"
#include "weft/gemm/arch/cpu/instructions/cpu_dot.hpp"
#include "weft/gemm/arch/cpu/instructions/cpu_floats.hpp"

namespace weft::arch::cpu {
namespace {

constexpr int kRows = 16;  // of a warp
constexpr int kWords = 8;  // of a row
constexpr int kMostN = 256;

// What registers hold while the product that will write them is in flight: a NaN as a float.
uint32_t Garbage(int lane, int r) {
  return 0x7FC5A5A5u ^ static_cast<uint32_t>(lane << 8 | r);
}

// The place of register r of a lane in the warp's 16 rows of n sums, the same for every n.
int SumIndex(int n, int lane, int r) {
  const FragmentPlace place = kWgmmaAccumulator<kMostN>.place[lane][r];
  return place.row * n + place.word;
}

template <class Visit>  // visit(register of a lane, its garbage, its sum)
void ForEachRegister(Sums& sums, Visit visit) {
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    auto* registers = static_cast<uint32_t*>(sums.registers[lane]);
    for (int r = 0; r < sums.n / 2; ++r) {
      visit(registers[r], Garbage(lane, r), sums.value[SumIndex(sums.n, lane, r)]);
    }
  }
}

bool Untouched(Sums& sums) {
  bool untouched = true;
  ForEachRegister(sums,
                  [&](uint32_t& r, uint32_t garbage, uint32_t&) { untouched &= r == garbage; });
  return untouched;
}

// Whether each byte that the operand covers is in the block's window.
bool InWindow(uint64_t descriptor, bool mn_major, int rows, size_t shared_bytes) {
  const WgmmaLayout layout = WgmmaLayoutOf(descriptor);
  const uint32_t start = WgmmaStart(descriptor);
  const uint64_t end = kSharedWindow + shared_bytes;
  for (int r = 0; r < rows; r += mn_major ? 8 : 1) {
    for (int k = 0; k < (mn_major ? 16 : 32); k += mn_major ? 1 : 16) {
      const uint32_t address = mn_major ? WgmmaMnMajorAddress(start, layout, r, k)
                                        : WgmmaKMajorAddress(start, layout, r, k);
      if (address < kSharedWindow || uint64_t{address} + 16 > end) return false;
    }
  }
  return true;
}

void CheckOperands(Lane* lane, const WgmmaWork& work, Location at) {
  const auto check = [&](const char* name, uint64_t descriptor, bool mn_major, int rows) {
    if ((descriptor >> 46 & 0xFFFF) != 0) {
      FailF(lane, at, "wgmma: the descriptor of %s has bits that Weft does not use (base offset?)",
            name);
    }
    if (!InWindow(descriptor, mn_major, rows, lane->shared_bytes)) {
      FailF(lane, at,
            "wgmma: operand %s (start %u, leading %u, stride %u, swizzle %d) reaches beyond the "
            "block's shared memory",
            name, WgmmaStart(descriptor), WgmmaLayoutOf(descriptor).leading,
            WgmmaLayoutOf(descriptor).stride, static_cast<int>(WgmmaLayoutOf(descriptor).swizzle));
    }
  };
  if (work.a_registers == nullptr) check("a", work.a, work.a_mn_major, 64);
  check("b", work.b, work.b_mn_major, work.n);
}

// The four warps of a warpgroup issue the same products.
void CheckAgreement(Block& block, const Warp& warp, const WgmmaWork& work, Location at) {
  Lane* lane = &warp.lanes[0];
  constexpr uint64_t kMix = 0x9E3779B97F4A7C15ull;
  uint64_t hash = work.a * kMix ^ std::rotl(work.b, 23);
  hash = (hash ^ static_cast<uint64_t>(work.n) << 8 ^ static_cast<uint64_t>(work.type) ^
          static_cast<uint64_t>(work.accumulate) << 20 ^
          uint64_t{work.a_registers != nullptr} << 21 ^ uint64_t{at.line()} << 32) *
         kMix;
  WarpgroupLog& log = block.async->warpgroups[warp.index / 4];
  TensorCore* group = &block.async->tensor[warp.index / 4 * 4];
  const int64_t index = group[warp.index % 4].issued++;
  if (index == log.first + static_cast<int64_t>(log.entries.size())) {
    log.entries.push_back(hash);
  } else if (log.entries[static_cast<size_t>(index - log.first)] != hash) {
    FailF(lane, at,
          "divergence: the warps of warpgroup %d issue different products (product %lld differs in "
          "descriptors, shape, scale or line)",
          warp.index / 4, static_cast<long long>(index));
  }
  int64_t all = group[0].issued;
  for (int i = 1; i < 4; ++i) all = std::min(all, group[i].issued);
  for (; log.first < all; ++log.first) log.entries.pop_front();
}

Sums& FindSums(Block& block, Warp& warp, TensorCore& core, const WgmmaWork& work, Location at) {
  for (const auto& sums : core.sums) {
    if (sums->registers[0] != warp.result[0]) continue;
    if (sums->n != work.n || sums->type != work.type) {
      FailF(&warp.lanes[0], at,
            "wgmma: these sums are those of a product of another shape in flight; WgmmaWait first");
    }
    if (block.async->poison && !Untouched(*sums)) {
      FailF(&warp.lanes[0], at, "wgmma: sums were written while the product at %s:%u was in flight",
            sums->at.file_name(), static_cast<unsigned>(sums->at.line()));
    }
    return *sums;
  }
  if (!core.fenced) {
    FailF(
        &warp.lanes[0], at,
        "wgmma: WgmmaFence is missing between the last use of the sums and the first product onto "
        "them");
  }
  core.sums.push_back(std::make_unique<Sums>());
  Sums& sums = *core.sums.back();
  sums.n = work.n;
  sums.type = work.type;
  sums.value.resize(static_cast<size_t>(kRows) * work.n);
  std::copy(warp.result, warp.result + kWarpLanes, sums.registers);
  ForEachRegister(sums, [&](uint32_t& r, uint32_t garbage, uint32_t& value) {
    value = r;
    if (block.async->poison) r = garbage;
  });
  return sums;
}

void Multiply(const WgmmaWork& work, const uint32_t* a, const uint32_t* b, Sums* sums) {
  if (!work.accumulate) std::fill(sums->value.begin(), sums->value.end(), 0u);
  if (IsBytes(work.type)) {
    const DotSigns signs = work.type == WgmmaType::kS8 ? DotSigns::kBoth : DotSigns::kOnlyA;
    AddDotProducts(signs, reinterpret_cast<int32_t*>(sums->value.data()), a, b, kRows, work.n,
                   kWords);
  } else {
    AddFloatProducts(work.type, sums->value.data(), a, b, kRows, work.n, kWords);
  }
}

// Gives the sums to their registers.
void Reveal(Block& block, Warp& warp, TensorCore& core, Sums* sums) {
  if (block.async->poison && !Untouched(*sums)) {
    FailF(&warp.lanes[0], sums->at,
          "wgmma: sums were written before WgmmaWait, while this product was in flight");
  }
  ForEachRegister(*sums, [](uint32_t& r, uint32_t, uint32_t value) { r = value; });
  std::erase_if(core.sums, [&](const auto& other) { return other.get() == sums; });
}

// Groups that are done.
void Retire(TensorCore& core) {
  while (!core.groups.empty() && core.groups.front() == 0) core.groups.pop_front();
}

// Notes what the lanes hold of a.
void NoteRegisters(const Warp& warp, Product* product) {
  product->a.resize(static_cast<size_t>(kRows) * kWords);
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    product->a_registers[lane] = static_cast<const WgmmaWork*>(warp.operand[0][lane])->a_registers;
    for (int r = 0; r < 4; ++r) {
      const FragmentPlace place = kMmaM16N8K32S8A.place[lane][r];
      product->a[static_cast<size_t>(place.word * kRows + place.row)] =
          product->a_registers[lane][r];
    }
  }
}
// The tensor core may read the registers as late as when it makes the product.
void CheckRegisters(Warp& warp, const Product& product) {
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    for (int r = 0; r < 4; ++r) {
      const FragmentPlace place = kMmaM16N8K32S8A.place[lane][r];
      if (product.a_registers[lane][r] ==
          product.a[static_cast<size_t>(place.word * kRows + place.row)]) {
        continue;
      }
      FailF(&warp.lanes[lane], product.sums->at,
            "wgmma: registers of operand a were written before WgmmaWait, while a product of them "
            "was in flight");
    }
  }
}

// The oldest product of the warp.
void MakeProduct(Block& block, Warp& warp, TensorCore& core) {
  Retire(core);
  if (core.products.front().work.a_registers != nullptr)
    CheckRegisters(warp, core.products.front());
  // It stays in the queue: a lane that fails leaves its stack as it is, with what that owns.
  Product& product = core.products.front();
  core.work = product.work;
  core.a.resize(kWords * kRows);
  core.b.resize(kWords * kMostN);
  core.engine.Run("tensor core of warp %d", warp.index, [&] {
    Acquire(&core.issue_token);
    core.work.gather(core.work, warp.lanes[0].async_base, warp.index % 4 * kRows, core.a.data(),
                     core.b.data());
    Release(&core.done_token);
  });
  const uint32_t* a = product.work.a_registers != nullptr ? product.a.data() : core.a.data();
  Multiply(product.work, a, core.b.data(), product.sums);
  ++block.stats.wgmma;
  --product.sums->in_flight;
  core.products.pop_front();
  if (!core.groups.empty()) {
    --core.groups.front();
  } else {
    --core.uncommitted;
  }
}

// The warp has waited: the sums that this promises appear. Others may be complete too, but a
// program cannot know.
void RevealPromised(Block& block, Warp& warp, TensorCore& core) {
  for (size_t i = 0; i < core.sums.size();) {
    Sums* sums = core.sums[i].get();
    if (sums->group >= core.committed - core.wait_for) {
      ++i;
    } else {
      Reveal(block, warp, core, sums);
    }
  }
  if (core.sums.empty()) core.fenced = false;
}

bool Satisfied(const TensorCore& core) {
  return static_cast<int>(core.groups.size()) <= core.wait_for;
}

TensorCore& CoreOf(Block& block, const Warp& warp) {
  return block.async->tensor[warp.index];
}

bool IssueProduct(Block& block, Warp& warp, const Collective& collective) {
  const Unseen unseen;
  TensorCore& core = CoreOf(block, warp);
  const auto& work = *static_cast<const WgmmaWork*>(warp.operand[0][0]);
  for (int l = 1; l < kWarpLanes; ++l) {
    const auto& other = *static_cast<const WgmmaWork*>(warp.operand[0][l]);
    if (other.a != work.a || other.b != work.b || other.accumulate != work.accumulate) {
      FailF(&warp.lanes[l], collective.at,
            "divergence: the lanes of a warp give different descriptors to wgmma");
    }
  }
  CheckOperands(&warp.lanes[0], work, collective.at);
  CheckAgreement(block, warp, work, collective.at);
  if (work.a_registers != nullptr && !core.fenced) {
    FailF(&warp.lanes[0], collective.at,
          "wgmma: WgmmaFence is missing between the last use of the registers of operand a and a "
          "product of them");
  }
  Sums& sums = FindSums(block, warp, core, work, collective.at);
  sums.at = collective.at;
  sums.group = core.committed;
  ++sums.in_flight;
  core.products.push_back({work, &sums, {}, {}});
  if (work.a_registers != nullptr) NoteRegisters(warp, &core.products.back());
  ++core.uncommitted;
  if (!block.async->deferred) MakeProduct(block, warp, core);
  return true;
}

bool StartWait(Block& block, Warp& warp, const Collective& collective) {
  const Unseen unseen;
  TensorCore& core = CoreOf(block, warp);
  core.wait_for = collective.key;
  Retire(core);
  if (!Satisfied(core)) {
    core.waits = true;  // TensorStep wakes the warp
    return false;
  }
  RevealPromised(block, warp, core);
  return true;
}

void RequireWarpgroup(Lane* lane, Operation operation, Location at) {
  const int end = (lane->warp / 4 + 1) * 4 * kWarpLanes;
  if (lane->async != nullptr && lane->thread_count >= end) return;
  FailF(lane, at, "%s needs a kernel for sm_90 and a whole warpgroup of 128 threads",
        Name(operation));
}

}  // namespace

// Makes a product of the warp; with useful_only just if the warp waits for one.
bool TensorStep(Block& block, int index, bool useful_only) {
  const Unseen unseen;
  Warp& warp = block.warps[index];
  TensorCore& core = CoreOf(block, warp);
  if (core.products.empty() || (useful_only && !core.waits)) return false;
  MakeProduct(block, warp, core);
  Retire(core);
  if (core.waits && Satisfied(core)) {
    core.waits = false;
    RevealPromised(block, warp, core);
    MakeRunnable(block, warp, warp.population);
  }
  return true;
}

void Wgmma(Lane* lane, void* sums, const WgmmaWork& work, Location at) {
  RequireWarpgroup(lane, Operation::kWgmma, at);
  if (lane->preemptive) Preempt(lane);
  Warp& warp = *lane->warp_state;
  TensorCore& core = CoreOf(*lane->block, warp);
  warp.operand[0][lane->lane] = &work;
  warp.result[lane->lane] = sums;
  Release(&core.issue_token);
  Join(lane, Operation::kWgmma, work.n, ~0u, Convergence::kWarp, at, &IssueProduct);
}

void WgmmaFence(Lane* lane, Location at) {
  RequireWarpgroup(lane, Operation::kWgmmaFence, at);
  if (lane->preemptive) Preempt(lane);
  Join(lane, Operation::kWgmmaFence, 0, ~0u, Convergence::kWarp, at,
       [](Block& block, Warp& warp, const Collective&) {
         CoreOf(block, warp).fenced = true;
         return true;
       });
}

void WgmmaCommit(Lane* lane, Location at) {
  RequireWarpgroup(lane, Operation::kWgmmaCommit, at);
  Join(lane, Operation::kWgmmaCommit, 0, ~0u, Convergence::kWarp, at,
       [](Block& block, Warp& warp, const Collective&) {
         const Unseen unseen;
         TensorCore& core = CoreOf(block, warp);
         core.groups.push_back(core.uncommitted);
         core.uncommitted = 0;
         ++core.committed;
         return true;
       });
}

void WgmmaWait(Lane* lane, int groups_in_flight, Location at) {
  RequireWarpgroup(lane, Operation::kWgmmaWait, at);
  if (lane->preemptive) Preempt(lane);
  Join(lane, Operation::kWgmmaWait, groups_in_flight, ~0u, Convergence::kWarp, at, &StartWait);
  Acquire(&CoreOf(*lane->block, *lane->warp_state).done_token);
  if (lane->preemptive) Preempt(lane);
}

void CheckTensorAtExit(Lane* lane) {
  const TensorCore& core = CoreOf(*lane->block, *lane->warp_state);
  if (core.sums.empty()) return;
  FailF(lane, core.sums.front()->at,
        "wgmma: a lane returned from the kernel while this product is in flight (WgmmaWait is "
        "missing or too short, or the group was not committed)");
}

}  // namespace weft::arch::cpu
