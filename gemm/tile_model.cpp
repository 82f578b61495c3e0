#include "weft/gemm/tile_model.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "absl/strings/str_cat.h"
#include "weft/gemm/mbar_ring.hpp"
#include "weft/gemm/tile_model_parts.hpp"

namespace weft::gemm {
namespace {

using internal::kLanesPerClock;
using internal::Overlapped;

constexpr double kLaunch = 2.4;               // microseconds
constexpr double kSharedBytesPerClock = 128;  // of a multiprocessor

// What is fitted for each kind of mainloop.
struct Costs {
  double start_and_end;        // clocks of a block outside its main loop
  double latency;              // clocks from a global load to its use, and a barrier
  double warps_for_full_rate;  // of a multiprocessor
  double epilogue;             // instructions for an output
  double lone;                 // of a block's work that its own latency does not hide
};
constexpr Costs kSimtCosts = {1200.0, 730.0, 9.0, 27.0, 0.62};
constexpr Costs kSimtAsyncCosts = {1200.0, 730.0, 8.0, 27.0, 0.62};
constexpr Costs kMmaCosts = {1500.0, 920.0, 2.2, 18.0, 0.65};
constexpr double kMmaClocks = 1.23;      // of an mma_sm80 slice, TensorMacsPerClock alone = 1
constexpr double kL2BytesPerClock = 28;  // for a multiprocessor
constexpr double kCopy = 5.0;            // instructions for an asynchronous copy
constexpr double kMmaIssue = 1.05;       // of the instructions that come on top of mma_sm80's slice

bool IsSimt(const TileDescription& config) {
  return config.mainloop == Mainloop::kSimt || config.mainloop == Mainloop::kSimtAsync;
}

// Of a slice of k, in bytes: tensor cores multiply 16-bit elements at half the rate of int8.
double SliceBytes(const TileFacts& tile) {
  return double(tile.config.threadblock.k) * tile.element_bytes;
}

// int8 multiply-accumulates a clock of a multiprocessor's tensor cores; of doubles their bytes, too.
double TensorMacsPerClock(const TileFacts& tile, int compute_capability) {
  const TileDescription& config = tile.config;
  if (tile.element_bytes >= 8) {
    return (compute_capability < 90 ? 512.0 : 1024.0) / (tile.is_complex ? 2.0 : 1.0);
  }
  const bool small = config.instruction.m == 8;  // m8n8k16
  if (compute_capability < 80) return 1024.0;
  if (compute_capability == 80) return small ? 1024.0 : 2048.0;
  if (compute_capability < 90) return small ? 512.0 : 1024.0;
  // mma.sync reaches about 62% of what wgmma does.
  return small ? 1270.0 : 2540.0;
}

// Clocks of the work of one k slice of one block, at the multiprocessor's full rate.
double SimtSliceClocks(const TileFacts& tile, bool gathers) {
  const TileDescription& config = tile.config;
  const TileShape& t = config.threadblock;
  const double packets = t.k / config.instruction.k;  // each a dp4a or an fma for every output
  const double rate = tile.is_complex ? (tile.element_bytes == 2 * sizeof(float) ? 32.0 : 16.0)
                      : tile.element_bytes == sizeof(float) ? 128.0
                                                            : 64.0;
  // Shared-memory loads and loop overhead shrink as the thread's tile grows. Fitted to an H200; of fma
  // to the products of gemm_bench.
  const double each = config.mainloop == Mainloop::kSimtAsync ? 1.16
                      : config.instruction.k == 1             ? 1.7
                                                              : 1.28;
  const double arithmetic =
      t.m * t.n * packets / rate * (each + 1.0 / (config.thread.m * config.thread.n));
  // By asynchronous copies, of one element where k runs along memory.
  const auto copies = [&](bool lines) { return lines ? 1.0 : tile.element_bytes / 16.0; };
  const double copied =
      config.mainloop == Mainloop::kSimtAsync
          ? kCopy * t.k * (t.m * copies(tile.lines_a) + t.n * copies(tile.lines_b)) / kLanesPerClock
          : 0.0;
  const double gather = t.m * packets * (gathers ? 17.0 : 0.5) / kLanesPerClock;
  const double filter = t.n * packets * 0.1 / kLanesPerClock;
  return arithmetic + copied + gather + filter;
}

double MmaSliceClocks(const TileFacts& tile, int compute_capability) {
  const TileDescription& config = tile.config;
  const TileShape& t = config.threadblock;
  const TileShape& i = config.instruction;
  const double k = SliceBytes(tile), copies = k / config.alignment.src;  // for each row
  const double arithmetic =
      kMmaClocks * t.m * t.n * k / TensorMacsPerClock(tile, compute_capability);
  const double part = double(config.warp.k) / t.k;  // of the slice, where warps share it
  const double read =
      tile.threads / 32.0 * (config.warp.m + config.warp.n) * k * part;  // by ldmatrix
  const double brought = (t.m + t.n) * k;
  const double shared = (read + brought) / kSharedBytesPerClock;
  const double issue =
      ((t.m + t.n) * copies * kCopy + t.m * t.n * double(t.k) / (i.m * i.n * i.k) * 32.0) /
      kLanesPerClock;
  return std::max({arithmetic, shared, brought / kL2BytesPerClock}) + kMmaIssue * issue;
}

// Instructions for an output that stores of fewer than 8 channels add to an epilogue.
double NarrowStores(const TileFacts& tile) {
  if (IsSimt(tile.config)) return 0.0;
  const double channels = 8.0 * tile.config.alignment.dst / tile.dst_element_bits;
  return std::max(0.0, 8.0 / channels - 1.0);
}

int BlocksPerSm(const TileFacts& tile, const PlanCounts& counts, const arch::DeviceLimits& limits) {
  const std::int64_t shared =
      tile.shared_bytes + counts.shared_bytes + 1024;  // 1 KB of each block's is the system's
  const int by_registers =
      counts.blocks_by_registers > 0 ? counts.blocks_by_registers : tile.blocks_by_registers;
  return static_cast<int>(std::min<std::int64_t>(
      {std::int64_t{by_registers} * limits.registers_per_sm / 65536,
       limits.shared_memory_per_sm / shared, limits.max_threads_per_sm / tile.threads}));
}

// How the plan's blocks spread over the processors, `together` of which work on a tile: blocks,
// processors, useful, busy. *per_sm: tiles of the busiest, each its own or shared.
Prediction Spread(const PlanCounts& counts, int split, int processors, int together,
                  double* per_sm) {
  Prediction result;
  const double tiles = counts.blocks();
  *per_sm = std::ceil(tiles / std::max(1, processors / together));
  result.blocks = counts.blocks() * split;
  result.processors = processors;
  result.useful = counts.useful;
  result.busy = tiles * together / (*per_sm * processors);
  return result;
}

// Microseconds of a wgmma_sm90 kernel of strips (conv/strip_plan.hpp); their filters stay. Clocks are
// fitted to an H200: of an output, of a strip, and of a byte of one that threads copy.
double StripMicroseconds(const TileFacts& tile, const PlanCounts& counts, double per_sm,
                         const GpuFacts& gpu, Prediction* result) {
  constexpr double kLaunch = 2.2;
  constexpr double kOutput = 0.122, kStrip = 190.0, kCopiedByte = 0.08;
  const TileShape& t = tile.config.threadblock;
  const double products = counts.engine.last_steps * t.m * t.n / 128.0;
  const double others = kOutput * t.m * t.n + kStrip * t.m / tile.config.warp.m +
                        (counts.engine.copied ? kCopiedByte * counts.engine.stage_bytes : 0.0);
  const double compute = per_sm * std::max(products, others) / gpu.clock_mhz;
  const double memory = counts.bytes / gpu.bytes_per_us;
  result->memory_bound = memory > compute;
  return kLaunch + std::max(compute, memory);
}

// Clocks of a slice of which warps turn boxes (turned_matrices.hpp): 0 if there are none. Tf32's from four tiles of
// one product on an H100. Of bytes shared memory binds: lines of 128 bytes that products read, that are copied, and
// that are turned, each twice; a fifth more from four tiles of three products on an H100 and an H200.
double TurnClocks(const TileFacts& tile) {
  if (!tile.turned) return 0.0;
  const TileShape& t = tile.config.threadblock;
  const double rows = (tile.lines_a ? 0.0 : t.m) + (tile.lines_b ? 0.0 : t.n);
  if (tile.element_bytes == 1) {
    constexpr double kMore = 1.2;
    const double products = t.n / 64.0 * t.m + double(t.m) / tile.config.warp.m * t.n;
    return kMore * (products + t.m + t.n + 2.0 * rows);
  }
  constexpr double kOfSlice = 900.0, kOfBox = 190.0, kWarps = 2.0, kBoxRows = 32.0;
  return kOfSlice + kOfBox * rows / kBoxRows / kWarps;
}

// Clocks of a tile's columns that lie across k and are widened (held_columns.hpp), 0 if none are: a multiprocessor
// takes this long for a step of 64, of each warpgroup that multiplies by them. From three tiles of two products on an
// H100; a warpgroup alone (16 rows) waits for other things.
double WidenClocks(const TileFacts& tile, double steps) {
  constexpr double kOfStep = 130.0;
  const TileDescription& c = tile.config;
  const double sharers = double(c.threadblock.m) / c.warp.m;  // of the same columns
  const double groups = c.turns * sharers * c.threadblock.n / c.warp.n;
  if (!tile.loads_b || tile.lines_b || groups == 1.0) return 0.0;
  return steps * sharers * c.threadblock.n / 64.0 * kOfStep;
}

// Microseconds of a wgmma_sm90 kernel whose operands the copy engine brings. Its blocks stay and take
// one tile after the other. The constants, and those of CopyClocks, are fitted to an H200: the layers
// of anchors, detection and mobile1x1, every tile of perf/tiles.def, all batches. To two digits, since
// more make no better choices.
double WgmmaMicroseconds(const TileFacts& tile, const PlanCounts& counts, const GpuFacts& gpu,
                         Prediction* result) {
  // Microseconds from a kernel to the next one, which starts meanwhile; and more where that one's
  // blocks find no room before this one's end.
  constexpr double kLaunch = 1.4, kCrowded = 0.54;
  constexpr double kCopy = 150.0;        // clocks of a thread for a copy
  constexpr double kSlice = 250.0;       // clocks of a slice that a warpgroup waits for itself
  constexpr double kTurnSlice = 60.0;    // ... and where sets of warpgroups take turns
  constexpr double kRoundTrip = 1500.0;  // clocks from a stage's copies to its use, its own aside
  constexpr double kFixed = 880.0;       // clocks of an epilogue ...
  constexpr double kOutput = 2.6;        // ... and its instructions for an output
  // Of outputs of four bytes and more, that all blocks store at once, a clock. Those of two go through shared
  // memory as bytes do; that they take twice as long was not fitted.
  constexpr double kWideBytes = 17.0;
  constexpr double kMeet = 810.0;      // clocks of a cluster's blocks for one exchange ...
  constexpr double kExchanged = 16.0;  // ... and bytes a clock that each of them gets
  constexpr double kMemory = 1.2;      // of bytes_per_us: the L2 still holds some of the bytes
  constexpr double kNext = 0.58;       // of the lesser of computing and memory, which comes on top
  const TileDescription& config = tile.config;
  const TileShape& t = config.threadblock;
  const EngineCounts& e = counts.engine;
  const double tiles = counts.blocks(), together = config.blocks_per_sm, sms = gpu.limits.sm_count;
  // Clusters of 4 and 8 find less room than there are multiprocessors.
  const int split = config.split;
  const double places = split == 1 ? 132.0 : split == 2 ? 64.0 : split == 4 ? 28.0 : 12.0;
  const double room = places * sms / 132.0 * together;
  // Whether all blocks have as much to do; there are parts of tiles then.
  const bool divided = config.stream && std::fmod(tiles, room) != 0.0;
  const double turns = divided ? tiles / room : std::ceil(tiles / room);  // of the busiest block
  const double per_sm = divided || split > 1 ? turns * together : std::ceil(tiles / sms);
  const double rounds = divided ? turns : std::ceil(per_sm / together);
  if (divided) result->busy = 1.0;
  const double blocks = divided ? room : split * std::min(tiles, room);

  // Clocks of a tile for a multiprocessor.
  const double all = std::max(1, counts.slices), slices = std::ceil(all / split);
  const double share = slices / all;
  const double steps = share * ((all - 1.0) * e.steps + e.last_steps);
  const double copies = share * ((all - 1.0) * e.copies + e.last_copies);
  const double outputs = double(t.m) * t.n;
  const double products = steps * outputs / 128.0;  // 4096 a clock, 32 to a step
  const double threads = std::clamp<double>(e.copies, 1, MbarRingParams::kMostRowThreads);
  const double feed = copies * (e.copy_clocks + kCopy / threads) +
                      steps * e.column_clocks / (e.b_stays ? std::max(1.0, turns) : 1.0);
  const double bytes = outputs * tile.dst_element_bits / 8.0;
  const double stores = bytes > 2.0 * outputs
                            ? bytes / split / kWideBytes
                            : kOutput * std::max(bytes, outputs) / split / kLanesPerClock;
  const double epilogue = kFixed + stores;

  // Clocks of a block. Of its first tile the first slice comes and the epilogue goes by themselves,
  // else the ring goes on behind them.
  const double groups = outputs / (double(config.warp.m) * config.warp.n);
  const double alone_in_slice = config.turns > 1 ? kTurnSlice : kSlice;
  const double multiply =
      std::max({products, products / groups + slices * alone_in_slice, WidenClocks(tile, steps)});
  const double ring = (products + feed + slices * kRoundTrip) / e.stages;
  const double first = feed / slices, turned = slices * TurnClocks(tile);
  const double alone = first + Overlapped({multiply, feed - first, ring, turned}) + epilogue;
  // Sets of warpgroups in turn multiply and store at the same time.
  const double cycle = std::max(multiply, (multiply + epilogue) / config.turns);
  const double next = Overlapped({cycle, feed, ring, turned});
  // And where it shares its multiprocessor. Blocks for more than half of the multiprocessors, but not
  // for all, meet the kernel before on most: the others then get two.
  const double sharers = divided ? together : std::min(per_sm, together);
  const bool uneven = split == 1 && together > 1 && 2.0 * blocks > sms && blocks < 0.95 * sms;
  const auto shared = [&](double clocks) {
    if (sharers <= 1.0) return uneven ? Overlapped({clocks, 2.0 * products}) : clocks;
    return Overlapped({clocks, sharers * products, sharers * stores, sharers * feed});
  };
  // Of divided tiles a part is left and another one fetched, through the L2: not fitted.
  const double exchange = divided ? sharers * (2.0 * kMeet + 2.0 * 4.0 * outputs / kExchanged)
                          : split == 1
                              ? 0.0
                              : turns * (kMeet + 4.0 * outputs / kExchanged * (split - 1) / split);

  const double compute = (shared(alone) + (rounds - 1.0) * shared(next) + exchange) / gpu.clock_mhz;
  const double memory = counts.bytes / (kMemory * gpu.bytes_per_us);
  result->memory_bound = memory > compute;
  return kLaunch + (2.0 * blocks > sms * together ? kCrowded : 0.0) + std::max(compute, memory) +
         kNext * std::min(compute, memory);
}

}  // namespace

GpuFacts GpuFactsOf(const arch::DeviceLimits& limits, const std::string& name) {
  GpuFacts gpu;
  gpu.limits = limits;
  gpu.name = name;
  if (limits.compute_capability < 80) {
    gpu.clock_mhz = 1590.0, gpu.bytes_per_us = 0.28e6;  // T4
  } else if (limits.compute_capability == 80) {
    gpu.clock_mhz = 1410.0, gpu.bytes_per_us = 1.7e6;  // A100
  } else if (limits.compute_capability < 90) {
    gpu.clock_mhz = 2400.0, gpu.bytes_per_us = 0.75e6;  // L40
  }
  return gpu;
}

absl::Status CheckFacts(const char* who, const GpuFacts& gpu) {
  struct Fact {
    const char* name;
    double value, most;  // `most` is far above what there is
  };
  const arch::DeviceLimits& limits = gpu.limits;
  const Fact facts[] = {
      {"limits.sm_count", double(limits.sm_count), 1 << 16},
      {"limits.shared_memory_per_sm", double(limits.shared_memory_per_sm), 1 << 26},
      {"limits.registers_per_sm", double(limits.registers_per_sm), 1 << 24},
      {"limits.max_threads_per_sm", double(limits.max_threads_per_sm), 1 << 16},
      {"clock_mhz", gpu.clock_mhz, 1e6},
      {"bytes_per_us", gpu.bytes_per_us, 1e12},
  };
  for (const Fact& fact : facts) {
    if (fact.value > 0.0 && fact.value <= fact.most) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(who, ": gpu.", fact.name, "=", fact.value,
                     " describes no GPU; give a positive number of at most ", fact.most,
                     ", or the limits that arch::QueryDevice has"));
  }
  return absl::OkStatus();
}

