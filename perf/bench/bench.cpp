#include "perf/bench/bench.hpp"

#include <algorithm>
#include <cstdio>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/flags/usage_config.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

ABSL_FLAG(std::string, json, "", "file to write");
ABSL_FLAG(std::string, layers, "", "only layers with this in their name");
ABSL_FLAG(std::string, commit, "unknown", "commit to note in the JSON file");
ABSL_FLAG(double, stop_after_s, 1e9, "start no further row after so many seconds");

namespace weft::perf {
namespace {

constexpr double kTryMicroseconds = 500.0;

}  // namespace

absl::StatusOr<int> Fastest(const Stopwatch& watch, int sets, std::vector<Way>* ways) {
  int best = -1;
  for (int i = 0; i < static_cast<int>(ways->size()); ++i) {
    Way& way = (*ways)[i];
    if (way.wrong != nullptr) {
      WEFT_LET(const std::int64_t wrong, way.wrong());
      if (wrong > 0)
        return absl::DataLossError(absl::StrCat(way.name, ": ", wrong, " wrong outputs"));
    }
    WEFT_LET(way.us, watch.Short(way.enqueue, sets, kTryMicroseconds));
    if (best < 0 || way.us < (*ways)[best].us) best = i;
  }
  if (best < 0) return absl::UnimplementedError("no tile with GPU code takes the layer");
  return best;
}

absl::StatusOr<int> FastestAnswer(int count, const std::string& what,
                                  const std::function<absl::StatusOr<double>(int)>& attempt) {
  int best = -1;
  double best_us = 0.0;
  std::string why = absl::StrCat(what, " offers nothing");
  for (int i = 0; i < count; ++i) {
    const absl::StatusOr<double> us = attempt(i);
    if (!us.ok()) {
      why = absl::StrCat(what, ": ", std::string(us.status().message()));
      WEFT_TRY(CudaStatus(cudaDeviceSynchronize(), what.c_str()));
      (void)cudaGetLastError();
    } else if (best < 0 || *us < best_us) {
      best = i, best_us = *us;
    }
  }
  if (best < 0) return absl::UnimplementedError(why);
  return best;
}

absl::Status Race::Add(const std::string& what, const Way& way, double sample_us) {
  Entry& entry = entries_.emplace_back();
  entry.what = what, entry.name = way.name;
  entry.own.enqueue = way.enqueue;
  entry.contestant = &entry.own;
  const absl::Status status = watch_.Prepare(entry.own, sets_, sample_us);
  if (!status.ok()) entries_.pop_back();
  return status;
}

absl::Status Race::AddFastest(const std::string& what, std::vector<Way> ways) {
  WEFT_LET(const int best, Fastest(watch_, sets_, &ways));
  return Add(what, ways[best]);
}

void Race::Add(const std::string& what, const std::string& name, Contestant* contestant) {
  Entry& entry = entries_.emplace_back();
  entry.what = what, entry.name = name;
  entry.contestant = contestant;
}

absl::Status Race::Run(double budget_us) const {
  constexpr int kRounds = 15;
  std::vector<Contestant*> all;
  for (const Entry& entry : entries_) all.push_back(entry.contestant);
  return watch_.Interleave(all, kRounds, budget_us);
}

const Race::Entry* Race::Find(const std::string& what) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.what == what; });
  return found == entries_.end() ? nullptr : &*found;
}

double Race::us(const std::string& what, double quantile) const {
  return Quantile(Find(what)->contestant->samples, quantile);
}

bool Race::graphed() const {
  return std::all_of(entries_.begin(), entries_.end(),
                     [](const Entry& entry) { return entry.contestant->graphed; });
}

void Race::Describe(const std::string& what, Json* row, bool quantiles) const {
  (*row)[what + "_us"] = Rounded(us(what));
  if (!quantiles) return;
  (*row)[what + "_p10_us"] = Rounded(us(what, 0.1));
  (*row)[what + "_p90_us"] = Rounded(us(what, 0.9));
}

bool Bench::Named(const std::string& layer) {
  return absl::StrContains(layer, absl::GetFlag(FLAGS_layers));
}

bool Bench::Wanted(const std::string& layer) {
  if (!Named(layer)) return false;
  const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begin_;
  const bool in_time = since.count() <= absl::GetFlag(FLAGS_stop_after_s);
  if (!in_time) ++not_run_;
  return in_time;
}

absl::Status Bench::Row(const std::string& layer,
                        const std::function<absl::Status(Json* row)>& measure) {
  return Wanted(layer) ? AddRow(layer, measure) : absl::OkStatus();
}

absl::Status Bench::AddRow(const std::string& layer,
                           const std::function<absl::Status(Json* row)>& measure) {
  Json row = {{"layer", layer}};
  const absl::Status status = measure(&row);
  if (!status.ok()) {
    row["status"] = absl::StrCat("failed: ", std::string(status.message()));
    if (!row.contains("kernel")) row["kernel"] = "none";
    (void)cudaGetLastError();
  } else {
    row["status"] = row.value("mismatches", 0) == 0 ? "ok" : "mismatch";
  }
  failed_ = failed_ || row["status"] != "ok";
  std::puts(Line(row).c_str());
  std::fflush(stdout);
  rows_.push_back(std::move(row));
  return Write();
}

absl::StatusOr<std::string> Bench::Earlier() const {
  return ReadFile(absl::GetFlag(FLAGS_json));
}

Json Bench::Environment() const {
  Json environment = machine_.environment();
  environment["program"] = program_.name;
  environment["commit"] = absl::GetFlag(FLAGS_commit);
  environment["date"] = Today();
  environment.update(notes_);
  environment["method"] = program_.method;
  if (not_run_ > 0) environment["not_run"] = not_run_;  // no time was left for so many
  return environment;
}

absl::Status Bench::SetRows(const std::vector<Json>& rows, const Json& summary) {
  rows_ = rows;
  summary_ = summary;
  failed_ =
      std::any_of(rows.begin(), rows.end(), [](const Json& row) { return row["status"] != "ok"; });
  return Write();
}

absl::Status Bench::Write() const {
  const std::string path = absl::GetFlag(FLAGS_json);
  return path.empty() ? absl::OkStatus()
                      : WriteFile(path, ResultText(Environment(), summary_, rows_));
}

int BenchMain(int argc, char** argv, const BenchProgram& program, absl::Status (*measure)(Bench&)) {
  absl::SetProgramUsageMessage(absl::StrCat(program.usage, " (perf/README.md)"));
  absl::FlagsUsageConfig help;  // --help shows the flags above, not those of main()'s file
  help.contains_help_flags = [](absl::string_view file) {
    return absl::StrContains(file, "_bench.cpp") || absl::StrContains(file, "bench/bench.cpp");
  };
  absl::SetFlagsUsageConfig(help);
  absl::ParseCommandLine(argc, argv);
  Bench bench(program);
  absl::Status status = bench.Init();
  if (status.ok()) status = measure(bench);
  if (status.ok() && bench.not_run() > 0) {
    status = bench.Write();  // that some are missing
    std::printf("not run, no time was left: %d\n", bench.not_run());
  }
  if (status.ok() && (bench.failed() || bench.not_run() > 0))
    status = absl::DataLossError("a row failed or was not run");
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s: %s\n", program.name, std::string(status.message()).c_str());
  return 1;
}

}  // namespace weft::perf
