#include "perf/peers/peer.hpp"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "perf/peers/peers.hpp"

namespace weft::perf {
namespace {

// Stands for a peer that this program was built without.
class AbsentPeer : public Peer {
 public:
  AbsentPeer(const std::string& name, const char* why)
      : Peer(name), status_(absl::NotFoundError(why)) {}
  absl::Status Prepare(const PeerProblem&, const PeerTensors&, const PeerOptions&,
                       Stream) override {
    return status_;
  }
  absl::Status Build(int) override { return status_; }
  void Release(int) override {}
  absl::Status Enqueue(int, int, Stream) override { return status_; }
  absl::Status Poison(int, Stream) override { return status_; }
  absl::Status Output(int, std::int8_t*, Stream) override { return status_; }

 private:
  absl::Status status_;
};

std::unique_ptr<Peer> Make(const std::string& name) {
#if WEFT_HAVE_CUDNN
  if (name == "cudnn_graph") return internal::MakeCudnnGraph(name, false);
  if (name == "cudnn_f16") return internal::MakeCudnnGraph(name, true);
  using internal::LegacyFormat;
  if (name == "cudnn_nhwc") return internal::MakeCudnnLegacy(name, LegacyFormat::kNhwc);
  if (name == "cudnn_int8x4") return internal::MakeCudnnLegacy(name, LegacyFormat::kInt8x4);
  if (name == "cudnn_int8x32") return internal::MakeCudnnLegacy(name, LegacyFormat::kInt8x32);
#endif
#if WEFT_HAVE_CUBLASLT
  if (name == "cublaslt") return internal::MakeCublasLt(name);
#endif
  return std::make_unique<AbsentPeer>(
      name, name == "cublaslt" ? "built without cublasLt.h" : "built without cudnn.h");
}

}  // namespace

std::string ScopeText(const PeerScope& scope) {
  return absl::StrCat(scope.channel_alpha ? "scale per channel" : "one scale",
                      scope.bias ? " + bias" : "", scope.residual ? " + residual" : "",
                      scope.relu ? " + ReLU" : "", scope.hswish ? " + hard swish" : "");
}

const std::vector<std::string>& PeerNames() {
  static const std::vector<std::string> names = {"cudnn_graph",   "cudnn_nhwc", "cudnn_int8x4",
                                                 "cudnn_int8x32", "cudnn_f16",  "cublaslt"};
  return names;
}

absl::Status CheckPeerName(const std::string& name) {
  if (std::find(PeerNames().begin(), PeerNames().end(), name) != PeerNames().end()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "peer: '", name, "' does not exist; the peers are ", absl::StrJoin(PeerNames(), ", ")));
}

absl::StatusOr<std::unique_ptr<Peer>> MakePeer(const std::string& name) {
  if (absl::Status s = CheckPeerName(name); !s.ok()) return s;
  return Make(name);
}

}  // namespace weft::perf
