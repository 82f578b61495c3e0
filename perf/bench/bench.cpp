#include "perf/bench/bench.hpp"

#include <algorithm>
#include <cstdio>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/flags/usage_config.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

ABSL_FLAG(std::string, json, "", "file to write; of weft_perf a folder, for <list>-n<batch>.json");
ABSL_FLAG(std::string, layers, "", "only layers with this in their name");
ABSL_FLAG(std::string, commit, "unknown", "commit to note in the result files");
ABSL_FLAG(double, stop_after_s, 1e9, "start no further row after so many seconds");
ABSL_FLAG(bool, resume, false,
          "keep the rows that the files of --json have, if these are of the same --commit and were "
          "measured with the same flags; measure what is missing or failed");

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

int Bench::Add(const Json& identity, Measure measure, const Json& empty) {
  jobs_.push_back({std::move(measure), empty});
  const int job = results_.Add(identity);
  if (!absl::StrContains(identity.value("layer", ""), absl::GetFlag(FLAGS_layers))) {
    results_.Put(job, Json::array());  // has no rows
  }
  return job;
}

void Bench::AddRow(const std::string& layer, MeasureRow measure) {
  const Json identity = {{"layer", layer}};
  Add(identity, [identity, measure = std::move(measure)](const Measuring&) {
    return std::vector<Json>{RowOf(identity, measure)};
  });
}

Json Bench::RowOf(const Json& identity, const MeasureRow& measure) {
  Json row = identity;
  const absl::Status status = measure(&row);
  if (!status.ok()) {
    row["status"] = absl::StrCat("failed: ", std::string(status.message()));
    if (!row.contains("kernel")) row["kernel"] = "none";
    (void)cudaGetLastError();
  } else {
    row["status"] = row.value("mismatches", 0) == 0 ? "ok" : "mismatch";
  }
  return row;
}

// The machine's fields, and then what the program says.
Json Bench::EnvironmentOf(const ResultFile& file) const {
  Json all = environment_;
  all.update({{"program", program_.name},
              {"commit", absl::GetFlag(FLAGS_commit)},
              {"date", Today()},
              {"method", program_.method}});
  all.update(notes_);
  all.update(file.environment);
  all["not_run"] = results_.NotRun(file);
  return all;
}

// What the files have of an earlier run, and what they say of the machine, which later rows share.
void Bench::Resume() {
  for (const ResultFile& file : results_.files()) {
    const absl::StatusOr<std::string> text =
        file.path.empty() ? absl::NotFoundError("") : ReadFile(file.path);
    if (absl::IsNotFound(text.status())) continue;
    const absl::Status kept =
        text.ok() ? results_.TakeOver(file, *text, EnvironmentOf(file)) : text.status();
    if (!kept.ok()) {
      std::printf("%s: measuring all: %s\n", file.name.c_str(),
                  std::string(kept.message()).c_str());
    } else if (environment_.empty()) {
      environment_ = Json::parse(*text)["environment"];
    }
  }
}

void Bench::WriteFiles() {
  if (!environment_.contains("device")) return;  // no row was measured
  for (const ResultFile& file : results_.files()) {
    const std::vector<Json> rows = results_.RowsOf(file);
    if (file.path.empty() || rows.empty()) continue;
    const Json summary = file.summary == nullptr ? Json::object() : file.summary(rows);
    const absl::Status status =
        WriteFile(file.path, ResultText(EnvironmentOf(file), summary, rows));
    if (!status.ok()) {
      std::fprintf(stderr, "%s: %s\n", program_.name, std::string(status.message()).c_str());
    }
    written_ = written_ && status.ok();
  }
}

void Bench::AddFile(ResultFile file) {
  const std::string folder = absl::GetFlag(FLAGS_json);
  if (!folder.empty()) file.path = absl::StrCat(folder, "/", file.name, ".json");
  results_.AddFile(std::move(file));
}

absl::Status Bench::Run(bool ceilings) {
  if (results_.Empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "nothing is left to measure: no layer that the program's other flags ask for has --layers=",
        absl::GetFlag(FLAGS_layers), " in its name"));
  }
  if (results_.files().empty()) {
    ResultFile all;
    all.name = program_.name;
    all.path = absl::GetFlag(FLAGS_json);
    all.summary = summary_;
    for (int job = 0; job < results_.count(); ++job) all.jobs.emplace_back(job, Json::object());
    results_.AddFile(std::move(all));
  }
  for (const ResultFile& file : results_.files()) {
    if (!file.path.empty()) WEFT_TRY(PrepareToWrite(file.path));
  }
  if (absl::GetFlag(FLAGS_resume)) Resume();
  how_.count = results_.count();
  how_.kept = results_.rows();
  how_.stop_after_s = absl::GetFlag(FLAGS_stop_after_s);
  how_.start = [&] {
    machine_ = new Machine;  // Never destroyed: cuDNN may crash when it is closed.
    return machine_->Init(environment_, ceilings);
  };
  how_.measure = [&](int job, const std::set<std::string>& skip, const RowRun::About& about,
                     const RowRun::Send& send, bool* alive) -> Json {
    const auto rows = jobs_[job].measure({skip, about, send});
    *alive = CudaStatus(cudaDeviceSynchronize(), "after a row").ok();
    send({{"environment", machine_->environment()}});
    return rows.ok() ? Json(*rows) : how_.failed(job, std::string(rows.status().message()));
  };
  how_.receive = [&, receive = how_.receive](const Json& line) {
    if (line.contains("environment")) environment_ = line["environment"];
    receive(line);
  };
  how_.done = [&](int job, const Json& rows) {
    results_.Put(job, rows);
    for (const Json& row : rows) std::puts(RowLine(row).c_str());
    std::fflush(stdout);
    WriteFiles();
  };
  how_.failed = [&](int job, const std::string& why) {
    Json row = results_.identity(job);
    row.update(jobs_[job].empty);
    row.update({{"kernel", "none"}, {"mismatches", 0}, {"status", absl::StrCat("failed: ", why)}});
    return Json::array({row});
  };
  WEFT_TRY(how_.Run().status());
  WriteFiles();
  Print();
  return absl::OkStatus();
}

// What the rows come to, and what they were measured on.
void Bench::Print() const {
  for (const ResultFile& file : results_.files()) {
    const std::vector<Json> rows = results_.RowsOf(file);
    const Json summary = file.summary == nullptr ? Json::object() : file.summary(rows);
    std::printf("%s: %zu rows, %d not run; %s\n", file.name.c_str(), rows.size(),
                results_.NotRun(file), Line(summary).c_str());
  }
  std::printf("%s\n", Line(environment_).c_str());
}

int BenchMain(int argc, char** argv, const BenchProgram& program, absl::Status (*plan)(Bench&)) {
  absl::SetProgramUsageMessage(absl::StrCat(program.usage, " (perf/README.md)"));
  absl::FlagsUsageConfig help;  // --help shows the programs' own flags, not Abseil's
  help.contains_help_flags = [](absl::string_view file) {
    return absl::StrContains(file, "perf/");
  };
  absl::SetFlagsUsageConfig(help);
  absl::ParseCommandLine(argc, argv);
  Bench bench(program);
  const absl::Status status = plan(bench);
  if (status.ok()) return bench.fine() ? 0 : 1;
  std::fprintf(stderr, "%s: %s\n", program.name, std::string(status.message()).c_str());
  return absl::IsUnavailable(status) ? 3 : 2;
}

}  // namespace weft::perf
