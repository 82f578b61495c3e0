// Counting the bank conflicts of LoadShared and StoreShared, and the sectors of global memory that
// lanes touch.
//
// Lanes run one after the other, so what the hardware executes as one instruction of a warp comes
// in pieces. Each lane keeps a log; afterwards the n-th execution of a source line by each lane of
// a warp is taken for one instruction.
#include <algorithm>
#include <map>
#include <tuple>

#include "weft/gemm/arch/cpu/executor/cpu_block.hpp"

namespace weft::arch::cpu {
namespace {

constexpr size_t kMostLogged = 1024;  // per lane and kind: a mainloop repeats itself
constexpr int kBanks = 32;            // each four bytes wide
constexpr int kSectorBytes = 32;      // the least that memory moves

// One warp-wide instruction: the addresses of the lanes that executed it.
struct Instruction {
  int bytes = 0;
  uint32_t lanes = 0;
  uint64_t address[kWarpLanes] = {};
};

// Serves the lanes in groups whose accesses make up 128 bytes; each group takes as many wavefronts
// as the busiest bank has different words to deliver. Lanes that want the same word share it.
void CountConflicts(const Instruction& instruction, CpuStats* stats) {
  const int words = std::max(instruction.bytes / 4, 1);
  const int group = kWarpLanes / words;
  for (int first = 0; first < kWarpLanes; first += group) {
    uint64_t wanted[kWarpLanes];
    int count = 0;
    for (int lane = first; lane < first + group; ++lane) {
      if ((instruction.lanes >> lane & 1) == 0) continue;
      for (int w = 0; w < words; ++w) wanted[count++] = instruction.address[lane] / 4 + w;
    }
    if (count == 0) continue;
    std::sort(wanted, wanted + count);
    count = static_cast<int>(std::unique(wanted, wanted + count) - wanted);
    int load[kBanks] = {};
    int most = 0;
    for (int i = 0; i < count; ++i) most = std::max(most, ++load[wanted[i] % kBanks]);
    ++stats->shared_phases;
    stats->shared_wavefronts += most;
  }
}

// An access is aligned to its size, so that it lies in one sector.
void CountSectors(const Instruction& instruction, GlobalTraffic* traffic) {
  uint64_t touched[kWarpLanes];
  int count = 0;
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if ((instruction.lanes >> lane & 1) == 0) continue;
    touched[count++] = instruction.address[lane] / kSectorBytes;
  }
  traffic->sampled_bytes += int64_t{count} * instruction.bytes;
  std::sort(touched, touched + count);
  traffic->sampled_sectors += std::unique(touched, touched + count) - touched;
}

void Log(std::vector<Access>& accesses, uint64_t address, int bytes, bool is_store, Location at) {
  if (accesses.size() >= kMostLogged) return;
  accesses.push_back({.file = at.file_name(),
                      .line = at.line(),
                      .column = at.column(),
                      .address = address,
                      .bytes = static_cast<int16_t>(bytes),
                      .is_store = is_store});
}

// count(instruction, to) for each of the warps' instructions that the logs' `accesses` make.
template <class To, class CountOne>
void Count(const std::vector<AccessLog>& logs, std::vector<Access> AccessLog::* accesses, To* to,
           CountOne count) {
  using Source = std::tuple<const char*, uint32_t, uint32_t, int, bool>;
  for (size_t base = 0; base < logs.size(); base += kWarpLanes) {
    std::map<Source, std::vector<Instruction>> instructions;
    const size_t lanes = std::min<size_t>(kWarpLanes, logs.size() - base);
    for (size_t lane = 0; lane < lanes; ++lane) {
      std::map<Source, size_t> executed;
      for (const Access& access : logs[base + lane].*accesses) {
        const Source source{access.file, access.line, access.column, access.bytes, access.is_store};
        const size_t n = executed[source]++;
        std::vector<Instruction>& of_line = instructions[source];
        if (of_line.size() <= n) of_line.resize(n + 1);
        Instruction& instruction = of_line[n];
        instruction.bytes = access.bytes;
        instruction.lanes |= 1u << lane;
        instruction.address[lane] = access.address;
      }
    }
    for (const auto& [source, of_line] : instructions) {
      for (const Instruction& instruction : of_line) count(instruction, to);
    }
  }
}

}  // namespace

void LogSharedAccess(Lane* lane, uint32_t address, int bytes, bool is_store, Location at) {
  Log(lane->access_log->shared, address, bytes, is_store, at);
}

void LogGlobalAccess(Lane* lane, const void* p, int bytes, bool is_store, Location at) {
  AccessLog& log = *lane->access_log;
  Log(is_store ? log.stores : log.loads, reinterpret_cast<uintptr_t>(p), bytes, is_store, at);
}

void CountAccesses(const std::vector<AccessLog>& logs, CpuStats* stats) {
  Count(logs, &AccessLog::shared, stats, CountConflicts);
  Count(logs, &AccessLog::loads, &stats->global_loads, CountSectors);
  Count(logs, &AccessLog::stores, &stats->global_stores, CountSectors);
}

}  // namespace weft::arch::cpu
