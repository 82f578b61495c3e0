#include "perf/peers/peer.hpp"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "perf/support/status.hpp"

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
  absl::Status Enqueue(int, int, Stream) override { return status_; }
  absl::Status Poison(int, Stream) override { return status_; }
  absl::Status Output(int, std::int8_t*, Stream) override { return status_; }

 private:
  absl::Status status_;
};

std::unique_ptr<Peer> Make(const std::string& name) {
#if WEFT_HAVE_CUDNN
  using enum TensorFormatName;
  if (name == "cudnn_graph") return internal::MakeCudnnGraph(name, false, false);
  if (name == "cudnn_f16") return internal::MakeCudnnGraph(name, true, false);
  if (name == "cudnn_f16_to_int8") return internal::MakeCudnnGraph(name, true, true);
  if (name == "cudnn_nhwc") return internal::MakeCudnnLegacy(name, kNhwc);
  if (name == "cudnn_int8x4") return internal::MakeCudnnLegacy(name, kNc4);
#endif
#if WEFT_HAVE_CUBLASLT
  if (name == "cublaslt") return internal::MakeCublasLt(name);
#endif
  return std::make_unique<AbsentPeer>(
      name, name == "cublaslt" ? "built without cublasLt.h" : "built without cudnn.h");
}

}  // namespace

const std::vector<std::string>& PeerNames() {
  static const std::vector<std::string> names = {"cudnn_graph", "cudnn_nhwc", "cudnn_int8x4",
                                                 "cudnn_f16", "cublaslt"};
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
  if (name != "cudnn_f16_to_int8") WEFT_TRY(CheckPeerName(name));
  return Make(name);
}

#if WEFT_HAVE_CUDA

absl::Status FormattedPeer::MakeTensors(const PeerProblem& problem, const PeerTensors& tensors,
                                        TensorFormatName src, TensorFormatName dst, Element element,
                                        Stream stream) {
  problem_ = problem;
  tensors_ = tensors;
  src_format_ = src;
  dst_format_ = dst;
  element_ = element;
  const conv::Problem& p = problem.problem;
  using Set = PeerTensors::Set;
  if (!GivenSrc()) {
    WEFT_LET(src_, TensorSets::Converted(tensors.Each(&Set::src), p.src(), src, element, stream));
  }
  if (problem.residual && !GivenDst()) {
    std::vector<const float*> gammas;
    DeviceBuffer gamma;
    if (element == Element::kHalf) {
      WEFT_LET(gamma, DeviceBuffer::From(std::vector<float>(p.n, problem.gamma)));
      gammas.assign(tensors.sets.size(), gamma.as<float>());
    }
    WEFT_LET(residual_, TensorSets::Converted(tensors.Each(&Set::residual), p.dst(), dst, element,
                                              stream, gammas));
    WEFT_TRY(CudaStatus(cudaStreamSynchronize(stream), "residual"));
  }
  if (!GivenDst() || tensors.sets[0].dst == nullptr) {
    WEFT_LET(dst_, TensorSets::Create(SizeOf(dst, p.dst()), element, tensors.count()));
  }
  return absl::OkStatus();
}

void* FormattedPeer::SrcAt(int set) const {
  return GivenSrc() ? const_cast<std::int8_t*>(tensors_.sets[set].src) : src_.at(set);
}

void* FormattedPeer::ResidualAt(int set) const {
  return GivenDst() ? const_cast<std::int8_t*>(tensors_.sets[set].residual) : residual_.at(set);
}

void* FormattedPeer::DstAt(int set) const {
  std::int8_t* const given = tensors_.sets[set].dst;
  return GivenDst() && given != nullptr ? given : dst_.at(set);
}

absl::Status FormattedPeer::Poison(int set, Stream stream) {
  const std::int64_t bytes = SizeOf(dst_format_, problem_.problem.dst()) * Bytes(element_);
  return CudaStatus(cudaMemsetAsync(DstAt(set), 0xB5, bytes, stream), "poison");
}

absl::Status FormattedPeer::Output(int set, std::int8_t* dst, Stream stream) {
  const TensorExtents e = problem_.problem.dst();
  return Convert({DstAt(set), dst, e, StridesOf(dst_format_, e), StridesOf<NHWC>(e)}, element_,
                 Element::kInt8, stream);
}

Peer::Place FormattedPeer::Src(int set) const {
  if (element_ == Element::kHalf) return {};
  return {static_cast<std::int8_t*>(SrcAt(set)), src_format_};
}

Peer::Place FormattedPeer::Dst(int set) const {
  if (element_ == Element::kHalf) return {};
  return {static_cast<std::int8_t*>(DstAt(set)), dst_format_};
}

#endif  // WEFT_HAVE_CUDA

}  // namespace weft::perf
