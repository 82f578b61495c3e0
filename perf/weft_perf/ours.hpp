// Our operators as peers of themselves: each layout a peer, each tile one of its variants, so that
// one program checks and times them and other libraries in the same way.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "perf/peers/peer.hpp"
#include "perf/weft_perf/our_tiles.hpp"

namespace weft::perf {

// `layout` is one of OurLayouts(). The variants are OurTiles() in their order; Build says
// Unimplemented or InvalidArgument where one refuses.
std::unique_ptr<Peer> MakeOurs(const std::string& layout, Epilogue epilogue);

// A peer between tensors in the user's formats: it rewrites the source, runs, and rewrites the
// destination, each where the formats differ.
class ReformattedPeer : public Peer {
 public:
  // The formats of a network whose tensors are in `format`. The source of its first layer, 4
  // channels or fewer, is in NCxHWx<4>, which is NHWC too.
  struct Formats {
    TensorFormatName src, dst;
    static Formats Of(TensorFormatName format, const conv::Problem& problem);
    // "NHWC" or "NCxHWx<4> to NCxHWx<32>"
    std::string Text() const;
  };

  // Variant `variant` of `inner`, which is prepared and built, and outlives this peer.
  // Unimplemented if the peer's tensors are not int8, or cannot be rewritten.
  static absl::StatusOr<std::unique_ptr<ReformattedPeer>> Create(Peer& inner, int variant,
                                                                 const PeerProblem& problem,
                                                                 const PeerTensors& tensors,
                                                                 const Formats& user,
                                                                 Stream stream);

  // Whether there is nothing to rewrite.
  bool trivial() const { return !in_.has_value() && !out_.has_value(); }

  absl::Status Prepare(const PeerProblem&, const PeerTensors&, const PeerOptions&,
                       Stream) override {
    return absl::OkStatus();
  }
  absl::Status Enqueue(int, int set, Stream stream) override;
  absl::Status Poison(int set, Stream stream) override;
  absl::Status Output(int set, std::int8_t* dst, Stream stream) override;

 private:
  ReformattedPeer(Peer& inner, int variant);

  Peer& inner_;
  int variant_;
  TensorExtents extents_;          // of dst
  TensorFormatName dst_format_{};  // the user's
  std::optional<ReformatPlan> in_, out_;
  TensorSets src_, dst_;  // the user's
};

}  // namespace weft::perf
