// The tile model's part for kernels each of whose blocks takes one tile: simt, simt_async, mma_sm75
// and mma_sm80.
#include "weft/gemm/choose/tile_model_parts.hpp"

namespace weft::gemm::internal {
namespace {

constexpr double kSharedBytesPerClock = 128;  // of a multiprocessor

// Multiply-accumulates of int8 a clock of a multiprocessor's tensor cores, by data sheets.
double PeakMacsPerClock(int compute_capability) {
  if (compute_capability < 80) return 1024.0;
  if (compute_capability == 80) return 2048.0;
  return compute_capability < 90 ? 1024.0 : 4096.0;
}

// Multiply-accumulates a clock of mma.sync on a multiprocessor, times the bytes of an element:
// those of int8, or for 8-byte elements and larger those of double in the same unit.
double TensorMacsPerClock(const TileFacts& tile, int compute_capability) {
  const TileDescription& config = tile.config;
  if (tile.element_bytes >= 8) {
    return (compute_capability < 90 ? 512.0 : 1024.0) / (tile.is_complex ? 2.0 : 1.0);
  }
  const bool small = config.instruction.m == 8;  // m8n8k16
  const double peak = PeakMacsPerClock(compute_capability);
  if (compute_capability < 80) return peak;
  if (compute_capability < 90) return small ? peak / 2 : peak;
  // On sm_90 mma.sync reaches about 62% of the rate of wgmma.
  return small ? 1270.0 : 2540.0;
}

// Clocks that a simt or simt_async block takes for one k tile, if it has the multiprocessor's full
// rate.
double SimtTileClocks(const TileFacts& tile, bool gathers, const SimtConstants& c) {
  const TileDescription& config = tile.config;
  const TileShape& t = config.threadblock;
  const double packets = t.k / config.instruction.k;  // k of one dp4a or fma for every output
  const double rate = tile.is_complex ? (tile.element_bytes == 2 * sizeof(float) ? 32.0 : 16.0)
                      : tile.element_bytes == sizeof(float) ? 128.0
                                                            : 64.0;
  // Shared-memory loads and loop overhead shrink as the thread's tile grows.
  const bool async = config.mainloop == Mainloop::kSimtAsync;
  const double each = async ? c.async_each : config.instruction.k == 1 ? c.fma_each : c.each;
  const double arithmetic =
      t.m * t.n * packets / rate * (each + c.per_thread_tile / (config.thread.m * config.thread.n));
  // Asynchronous copies hold one element where the operand is K-major, else 16 bytes.
  const auto copies = [&](bool lines) { return lines ? 1.0 : tile.element_bytes / 16.0; };
  const double copied = async ? c.copy * t.k *
                                    (t.m * copies(tile.a.k_major) + t.n * copies(tile.b.k_major)) /
                                    kLanesPerClock
                              : 0.0;
  const double gather = t.m * packets * (gathers ? c.gather : 0.5) / kLanesPerClock;
  const double columns = t.n * packets * 0.1 / kLanesPerClock;
  return arithmetic + copied + gather + columns;
}

// The same for mma_sm75 and mma_sm80. k is counted in bytes, because tensor cores multiply 16-bit
// elements at half the rate of int8.
double MmaTileClocks(const TileFacts& tile, int compute_capability, const MmaConstants& c) {
  const TileDescription& config = tile.config;
  const TileShape& t = config.threadblock;
  const TileShape& i = config.instruction;
  const double k = double(t.k) * tile.element_bytes,
               copies = k / config.alignment.src;  // of each row
  const double arithmetic =
      c.multiply * t.m * t.n * k / TensorMacsPerClock(tile, compute_capability);
  const double part = double(config.warp.k) / t.k;  // a warp's share of the k tile (sliced k)
  const double read =
      tile.threads / 32.0 * (config.warp.m + config.warp.n) * k * part;  // bytes, by ldmatrix
  const double loaded = (t.m + t.n) * k;
  const double shared = (read + loaded) / kSharedBytesPerClock;
  const double issue = ((t.m + t.n) * copies * (tile.searches_copies ? c.copy_each : c.copy) +
                        t.m * t.n * double(t.k) / (i.m * i.n * i.k) * 32.0) /
                       kLanesPerClock;
  return std::max({arithmetic, shared, loaded / c.l2_bytes}) + c.issue * issue;
}

// What simt and mma kernels have in common. tile_clocks: of a k tile; instructions: of the
// epilogue, for an output, beside those of `c`. A copy that starts stages - 1 k tiles ahead has the
// time of as many k tiles to arrive, so that each k tile waits for that part of the latency.
template <class Constants>
double BlockMicroseconds(const TileFacts& tile, const PlanCounts& counts, double per_sm,
                         const GpuFacts& gpu, const Constants& c, double tile_clocks,
                         double warps_for_full_rate, double instructions,
                         const MemoryConstants& memory, Prediction* result) {
  const TileDescription& config = tile.config;
  const TileShape& t = config.threadblock;
  const double latency = c.latency / std::max(1, config.stages - 1);
  instructions += c.epilogue + c.activation * tile.store.activations +
                  c.sum_of_parts * (t.k / config.warp.k - 1) +
                  (tile.store.residual_bits > 0 ? c.residual : 0.0);
  const double epilogue = t.m * t.n * instructions / kLanesPerClock;
  // A thread loads the residual of some of its outputs at a time, and waits for each of these
  // loads.
  const double of_thread = double(t.m) * t.n / tile.threads;
  const double ends =
      c.start_and_end + (tile.store.residual_bits > 0 ? c.residual_wait * of_thread / 32.0 : 0.0);
  // Clocks that `blocks` blocks take together on a multiprocessor: the work of all of them and the
  // time that a single one takes with its latencies, overlapped.
  const auto wave = [&](double blocks) {
    const auto rate = [&](double warps) { return std::min(1.0, warps / warps_for_full_rate); };
    const double warps = tile.threads / 32.0;
    const double of_all = blocks * (counts.k_tiles * tile_clocks + epilogue) / rate(blocks * warps);
    const double of_one = ends + counts.k_tiles * latency +
                          (c.lone * counts.k_tiles * tile_clocks + epilogue) / rate(warps);
    return Overlapped(c.overlap, {of_all, of_one});
  };
  const double full_waves = std::floor(per_sm / result->blocks_per_sm);
  const double rest = per_sm - full_waves * result->blocks_per_sm;
  double clocks = full_waves * wave(result->blocks_per_sm);
  if (rest > 0) clocks += wave(rest);
  return c.launch +
         Together(clocks / gpu.clock_mhz, MemoryMicroseconds(counts, gpu, memory), c.next, result);
}

}  // namespace

double MemoryMicroseconds(const PlanCounts& counts, const GpuFacts& gpu, const MemoryConstants& c) {
  const double l2 = static_cast<double>(gpu.limits.l2_bytes);
  const double kept = c.kept * l2 / std::max(1.0, l2 + counts.bytes);
  return counts.bytes * std::max(0.1, 1.0 - kept) / (c.rate * gpu.bytes_per_us);
}

double NarrowStores(const TileFacts& tile) {
  const double channels = 8.0 * tile.config.alignment.dst / tile.store.element_bits;
  return std::max(0.0, 8.0 / channels - 1.0);
}

double SimtMicroseconds(const TileFacts& tile, const PlanCounts& counts, double per_sm,
                        const GpuFacts& gpu, const SimtConstants& constants,
                        const MemoryConstants& memory, Prediction* result) {
  const bool async = tile.config.mainloop == Mainloop::kSimtAsync;
  return BlockMicroseconds(
      tile, counts, per_sm, gpu, constants, SimtTileClocks(tile, counts.gathers, constants),
      async ? constants.async_warps : constants.warps_for_full_rate, 0.0, memory, result);
}

double MmaMicroseconds(const TileFacts& tile, const PlanCounts& counts, double per_sm,
                       const GpuFacts& gpu, const MmaConstants& constants,
                       const MemoryConstants& memory, Prediction* result) {
  return BlockMicroseconds(tile, counts, per_sm, gpu, constants,
                           MmaTileClocks(tile, gpu.limits.compute_capability, constants),
                           constants.warps_for_full_rate,
                           constants.narrow_store * NarrowStores(tile), memory, result);
}

}  // namespace weft::gemm::internal

double weft::gemm::Int8MacsPerMicrosecond(const GpuFacts& gpu) {
  const double each = internal::PeakMacsPerClock(gpu.limits.compute_capability);
  return each * gpu.limits.sm_count * gpu.clock_mhz;
}
