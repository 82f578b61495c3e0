// Which tiles can run a convolution: those of the ready-made families, by the model of times; and a bottleneck.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "weft/conv/choose/tile_model.hpp"
#include "weft/conv/policy/facts.hpp"
#include "weft/conv/problem/problem.hpp"
#include "weft/layouts/base/abseil.hpp"
#include "weft/network/graph/tensor.hpp"
#include "weft/network/plan/plan.hpp"

namespace weft::network {

// What a network runs on.
using Machine = std::variant<conv::GpuFacts, conv::CpuFacts>;

// A convolution of 8-bit integers, as far as it decides which tiles there are and how long each takes.
struct TileQuestion {
  conv::Problem problem{};
  Format src = Format::kNc32;  // any but kNchw
  Format dst = Format::kNc32;
  bool depthwise = false;
  bool source_zero_point = false;  // whether the epilogue corrects sums for one
  bool adds = false;               // whether the epilogue reads another tensor
  conv::PoolFacts pool{};  // the windows that the epilogue pools; NCxHWx<4> to NCxHWx<32> only
};

struct TileCandidate {
  std::string tile{};         // a name of docs/tiles.md, such as "Mma128x64"
  double microseconds = 0.0;  // what the model predicts
};

// The tiles that can run a convolution on a machine, the quickest first; on the CPU those of a family that
// conv::Dispatch compiles for it, which have the results of all. The errors are those of conv::Dispatch if there is none.
absl::StatusOr<std::vector<TileCandidate>> CandidateTiles(const TileQuestion& question,
                                                          const Machine& machine);

// The same of a step of a plan that is a convolution or a bottleneck. The errors have the step's name.
absl::StatusOr<std::vector<TileCandidate>> CandidateTiles(const Plan& plan, const Step& step,
                                                          const Machine& machine);

// The tile of such a step: `wanted`, or the quickest by the model if that is null. InvalidArgument if `wanted` is none of
// the candidates; the errors of CandidateTiles.
absl::StatusOr<std::string> ChooseTile(const Plan& plan, const Step& step, const Machine& machine,
                                       const std::string* wanted = nullptr);

}  // namespace weft::network
