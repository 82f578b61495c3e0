// Ending a launch whose kernel broke a rule, and saying how.
#include <bit>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "weft/gemm/arch/cpu/executor/cpu_async.hpp"
#include "weft/gemm/arch/cpu/executor/cpu_schedule.hpp"

namespace weft::arch::cpu {
namespace {

[[noreturn]] void Record(Lane* lane, Location at) {
  Failure& failure = lane->block->failure;
  failure.happened = true;
  failure.lane = lane;
  failure.at = at;
  Unseen::EndAll();
  LeaveToWorker(*lane->block);
}

std::string Where(Location at) {
  return std::string(at.file_name()) + ":" + std::to_string(at.line());
}

// What a lane does, such as "waits in SyncThreads at a.hpp:12".
std::string Standing(const Lane& lane) {
  if (lane.waiting_in == Operation::kNotStarted) return "has not started";
  if (lane.waiting_in == Operation::kExited) return "has returned from the kernel";
  if ((lane.warp_state->runnable >> lane.lane & 1) != 0) return "can run";
  std::string text = "waits in ";
  const int barrier = BarrierId(lane.waiting_key);
  if (lane.waiting_in == Operation::kBarrierSync && barrier != 0) {
    text += "barrier " + std::to_string(barrier);
  } else if (lane.waiting_in == Operation::kMbarWait) {
    text += "MbarWait (mbarrier at shared offset " + std::to_string(lane.waiting_key) + ")";
  } else {
    text += Name(lane.waiting_in);
  }
  return text + " at " + Where(lane.waiting_at);
}

void DescribeLanes(const Block& block, std::string* text) {
  for (int w = 0; w < block.warp_count; ++w) {
    const Warp& warp = block.warps[w];
    for (int first = 0; first < kWarpLanes;) {
      if ((warp.population >> first & 1) == 0) break;
      const std::string standing = Standing(warp.lanes[first]);
      int last = first;
      while (last + 1 < kWarpLanes && (warp.population >> (last + 1) & 1) != 0 &&
             Standing(warp.lanes[last + 1]) == standing) {
        ++last;
      }
      *text += "\n    warp " + std::to_string(w) +
               (first == last ? " lane " + std::to_string(first)
                              : " lanes " + std::to_string(first) + "-" + std::to_string(last)) +
               ": " + standing;
      first = last + 1;
    }
  }
}

void DescribeBarriers(const Block& block, std::string* text) {
  for (int id = 0; id < kBarriers; ++id) {
    const Barrier& barrier = block.barriers[id];
    if (barrier.arrived == 0) continue;
    *text += "\n    barrier " + std::to_string(id) + ": " + std::to_string(barrier.arrived) +
             " threads have arrived, it waits for " +
             (barrier.expected < 0 ? std::string("every warp of the block")
                                   : std::to_string(barrier.expected));
  }
}

}  // namespace

const char* Name(Operation operation) {
  switch (operation) {
    case Operation::kNone:
      return "nothing";
    case Operation::kNotStarted:
      return "start";
    case Operation::kExited:
      return "exit";
    case Operation::kBarrierSync:
      return "SyncThreads";
    case Operation::kBarrierArrive:
      return "BarArrive";
    case Operation::kSyncWarp:
      return "SyncWarp";
    case Operation::kShuffle:
      return "Shfl";
    case Operation::kBallot:
      return "Ballot";
    case Operation::kLdMatrixX1:
      return "LdMatrixX1";
    case Operation::kLdMatrixX2:
      return "LdMatrixX2";
    case Operation::kLdMatrixX4:
      return "LdMatrixX4";
    case Operation::kMmaM16N8K32S8:
      return "MmaM16N8K32S8";
    case Operation::kMmaM16N8K32U8S8:
      return "MmaM16N8K32U8S8";
    case Operation::kMmaM8N8K16S8:
      return "MmaM8N8K16S8";
    case Operation::kMmaM8N8K16U8S8:
      return "MmaM8N8K16U8S8";
    case Operation::kMmaM16N8K16F16:
      return "MmaM16N8K16F16";
    case Operation::kMmaM16N8K16Bf16:
      return "MmaM16N8K16Bf16";
    case Operation::kMmaM16N8K8F16:
      return "MmaM16N8K8F16";
    case Operation::kMmaM16N8K8Tf32:
      return "MmaM16N8K8Tf32";
    case Operation::kMmaM16N8K32E4m3:
      return "MmaM16N8K32E4m3";
    case Operation::kMmaM16N8K32E5m2:
      return "MmaM16N8K32E5m2";
    case Operation::kMmaM16N8K16F16HalfSums:
      return "MmaM16N8K16F16HalfSums";
    case Operation::kMmaM16N8K8F64:
      return "MmaM16N8K8F64";
    case Operation::kStMatrix:
      return "StMatrix";
    case Operation::kElect:
      return "ElectOne";
    case Operation::kMbarWait:
      return "MbarWait";
    case Operation::kWgmma:
      return "wgmma";
    case Operation::kWgmmaFence:
      return "WgmmaFence";
    case Operation::kWgmmaCommit:
      return "WgmmaCommit";
    case Operation::kWgmmaWait:
      return "WgmmaWait";
    case Operation::kSetMaxReg:
      return "SetMaxReg";
    case Operation::kClusterArrive:
      return "ClusterArrive";
    case Operation::kClusterWait:
      return "ClusterWait";
  }
  return "?";
}

void Fail(Lane* lane, Location at, const char* rule) {
  FailF(lane, at, "%s", rule);
}

void FailF(Lane* lane, Location at, const char* format, ...) {
  Failure& failure = lane->block->failure;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(failure.rule, sizeof(failure.rule), format, arguments);
  va_end(arguments);
  Record(lane, at);
}

void FailDeadlock(Lane* lane) {
  Block& block = *lane->block;
  constexpr char kRule[] = "deadlock: every lane of the block waits or has returned";
  // Report a lane that waits; the one that noticed may have returned.
  for (const Block* each : block.cluster->blocks) {
    for (int w = 0; w < each->warp_count && lane->waiting_in == Operation::kExited; ++w) {
      const uint32_t alive = each->warps[w].alive;
      if (alive != 0) lane = &each->warps[w].lanes[std::countr_zero(alive)];
    }
  }
  std::memcpy(lane->block->failure.rule, kRule, sizeof(kRule));
  Record(lane, lane->waiting_at);
}

std::string Describe(const Block& block) {
  const Failure& failure = block.failure;
  std::string text = failure.rule;
  text += "\n  at ";
  if (failure.lane != nullptr) text += Where(failure.at) + ", ";
  text += "block (" + std::to_string(block.index.x) + ", " + std::to_string(block.index.y) + ", " +
          std::to_string(block.index.z) + ")";
  if (failure.lane != nullptr) {
    text += ", warp " + std::to_string(failure.lane->warp) + ", lane " +
            std::to_string(failure.lane->lane);
    text += "\n  the lanes of the block stand here:";
    for (const Block* each : block.cluster->blocks) {
      if (block.cluster->blocks.size() > 1) {
        text += "\n   block of rank " + std::to_string(each->rank) + " of the cluster:";
      }
      DescribeLanes(*each, &text);
      DescribeBarriers(*each, &text);
      DescribeMbarriers(*each, &text);
    }
  }
  return text;
}

}  // namespace weft::arch::cpu
