// What nc4_bench finds, and its JSON.
//
// Plain data without pointers: a worker process fills it in memory that it shares with the process
// that outlives it.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace weft::perf {

inline constexpr int kMaxTiles = 32;

template <int kSize>
struct Text {
  char chars[kSize] = {};
  void Set(const std::string& text) { std::snprintf(chars, kSize, "%s", text.c_str()); }
  std::string Get() const { return chars; }
  bool empty() const { return chars[0] == 0; }
};

struct Timing {
  double us = 0.0;  // median; 0: not measured
  double p10 = 0.0;
  double p90 = 0.0;
};

// One layer at one batch.
struct Row {
  Text<64> layer;
  int batch = 0;
  double macs = 0.0;
  double bytes = 0.0;  // each tensor once
  double floor_us = 0.0;
  int buffer_sets = 0;
  double tile_us[kMaxTiles] = {};  // of every tile, from a short measurement; 0: did not run
  int best = -1;                   // tile, by that measurement
  int model = -1;                  // tile that the model chose
  Timing ours;                     // of the best tile, interleaved with
  Timing chosen;                   // the model's choice and
  Timing peer;                     // cuDNN
  Text<96> peer_name;
  Text<160> peer_note;              // why there is no time, or what else to know
  long long mismatches = 0;         // of all tiles together, against the reference
  long long peer_differences = -1;  // cuDNN against ours with one alpha; -1: not compared
  int peer_largest = 0;             // largest of these differences
  double clock_mhz = 0.0;           // while the best tile ran
  Text<240> failure;                // not empty: the row failed
  int done = 0;

  // "ok", "mismatch" or "failed: why"; a missing peer is added to "ok".
  std::string Status() const;
};

// Where and with what a run was made.
struct Environment {
  Text<96> device;
  int multiprocessors = 0;
  double l2_mb = 0.0;
  Text<32> driver, cuda, cudnn;
  Text<96> cudnn_path;
  double copy_tb_s = 0.0;      // measured: device-to-device copy, read plus write
  double dp4a_tops = 0.0;      // measured: two operations a multiply-accumulate
  double max_clock_mhz = 0.0;  // what the device may reach
  double first_clock_mhz = 0.0, last_clock_mhz = 0.0;  // under load
  double watts = 0.0, celsius = 0.0;                   // at the end
  unsigned long long throttle_reasons = 0;             // NVML's bits, all rows together
};

// peer_us / ours_us over the rows that have both and no failure.
struct Comparison {
  double geomean = 0.0;        // best tile
  double model_geomean = 0.0;  // the model's choice
  double model_loss = 0.0;     // geometric mean of the model's time over the best's, all good rows
  int rows = 0, won = 0;       // compared, and with ratio >= 1
  int failed = 0;              // rows that failed or mismatch
};
Comparison Compare(const std::vector<Row>& rows);

// The file of one batch. `all` compares the rows of all batches of the run.
std::string ResultsJson(const std::string& list, int batch, const std::string& commit,
                        const std::string& date, const Environment& environment,
                        const std::vector<std::string>& tiles, const std::vector<Row>& rows,
                        const Comparison& all);

}  // namespace weft::perf
