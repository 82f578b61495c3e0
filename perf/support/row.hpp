// What weft_perf finds out about one layer at one batch, and its JSON (perf/README.md has the
// fields).
#pragma once

#include <string>
#include <vector>

#include "perf/support/json.hpp"
#include "perf/support/statistics.hpp"
#include "weft/conv/choose/tuning.hpp"
#include "weft/conv/problem/problem.hpp"

namespace weft::perf {

// Of a layout's name: NCxHWx<32> for nc32, NCxHWx<4> to NCxHWx<32> for nc4_nc32.
std::string LayoutText(const std::string& name);

// Of interleaved samples; median 0 if there are none.
struct Timing : Summary {
  double noise = 0.0;  // of the median, as a fraction of it: HalvesDiffer
  static Timing Of(const std::vector<double>& samples) {
    return {Summarize(samples), HalvesDiffer(samples)};
  }
};
// <name>_us, <name>_p10_us and <name>_p90_us, divided by `unit`; nothing without a time.
void AddTiming(const std::string& name, const Summary& time, Json* json,
               const std::string& unit = "us");

// One of our layouts, or one peer.
struct Contender {
  std::string name;
  int offered = 0, ran = 0;   // variants, and those whose result agrees with the reference
  int best = -1;              // variant, by the short measurement
  std::string variant;        // its name
  double short_us = 0.0;      // its time then
  Timing time;                // interleaved with the others; none: was not among the best
  Timing with_reformat;       // the same between tensors in the user's formats
  long long differences = 0;  // from the reference: of ours over all tiles, of a peer its best's
  int largest = 0;
  std::string note;  // why there is no time
  // Ours: the tiles, and what Dispatch chooses without a tuning table.
  std::vector<std::string> tiles;
  std::vector<double> tile_us;  // of the short measurement; 0: did not run
  int model = -1;

  double ModelOverBest() const { return model >= 0 ? tile_us[model] / short_us : 0.0; }
};

struct LayerRow {
  conv::Problem problem;
  double bytes = 0.0, floor_us = 0.0;
  int buffer_sets = 0;
  std::vector<Contender> ours, peers;
  Timing copy;              // of as many bytes as source and destination have; none: not measured
  std::string copy_kernel;  // CopyTime::name
  std::string tensors;      // the user's formats, such as "NHWC to NCxHWx<32>"
  Json clock = Json::object();
  std::string failure;
  double seconds = 0.0;
  bool timed = true;

  // The least of a member's medians; null if there is none.
  static const Contender* Best(const std::vector<Contender>& list, Timing Contender::* time);
  // "ok", "mismatch" or "failed: why".
  std::string Status() const;
  Json ToJson() const;
};

// best peer / ours over the good rows that have both, and so on: the "summary" of a file.
Json Summarized(const std::vector<Json>& rows);

// A tile's names: in rows, and in tuning tables; and whether the ready-made family has it.
struct TileInfo {
  std::string name, policy;
  bool in_family = false;
};
// Puts a layout's quickest tile in `row`, by the short measurement, into `table`: of those that the
// ready-made family has, or of all where it has none of them. Rows that are not exact are left out.
absl::Status PutBest(const Json& row, const std::string& layout, const std::vector<TileInfo>& tiles,
                     conv::TuningRecord record, conv::TuningTable* table);

}  // namespace weft::perf
