// weft_perf: our int8 convolutions in every layout against cuDNN and cuBLASLt, side by side in one
// run. perf/README.md says how to run and read it.
#include <cstdio>
#include <string>
#include <vector>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "perf/network/run.hpp"
#include "perf/support/workers.hpp"
#include "perf/weft_perf/measuring.hpp"
#include "perf/weft_perf/output.hpp"
#include "perf/weft_perf/run.hpp"
#include "perf/weft_perf/table.hpp"

ABSL_FLAG(std::string, network, "", "a network end to end, instead of lists: resnet50");
ABSL_DECLARE_FLAG(std::vector<std::string>, batch);
ABSL_DECLARE_FLAG(std::vector<std::string>, peer);
ABSL_DECLARE_FLAG(int, repetitions);
ABSL_DECLARE_FLAG(std::string, json);
ABSL_DECLARE_FLAG(std::string, commit);
ABSL_DECLARE_FLAG(int, threads);
ABSL_DECLARE_FLAG(double, stop_after_s);

namespace weft::perf {
namespace {

int MeasureNetwork() {
  NetworkRun run;
  run.network = absl::GetFlag(FLAGS_network);
  run.batches = absl::GetFlag(FLAGS_batch);
  run.rounds = absl::GetFlag(FLAGS_repetitions);
  run.threads = absl::GetFlag(FLAGS_threads);
  run.cudnn = absl::GetFlag(FLAGS_peer) != std::vector<std::string>{"none"};
  run.json = absl::GetFlag(FLAGS_json);
  run.commit = absl::GetFlag(FLAGS_commit);
  run.stop_after_s = absl::GetFlag(FLAGS_stop_after_s);
  return RunNetwork(run);
}

int MeasureLayers() {
  const absl::StatusOr<Run> run = MakeRun();
  if (!run.ok()) {
    std::fprintf(stderr, "weft_perf: %s\n", std::string(run.status().message()).c_str());
    return 2;
  }
  // CUDA must not be touched before fork().
  const std::shared_ptr<Board> board = MakeShared<Board>();
  if (board == nullptr) {
    std::fprintf(stderr, "weft_perf: no shared memory\n");
    return 3;
  }
  PrintHeader(*run);
  if (!MeasureAll(*run, board.get())) {
    std::fprintf(stderr, "weft_perf: %s\n", board->failure.chars);
    return 3;
  }
  return Report(*run, *board);
}

}  // namespace
}  // namespace weft::perf

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("int8 convolutions against cuDNN and cuBLASLt (perf/README.md)");
  absl::ParseCommandLine(argc, argv);
  if (!absl::GetFlag(FLAGS_network).empty()) return weft::perf::MeasureNetwork();
  return weft::perf::MeasureLayers();
}
