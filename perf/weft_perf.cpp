// weft_perf: our int8 convolutions in every layout against cuDNN and cuBLASLt, side by side in one
// run. perf/README.md says how to run and read it.
#include <cstdio>
#include <string>

#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "perf/support/workers.hpp"
#include "perf/weft_perf/measuring.hpp"
#include "perf/weft_perf/output.hpp"
#include "perf/weft_perf/run.hpp"
#include "perf/weft_perf/table.hpp"

namespace weft::perf {
namespace {

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
  return weft::perf::MeasureLayers();
}
