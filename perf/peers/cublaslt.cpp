// A 1x1 convolution of stride 1 as an int8 matrix product of cuBLASLt's.
//
// In its column-major words: D (K x pixels) = A^T (K x C) * B (C x pixels), where A is the filter
// and B the NHWC source, so that scale and bias belong to D's rows. Whether cuBLASLt can scale int8
// by channel is asked for each problem: both ways are tried.
#include "perf/peers/peer.hpp"

#include <deque>

#include "absl/strings/str_cat.h"
#include "perf/peers/lt_product.hpp"

namespace weft::perf::internal {
namespace {

constexpr int kAlgorithms = 8;  // of each way

class CublasLtPeer : public FormattedPeer {
 public:
  using FormattedPeer::FormattedPeer;

  absl::Status Prepare(const PeerProblem& problem, const PeerTensors& tensors,
                       const PeerOptions& options, Stream stream) override {
    const conv::Problem& p = problem.problem;
    if (problem.hswish) return absl::UnimplementedError("hard swish: cuBLASLt knows ReLU");
    if (p.r != 1 || p.s != 1 || p.stride_h != 1 || p.stride_w != 1 || p.pad_top != 0 ||
        p.pad_bottom != 0 || p.pad_left != 0 || p.pad_right != 0) {
      return absl::UnimplementedError("no matrix product: not 1x1, stride 1, no padding");
    }
    if (p.groups != 1) return absl::UnimplementedError("no matrix product: several channel groups");
    WEFT_TRY(options.Need(absl::StrCat(name(), " open")));
    WEFT_TRY(LtApi::Get().status());
    WEFT_TRY(MakeTensors(problem, tensors, TensorFormatName::kNhwc, TensorFormatName::kNhwc,
                         Element::kInt8, stream));
    absl::Status why;
    for (const bool per_channel : {true, false}) {
      const std::string form = absl::StrCat(name(), per_channel ? " alpha[k] bias" : " alpha bias",
                                            problem.relu ? " relu" : "");
      if (!options.Step(form + " heuristics")) continue;
      // All sets have one scale and one bias.
      absl::StatusOr<LtProduct> product =
          LtProduct::Create({.rows = p.k,
                             .columns = p.n * p.p() * p.q(),
                             .depth = p.c,
                             .transpose_a = true,
                             .row_alpha = per_channel ? tensors.sets[0].channel_alpha : nullptr,
                             .bias = tensors.sets[0].bias,
                             .relu = problem.relu},
                            kAlgorithms);
      if (!product.ok()) {
        why = product.status();
        continue;
      }
      for (int i = 0; i < product->algorithms(); ++i) {
        const std::string variant = absl::StrCat(form, " #", i);
        if (!options.Wants(variant)) continue;
        plans_.push_back({static_cast<int>(products_.size()), i});
        variants_.push_back({variant, !per_channel});
      }
      products_.push_back(*std::move(product));
    }
    if (plans_.empty() && why.ok()) why = absl::UnimplementedError("cuBLASLt has no algorithm");
    return plans_.empty() ? why : absl::OkStatus();
  }

  absl::Status Enqueue(int variant, int set, Stream stream) override {
    const Plan& plan = plans_[variant];
    const PeerTensors::Set& given = tensors_.sets[set];
    return products_[plan.product].Run(plan.algorithm, given.filter, given.src, DstAt(set), stream,
                                       tensors_.alpha, problem_.residual ? problem_.gamma : 0.0f,
                                       given.residual);
  }

 private:
  struct Plan {
    int product, algorithm;
  };
  std::deque<LtProduct> products_;
  std::vector<Plan> plans_;
};

}  // namespace

std::unique_ptr<Peer> MakeCublasLt(const std::string& name) {
  return std::make_unique<CublasLtPeer>(name);
}

}  // namespace weft::perf::internal
