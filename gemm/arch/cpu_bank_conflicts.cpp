// Counting the bank conflicts of LoadShared and StoreShared.
//
// Lanes run one after the other, so what the hardware executes as one instruction of a warp comes
// in pieces. Each lane keeps a log; afterwards the n-th execution of a source line by each lane of
// a warp is taken for one instruction.
#include <algorithm>
#include <map>
#include <tuple>

#include "weft/gemm/arch/cpu_block.hpp"

namespace weft::arch::cpu {
namespace {

constexpr size_t kMostLogged = 1024;  // per lane: a mainloop repeats itself
constexpr int kBanks = 32;            // each four bytes wide

// One warp-wide instruction: the addresses of the lanes that executed it.
struct Instruction {
  int bytes = 0;
  uint32_t lanes = 0;
  uint32_t address[kWarpLanes] = {};
};

// Serves the lanes in groups whose accesses make up 128 bytes; each group takes as many wavefronts
// as the busiest bank has different words to deliver. Lanes that want the same word share it.
void Count(const Instruction& instruction, CpuStats* stats) {
  const int words = std::max(instruction.bytes / 4, 1);
  const int group = kWarpLanes / words;
  for (int first = 0; first < kWarpLanes; first += group) {
    uint32_t wanted[kWarpLanes];
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

}  // namespace

void LogSharedAccess(Lane* lane, uint32_t address, int bytes, bool is_store, Location at) {
  std::vector<SharedAccess>& accesses = lane->access_log->accesses;
  if (accesses.size() >= kMostLogged) {
    lane->access_log = nullptr;
    return;
  }
  accesses.push_back({.file = at.file_name(),
                      .line = at.line(),
                      .column = at.column(),
                      .address = address,
                      .bytes = static_cast<int16_t>(bytes),
                      .is_store = is_store});
}

void CountBankConflicts(const std::vector<AccessLog>& logs, CpuStats* stats) {
  using Source = std::tuple<const char*, uint32_t, uint32_t, int, bool>;
  for (size_t base = 0; base < logs.size(); base += kWarpLanes) {
    std::map<Source, std::vector<Instruction>> instructions;
    const size_t lanes = std::min<size_t>(kWarpLanes, logs.size() - base);
    for (size_t lane = 0; lane < lanes; ++lane) {
      std::map<Source, size_t> executed;
      for (const SharedAccess& access : logs[base + lane].accesses) {
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
      for (const Instruction& instruction : of_line) Count(instruction, stats);
    }
  }
}

}  // namespace weft::arch::cpu
