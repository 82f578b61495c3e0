// Tunes the tiles of a network on a GPU, in the chain: what counts is the time of a whole run, since a kernel finds in the
// L2 cache what the one before it has left there, and starts while that one ends.
//
//     absl::StatusOr<weft::network::Tuned> tuned = weft::network::Tune(network);
//     absl::StatusOr<weft::network::Network> faster = weft::network::Network::Create(graph, {.batch = 64, .tiles = tuned->tiles});
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "weft/layouts/base/abseil.hpp"
#include "weft/network/network.hpp"
#include "weft/network/plan/choose_tile.hpp"
#include "weft/network/tune/greedy.hpp"

namespace weft::network {

struct TuneOptions {
  // How many tiles are tried for a group, the quickest by the model of times, beside the one that it has.
  std::size_t most_tiles = 8;
  double sample_microseconds = 5000.0;  // at least, of one sample of the chain
  TuneReport report{};                  // called in the calling thread; null: nobody is told
};

struct Tuned {
  Tiles tiles{};                       // of all convolutions, for NetworkOptions::tiles
  double before = 0.0, after = 0.0;    // microseconds of a run, with the network's tiles and these
  std::vector<std::string> refused{};  // tiles that could not be tried, each with its step and why
};

// The steps of a network that are convolutions: those with the same policy and the same problem are a group. Groups come in
// the order of the time that the model predicts for them, the longest first. The errors of CandidateTiles.
absl::StatusOr<std::vector<TuneGroup>> TuneGroupsOf(const Network& network, const Machine& machine,
                                                    std::size_t most_tiles);

// Takes a sample of a network: microseconds of a run.
using Clock = std::function<absl::StatusOr<double>()>;
// The clock of a network, made once for each choice of tiles that is compared.
using MakeClock = std::function<absl::StatusOr<Clock>(const Network&)>;

// Tunes by the clocks of networks with other tiles: TuneGreedily over all groups, whose candidates are compiled
// first, on all processors.
absl::StatusOr<Tuned> TuneBy(const Network& network, const Machine& machine,
                             const TuneOptions& options, const MakeClock& make_clock);

// Tunes on the GPU that is current in the calling thread, after all work on `stream`, and waits for the end: about half a
// minute for a ResNet-50 on 16 processors. Inputs are read, outputs and the arena are written; no other run of
// the GPU should take time from it. FailedPrecondition if the network was made for the CPU; the errors of Network::Run, and
// of the report.
absl::StatusOr<Tuned> Tune(const Network& network, const Network::Arguments& args, Stream stream,
                           const TuneOptions& options = {});
// The same over memory that it allocates for as long as it takes, with random inputs. ResourceExhausted if there is none.
absl::StatusOr<Tuned> Tune(const Network& network, const TuneOptions& options = {});

}  // namespace weft::network
