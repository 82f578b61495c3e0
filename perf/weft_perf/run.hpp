// A run of weft_perf: what its flags ask for, and the parts that do it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "perf/bench/bench.hpp"
#include "perf/peers/formats.hpp"
#include "perf/support/layers.hpp"
#include "perf/weft_perf/our_tiles.hpp"

namespace weft::perf {

struct Options {
  Jobs jobs;
  std::vector<std::string> layouts, peers;
  bool all_layouts = false;  // nobody asked by name: those that cannot win are left out
  Epilogue epilogue = Epilogue::kRelu;
  // The user's format, if reformats are measured too.
  std::optional<TensorFormatName> tensors;
  bool dp4a_floor = false;  // only layouts that run through it
  std::string only_tile;    // a part of a tile's name; empty: all
  int rounds = 15;          // samples of each contestant
  bool time = true;         // false: each variant of ours runs once, for profilers and checkers
  bool family = false;      // only tiles of the ready-made families
  int threads = 1;          // on which peers compile
  std::string cache, sweep;

  // What decides a row's numbers besides layer and batch, for its file: rows of other settings are
  // not mixed with these.
  std::string Settings() const;

  // A peer as `choices` names it.
  std::string ChoiceName(const std::string& peer) const {
    if (epilogue == Epilogue::kRelu) return peer;
    return absl::StrCat(peer, "+", EpilogueNames()[static_cast<int>(epilogue)]);
  }
};

// Each peer's best variant in an earlier run: {"n16c64h56w56k64r3s1 cudnn_graph": ...}.
using Choices = Json;

// The rows, in child processes, and the files: driver.cpp. InvalidArgument or NotFound if a flag is wrong, Unavailable
// without a GPU.
absl::Status RunLayers(const Options& options, Bench& bench);

// One row, in layer_bench.cpp: every peer's best variant, then all side by side. What goes wrong is in the result. Steps are
// "<peer>/<step>"; `choices` are earlier ones.
Json MeasureLayer(const conv::Problem& problem, const Options& options, const Choices& choices,
                  const Measuring& measuring, Machine* machine);

}  // namespace weft::perf
