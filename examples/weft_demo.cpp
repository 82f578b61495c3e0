// weft_demo: lists of convolution layers through operators of its own (weft_demo/operators.hpp), on
// the GPU or the CPU, every output compared with the plain reference, and with cuDNN's where it is
// installed.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "examples/support/backend.hpp"
#include "examples/weft_demo/cudnn.hpp"
#include "examples/weft_demo/kernels.hpp"
#include "examples/weft_demo/table.hpp"
#include "perf/support/layers.hpp"

ABSL_FLAG(std::string, layers, "t4_17,small_k,reformat",
          "what to run, separated by commas: layer lists, or layers such as c64h56w56k64r3s1 "
          "or n16c64h92w160k32r3s1p1 (these run through every operator)");
ABSL_FLAG(std::string, layout, "",
          "channel blocks: nc4 (dp4a), nc32 (tensor cores) or all; by default all that run");
ABSL_FLAG(std::string, batch, "",
          "images, 1 to 1024; by default what the list says, or 1 (small_k: 16)");
ABSL_FLAG(std::string, backend, "", "cpu or cuda; by default cuda if there is a GPU, else cpu");
ABSL_FLAG(std::string, tile, "",
          "use this tile, such as 64x64 or 32x32x256; by default a model chooses");
ABSL_FLAG(std::string, csv, "", "also write the table to this file; - for standard output");
ABSL_FLAG(bool, check, true, "compare every output with the reference");
ABSL_FLAG(bool, cudnn, true, "on a GPU: also time cuDNN, if it is installed, and compare with it");

namespace weft_demo {
namespace {

using examples::Backend;
using weft::conv::Problem;

struct Job {
  Problem problem;
  Kernel kernel;
};

struct NamedLayer {
  weft::perf::Layer layer;
  bool relu = true;
  bool hswish = true;
};

struct Layouts {
  bool nc4 = true;
  bool nc32 = true;
};

constexpr char kOneLayer[] = "c64h56w56k64r3s1";

// The layers of one item of --layers.
absl::StatusOr<std::vector<NamedLayer>> Layers(const std::string& item) {
  std::vector<NamedLayer> named;
  const std::string list = absl::StrReplaceAll(absl::AsciiStrToLower(item), {{"-", "_"}});
  const std::vector<std::string> lists = weft::perf::LayerListNames();
  if (std::find(lists.begin(), lists.end(), list) != lists.end()) {
    const auto layers = weft::perf::LayerList(list);
    if (!layers.ok()) return layers.status();
    const bool hswish = list == "reformat";
    for (const weft::perf::Layer& layer : *layers) named.push_back({layer, !hswish, hswish});
    return named;
  }
  if (std::none_of(item.begin(), item.end(), absl::ascii_isdigit)) {
    return absl::NotFoundError(absl::StrCat("--layers: there is no list '", item,
                                            "'; accepted are ", absl::StrJoin(lists, ", "),
                                            " and layers such as ", kOneLayer));
  }
  const auto layer = weft::perf::ParseLayer(item);
  if (!layer.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--layers: ", std::string(layer.status().message()),
                     ", or a list: ", absl::StrJoin(lists, ", ")));
  }
  named.push_back({*layer});
  return named;
}

std::vector<Operator> Operators(const NamedLayer& layer, const Layouts& layouts) {
  std::vector<Operator> operators;
  if (layer.relu && layouts.nc4) operators.push_back(Operator::kRelu);
  if (layer.hswish && layouts.nc4) operators.push_back(Operator::kHSwishReformat);
  if (layer.relu && layouts.nc32) operators.push_back(Operator::kRelu32);
  if (layer.hswish && layouts.nc32) operators.push_back(Operator::kHSwish32);
  return operators;
}

// By default all, but for a GPU that is too old for the operators over NCxHWx<32>.
absl::StatusOr<Layouts> ChosenLayouts(const Machine& machine) {
  const std::string flag = absl::AsciiStrToLower(absl::GetFlag(FLAGS_layout));
  if (flag == "nc4") return Layouts{true, false};
  if (flag == "nc32") return Layouts{false, true};
  if (flag == "all") return Layouts{true, true};
  if (!flag.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--layout=", flag, " is unknown; accepted are nc4, nc32, all"));
  }
  return Layouts{true,
                 machine.backend == Backend::kCpu || machine.gpu.limits.compute_capability >= 80};
}

