// A peer between tensors in the user's formats: it rewrites the source, runs, and rewrites the
// destination, each where the formats differ. Only with WEFT_HAVE_CUDA.
#pragma once

#if WEFT_HAVE_CUDA

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "perf/peers/convert.hpp"
#include "perf/peers/peer.hpp"
#include "perf/peers/reformat.hpp"

namespace weft::perf {

// The formats in which a user's tensors lie: --tensors.
struct UserFormats {
  TensorFormatName src = TensorFormatName::kNhwc, dst = TensorFormatName::kNhwc;
  // "NHWC" or "NCxHWx<4> to NCxHWx<32>"
  std::string Text() const;
  // Of a network whose tensors are in `format`. The source of its first layer, 4 channels or fewer,
  // is in NCxHWx<4>, which is NHWC too.
  static UserFormats Of(TensorFormatName format, const conv::Problem& problem);
};

// Variant `variant` of `inner`, which is prepared and built, and outlives this peer.
class ReformattedPeer : public Peer {
 public:
  // Unimplemented if the peer's tensors are not int8, or cannot be rewritten.
  static absl::StatusOr<std::unique_ptr<ReformattedPeer>> Create(Peer& inner, int variant,
                                                                 const PeerProblem& problem,
                                                                 const PeerTensors& tensors,
                                                                 const UserFormats& user,
                                                                 Stream stream);

  // Whether there is nothing to rewrite.
  bool trivial() const { return !in_.has_value() && !out_.has_value(); }

  absl::Status Prepare(const PeerProblem&, const PeerTensors&, const PeerOptions&,
                       Stream) override {
    return absl::OkStatus();
  }
  absl::Status Build(int) override { return absl::OkStatus(); }
  void Release(int) override {}
  absl::Status Enqueue(int, int set, Stream stream) override;
  absl::Status Poison(int set, Stream stream) override;
  absl::Status Output(int set, std::int8_t* dst, Stream stream) override;

 private:
  ReformattedPeer(Peer& inner, int variant);

  Peer& inner_;
  int variant_;
  TensorExtents extents_;    // of dst
  TensorFormatName format_;  // of dst
  std::optional<ReformatPlan> in_, out_;
  ConvertedSets src_, dst_;  // the user's
};

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
