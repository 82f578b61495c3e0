#include "perf/peers/bench.hpp"

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

#if WEFT_HAVE_CUDA

bool Bench::Wanted(const std::string& layer) {
  if (!absl::StrContains(layer, absl::GetFlag(FLAGS_layers))) return false;
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

absl::Status Bench::KeepFaster(int sets, Way way, std::optional<Way>* best) const {
  constexpr double kTryMicroseconds = 500.0;
  WEFT_LET(way.us, watch().Short(way.enqueue, sets, kTryMicroseconds));
  if (!best->has_value() || way.us < (*best)->us) *best = std::move(way);
  return absl::OkStatus();
}

absl::Status Bench::Write() const {
  const std::string path = absl::GetFlag(FLAGS_json);
  if (path.empty()) return absl::OkStatus();
  Json environment = machine_.environment();
  environment["program"] = program_.name;
  environment["commit"] = absl::GetFlag(FLAGS_commit);
  environment["date"] = Today();
  environment["method"] = program_.method;
  if (not_run_ > 0) environment["not_run"] = not_run_;  // no time was left for so many
  return WriteFile(path, ResultText(environment, Json::object(), rows_));
}

#endif  // WEFT_HAVE_CUDA

int BenchMain(int argc, char** argv, const BenchProgram& program, absl::Status (*measure)(Bench&)) {
  absl::SetProgramUsageMessage(absl::StrCat(program.usage, " (perf/README.md)"));
  absl::FlagsUsageConfig help;  // --help shows the flags above, not those of main()'s file
  help.contains_help_flags = [](absl::string_view file) {
    return absl::StrContains(file, "_bench.cpp") || absl::StrContains(file, "peers/bench.cpp");
  };
  absl::SetFlagsUsageConfig(help);
  absl::ParseCommandLine(argc, argv);
#if WEFT_HAVE_CUDA
  if (measure != nullptr) {
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
#endif
  std::printf("%s: built without %s, nothing to measure\n", program.name,
              measure == nullptr ? "CUDA or the libraries it compares with" : "CUDA");
  return 1;
}

}  // namespace weft::perf
