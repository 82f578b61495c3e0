// weft_perf: our int8 convolutions in every layout against cuDNN and cuBLASLt, side by side in one
// run. perf/README.md says how to run and read it.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "perf/bench/bench.hpp"
#include "perf/peers/peer.hpp"
#include "perf/support/json.hpp"
#include "perf/support/status.hpp"
#include "perf/weft_perf/run.hpp"

using Names = std::vector<std::string>;

ABSL_FLAG(Names, list, {"anchors"}, "layer lists of perf/layers/");
ABSL_FLAG(Names, layer, {}, "layers by name, instead of lists");
ABSL_FLAG(Names, batch, {"1"}, "batches, such as 1,16,64");
ABSL_FLAG(Names, layout, {"all"}, "our layouts: nc4, nc4_nc32, nc32, nhwc; or all");
ABSL_FLAG(std::string, epilogue, "bias_relu", "bias_relu, residual, hswish or bias");
ABSL_FLAG(Names, peer, {"all"}, "peers (perf/peers/README.md), all or none");
ABSL_FLAG(std::string, tensors, "",
          "nc32, nc4 or nhwc: the format of the user's tensors; measures what reformats cost");
ABSL_FLAG(std::string, tile, "", "only tiles whose name contains this");
ABSL_FLAG(bool, family, false,
          "only tiles of the ready-made families, which Dispatch chooses from");
ABSL_FLAG(int, repetitions, 15, "samples of each contestant");
ABSL_FLAG(bool, once, false,
          "run each tile once in this process and compare; no ceilings, no timing (for profilers "
          "and checkers)");
ABSL_FLAG(int, threads, 1, "threads with which peers compile; 1 again after a crash");
ABSL_FLAG(std::string, name, "", "name of the result files, instead of the list's");
ABSL_FLAG(std::string, cache, "",
          "file of the peers' choices: read if there, rewritten at the end");
ABSL_FLAG(
    std::string, sweep, "",
    "tuning table of conv::Dispatch that the best tiles are added to, such as weft_tuning.txt");

namespace weft::perf {
namespace {

absl::StatusOr<Options> MakeOptions() {
  Options o;
  WEFT_LET(o.jobs, MakeJobs({absl::GetFlag(FLAGS_list), absl::GetFlag(FLAGS_layer),
                             absl::GetFlag(FLAGS_batch), absl::GetFlag(FLAGS_name)}));
  Names layouts;
  for (const OurLayout& layout : OurLayouts()) layouts.push_back(layout.name);
  o.layouts = absl::GetFlag(FLAGS_layout);
  o.all_layouts = o.layouts == Names{"all"};
  if (o.all_layouts) o.layouts = layouts;
  o.dp4a_floor = true;
  for (const std::string& name : o.layouts) {
    if (std::find(layouts.begin(), layouts.end(), name) == layouts.end()) {
      return absl::InvalidArgumentError(absl::StrCat("--layout=", name,
                                                     " does not exist; there are ",
                                                     absl::StrJoin(layouts, ", "), " and all"));
    }
    o.dp4a_floor = o.dp4a_floor && name.rfind("nc4", 0) == 0;
  }
  o.peers = absl::GetFlag(FLAGS_peer);
  if (o.peers == Names{"all"}) o.peers = PeerNames();
  o.time = !absl::GetFlag(FLAGS_once);
  if (o.peers == Names{"none"} || !o.time) o.peers.clear();
  for (const std::string& name : o.peers) WEFT_TRY(CheckPeerName(name));
  const std::string epilogue = absl::GetFlag(FLAGS_epilogue);
  const Names& epilogues = EpilogueNames();
  const auto found = std::find(epilogues.begin(), epilogues.end(), epilogue);
  if (found == epilogues.end()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--epilogue=", epilogue, " does not exist; there are ", absl::StrJoin(epilogues, ", ")));
  }
  o.epilogue = static_cast<Epilogue>(found - epilogues.begin());
  const std::string tensors = absl::GetFlag(FLAGS_tensors);
  if (tensors == "nhwc") o.tensors = TensorFormatName::kNhwc;
  if (tensors == "nc4") o.tensors = TensorFormatName::kNc4;
  if (tensors == "nc32") o.tensors = TensorFormatName::kNc32;
  if (!tensors.empty() && !o.tensors.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--tensors=", tensors, " is no format; give nc32, nc4 or nhwc"));
  }
  o.only_tile = absl::GetFlag(FLAGS_tile);
  o.family = absl::GetFlag(FLAGS_family);
  o.rounds = absl::GetFlag(FLAGS_repetitions);
  o.threads = absl::GetFlag(FLAGS_threads);
  o.cache = absl::GetFlag(FLAGS_cache);
  o.sweep = absl::GetFlag(FLAGS_sweep);
  return o;
}

absl::Status MeasureAll(Bench& bench) {
  WEFT_LET(const Options options, MakeOptions());
  for (const std::string& path : {options.cache, options.sweep}) {
    if (!path.empty()) WEFT_TRY(PrepareToWrite(path));
  }
  return RunLayers(options, bench);
}

}  // namespace
}  // namespace weft::perf

int main(int argc, char** argv) {
  return weft::perf::BenchMain(
      argc, argv,
      {"weft_perf", "int8 convolutions against cuDNN and cuBLASLt",
       "random data; buffers rotated past the L2; CUDA graphs; ours and the peers interleaved; "
       "medians; noise: how far the median of every other sample is from that of the rest"},
      weft::perf::MeasureAll);
}
