// What weft_perf finds. Plain data without pointers: a worker process fills it in memory that it
// shares with the process that outlives it.
#pragma once

#include <string>
#include <vector>

#include "perf/support/run_info.hpp"

namespace weft::perf {

inline constexpr int kMostLayouts = 4;
inline constexpr int kMostPeers = 8;
inline constexpr int kMostVariants = 48;  // tiles of a layout

// One of our layouts, or one peer, on one problem.
struct Contender {
  Text<24> name;                       // of run.layouts or run.peers
  int offered = 0, ran = 0;            // variants, and those whose result agrees with the reference
  int best = -1;                       // variant, by the short measurement
  int model = -1;                      // ours: what Dispatch chooses without a tuning table
  Text<160> variant;                   // the name of the best
  double short_us = 0.0;               // its time then
  double tile_us[kMostVariants] = {};  // of every variant of ours; 0: did not run
  Timing time;                         // interleaved with the others; 0: was not among the best
  Timing with_reformat;                // the same between tensors in the user's formats; 0: unknown
  long long differences = 0;  // from the reference: of ours over all tiles, of a peer its best's
  int largest = 0;
  Text<160> partial;  // the best variant that leaves part of the epilogue out
  double partial_us = 0.0;
  Text<160> note;  // why there is no time
  double seconds = 0.0;
  int done = 0;

  double BestUs() const { return time.us > 0.0 ? time.us : short_us; }
  // The time of the model's variant over the best one's; 0 without a model.
  double ModelOverBest() const { return model >= 0 ? tile_us[model] / short_us : 0.0; }
};

struct LayerRow {
  Text<64> layer;
  int batch = 0;
  int count = 1;
  double macs = 0.0, bytes = 0.0, floor_us = 0.0;
  int buffer_sets = 0;
  Contender ours[kMostLayouts];
  Contender peers[kMostPeers];
  int best_ours = -1, best_peer = -1;          // by the interleaved medians
  int reformat_ours = -1, reformat_peer = -1;  // by the medians with reformats
  Text<32> tensors;                            // the user's formats, such as "NHWC to NCxHWx<32>"
  double clock_mhz = 0.0;
  unsigned long long throttle_reasons = 0;  // NVML's bits, while our kernel ran
  double seconds = 0.0;
  Text<240> failure;
  int done = 0;

  long long Mismatches() const;
  double OursUs() const { return best_ours >= 0 ? ours[best_ours].time.us : 0.0; }
  double PeerUs() const { return best_peer >= 0 ? peers[best_peer].time.us : 0.0; }
  // The larger noise of the two times that the ratio divides.
  double Noise() const;
  // "ok", "mismatch" or "failed: why".
  std::string Status() const;
};

// A tile as weft_perf and the tuning table name it.
struct TileInfo {
  std::string name;
  std::string policy;      // conv::PolicyName
  bool in_family = false;  // of those that the ready-made family lets Dispatch choose from
};
struct LayoutTiles {
  std::string operator_name;  // conv::OperatorName
  std::vector<TileInfo> tiles;
};

// The results of one file, and what they were measured with.
struct LayerResults {
  std::string list;
  int batch = 0;
  std::string commit, date;
  Environment environment;
  std::string epilogue = "bias_relu";
  std::vector<std::string> layouts, peers;  // of every row's `ours` and `peers`
  std::vector<LayoutTiles> tiles;           // of each layout
  std::vector<std::string> libraries;
  bool dp4a_floor = false;  // operations of the floors at the rate of dp4a, not of the tensor cores
  bool hot = false, graph = true;
  std::vector<LayerRow> rows;
};

// NCxHWx<32> for nc32, NCxHWx<4> to NCxHWx<32> for nc4_nc32.
std::string LayoutText(const std::string& name);

// best peer / ours over the good rows that have both.
struct LayerComparison {
  double geomean = 0.0;
  double over_floor = 0.0;       // geometric mean of ours / floor
  double model_over_best = 0.0;  // of the model's tile's time over the best tile's, all layouts
  double noise = 0.0;            // median of the rows'
  int rows = 0, won = 0, failed = 0;
};
LayerComparison CompareRows(const std::vector<LayerRow>& rows);

// layer_json.cpp
std::string LayerResultsJson(const LayerResults& results);
// A header and one line for each row.
std::string LayerResultsCsv(const LayerResults& results, bool header);

}  // namespace weft::perf
