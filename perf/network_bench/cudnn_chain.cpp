#include "perf/network_bench/cudnn_chain.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "perf/bench/peer_steps.hpp"
#include "perf/peers/formats.hpp"
#include "perf/support/device_data.hpp"

namespace weft::perf {
namespace {

constexpr double kSample = 300.0;  // microseconds of a sample that finds the fastest plan
constexpr std::int64_t kFewChannels = 16;

}  // namespace

absl::Status CudnnChain::ToNhwc(int tensor, void* nhwc) const {
  const TensorExtents e =
      chain_.tensor(tensor).Type(tensors_.batch(), network::Format::kNchw).extents;
  return Convert({tensors_[tensor].data(), nhwc, e, StridesOf<NCHW>(e), StridesOf<NHWC>(e)},
                 Element::kInt8, Element::kInt8, watch_.stream());
}

absl::Status CudnnChain::Choose() {
  std::int64_t most = 0;
  nhwc_.resize(chain_.graph().tensors.size());
  for (int i = 0; i < static_cast<int>(nhwc_.size()); ++i) {
    if (Bytes(i) == 0) continue;  // floats
    DeviceBuffer& made = nhwc_[static_cast<std::size_t>(i)];
    WEFT_LET(made, DeviceBuffer::Create(Bytes(i)));
    WEFT_TRY(ToNhwc(i, made.data()));
    most = std::max(most, Bytes(i));
  }
  WEFT_LET(want_, DeviceBuffer::Create(most));
  layers_.resize(static_cast<std::size_t>(chain_.layers()));
  std::vector<std::vector<int>> kinds;
  const auto problem = [&](int layer) { return PeerProblemOf(chain_, layer, tensors_.batch()); };
  for (int i = 0; i < chain_.layers(); ++i) {
    const PeerProblem own = problem(i);
    const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const auto& each) {
      const PeerProblem first = problem(each[0]);
      return first.problem == own.problem && first.relu == own.relu &&
             first.residual == own.residual;
    });
    kind == kinds.end() ? kinds.push_back({i}) : kind->push_back(i);
  }
  for (const std::vector<int>& kind : kinds) WEFT_TRY(ChooseFor(kind));
  return absl::OkStatus();
}

PeerTensors CudnnChain::Sets(const std::vector<int>& kind) const {
  PeerTensors made;
  const auto at = [&](int tensor) {
    return nhwc_[static_cast<std::size_t>(tensor)].as<std::int8_t>();
  };
  for (const int layer : kind) {
    PeerTensors::Set set;
    set.src = at(chain_.src(layer));
    set.filter = tensors_.layer(layer).krsc.as<std::int8_t>();
    if (chain_.residual(layer) >= 0) set.residual = at(chain_.residual(layer));
    set.channel_alpha = tensors_.layer(layer).alpha.as<float>();
    set.bias = tensors_.layer(layer).bias.as<float>();
    set.dst = at(chain_.dst(layer));
    made.sets.push_back(set);
  }
  return made;
}

absl::Status CudnnChain::ChooseFor(const std::vector<int>& kind) {
  // Its int8 engines are slow on few channels. The first layer's scales are powers of two, so that half precision computes the
  // same sums (perf/network/chain.hpp); its result is rounded twice.
  std::vector<std::string> names = {"cudnn_graph"};
  if (chain_.ProblemOf(kind[0], 1).c < kFewChannels) names.push_back("cudnn_f16_to_int8");
  const auto earlier = plans_.find(chain_.layer(kind[0]).name);
  absl::Status why;
  for (const bool all : {false, true}) {
    const bool found = layers_[static_cast<std::size_t>(kind[0])].peer != nullptr;
    if (found || (!all && earlier == plans_.end())) continue;
    for (const std::string& name : names) {
      if (!all && !absl::StartsWith(earlier->second, name + " ")) continue;
      why.Update(ChoosePlan(kind, name, all ? "" : earlier->second));
      const int tensor = chain_.dst(kind[0]);
      WEFT_TRY(ToNhwc(tensor, nhwc_[static_cast<std::size_t>(tensor)].data()));
    }
  }
  for (const int i : kind) {
    Layer& layer = layers_[static_cast<std::size_t>(i)];
    if (layer.peer == nullptr) {
      return absl::Status(why.code(), absl::StrCat("layer ", chain_.layer(i).name, ": ",
                                                   std::string(why.message())));
    }
    WEFT_LET(layer.differences, TryPlan(*layer.peer, layer.variant, layer.set, i));
  }
  return absl::OkStatus();
}

