#include "perf/weft_perf/run.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "perf/peers/peer.hpp"
#include "perf/support/row.hpp"
#include "perf/support/status.hpp"

namespace weft::perf {
namespace {

void Print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

// Rows, the peers' choices and the environment: what layers and networks have in common.
class Runner {
 public:
  explicit Runner(const Options& options) : options_(options) {}

  // InvalidArgument if the cache cannot be read.
  absl::Status Open() {
    if (options_.cache.empty()) return absl::OkStatus();
    const absl::StatusOr<std::string> text = ReadFile(options_.cache);
    if (text.ok()) choices_ = Choices::Parse(*text);
    if (text.ok() || absl::IsNotFound(text.status())) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("--cache: ", std::string(text.status().message())));
  }

  using Measure = std::function<Json(int row, const std::set<std::string>& skip,
                                     const RowRun::About& about, const RowRun::Send& send)>;
  // Measures rows that are null, one after the other. `identity` begins a row that was given up;
  // `done` sees each when it is there. CUDA is touched in children only.
  absl::Status Rows(bool ceilings, const Measure& measure, const std::function<Json(int)>& identity,
                    const std::function<void(const Json&)>& done, std::vector<Json>* rows) {
    RowRun run;
    run.count = static_cast<int>(rows->size());
    run.kept = *rows;
    run.isolated = options_.time;  // without timing no peer runs, and checkers want one process
    run.stop_after_s = options_.stop_after_s;
    run.start = [&] {
      // Never destroyed: the process ends, and cuDNN may crash when it is closed.
      machine_ = new Machine;
      return machine_->Init(environment_, ceilings);
    };
    run.measure = [&](int row, const std::set<std::string>& skip, const RowRun::About& about,
                      const RowRun::Send& send, bool* alive) {
      const Json result = measure(row, skip, about, send);
      *alive = CudaStatus(cudaDeviceSynchronize(), "after a row").ok();
      send({{"environment", machine_->environment()}});
      return result;
    };
    run.receive = [&](const Json& line) {
      if (line.contains("environment")) environment_ = line["environment"];
      if (!line.contains("choice")) return;
      const absl::StatusOr<Layer> layer = ParseLayer(line["choice"][0]);
      if (layer.ok()) choices_.Put(layer->problem, line["choice"][1], line["choice"][2]);
    };
    run.done = [&](int row, const Json& result) {
      (*rows)[row] = result;
      done(result);
    };
    run.may_skip = [&](const std::string& step) {
      if (absl::StartsWith(step, "network cudnn")) return true;
      for (const std::string& peer : options_.peers) {
        if (absl::StartsWith(step, peer + "/")) return true;
      }
      return false;
    };
    run.failed = [&](int row, const std::string& why) {
      Json failed = identity(row);
      failed["mismatches"] = 0;
      failed["status"] = "failed: " + why;
      return failed;
    };
    return run.Run().status();
  }

  // With --resume, the rows of an earlier run in <name>.json of --json's folder; and what they say
  // of the machine, which later rows share. None if the file is of another commit or of other flags.
  std::vector<Json> Kept(const std::string& name) {
    if (!options_.resume || options_.json.empty()) return {};
    const absl::StatusOr<std::string> text = ReadFile(Path(name));
    if (absl::IsNotFound(text.status())) return {};
    const absl::StatusOr<std::vector<Json>> rows =
        !text.ok() ? absl::StatusOr<std::vector<Json>>(text.status())
                   : RowsToKeep(*text, Environment(Json::object(), Json::object()),
                                {"commit", "settings"});
    if (!rows.ok()) {
      Print(absl::StrCat(name, ": measuring all: ", std::string(rows.status().message()), "\n"));
      return {};
    }
    if (environment_.empty()) environment_ = Json::parse(*text)["environment"];
    return *rows;
  }

  // A file's environment: `before`, the machine's fields and `after`.
  Json Environment(Json before, const Json& after) const {
    before["program"] = "weft_perf";
    before["commit"] = options_.commit;
    before["date"] = Today();
    before["settings"] = options_.Settings();
    for (const auto& [field, value] : environment_.items()) {
      if (!before.contains(field)) before[field] = value;
    }
    before.update(after);
    return before;
  }

  std::string Path(const std::string& name) const {
    return absl::StrCat(options_.json, "/", name, ".json");
  }

