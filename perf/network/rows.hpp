// What a run of a network finds, its JSON and its table. Plain data without pointers: a worker
// process fills it in memory that it shares with the process that outlives it.
#pragma once

#include <string>
#include <vector>

#include "perf/support/run_info.hpp"

namespace weft::perf {

inline constexpr int kMostNetworkLayers = 64;

struct NetworkLayerRow {
  Text<24> name;
  Text<64> problem;  // as in layer lists
  Text<16> after;
  // Alone, over and over on the chain's own buffers, which is how both sides choose.
  Text<64> tile;
  double tile_us = 0.0;
  int tiles = 0;  // that ran
  Text<64> model_tile;
  double model_us = 0.0;
  Text<120> plan;
  double plan_us = 0.0;
  int plans = 0;  // that ran and agreed
  // Of our outputs in the images compared with the reference, and between the tiles.
  long long mismatches = 0;
  // cuDNN's output, where it reads what ours read, against ours.
  long long plan_differences = -1;
  int plan_largest = 0;
  double zeros = 0.0, saturated = 0.0;  // fractions of our output, first image
};

struct NetworkRow {
  int batch = 0;
  int layers = 0;
  NetworkLayerRow layer[kMostNetworkLayers];
  double macs = 0.0;
  Timing ours, model, cudnn;     // of the whole network
  Timing ours_rest, cudnn_rest;  // without the first layer, which cuDNN's int8 engines are slow at
  int samples = 0;
  long long mismatches = 0;           // of all layers, before and after the timed runs
  int checked_images = 0;             // of each layer
  long long outputs = 0;              // of the network
  long long output_differences = -1;  // of cuDNN's chain from ours; -1: not compared
  int output_largest = 0;
  double clock_mhz = 0.0;
  double seconds = 0.0;
  Text<240> cudnn_note;  // why there is no time of cuDNN
  Text<240> failure;
  int done = 0;

  double RestRatio() const {
    return ours_rest.us > 0 && cudnn_rest.us > 0 ? cudnn_rest.us / ours_rest.us : 0.0;
  }
  double Ratio() const { return ours.us > 0 && cudnn.us > 0 ? cudnn.us / ours.us : 0.0; }
  // "ok", "ok; cuDNN: why not", "mismatch: how many" or "failed: why".
  std::string Status() const;
  bool Good() const { return done != 0 && failure.empty() && mismatches == 0; }
};

struct NetworkResults {
  std::string network, commit, date;
  Environment environment;
  std::vector<std::string> libraries;
  std::vector<NetworkRow> rows;
};

std::string NetworkJson(const NetworkResults& results);

std::string NetworkTableHeader();
std::string NetworkTableLine(const NetworkRow& row);
// One line for each layer.
std::string NetworkLayerTable(const NetworkRow& row);

// What both sides compute, and what is left out.
std::string NetworkMethod();

}  // namespace weft::perf
