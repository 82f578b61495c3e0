#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "perf/peers/peer.hpp"
#include "perf/support/row.hpp"
#include "perf/support/status.hpp"
#include "perf/weft_perf/run.hpp"

namespace weft::perf {
namespace {

// Each peer's choices: read from --cache, added to by rows, and written at the end.
class Cache {
 public:
  explicit Cache(const std::string& path) : path_(path) {}

  // InvalidArgument if the file cannot be read.
  absl::Status Read() {
    if (path_.empty()) return absl::OkStatus();
    const absl::StatusOr<std::string> text = ReadFile(path_);
    if (absl::IsNotFound(text.status())) return absl::OkStatus();
    WEFT_TRY(text.status());
    choices_ = Choices::parse(*text, nullptr, /*allow_exceptions=*/false);
    if (choices_.is_object()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("--cache: ", path_, " is not of perf/choices.py or weft_perf"));
  }
  absl::Status Write() const {
    return path_.empty() ? absl::OkStatus() : WriteFile(path_, choices_.dump(0) + "\n");
  }

  // What a row's process sends.
  void Take(const Json& line) {
    if (line.contains("choice")) choices_.update(line["choice"]);
  }
  const Choices& choices() const { return choices_; }

 private:
  std::string path_;
  Choices choices_ = Choices::object();
};

// Measures the rows that were added, each in a child process, but for what is not timed: then no peer runs, and checkers
// want one process.
absl::Status RunRows(const Options& options, bool ceilings, Cache* cache, Bench& bench) {
  bench.notes()["settings"] = options.Settings();
  bench.how().isolated = options.time;
  bench.how().receive = [cache](const Json& line) { cache->Take(line); };
  bench.how().may_skip = [&options](const std::string& step) {
    return std::any_of(options.peers.begin(), options.peers.end(),
                       [&](const std::string& peer) { return absl::StartsWith(step, peer + "/"); });
  };
  WEFT_TRY(bench.Run(ceilings));
  return cache->Write();
}

std::string OperatorText(Epilogue epilogue) {
  const char* const after[] = {", ReLU", ", scaled int8 residual, ReLU", ", hard swish", ""};
  return absl::StrCat("int8 convolution, scale per channel, float bias",
                      after[static_cast<int>(epilogue)], ", int8");
}

// The quickest tile of every exact row and layout.
absl::Status WriteTuning(const Options& options, const Bench& bench) {
  if (!bench.environment().contains("device")) return absl::OkStatus();  // no row was measured
  absl::StatusOr<conv::TuningTable> table = conv::TuningTable::Read(options.sweep);
  if (absl::IsNotFound(table.status())) table = conv::TuningTable();
  WEFT_TRY(table.status());
  for (std::size_t i = 0; i < options.jobs.problems.size(); ++i) {
    const Json& rows = bench.results().rows()[i];
    if (rows.empty()) continue;
    for (const std::string& layout : options.layouts) {
      std::vector<TileInfo> infos;
      conv::TuningRecord record;
      record.device = bench.environment()["device"];
      record.sm_count = bench.environment()["multiprocessors"];
      record.problem = options.jobs.problems[i];
      for (const Tile& tile : OurTiles(layout, options.epilogue)) {
        infos.push_back({tile.name, tile.policy, tile.in_family});
        record.operator_name = tile.operator_name;
      }
      WEFT_TRY(PutBest(rows[0], layout, infos, record, &*table));
    }
  }
  WEFT_TRY(table->Write(options.sweep, "Written by weft_perf --sweep."));
  std::printf("%s: %zu records\n", options.sweep.c_str(), table->size());
  return absl::OkStatus();
}

}  // namespace

std::string Options::Settings() const {
  const std::string format =
      !tensors.has_value() ? "" : absl::StrCat(", between tensors in ", FormatText(*tensors));
  return absl::StrCat(EpilogueNames()[static_cast<int>(epilogue)], ", ",
                      all_layouts ? "all layouts" : absl::StrJoin(layouts, " and "), ", ",
                      family ? "tiles of the ready-made families" : "all tiles",
                      only_tile.empty() ? "" : absl::StrCat(" with ", only_tile), format,
                      ", against ", peers.empty() ? "nothing" : absl::StrJoin(peers, ", "));
}

absl::Status RunLayers(const Options& options, Bench& bench) {
  Cache cache(options.cache);
  WEFT_TRY(cache.Read());
  std::vector<int> jobs;  // of each problem
  for (const conv::Problem& problem : options.jobs.problems) {
    LayerRow empty;
    empty.problem = problem;
    const auto measure = [&](const Measuring& measuring) {
      return std::vector<Json>{
          MeasureLayer(problem, options, cache.choices(), measuring, &bench.machine())};
    };
    jobs.push_back(
        bench.Add({{"layer", LayerName(problem)}, {"batch", problem.n}}, measure, empty.ToJson()));
  }
  for (const Jobs::File& from : options.jobs.files) {
    ResultFile file;
    file.name = from.name();
    file.summary = Summarized;
    file.environment = {{"list", from.list},
                        {"batch", from.batch},
                        {"floor_operations", options.dp4a_floor ? "dp4a" : "tensor cores"},
                        {"epilogue", EpilogueNames()[static_cast<int>(options.epilogue)]},
                        {"operator", OperatorText(options.epilogue)}};
    for (const Jobs::File::Row& row : from.rows) {
      file.jobs.emplace_back(jobs[row.problem], Json{{"count", row.count}});
    }
    bench.AddFile(std::move(file));
  }
  WEFT_TRY(RunRows(options, options.time, &cache, bench));
  return options.sweep.empty() ? absl::OkStatus() : WriteTuning(options, bench);
}

}  // namespace weft::perf
