#include "perf/weft_perf/output.hpp"

#include <cstdio>
#include <fstream>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "perf/support/sweep.hpp"
#include "perf/weft_perf/table.hpp"

ABSL_FLAG(bool, sweep, false, "print the time of every tile of ours, write the table of --tuning");
ABSL_FLAG(std::string, tuning, "weft_tuning.txt",
          "file that --sweep adds the best tiles to, for conv::Dispatch; empty: none");
ABSL_FLAG(std::string, csv, "", "file for one line for each row");
ABSL_FLAG(std::string, json, "", "folder for one JSON file for each list and batch");
ABSL_DECLARE_FLAG(std::string, cache);

namespace weft::perf {
namespace {

// False, with a message, if that fails.
bool Write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  if (file.flush()) return true;
  std::fprintf(stderr, "weft_perf: cannot write %s\n", path.c_str());
  return false;
}

// The peers' choices, for a second run, which then needs to try nothing else.
Choices NewChoices(const Run& run, const Board& board) {
  Choices choices = run.choices;
  for (std::size_t i = 0; i < run.jobs.problems.size(); ++i) {
    for (const Contender& c : board.entries[i].row.peers) {
      if (c.best < 0) continue;
      choices.Put(run.jobs.problems[i], run.ChoiceName(c.name.Get()), c.variant.Get());
    }
  }
  return choices;
}

bool WriteTuning(const std::string& path, const std::vector<LayerResults>& all) {
  absl::StatusOr<conv::TuningTable> table = conv::TuningTable::Read(path);
  if (absl::IsNotFound(table.status())) table = conv::TuningTable();
  absl::Status s = table.status();
  for (const LayerResults& results : all) {
    if (s.ok()) s = PutBest(results, &*table);
  }
  if (s.ok()) s = table->Write(path, "Written by weft_perf --sweep.");
  if (s.ok()) {
    std::printf("%s: %d records\n", path.c_str(), static_cast<int>(table->size()));
  } else {
    std::fprintf(stderr, "weft_perf: --tuning=%s: %s\n", path.c_str(), s.ToString().c_str());
  }
  return s.ok();
}

}  // namespace

int Report(const Run& run, const Board& board) {
  bool fine = true;
  std::string csv;
  std::vector<LayerResults> all;
  for (const Jobs::File& file : run.jobs.files) all.push_back(ResultsOf(run, board, file));
  if (absl::GetFlag(FLAGS_sweep)) {
    for (const LayerResults& results : all) std::printf("%s", SweepText(results).c_str());
    const std::string path = absl::GetFlag(FLAGS_tuning);
    if (!path.empty()) fine = WriteTuning(path, all);
  }
  const std::string folder = absl::GetFlag(FLAGS_json);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const LayerResults& results = all[i];
    const LayerComparison c = CompareRows(results.rows);
    fine = fine && c.failed == 0;
    std::printf(
        "%-14s best peer / ours %.3f over %d layers, %d at least as fast; ours / floor %.2f; "
        "model's tile / best tile %.3f; noise %.2f%%; %d failed\n",
        run.jobs.files[i].name().c_str(), c.geomean, c.rows, c.won, c.over_floor, c.model_over_best,
        100 * c.noise, c.failed);
    csv += LayerResultsCsv(results, csv.empty());
    if (!folder.empty()) {
      fine = Write(absl::StrCat(folder, "/", run.jobs.files[i].name(), ".json"),
                   LayerResultsJson(results)) &&
             fine;
    }
  }
  if (const std::string path = absl::GetFlag(FLAGS_csv); !path.empty()) {
    fine = Write(path, csv) && fine;
  }
  if (const std::string path = absl::GetFlag(FLAGS_cache); !path.empty()) {
    fine = Write(path, NewChoices(run, board).Text()) && fine;
  }
  PrintEnvironment(board);
  return fine ? 0 : 1;
}

}  // namespace weft::perf