  void PrintEnvironment() const {
    const Json& e = environment_;
    if (e.empty()) return;
    std::string libraries;
    for (const Json& library : e["libraries"]) libraries += "; " + library.get<std::string>();
    const auto text = [&](const char* name) {
      if (!e.contains(name)) return std::string("-");
      return e[name].is_string() ? e[name].get<std::string>() : Line(e[name]);
    };
    Print(absl::StrCat(text("device"), ", driver ", text("driver"), ", CUDA ", text("cuda"),
                       libraries, "; copy ", text("copy_tb_s"), " TB/s, dp4a ", text("dp4a_tops"),
                       " TOPS, tensor cores ", text("tensor_tops"), " TOPS (",
                       text("tensor_tops_source"), "); clock ", text("first_clock_mhz"), " to ",
                       text("last_clock_mhz"), " MHz, ", text("watts"), " W, throttle ",
                       text("throttle_reasons"), "\n"));
  }

  // False, with a message, if a file cannot be written.
  bool Write(const std::string& path, const std::string& text) const {
    const absl::Status s = WriteFile(path, text);
    if (!s.ok()) std::fprintf(stderr, "weft_perf: %s\n", std::string(s.message()).c_str());
    return s.ok();
  }
  bool WriteChoices() const {
    return options_.cache.empty() || Write(options_.cache, choices_.Text());
  }

  Machine* machine() const { return machine_; }
  const Choices& choices() const { return choices_; }
  const Json& environment() const { return environment_; }

 private:
  const Options& options_;
  Choices choices_;
  Json environment_ = Json::object();
  Machine* machine_ = nullptr;  // of this process
};

bool Ok(const Json& row) {
  return absl::StartsWith(row.value("status", ""), "ok");
}

// Not what there was no time for, which no file has: a later run may still measure it.
bool Measured(const Json& row) {
  return !row.is_null() &&
         !absl::StartsWith(row["status"].get<std::string>(), absl::StrCat("failed: ", kNotRun));
}

std::string OperatorText(Epilogue epilogue) {
  const char* const after[] = {", ReLU", ", scaled int8 residual, ReLU", ", hard swish", ""};
  return absl::StrCat("int8 convolution, scale per channel, float bias",
                      after[static_cast<int>(epilogue)], ", int8");
}

// The quickest tile of every exact row and layout.
absl::Status WriteTuning(const Options& options, const Runner& runner,
                         const std::vector<Json>& rows) {
  if (!runner.environment().contains("device")) return absl::OkStatus();  // no row was measured
  absl::StatusOr<conv::TuningTable> table = conv::TuningTable::Read(options.sweep);
  if (absl::IsNotFound(table.status())) table = conv::TuningTable();
  WEFT_TRY(table.status());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const std::string& layout : options.layouts) {
      std::vector<TileInfo> infos;
      conv::TuningRecord record;
      record.device = runner.environment()["device"];
      record.sm_count = runner.environment()["multiprocessors"];
      record.problem = options.jobs.problems[i];
      for (const Tile& tile : OurTiles(layout, options.epilogue)) {
        infos.push_back({tile.name, tile.policy, tile.in_family});
        record.operator_name = tile.operator_name;
      }
      WEFT_TRY(PutBest(rows[i], layout, infos, record, &*table));
    }
  }
  WEFT_TRY(table->Write(options.sweep, "Written by weft_perf --sweep."));
  Print(absl::StrCat(options.sweep, ": ", table->size(), " records\n"));
  return absl::OkStatus();
}

}  // namespace

std::string Options::Settings() const {
  const std::string format =
      !tensors.has_value() ? "" : absl::StrCat(", between tensors in ", FormatText(*tensors));
  return absl::StrCat(EpilogueNames()[static_cast<int>(epilogue)], ", ",
                      all_layouts ? "all layouts" : absl::StrJoin(layouts, " and "), ", ",
                      family ? "tiles of the ready-made families" : "all tiles",
                      only_tile.empty() ? "" : absl::StrCat(" with ", only_tile), format,
                      ", against ", peers.empty() ? "nothing" : absl::StrJoin(peers, ", "));
}

