// What weft_perf's flags ask for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "perf/peers/formats.hpp"
#include "perf/support/layers.hpp"
#include "perf/weft_perf/our_tiles.hpp"

namespace weft::perf {

struct Options {
  Jobs jobs;
  std::string network;       // instead of jobs
  std::vector<int> batches;  // of the network
  std::vector<std::string> layouts, peers;
  bool all_layouts = false;  // nobody asked by name: those that cannot win are left out
  Epilogue epilogue = Epilogue::kRelu;
  std::optional<TensorFormatName> tensors;  // the user's format, if reformats are measured too
  bool dp4a_floor = false;                  // only layouts that run through it
  std::string only_tile;                    // a part of a tile's name; empty: all
  int rounds = 15;                          // samples of each contestant
  bool hot = false;                         // one buffer set: data stays in the L2
  bool time = true;  // false: each variant of ours runs once, for profilers and checkers
  int threads = 1;   // on which peers compile
  double stop_after_s = 500.0;
  std::string cache, sweep, json, commit;

  // A peer as `choices` names it.
  std::string ChoiceName(const std::string& peer) const {
    if (epilogue == Epilogue::kRelu) return peer;
    return absl::StrCat(peer, "+", EpilogueNames()[static_cast<int>(epilogue)]);
  }
};

}  // namespace weft::perf
