// The tile model's part for wgmma_sm90, whose blocks are persistent: each takes tile after tile.
#include "weft/gemm/choose/tile_model_parts.hpp"
#include "weft/gemm/ring/ring_stages.hpp"

namespace weft::gemm::internal {
namespace {

// Clocks of a k tile whose MN-major boxes transform warps transpose (transposed_matrices.hpp); 0 if
// no operand is MN-major. Those of Tf32 were measured on four tiles of one product on an H100. For
// bytes shared memory is the limit, at one line of 128 bytes a clock: the tensor cores read lines,
// TMA writes them, and the transpose reads and writes them once more. A fifth is added after four
// tiles of three products on an H100 and an H200.
double TransposeClocks(const TileFacts& tile) {
  if (!tile.wgmma.transposes) return 0.0;
  const TileShape& t = tile.config.threadblock;
  const double rows = (tile.a.k_major ? 0.0 : t.m) + (tile.b.k_major ? 0.0 : t.n);
  if (tile.element_bytes == 1) {
    constexpr double kMore = 1.2;
    const double products = t.n / 64.0 * t.m + double(t.m) / tile.config.warp.m * t.n;
    return kMore * (products + t.m + t.n + 2.0 * rows);
  }
  constexpr double kOfKTile = 900.0, kOfBox = 190.0, kWarps = 2.0, kBoxRows = 32.0;
  return kOfKTile + kOfBox * rows / kBoxRows / kWarps;
}

// Clocks of a tile's `steps` in which warpgroups upcast an MN-major B in registers
// (register_fragments.hpp); 0 if there is no such B. A multiprocessor takes kOfStep clocks for 64
// columns of a step, for each warpgroup that multiplies by them; measured on three tiles of two
// products on an H100. A block with a single warpgroup is limited by other things.
double UpcastClocks(const TileFacts& tile, double steps) {
  constexpr double kOfStep = 130.0;
  const TileDescription& c = tile.config;
  const double sharers = double(c.threadblock.m) / c.warp.m;  // warpgroups with the same columns
  const double groups = (c.ping_pong ? 2 : 1) * sharers * c.threadblock.n / c.warp.n;
  if (!tile.b.loads || tile.b.k_major || groups == 1.0) return 0.0;
  return steps * sharers * c.threadblock.n / 64.0 * kOfStep;
}

// Clocks that a multiprocessor takes for a tile, for each unit that works on it.
struct TileClocks {
  double products = 0.0;  // tensor cores
  double stores = 0.0;    // instructions of the epilogue
  double feed = 0.0;      // TMA, or the threads that load, when one block loads alone
  double issue = 0.0;     // TMA, or the instructions of these threads, which blocks share
};

}  // namespace

double FirstLayerMicroseconds(const TileFacts& tile, const PlanCounts& counts, double per_sm,
                              const GpuFacts& gpu, const FirstLayerConstants& c,
                              const MemoryConstants& memory, Prediction* result) {
  const TileShape& t = tile.config.threadblock;
  const double products = counts.wgmma.last_steps * t.m * t.n / 128.0;
  const double others =
      c.output * t.m * t.n + c.group * t.m / tile.config.warp.m +
      (counts.wgmma.first_layer_copied ? c.thread_byte * counts.wgmma.stage_bytes : 0.0);
  // Strips are coarse: of few images most multiprocessors have none, and the tiles of one follow one another.
  const double strip = counts.wgmma.strip_tiles;
  const double tiles =
      strip > 1.0 ? strip * std::ceil(double(counts.blocks()) / strip / gpu.limits.sm_count)
                  : per_sm;
  const double compute = tiles * std::max(products, others) / gpu.clock_mhz;
  return c.launch + Together(compute, MemoryMicroseconds(counts, gpu, memory), 0.0, result);
}

double WgmmaMicroseconds(const TileFacts& tile, const PlanCounts& counts, const GpuFacts& gpu,
                         const WgmmaConstants& c, const MemoryConstants& memory,
                         Prediction* result) {
  const TileDescription& config = tile.config;
  const TileShape& t = config.threadblock;
  const WgmmaCounts& e = counts.wgmma;
  const double tiles = counts.blocks(), together = config.blocks_per_sm, sms = gpu.limits.sm_count;
  // Clusters of 2, 4 and 8 blocks cannot use all of the 132 multiprocessors of an H200: 64, 28 and
  // 12 clusters run together.
  const int split = config.cluster_split_k;
  const double places = split == 1 ? 132.0 : split == 2 ? 64.0 : split == 4 ? 28.0 : 12.0;
  const double room = places * sms / 132.0 * together;
  const double waves = std::ceil(tiles / room);  // of the busiest block
  const double per_sm = split > 1 ? waves * together : std::ceil(tiles / sms);
  const double rounds = std::ceil(per_sm / together);
  const double blocks = split * std::min(tiles, room);

  const double all = std::max(1, counts.k_tiles), k_tiles = std::ceil(all / split);
  const double share = k_tiles / all;
  const double steps = share * ((all - 1.0) * e.steps + e.last_steps);
  const double copies = share * ((all - 1.0) * e.copies + e.last_copies);
  const double outputs = double(t.m) * t.n;
  TileClocks of;
  of.products = steps * outputs / 128.0;  // 4096 int8 products a clock, 32 for an output and step
  const double columns = e.column_clocks / (e.b_stays ? std::max(1.0, waves) : 1.0);
  const double loads = copies * e.copy_clocks + steps * columns;
  if (tile.wgmma.gathers) {
    const double rows = copies * e.copy_clocks * (counts.gathers ? c.gather_apart : 1.0);
    of.issue = rows + steps * columns;
    of.feed = c.gather * of.issue;
  } else {
    const double threads = std::clamp<double>(e.copies, 1, MbarRingParams::kMostRowThreads);
    of.issue = of.feed = loads + copies * c.copy / threads;
  }
  // An operand B that stays in shared memory is no part of a stage; each block loads it once.
  const double bytes_of_step =
      double(e.stage_bytes) / std::max(1, e.steps) + (e.b_stays ? 32.0 * t.n / waves : 0.0);
  const bool residual = tile.store.residual_bits > 0;
  const double bytes = outputs * tile.store.element_bits / 8.0;
  const double instructions =
      c.output + c.activation * tile.store.activations + (residual ? c.residual : 0.0) +
      (tile.store.element_bits == 8 && config.alignment.dst == 8 ? c.narrow_store : 0.0);
  const double inside = counts.columns_inside;
  of.stores = bytes > 2.0 * outputs
                  ? bytes / split / c.wide_bytes
                  : instructions * std::max(bytes, outputs) * inside / split / kLanesPerClock;
  // A warp that issues alone does not reach the full rate. Where columns are padding some warps
  // idle.
  const double of_thread = instructions * config.warp.m * config.warp.n / 128.0 / split;
  const double epilogue = c.fixed + Overlapped({of.stores, c.dependent * of_thread});

  // Clocks of a block. Nothing overlaps with the loads of its first tile's first k tile and with
  // its last epilogue; in between the ring loads on during epilogues. The residual arrives during
  // the products.
  const double groups = outputs / (double(config.warp.m) * config.warp.n);
  const double alone_in_k_tile = config.ping_pong ? c.ping_pong_k_tile : c.k_tile;
  const double multiply = std::max(
      {of.products, of.products / groups + k_tiles * alone_in_k_tile, UpcastClocks(tile, steps)});
  const double others = residual ? c.residual_load * outputs / groups : 0.0;
  const double waited = std::max(multiply, others);
  const double ring = (of.products + of.feed + k_tiles * c.round_trip) / e.stages;
  const double first = of.feed / k_tiles, transposed = k_tiles * TransposeClocks(tile);
  const double alone =
      first + Overlapped({Overlapped(c.overlap, {waited, of.feed - first, ring}), transposed}) +
      epilogue;
  // With ping-pong one group of warpgroups multiplies while the other one stores.
  const double cycle =
      !config.ping_pong ? waited + epilogue
                        : Overlapped(c.ping_pong_overlap,
                                     {multiply, (waited + epilogue) / (config.ping_pong ? 2 : 1)});
  const double next = Overlapped({Overlapped(c.overlap, {cycle, of.feed, ring}), transposed});
  // A block may share its multiprocessor with others. A grid for more than half of the
  // multiprocessors, but not for all, starts while most of them still run the kernel before; the
  // free ones then get two blocks.
  const bool uneven = split == 1 && together > 1 && 2.0 * blocks > sms && blocks < 0.95 * sms;
  const double sharers = uneven ? together : std::min(per_sm, together);
  const auto shared = [&](double clocks) {
    if (sharers <= 1.0) return clocks;
    return Overlapped(c.shared_overlap,
                      {clocks, sharers * of.products, sharers * of.stores, sharers * of.issue});
  };
  const double exchange =
      split == 1 ? 0.0 : waves * (c.meet + 4.0 * outputs / c.exchanged * (split - 1) / split);

  const double compute = (shared(alone) + (rounds - 1.0) * shared(next) + exchange) / gpu.clock_mhz;
  const double loaded = tiles * split * steps * bytes_of_step;
  const double bytes_moved =
      Overlapped({MemoryMicroseconds(counts, gpu, memory), loaded / (c.l2 * gpu.bytes_per_us)});
  return c.launch + (2.0 * blocks > sms * together ? c.crowded : 0.0) +
         Together(compute, bytes_moved, c.next, result);
}

}  // namespace weft::gemm::internal