// Runs a plan on a layer's set and compares with the reference; what the next layers read is as it was.
absl::StatusOr<Differences> CudnnChain::TryPlan(Peer& peer, int plan, int set, int layer) const {
  const int tensor = chain_.dst(layer);
  std::int8_t* const dst = nhwc_[static_cast<std::size_t>(tensor)].as<std::int8_t>();
  WEFT_TRY(ToNhwc(tensor, want_.data()));
  WEFT_TRY(peer.Poison(set, watch_.stream()));
  WEFT_TRY(peer.Enqueue(plan, set, watch_.stream()));
  WEFT_TRY(CudaStatus(cudaStreamSynchronize(watch_.stream()), "the plan's run"));
  const auto found = Compare(dst, want_.as<std::int8_t>(), Bytes(tensor), watch_.stream());
  WEFT_TRY(ToNhwc(tensor, dst));
  return found;
}

// Tries every plan of a peer, or one, on the first of layers alike. If its best is the fastest so far, all of them get it.
absl::Status CudnnChain::ChoosePlan(const std::vector<int>& kind, const std::string& name,
                                    const std::string& only) {
  const PeerProblem problem = PeerProblemOf(chain_, kind[0], tensors_.batch());
  const std::string called = absl::StrCat("network ", name, " ", chain_.layer(kind[0]).name);
  const PeerOptions options = OptionsFor(called, measuring_, only, threads_);
  WEFT_TRY(options.Need("open"));
  WEFT_LET(const std::shared_ptr<Peer> peer, MakePeer(name));
  WEFT_TRY(peer->Prepare(problem, Sets(kind), options, watch_.stream()));
  Layer best;
  best.peer = peer, best.variant = -1;
  const auto attempt = [&](int i) -> absl::StatusOr<double> {
    const std::string& plan = peer->variants()[static_cast<std::size_t>(i)].name;
    if (!options.Wants(plan)) return absl::UnavailableError(plan + " crashed before");
    options.about_to(plan);
    WEFT_TRY(peer->Build(i));
    WEFT_LET(const Differences found, TryPlan(*peer, i, 0, kind[0]));
    if (found.largest > kRoundingAllowance) {
      return absl::DataLossError(
          absl::StrCat(plan, " differs at ", found.count, " outputs, by up to ", found.largest));
    }
    return TimeOf(*peer, i, watch_, 1, kSample, best.variant >= 0 ? best.us : -1.0);
  };
  const int count = static_cast<int>(peer->variants().size());
  const auto releasing = [&](int i) {
    const absl::StatusOr<double> us = attempt(i);
    const bool better = us.ok() && (best.variant < 0 || *us < best.us);
    best.tried += us.ok();
    if (better && best.variant >= 0) peer->Release(best.variant);
    if (better) best.variant = i, best.us = *us;
    if (!better) peer->Release(i);
    return us;
  };
  WEFT_TRY(FastestAnswer(count, called, releasing).status());
  best.plan = peer->variants()[static_cast<std::size_t>(best.variant)].name;
  const Layer& before = layers_[static_cast<std::size_t>(kind[0])];
  if (before.peer != nullptr && before.us <= best.us) return absl::OkStatus();
  for (std::size_t set = 0; set < kind.size(); ++set) {
    best.set = static_cast<int>(set);
    layers_[static_cast<std::size_t>(kind[set])] = best;
  }
  return absl::OkStatus();
}

absl::Status CudnnChain::Enqueue(int first) const {
  for (std::size_t i = static_cast<std::size_t>(first); i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    WEFT_TRY(layer.peer->Enqueue(layer.variant, layer.set, watch_.stream()));
  }
  return absl::OkStatus();
}

absl::StatusOr<Differences> CudnnChain::CompareEnd() const {
  const int last = chain_.dst(chain_.layers() - 1);
  for (const Layer& layer : layers_) WEFT_TRY(layer.peer->Poison(layer.set, watch_.stream()));
  WEFT_TRY(Enqueue(0));
  WEFT_TRY(ToNhwc(last, want_.data()));
  return Compare(nhwc_[static_cast<std::size_t>(last)].as<std::int8_t>(), want_.as<std::int8_t>(),
                 Bytes(last), watch_.stream());
}

}  // namespace weft::perf