// Two copies of the source and three of the output, packed, planar and expected, lie in memory.
absl::Status CheckMemory(const Problem& problem) {
  using Format = weft::NCxHWx<32>;
  const double need = 2.0 * static_cast<double>(Format::Size(problem.src())) +
                      3.0 * static_cast<double>(Format::Size(problem.dst()));
  const double have = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  if (need < 0.75 * have) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrFormat("%s: its tensors take %.1f GB of memory, this machine has %.1f; give a "
                      "smaller layer or --batch",
                      weft::perf::LayerName(problem, true), need * 1e-9, have * 1e-9));
}

// Everything that will run; whatever is wrong with the flags shows here.
absl::StatusOr<std::vector<Job>> Plan(const Machine& machine) {
  const std::string batch = absl::GetFlag(FLAGS_batch);
  int images = 0;
  if (!batch.empty() && (!absl::SimpleAtoi(batch, &images) || images < 1 || images > 1024)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--batch=", batch, " is not a number of images; accepted are 1 to 1024"));
  }
  const auto layouts = ChosenLayouts(machine);
  if (!layouts.ok()) return layouts.status();
  std::vector<Job> jobs;
  for (const absl::string_view item :
       absl::StrSplit(absl::GetFlag(FLAGS_layers), ',', absl::SkipWhitespace())) {
    const auto layers = Layers(std::string(item));
    if (!layers.ok()) return layers.status();
    for (const NamedLayer& named : *layers) {
      Problem problem = named.layer.problem;
      if (images > 0) problem.n = images;
      for (const Operator op : Operators(named, *layouts)) {
        const auto kernel = ChooseKernel(op, problem, machine, absl::GetFlag(FLAGS_tile));
        if (absl::Status s = kernel.status(); !s.ok()) {
          if (absl::IsNotFound(s)) return s;  // about the flag
          return absl::Status(s.code(), absl::StrCat(weft::perf::LayerName(problem, true), ": ",
                                                     std::string(s.message())));
        }
        if (absl::Status s = CheckMemory(problem); !s.ok()) return s;
        jobs.push_back({problem, *kernel});
      }
    }
  }
  if (jobs.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--layers is empty; accepted are ", absl::StrJoin(weft::perf::LayerListNames(), ", "),
        " and layers such as ", kOneLayer));
  }
  return jobs;
}

// cuDNN's answers, one for all of our operators that compute the same.
class CudnnColumn {
 public:
  explicit CudnnColumn(Backend backend) {
    if (!absl::GetFlag(FLAGS_cudnn)) {
      missing_ = "--cudnn=false";
    } else if (backend == Backend::kCpu) {
      missing_ = "it needs a GPU";
    }
  }

  // Fills the row's columns; they stay empty where cuDNN gave no answer. `want` is our output, or
  // empty.
  void Fill(Operator op, const LayerData& data, const std::vector<std::int8_t>& want, Row* row) {
    if (!missing_.empty()) return;
    const Key key = {weft::perf::LayerName(data.problem, true), IsRelu(op)};
    auto place = answers_.find(key);
    if (place == answers_.end()) {
      answers_.clear();  // one layer's operators follow each other
      place = answers_.emplace(key, RunCudnn(op, data)).first;
    }
    const absl::StatusOr<CudnnAnswer>& answer = place->second;
    if (absl::IsNotFound(answer.status())) missing_ = std::string(answer.status().message());
    if (!answer.ok()) {
      ++refused_;
      return;
    }
    row->cudnn_milliseconds = answer->milliseconds;
    if (want.empty()) return;
    const CudnnDifferences differences = Compare(want, answer->dst);
    row->cudnn_differences = differences.count;
    row->cudnn_largest = differences.largest;
  }

  // One line on the columns.
  std::string Note() const {
    if (!missing_.empty()) return absl::StrCat("* cuDNN was not run: ", missing_);
    const std::string refused =
        refused_ > 0 ? absl::StrCat("; it has no answer for ", refused_, " of the rows") : "";
    return absl::StrCat("* the fastest of the first ", kCudnnPlans,
                        " plans of cuDNN's graph API for NHWC int8 with a scale per channel, not "
                        "cuDNN's best in any format, which weft_perf finds",
                        refused);
  }

 private:
  using Key = std::pair<std::string, bool>;
  std::map<Key, absl::StatusOr<CudnnAnswer>> answers_;
  std::string missing_;
  int refused_ = 0;
};