absl::Status CheckFacts(const char* who, const CpuFacts& cpu) {
  constexpr int kMost = 1 << 16;
  if (cpu.threads > kMost) {
    return absl::InvalidArgumentError(absl::StrCat(who, ": cpu.threads=", cpu.threads, " exceeds ",
                                                   kMost, "; give the threads that run together"));
  }
  if (cpu.threads > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(who, ": cpu.threads=", cpu.threads, " is not positive; give 1 or more"));
}

std::string MachineName(const GpuFacts& gpu) {
  return absl::StrCat("a GPU of ", gpu.limits.sm_count, " multiprocessors");
}

std::string MachineName(const CpuFacts& cpu) {
  return absl::StrCat(cpu.threads, cpu.threads == 1 ? " CPU thread" : " CPU threads");
}

Prediction Predict(const PlanCounts& counts, const TileFacts& tile, const GpuFacts& gpu) {
  const TileDescription& config = tile.config;
  const TileShape& t = config.threadblock;
  double per_sm = 0.0;
  Prediction result = Spread(counts, config.split, gpu.limits.sm_count, config.split, &per_sm);
  result.blocks_per_sm = BlocksPerSm(tile, counts, gpu.limits);
  if (result.blocks_per_sm < 1 || counts.blocks() == 0) {
    result.microseconds = HUGE_VAL;
    return result;
  }
  result.waves = result.blocks / (double(result.processors) * result.blocks_per_sm);

  if (config.mainloop == Mainloop::kWgmmaSm90) {
    result.microseconds = counts.engine.strips
                              ? StripMicroseconds(tile, counts, per_sm, gpu, &result)
                              : WgmmaMicroseconds(tile, counts, gpu, &result);
    return result;
  }
  if (config.mainloop == Mainloop::kDepthwise) {
    result.microseconds = internal::DepthwiseMicroseconds(tile, counts, per_sm, gpu, &result);
    return result;
  }
  if (config.mainloop == Mainloop::kDepthwisePointwise) {
    result.microseconds =
        internal::DepthwisePointwiseMicroseconds(tile, counts, per_sm, gpu, &result);
    return result;
  }
  const bool simt = IsSimt(config);
  const Costs& costs = config.mainloop == Mainloop::kSimtAsync ? kSimtAsyncCosts
                       : simt                                  ? kSimtCosts
                                                               : kMmaCosts;
  const double slice = simt ? SimtSliceClocks(tile, counts.gathers)
                            : MmaSliceClocks(tile, gpu.limits.compute_capability);
  // Copies that are started stages - 1 slices ahead have that long to arrive.
  const double latency = costs.latency / std::max(1, config.stages - 1);
  // Of mma_sm80 counted, not fitted: one warp of eight adds all, 16 bytes at once.
  const double sum_of_parts = (simt ? 37.0 : 10.0) * (t.k / config.warp.k - 1);
  const double epilogue =
      t.m * t.n * (costs.epilogue + NarrowStores(tile) + sum_of_parts) / kLanesPerClock;
  // Clocks that `blocks` blocks take together on a multiprocessor.
  const auto wave = [&](double blocks) {
    const auto rate = [&](double warps) {
      return std::min(1.0, warps / costs.warps_for_full_rate);
    };
    const double warps = tile.threads / 32.0;
    const double shared = blocks * slice / rate(blocks * warps);
    const double lone = latency + costs.lone * slice / rate(warps);
    return costs.start_and_end + counts.slices * std::max(shared, lone) + blocks * epilogue;
  };
  const double full_waves = std::floor(per_sm / result.blocks_per_sm);
  const double rest = per_sm - full_waves * result.blocks_per_sm;
  double clocks = full_waves * wave(result.blocks_per_sm);
  if (rest > 0) clocks += wave(rest);
  const double compute = clocks / gpu.clock_mhz;
  const double memory = counts.bytes / gpu.bytes_per_us;
  result.memory_bound = memory > compute;
  result.microseconds = kLaunch + std::max(compute, memory);
  return result;
}

