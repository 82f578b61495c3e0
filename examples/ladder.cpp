// ladder: the same product in ten steps, from naive to TMA and wgmma (examples/ladder): a table and
// a picture of what each asks of memory, and, where there is a GPU, of its time and that of
// cuBLASLt over it. docs/ladder.md tells the story.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/numbers.h"
#include "examples/ladder/clock.hpp"
#include "examples/ladder/counts.hpp"
#include "examples/support/backend.hpp"

ABSL_FLAG(std::vector<std::string>, sizes,
          std::vector<std::string>({"128", "256", "512", "1024", "2048", "4096", "8192"}),
          "products: m, n and k in one number, a multiple of 16");
ABSL_FLAG(std::string, backend, "",
          "cpu: counts alone; cuda: times too; else times where there is a GPU");
ABSL_FLAG(double, most_ms, 1000,
          "leave out steps that would take longer for one product, going by the last size");
ABSL_FLAG(double, stop_after_s, 1e9, "start no further size after so many seconds");
ABSL_FLAG(std::string, json, "", "file to write");
ABSL_FLAG(std::string, commit, "unknown", "commit to note in the JSON file");

namespace {

using weft::perf::Json, weft::perf::Rounded;

// '#' for each factor of 10^(1/8) that `value` is above `least`.
std::string Bar(double value, double least) {
  if (!(value > 0)) return "";
  const double length = std::round(8 * std::log10(value / least));
  return std::string(static_cast<std::size_t>(std::max(length, 1.0)), '#');
}

// One size: prints a line a step, and appends a row each.
bool Climb(int size, ladder::Clock* clock, Json* rows) {
  ladder::Times times;
  if (clock != nullptr) {
    absl::StatusOr<ladder::Times> measured =
        clock->Measure(size, 1e3 * absl::GetFlag(FLAGS_most_ms));
    if (!measured.ok()) return std::cerr << "ladder: " << measured.status() << "\n", false;
    times = *std::move(measured);
    std::printf("\n%d^3; cuBLASLt %.2f us (%s)\n", size, times.peer_us, times.peer.c_str());
  } else {
    std::printf("\n%d^3\n", size);
  }
  std::printf("step                 asked MB  moved MB  conflicts%s\n",
              clock == nullptr ? "  moved over the least possible, logarithmic"
                               : "          us    TOPS   ratio  ratio, logarithmic");
  bool fine = true;
  for (int step = 0; step < ladder::kSteps; ++step) {
    const auto [name, counts] =
        ladder::VisitStep(step, [&]<class Kernel>(std::type_identity<Kernel>) {
          return std::pair<std::string, ladder::Counts>(Kernel::kName, ladder::Count<Kernel>(size));
        });
    if (!counts.error.empty()) return std::cerr << "ladder: " << counts.error << "\n", false;
    const double moved = counts.moved_bytes * 1e-6;
    Json row = {{"step", step + 1},
                {"layer", name},
                {"kernel", name},
                {"size", size},
                {"asked_mb", Rounded(counts.asked_bytes * 1e-6, 5)},
                {"moved_mb", Rounded(moved, 5)},
                {"conflicts", counts.wavefronts > 0 ? Rounded(counts.wavefronts) : Json()}};
    std::printf("%2d %-17s %9.2f %9.2f  ", step + 1, name.c_str(), counts.asked_bytes * 1e-6,
                moved);
    if (counts.wavefronts > 0) {
      std::printf("%9.2f", counts.wavefronts);
    } else {
      std::printf("        -");
    }
    if (clock == nullptr) {
      std::printf("  %s\n", Bar(counts.moved_bytes, 6.0 * size * size).c_str());
    } else if (const ladder::Time& time = times.steps[step]; !time.why_not.empty()) {
      row["status"] = time.why_not;
      std::printf("  %s\n", time.why_not.c_str());
    } else {
      const double ratio = times.peer_us / time.us, tops = 2e-6 * std::pow(size, 3) / time.us;
      row["ours_us"] = Rounded(time.us);
      row["peer_us"] = Rounded(times.peer_us);
      row["ratio"] = Rounded(ratio, 5);
      row["tops"] = Rounded(tops, 2);
      row["peer"] = times.peer;
      row["mismatches"] = time.mismatches;
      row["status"] = time.mismatches == 0 ? "ok" : "mismatch";
      std::printf("%12.2f %7.1f %7.4f  %s%s\n", time.us, tops, ratio, Bar(ratio, 1e-4).c_str(),
                  time.mismatches == 0 ? "" : " WRONG");
      fine = fine && time.mismatches == 0;
    }
    std::fflush(stdout);
    rows->push_back(row);
  }
  return fine;
}

int Main() {
  std::vector<int> sizes;
  for (const std::string& text : absl::GetFlag(FLAGS_sizes)) {
    int size = 0;
    if (!absl::SimpleAtoi(text, &size)) {
      return std::cerr << "ladder: --sizes: '" << text << "' is no number\n", 1;
    }
    if (const std::string fault = ladder::Fault(size, size, size); !fault.empty()) {
      return std::cerr << fault << "\n", 1;
    }
    sizes.push_back(size);
  }
  const auto choice = examples::ChooseBackend(absl::GetFlag(FLAGS_backend));
  if (!choice.ok()) return std::cerr << choice.status().message() << "\n", 1;
  Json environment = {{"device", "none"}};
  std::vector<ladder::Clock> clocks;  // one or none
  if (choice->backend == examples::Backend::kCuda) {
    absl::StatusOr<ladder::Clock> clock = ladder::Clock::Create();
    if (!clock.ok()) return std::cerr << "ladder: " << clock.status() << "\n", 1;
    environment = clock->environment();
    clocks.push_back(*std::move(clock));
    std::cout << "int8, C = A B, on " << environment["device"].get<std::string>() << "\n";
  } else {
    std::cout << "int8, C = A B: counts of the CPU executor, no times"
              << (choice->why.empty() ? "" : " (" + choice->why + ")") << "\n";
  }
  environment["commit"] = absl::GetFlag(FLAGS_commit);
  environment["date"] = weft::perf::Today();
  environment["method"] =
      "random int8, row-major A, column-major B, int32 sums; every sum compared with cuBLASLt's; "
      "buffers rotated past the L2; CUDA graphs; medians of interleaved samples; the peer is the "
      "fastest algorithm of cuBLASLt's heuristic; bytes and bank conflicts are counted by the CPU "
      "executor, which runs one block";
  const std::string path = absl::GetFlag(FLAGS_json);
  Json rows = Json::array();
  bool fine = true;
  const auto begin = std::chrono::steady_clock::now();
  for (const int size : sizes) {
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begin;
    if (since.count() > absl::GetFlag(FLAGS_stop_after_s)) {
      std::cerr << "ladder: not run, no time was left: " << size << "^3 and those after it\n";
      fine = false;
      break;
    }
    fine = Climb(size, clocks.empty() ? nullptr : &clocks[0], &rows) && fine;
    if (path.empty()) continue;
    // As it stands: the next size may take longer than there is time.
    const absl::Status s =
        weft::perf::WriteFile(path, weft::perf::ResultText(environment, Json::object(), rows));
    if (!s.ok()) return std::cerr << "ladder: " << s << "\n", 1;
  }
  return fine ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("one product in ten steps (docs/ladder.md)");
  absl::ParseCommandLine(argc, argv);
  return Main();
}