absl::StatusOr<Row> RunJob(const Job& job, Backend backend, const std::string& place,
                           CudnnColumn* cudnn, Table* table) {
  const Kernel& kernel = job.kernel;
  Row row;
  row.layer = weft::perf::LayerName(job.problem);
  row.images = job.problem.n;
  row.src_layout = kernel.src_layout;
  row.dst_layout = kernel.dst_layout;
  row.kernel = absl::StrCat(IsRelu(kernel.op) ? "relu " : "hswish ", kernel.tile());
  row.backend = backend == Backend::kCpu ? "cpu" : "cuda";

  table->Live(absl::StrCat(place, row.layer, ": random tensors"));
  const LayerData data(job.problem);
  std::vector<std::int8_t> want;
  const bool check = absl::GetFlag(FLAGS_check);
  if (check) {
    table->Live(absl::StrCat(place, row.layer, ": reference"));
    want = Reference(kernel.op, data);
  }
  table->Live(absl::StrCat(place, row.layer, ": ", row.kernel, " on ", row.backend));
  const auto measured = kernel.run(data, backend, check ? &want : nullptr);
  if (!measured.ok()) return measured.status();
  row.milliseconds = measured->milliseconds;
  row.tops = 2.0 * job.problem.macs() / (measured->milliseconds * 1e-3) * 1e-12;
  row.mismatches = measured->mismatches;
  table->Live(absl::StrCat(place, row.layer, ": cuDNN"));
  cudnn->Fill(kernel.op, data, want, &row);
  return row;
}

// The number of outputs that are not what the reference says.
absl::StatusOr<std::int64_t> Run() {
  const auto choice = examples::ChooseBackend(absl::GetFlag(FLAGS_backend));
  if (!choice.ok()) return choice.status();
  const bool on_cpu = choice->backend == Backend::kCpu;
  const int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  Machine machine = {choice->backend, {}, {threads}};
  if (!on_cpu) machine.gpu = weft::conv::GpuFactsOf(weft::arch::QueryDevice().limits);
  const auto jobs = Plan(machine);
  if (!jobs.ok()) return jobs.status();
  Table table;
  if (absl::Status s = table.Open(absl::GetFlag(FLAGS_csv)); !s.ok()) return s;

  const auto start = std::chrono::steady_clock::now();
  table.Print(on_cpu
                  ? absl::StrCat("On the CPU, ", threads, " threads",
                                 choice->why.empty() ? "" : absl::StrCat(" (", choice->why, ")"))
                  : absl::StrCat("On the GPU, ", machine.gpu.limits.sm_count, " multiprocessors"));
  table.PrintHeader();
  CudnnColumn cudnn(choice->backend);
  std::int64_t mismatches = 0;
  for (std::size_t i = 0; i < jobs->size(); ++i) {
    const std::string place = absl::StrCat("[", i + 1, "/", jobs->size(), "] ");
    const auto row = RunJob((*jobs)[i], choice->backend, place, &cudnn, &table);
    if (!row.ok()) return row.status();
    table.PrintRow(*row);
    mismatches += std::max<std::int64_t>(0, row->mismatches);
  }
  if (const std::string note = cudnn.Note(); !note.empty()) table.Print(note);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  const std::string verdict = !absl::GetFlag(FLAGS_check) ? "not compared with the reference"
                              : mismatches == 0
                                  ? "every output equals the reference"
                                  : absl::StrCat(mismatches, " outputs differ from the reference");
  table.Print(absl::StrFormat("%d run%s in %.1f s: %s", jobs->size(), jobs->size() == 1 ? "" : "s",
                              time.count(), verdict));
  if (absl::Status s = table.Close(); !s.ok()) return s;
  return mismatches;
}

}  // namespace
}  // namespace weft_demo

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "weft_demo [--layers=...] [--batch=N] [--layout=nc4|nc32|all]\n"
      "          [--backend=cpu|cuda] [--tile=MxN[xK]] [--csv=FILE]\n"
      "Runs convolution layers and compares every output with the reference.");
  const std::vector<char*> arguments = absl::ParseCommandLine(argc, argv);
  if (arguments.size() > 1) {
    std::cerr << "weft_demo: '" << arguments[1]
              << "' is not a flag; accepted are --layers, --batch, --backend, --tile, --csv, "
                 "--check, --cudnn, --layout\n";
    return 1;
  }
  const absl::StatusOr<std::int64_t> mismatches = weft_demo::Run();
  if (mismatches.ok()) return *mismatches == 0 ? 0 : 1;
  std::cerr << "weft_demo: " << mismatches.status().message() << "\n";
  return 1;
}