// The executor walks through what each thread does: a thread costs more than its arithmetic.
Prediction Predict(const PlanCounts& counts, const TileFacts& tile, const CpuFacts& cpu) {
  const TileDescription& config = tile.config;
  TileShape t = config.threadblock;
  if (counts.engine.strips) t.k = 32 * counts.engine.steps;
  double per_sm = 0.0;
  // A cluster's blocks run on one thread.
  Prediction result = Spread(counts, config.split, std::max(1, cpu.threads), 1, &per_sm);
  result.blocks_per_sm = 1;
  result.waves = result.blocks / double(result.processors);
  if (config.mainloop == Mainloop::kDepthwisePointwise) {  // not fitted: the products of both
    const double values = 16.0 * counts.output_rows * 32.0 * counts.middle_slices;
    const double products = values * (4.0 * counts.slices + counts.padded_k);
    result.microseconds = per_sm * (0.16 * products + 300.0 * tile.threads) * 1e-3;
    return result;
  }
  const double gathered = (t.m + t.n) * double(t.k) * tile.element_bytes;
  double slice = 0.0;  // nanoseconds
  if (IsSimt(config)) {
    const double steps =
        double(tile.threads) * config.warp.k / config.instruction.k;  // turns at a packet
    slice = 0.06 * t.m * t.n * t.k + 15.0 * steps + 0.5 * gathered + 20.0 * tile.threads;
  } else {
    slice = 0.16 * t.m * t.n * t.k + 16.0 / config.alignment.src * gathered + 100.0 * tile.threads;
  }
  const double block =
      counts.slices * slice + (10.0 + NarrowStores(tile)) * t.m * t.n + 200.0 * tile.threads;
  result.microseconds = per_sm * block * 1e-3;
  return result;
}

}  // namespace weft::gemm
