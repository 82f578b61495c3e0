// What Weft is measured against: ways to compute the same convolution with other libraries. A
// program prepares a peer for a problem, builds and times its variants next to ours, and compares
// results. Only with WEFT_HAVE_CUDA.
//
// The libraries are opened when the program runs (dlopen, so LD_LIBRARY_PATH chooses); nothing
// links to them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "perf/peers/formats.hpp"
#include "weft/conv/problem/problem.hpp"
#include "weft/gemm/arch/isa/backend.hpp"

namespace weft::perf {

// dst = clamp(relu(scale[k] * conv(src, filter) + bias[k] + gamma * residual)), all int8 but for
// scale and bias. Hard swish takes the place of ReLU, and then there is no residual, scale and bias make real
// values, and dst = clamp(hard_swish(...) / output_scale).
struct PeerProblem {
  conv::Problem problem;
  bool relu = true;
  bool residual = false;
  float gamma = 0.5f;
  bool hswish = false;
  float output_scale = 1.0f;  // of hard swish
};

// GPU addresses, 256-byte aligned, of tensors in NHWC: one or more sets, so that going round them finds nothing in the
// L2. They outlive the peers that were given them.
struct PeerTensors {
  struct Set {
    const std::int8_t* src = nullptr;
    const std::int8_t* filter = nullptr;    // KRSC
    const std::int8_t* residual = nullptr;  // extents of the output; null without one
    const float* channel_alpha = nullptr;   // K
    const float* bias = nullptr;            // K
    std::int8_t* dst = nullptr;             // for peers that write NHWC; null: memory of their own
  };
  std::vector<Set> sets;
  float alpha = 1.0f;  // for peers that know one scale only

  int count() const { return static_cast<int>(sets.size()); }
  // One address of each set.
  template <class T>
  std::vector<T> Each(T Set::* member) const {
    std::vector<T> all;
    for (const Set& set : sets) all.push_back(set.*member);
    return all;
  }
};

struct PeerOptions {
  // What is not to be touched, as it crashed before: names of variants, or of steps on the way to
  // them, as about_to was told.
  std::set<std::string> skip;
  std::string only;  // if not empty, all other variants are skipped too: a choice kept
  int most_variants = 1000;
  int build_threads = 1;  // for peers whose variants are compiled; 1 if a crash is to have a name
  // Called before anything that may crash, with the name of the variant, or with the step's name.
  std::function<void(const std::string&)> about_to = [](const std::string&) {};

  bool Wants(const std::string& variant) const {
    return !skip.contains(variant) && (only.empty() || only == variant);
  }

  // Announces `step`; false if it is to be skipped.
  bool Step(const std::string& step) const {
    if (skip.contains(step)) return false;
    about_to(step);
    return true;
  }
  // The same where nothing is possible without the step: Unavailable.
  absl::Status Need(const std::string& step) const {
    if (Step(step)) return absl::OkStatus();
    return absl::UnavailableError(step + " crashed before");
  }
};

// Use: Prepare; for each variant Build (Unimplemented: the library refuses it), then Enqueue any
// number of times, also under stream capture; Release what is not needed any more.
class Peer {
 public:
  struct Variant {
    std::string name;        // stable from run to run, without commas
    bool one_scale = false;  // for all channels: PeerTensors::alpha
  };

  explicit Peer(std::string name) : name_(std::move(name)) {}
  virtual ~Peer() = default;
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  const std::string& name() const { return name_; }

  // Converts tensors, asks the library for variants. Unimplemented if the library cannot say the
  // problem, NotFound if there is no library. Once for a Peer.
  virtual absl::Status Prepare(const PeerProblem& problem, const PeerTensors& tensors,
                               const PeerOptions& options, Stream stream) = 0;

  const std::vector<Variant>& variants() const { return variants_; }

  virtual absl::Status Build(int) { return absl::OkStatus(); }
  virtual void Release(int) {}

  // One run on buffer set `set`.
  virtual absl::Status Enqueue(int variant, int set, Stream stream) = 0;

  // Enqueues: a byte that ReLU never gives into the destination of `set`; the destination of `set`
  // as NHWC int8 (rounded to the nearest and clamped where the peer's is no int8) to `dst`.
  virtual absl::Status Poison(int set, Stream stream) = 0;
  virtual absl::Status Output(int set, std::int8_t* dst, Stream stream) = 0;

  // Where a run on `set` reads its source and writes its destination, as int8 tensors of a format;
  // no address where they are something else.
  struct Place {
    std::int8_t* address = nullptr;
    TensorFormatName format = TensorFormatName::kNhwc;
  };
  virtual Place Src(int) const { return {}; }
  virtual Place Dst(int) const { return {}; }

 protected:
  std::vector<Variant> variants_;

 private:
  std::string name_;
};

#if WEFT_HAVE_CUDA

// A peer with tensors of its own where the given ones are in another format.
class FormattedPeer : public Peer {
 public:
  using Peer::Peer;
  absl::Status Poison(int set, Stream stream) override;
  absl::Status Output(int set, std::int8_t* dst, Stream stream) override;
  Place Src(int set) const override;
  Place Dst(int set) const override;

 protected:
  // Source and residual (times gamma, where it is half) in formats of the peer's, memory for the
  // results. First of all.
  absl::Status MakeTensors(const PeerProblem& problem, const PeerTensors& tensors,
                           TensorFormatName src, TensorFormatName dst, Element element,
                           Stream stream);
  // Whether the tensors are used as they were given.
  bool GivenSrc() const {
    return element_ == Element::kInt8 &&
           SameInMemory(TensorFormatName::kNhwc, src_format_, problem_.problem.c);
  }
  bool GivenDst() const {
    return element_ == Element::kInt8 &&
           SameInMemory(TensorFormatName::kNhwc, dst_format_, problem_.problem.k);
  }
  void* SrcAt(int set) const;
  void* ResidualAt(int set) const;
  void* DstAt(int set) const;

  PeerProblem problem_;
  PeerTensors tensors_;
  TensorFormatName src_format_ = TensorFormatName::kNhwc, dst_format_ = TensorFormatName::kNhwc;
  Element element_ = Element::kInt8;

 private:
  TensorSets src_, residual_, dst_;
};

#endif  // WEFT_HAVE_CUDA

// The names that MakePeer knows, in the order in which they should be tried:
//   cudnn_graph     NHWC int8, every engine configuration of the graph API's heuristics
//   cudnn_nhwc      the legacy call on NHWC int8; one scale
//   cudnn_int8x4    the legacy call on NCxHWx<4>; one scale
//   cudnn_f16       NHWC fp16 with fp32 sums, graph API; the scale is part of the filter
//   cublaslt        1x1 filters of stride 1 as an int8 matrix product
const std::vector<std::string>& PeerNames();

// InvalidArgument names the peers there are.
absl::Status CheckPeerName(const std::string& name);

// As CheckPeerName. Touches CUDA, so that the process cannot fork() workers any more. Besides the
// names above it knows `cudnn_f16_to_int8`: cudnn_f16 and a second graph that makes int8 of its
// result, for networks.
absl::StatusOr<std::unique_ptr<Peer>> MakePeer(const std::string& name);

// "cuDNN 9.19.0 (/path/to/library)" of the libraries that were opened so far.
std::vector<std::string> PeerLibraries();

namespace internal {

std::unique_ptr<Peer> MakeCudnnGraph(const std::string& name, bool half, bool to_int8);
std::unique_ptr<Peer> MakeCudnnLegacy(const std::string& name, TensorFormatName format);
std::unique_ptr<Peer> MakeCublasLt(const std::string& name);

}  // namespace internal

}  // namespace weft::perf
