#include "perf/condconv_bench/peer.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "perf/bench/bench.hpp"
#include "weft/layouts/packing.hpp"

namespace weft::perf {
namespace {

constexpr int kAlgorithms = 16;
constexpr double kTryMicroseconds = 500.0;

}  // namespace

absl::StatusOr<std::unique_ptr<Libraries>> Libraries::Create(const LibrariesProblem& p,
                                                             const Stopwatch& watch) {
  auto made = std::make_unique<Libraries>();
  made->images_ = p.problem.n;
  WEFT_TRY(made->MakeProduct(p, watch));
  WEFT_TRY(made->MakeConvolutions(p, watch));
  WEFT_TRY(made->branches_.Init());
  return made;
}

// mixed (F x N) = bank^T (F x E) routing (E x N), in cuBLASLt's column-major words: int8 products
// want both operands along E.
absl::Status Libraries::MakeProduct(const LibrariesProblem& p, const Stopwatch& watch) {
  const FilterExtents e = p.problem.filter();
  const std::int64_t size = KRSC::Size(e);
  WEFT_LET(mixed_, DeviceBuffer::Create(images_ * size));
  product_alpha_ = p.mixed_scale / 127.0f;
  // As many experts as there are, or padded to what the tensor cores' kernels want.
  absl::Status why;
  for (const std::int64_t depth : {p.experts, RoundUp(p.experts, 16)}) {
    absl::StatusOr<LtProduct> product = LtProduct::Create(
        {.rows = size, .columns = images_, .depth = depth, .transpose_a = true}, kAlgorithms);
    why = product.status();
    if (!product.ok()) continue;
    std::vector<std::int8_t> bank(size * depth), routing(images_ * depth);
    for (std::int64_t x = 0; x < p.experts; ++x) {
      const absl::Span<const std::int8_t> expert(p.bank.data() + x * size, size);
      WEFT_LET(const std::vector<std::int8_t> krsc,
               (ConvertFilter<KCRS, KRSC, std::int8_t>(e, expert)));
      for (std::int64_t i = 0; i < size; ++i) bank[i * depth + x] = krsc[i];
      for (std::int64_t n = 0; n < images_; ++n) {
        routing[n * depth + x] = p.routing[n * p.experts + x];
      }
    }
    WEFT_LET(bank_, DeviceBuffer::From(bank));
    WEFT_LET(routing_, DeviceBuffer::From(routing));
    const absl::StatusOr<int> best =
        FastestAnswer(product->algorithms(), "cuBLASLt", [&](int algorithm) {
          return watch.Short([&](int) { return Mix(*product, algorithm, watch.stream()); }, 1,
                             kTryMicroseconds);
        });
    why = best.status();
    if (!best.ok()) continue;
    product_.emplace(*std::move(product));
    algorithm_ = *best;
    name_ = absl::StrCat(product_->Name(algorithm_), " k=", depth);
    return absl::OkStatus();
  }
  return why;
}

absl::Status Libraries::MakeConvolutions(const LibrariesProblem& p, const Stopwatch& watch) {
  WEFT_LET(const std::vector<std::int8_t> nhwc,
           (ConvertTensor<NCHW, NHWC, std::int8_t>(p.problem.src(), p.src)));
  WEFT_LET(src_, DeviceBuffer::From(nhwc));
  WEFT_LET(alpha_, DeviceBuffer::From(std::vector<float>(p.problem.k, p.alpha)));
  WEFT_LET(bias_, DeviceBuffer::From(std::vector<float>(p.problem.k, p.bias)));
  WEFT_LET(dst_, DeviceBuffer::Create(NHWC::Size(p.problem.dst())));
  PeerProblem one = {.problem = p.problem};
  one.problem.n = 1;
  const std::int64_t src = NHWC::Size(one.problem.src()), dst = NHWC::Size(one.problem.dst());
  const std::int64_t filter = KRSC::Size(one.problem.filter());
  PeerTensors tensors;
  for (std::int64_t n = 0; n < images_; ++n) {
    tensors.sets.push_back({.src = src_.as<std::int8_t>() + n * src,
                            .filter = mixed_.as<std::int8_t>() + n * filter,
                            .channel_alpha = alpha_.as<float>(),
                            .bias = bias_.as<float>(),
                            .dst = dst_.as<std::int8_t>() + n * dst});
  }
  PeerOptions options;
  options.most_variants = 32;
  options.build_threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  while (static_cast<int>(convolutions_.size()) < Branches::kCount) {
    WEFT_LET(std::unique_ptr<Peer> made, MakePeer("cudnn_graph"));
    Peer& peer = *made;
    WEFT_TRY(peer.Prepare(one, tensors, options, watch.stream()));
    const auto attempt = [&](int variant) -> absl::StatusOr<double> {
      WEFT_TRY(peer.Build(variant));
      const absl::StatusOr<double> us =
          watch.Short([&](int set) { return peer.Enqueue(variant, set, watch.stream()); },
                      tensors.count(), kTryMicroseconds);
      peer.Release(variant);
      return us;
    };
    WEFT_LET(const int plan,
             FastestAnswer(static_cast<int>(peer.variants().size()), "cuDNN", attempt));
    WEFT_TRY(peer.Build(plan));
    if (options.only.empty()) absl::StrAppend(&name_, "; ", peer.variants()[plan].name);
    // The other branches take the same plan.
    options.only = peer.variants()[plan].name;
    options.build_threads = 1;
    convolutions_.push_back({std::move(made), plan});
  }
  return absl::OkStatus();
}

absl::Status Libraries::Enqueue(bool branched, cudaStream_t stream) const {
  WEFT_TRY(Mix(*product_, algorithm_, stream));
  return branches_.Run(branched, stream, static_cast<int>(images_), [&](int n, cudaStream_t to) {
    const Convolution& convolution = convolutions_[n % Branches::kCount];
    return convolution.peer->Enqueue(convolution.plan, n, to);
  });
}

}  // namespace weft::perf