absl::StatusOr<bool> RunLayers(const Options& options) {
  Runner runner(options);
  WEFT_TRY(runner.Open());
  const std::vector<conv::Problem>& problems = options.jobs.problems;
  std::vector<Json> rows(problems.size());
  for (const Jobs::File& file : options.jobs.files) {
    for (const Json& kept : runner.Kept(file.name())) {
      for (const Jobs::File::Row& row : file.rows) {
        const bool same = kept.value("layer", "") == LayerName(problems[row.problem]) &&
                          kept.value("batch", 0) == problems[row.problem].n;
        if (same && Ok(kept)) rows[row.problem] = kept;
      }
    }
  }
  bool first = true, written = true;
  // The files, with the rows that there are.
  const auto write = [&] {
    if (options.json.empty() || !runner.environment().contains("device")) return;
    for (const Jobs::File& file : options.jobs.files) {
      std::vector<Json> some;
      for (const Jobs::File::Row& row : file.rows) {
        if (!Measured(rows[row.problem])) continue;
        some.push_back(rows[row.problem]);
        some.back()["count"] = row.count;
      }
      Json after = {{"floor_operations", options.dp4a_floor ? "dp4a" : "tensor cores"},
                    {"epilogue", EpilogueNames()[static_cast<int>(options.epilogue)]},
                    {"operator", OperatorText(options.epilogue)},
                    {"method",
                     "random data; buffers rotated past the L2; CUDA graphs; ours and the peers "
                     "interleaved; medians; noise: how far the median of every other sample is "
                     "from that of the rest"},
                    {"not_run", file.rows.size() - some.size()}};
      const Json environment =
          runner.Environment({{"list", file.list}, {"batch", file.batch}}, after);
      if (some.empty()) continue;
      written =
          runner.Write(runner.Path(file.name()), ResultText(environment, Summarized(some), some)) &&
          written;
    }
  };
  const auto measure = [&](int row, const auto& skip, const auto& about, const auto& send) {
    return MeasureLayer(problems[row], options, runner.choices(), skip, about, send,
                        runner.machine());
  };
  const auto identity = [&](int row) {
    LayerRow empty;
    empty.problem = problems[row];
    return empty.ToJson();
  };
  const auto done = [&](const Json& row) {
    Print((first ? TableHeader() : "") + TableLine(row));
    first = false;
    if (Measured(row)) write();
  };
  WEFT_TRY(runner.Rows(options.time, measure, identity, done, &rows));
  bool fine = true;
  for (const Json& row : rows) fine = fine && Ok(row);
  if (!options.sweep.empty()) {
    const absl::Status s = WriteTuning(options, runner, rows);
    if (!s.ok()) std::fprintf(stderr, "weft_perf: --sweep: %s\n", s.ToString().c_str());
    fine = fine && s.ok();
  }
  for (const Jobs::File& file : options.jobs.files) {
    std::vector<Json> some;
    for (const Jobs::File::Row& row : file.rows) some.push_back(rows[row.problem]);
    Print(absl::StrCat(file.name(), ": ", Line(Summarized(some)), "\n"));
  }
  write();
  fine = runner.WriteChoices() && fine && written;
  runner.PrintEnvironment();
  return fine;
}

absl::StatusOr<bool> RunNetwork(const Options& options) {
  std::vector<Network> networks;
  for (const int batch : options.batches) {
    WEFT_LET(Network network, NetworkByName(options.network, batch));
    networks.push_back(std::move(network));
  }
  Runner runner(options);
  WEFT_TRY(runner.Open());
  const auto measure = [&](int row, const auto& skip, const auto& about, const auto& send) {
    return MeasureNetwork(networks[row], options, runner.choices(), skip, about, send,
                          runner.machine());
  };
  const auto identity = [&](int row) -> Json {
    return {{"batch", options.batches[row]}, {"layers", Json::array()}};
  };
  const bool nhwc = NetworkFormat(options) == TensorFormatName::kNhwc;
  const std::string name = absl::StrCat(options.network, nhwc ? "-nhwc" : "", "-network");
  std::vector<Json> rows(networks.size());
  for (const Json& kept : runner.Kept(name)) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (kept.value("batch", 0) == options.batches[i] && Ok(kept)) rows[i] = kept;
    }
  }
  bool written = true;
  const auto done = [&](const Json& row) {
    Print(NetworkLine(row));
    if (options.json.empty() || !Measured(row)) return;
    std::vector<Json> some;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(some), Measured);
    const Json environment =
        runner.Environment({{"network", options.network}},
                           {{"method", NetworkMethod()}, {"not_run", rows.size() - some.size()}});
    written =
        runner.Write(runner.Path(name), ResultText(environment, Json::object(), some)) && written;
  };
  WEFT_TRY(runner.Rows(false, measure, identity, done, &rows));
  bool fine = true;
  for (const Json& row : rows) fine = fine && Ok(row);
  runner.PrintEnvironment();
  return runner.WriteChoices() && fine && written;
}

}  // namespace weft::perf
