#include "perf/weft_perf/run.hpp"

#include <ctime>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "perf/peers/peer.hpp"
#include "perf/weft_perf/ours.hpp"

ABSL_FLAG(std::vector<std::string>, list, {"anchors"}, "layer lists of perf/layers/");
ABSL_FLAG(std::vector<std::string>, layer, {}, "layers by name, instead of lists");
ABSL_FLAG(std::vector<std::string>, batch, {"1"}, "batches, such as 1,16,64");
ABSL_FLAG(std::vector<std::string>, layout, {"all"},
          "our layouts: nc4, nc4_nc32, nc32, nhwc; or all");
ABSL_FLAG(std::string, epilogue, "bias_relu", "bias_relu, residual or hswish");
ABSL_FLAG(std::vector<std::string>, peer, {"all"}, "peers (see perf/peers/peer.hpp), all or none");
ABSL_FLAG(std::string, tensors, "",
          "nc32, nc4 or nhwc: the format of the user's tensors; measures what reformats cost");
ABSL_FLAG(std::string, filter, "", "only layers whose name contains this");
ABSL_FLAG(std::string, tile, "", "only tiles whose name contains this");
ABSL_FLAG(std::string, name, "", "name of the result files, instead of the list's");
ABSL_FLAG(int, repetitions, 15, "samples of each contestant");
ABSL_FLAG(bool, hot, false, "one set of buffers, which stays in the L2");
ABSL_FLAG(bool, graph, true, "launch by CUDA graphs");
ABSL_FLAG(std::string, cache, "", "file of choices: read if there, rewritten at the end");
ABSL_FLAG(std::string, commit, "unknown", "commit to note in the JSON files");
ABSL_FLAG(int, threads, 1, "threads with which peers compile; 1 again after a crash");
ABSL_FLAG(double, stop_after_s, 500, "start no further row after so many seconds");
ABSL_FLAG(bool, once, false, "run each tile once and compare; no timing (for profilers)");

namespace weft::perf {
namespace {

absl::StatusOr<std::optional<TensorFormatName>> Tensors(const std::string& name) {
  std::optional<TensorFormatName> format;
  if (name.empty()) return format;
  if (name == "nhwc") format = TensorFormatName::kNhwc;
  if (name == "nc4") format = TensorFormatName::kNc4;
  if (name == "nc32") format = TensorFormatName::kNc32;
  if (format.has_value()) return format;
  return absl::InvalidArgumentError(
      absl::StrCat("--tensors=", name, " is no format; give nc32, nc4 or nhwc"));
}

std::string Today() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", std::gmtime(&now));
  return text;
}

std::string FileText(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  char block[4096];
  // Stream iterators would throw at a folder; read() only stops.
  while (file.read(block, sizeof(block)) || file.gcount() > 0) text.append(block, file.gcount());
  return text;
}

}  // namespace

std::string Run::ChoiceName(const std::string& peer) const {
  if (options.epilogue == Epilogue::kBiasRelu) return peer;
  return absl::StrCat(peer, "+", EpilogueName(options.epilogue));
}

absl::StatusOr<Run> MakeRun() {
  Run run;
  absl::StatusOr<Jobs> jobs =
      MakeJobs({absl::GetFlag(FLAGS_list), absl::GetFlag(FLAGS_layer), absl::GetFlag(FLAGS_batch),
                absl::GetFlag(FLAGS_filter), absl::GetFlag(FLAGS_name)});
  if (!jobs.ok()) return jobs.status();
  run.jobs = *std::move(jobs);
  if (run.jobs.problems.size() > kMostRows) {
    return absl::InvalidArgumentError(absl::StrCat(
        run.jobs.problems.size(), " layers and batches; at most ", kMostRows, " are possible"));
  }
  BenchOptions& o = run.options;
  o.layouts = absl::GetFlag(FLAGS_layout);
  o.all_layouts = o.layouts == std::vector<std::string>{"all"};
  if (o.all_layouts) o.layouts = OurLayouts();
  o.peers = absl::GetFlag(FLAGS_peer);
  if (o.peers == std::vector<std::string>{"all"}) o.peers = PeerNames();
  if (o.peers == std::vector<std::string>{"none"}) o.peers.clear();
  o.dp4a_floor = true;
  for (const std::string& name : o.layouts) {
    if (absl::Status s = CheckLayout(name); !s.ok()) return s;
    o.dp4a_floor = o.dp4a_floor && name.rfind("nc4", 0) == 0;
  }
  for (const std::string& name : o.peers) {
    if (absl::Status s = CheckPeerName(name); !s.ok()) return s;
  }
  if (o.layouts.size() > kMostLayouts || o.peers.size() > kMostPeers) {
    return absl::InvalidArgumentError("--layout or --peer names something twice");
  }
  const absl::StatusOr<Epilogue> epilogue = ParseEpilogue(absl::GetFlag(FLAGS_epilogue));
  if (!epilogue.ok()) return epilogue.status();
  o.epilogue = *epilogue;
  const auto tensors = Tensors(absl::GetFlag(FLAGS_tensors));
  if (!tensors.ok()) return tensors.status();
  o.tensors = *tensors;
  o.rounds = absl::GetFlag(FLAGS_repetitions);
  o.hot = absl::GetFlag(FLAGS_hot);
  o.graph = absl::GetFlag(FLAGS_graph);
  o.time = !absl::GetFlag(FLAGS_once);
  if (!o.time) o.peers.clear();
  o.only_tile = absl::GetFlag(FLAGS_tile);
  o.build_threads = absl::GetFlag(FLAGS_threads);
  run.stop_after_s = absl::GetFlag(FLAGS_stop_after_s);
  run.choices = Choices::Parse(FileText(absl::GetFlag(FLAGS_cache)));
  return run;
}

LayerResults ResultsOf(const Run& run, const Board& board, const Jobs::File& file) {
  LayerResults r;
  r.list = file.list;
  r.batch = file.batch;
  r.commit = absl::GetFlag(FLAGS_commit);
  r.date = Today();
  r.environment = board.environment;
  r.epilogue = EpilogueName(run.options.epilogue);
  r.layouts = run.options.layouts;
  r.peers = run.options.peers;
  for (const std::string& layout : r.layouts) {
    const std::unique_ptr<OurPeer> ours = MakeOurs(layout, run.options.epilogue);
    r.tiles.push_back(ours == nullptr ? LayoutTiles() : ours->tiles());
  }
  for (const Text<160>& library : board.libraries) {
    if (!library.empty()) r.libraries.push_back(library.Get());
  }
  r.dp4a_floor = run.options.dp4a_floor;
  r.hot = run.options.hot;
  r.graph = run.options.graph;
  for (const Jobs::File::Row& row : file.rows) {
    r.rows.push_back(board.entries[row.problem].row);
    r.rows.back().count = row.count;
  }
  return r;
}

}  // namespace weft::perf
