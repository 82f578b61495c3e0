#include "perf/condconv_bench/peer.hpp"

#if WEFT_HAVE_CUDNN && WEFT_HAVE_CUBLASLT

#include <utility>

#include "absl/strings/str_cat.h"
#include "weft/layouts/packing.hpp"

namespace weft::perf {
namespace {

constexpr int kAlgorithms = 16;
constexpr double kTryMicroseconds = 500.0;

// The fastest of `count` ways: try(i) says how long it takes.
template <class Try>
absl::StatusOr<int> Fastest(int count, const char* what, const Try& attempt) {
  int best = -1;
  double best_us = 0.0;
  std::string why = absl::StrCat(what, ": nothing offered");
  for (int i = 0; i < count; ++i) {
    const absl::StatusOr<double> us = attempt(i);
    if (!us.ok()) {
      why = absl::StrCat(what, ": ", std::string(us.status().message()));
      WEFT_TRY(CudaStatus(cudaDeviceSynchronize(), what));
    } else if (best < 0 || *us < best_us) {
      best = i, best_us = *us;
    }
  }
  if (best < 0) return absl::UnimplementedError(why);
  return best;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Libraries>> Libraries::Create(const LibrariesProblem& p,
                                                             const Stopwatch& watch, int threads) {
  auto made = std::make_unique<Libraries>();
  made->images_ = p.problem.n;
  WEFT_TRY(made->MakeProduct(p, watch));
  WEFT_TRY(made->MakeConvolutions(p, watch, threads));
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
    if (!product.ok() || product->algorithms() == 0) {
      why = product.ok() ? absl::UnimplementedError("cuBLASLt offers no algorithm")
                         : product.status();
      continue;
    }
    std::vector<std::int8_t> bank(size * depth), routing(images_ * depth);
    for (std::int64_t x = 0; x < p.experts; ++x) {
      const absl::Span<const std::int8_t> expert(p.bank->data() + x * size, size);
      WEFT_LET(const std::vector<std::int8_t> krsc,
               (ConvertFilter<KCRS, KRSC, std::int8_t>(e, expert)));
      for (std::int64_t i = 0; i < size; ++i) bank[i * depth + x] = krsc[i];
      for (std::int64_t n = 0; n < images_; ++n) {
        routing[n * depth + x] = (*p.routing)[n * p.experts + x];
      }
    }
    WEFT_LET(bank_, DeviceBuffer::From(bank));
    WEFT_LET(routing_, DeviceBuffer::From(routing));
    const absl::StatusOr<int> best = Fastest(product->algorithms(), "cuBLASLt", [&](int algorithm) {
      return watch.Short(
          [&](int) {
            return product->Run(algorithm, bank_.data(), routing_.data(), mixed_.data(),
                                watch.stream(), product_alpha_);
          },
          1, kTryMicroseconds);
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

absl::Status Libraries::MakeConvolutions(const LibrariesProblem& p, const Stopwatch& watch,
                                         int threads) {
  WEFT_LET(const std::vector<std::int8_t> nhwc,
           (ConvertTensor<NCHW, NHWC, std::int8_t>(p.problem.src(), *p.src)));
  WEFT_LET(src_, DeviceBuffer::From(nhwc));
  WEFT_LET(alpha_, DeviceBuffer::From(p.channel_alpha));
  WEFT_LET(bias_, DeviceBuffer::From(p.bias));
  WEFT_LET(dst_, DeviceBuffer::Create(NHWC::Size(p.problem.dst())));
  PeerProblem one = {.problem = p.problem};
  one.problem.n = 1;
  const std::int64_t src = NHWC::Size(one.problem.src()), dst = NHWC::Size(one.problem.dst());
  const std::int64_t filter = KRSC::Size(one.problem.filter());
  PeerOptions options;
  options.most_variants = 32;
  options.build_threads = threads;
  for (int b = 0; b < kBranches; ++b) {
    auto branch = std::make_unique<Branch>();
    WEFT_TRY(branch->stream.Init());
    WEFT_TRY(branch->done.Init());
    PeerTensors tensors;
    tensors.one_filter = false;
    for (std::int64_t n = b; n < images_; n += kBranches) {
      tensors.sets.push_back({.src = src_.as<std::int8_t>() + n * src,
                              .filter = mixed_.as<std::int8_t>() + n * filter,
                              .channel_alpha = alpha_.as<float>(),
                              .bias = bias_.as<float>(),
                              .dst = dst_.as<std::int8_t>() + n * dst});
    }
    WEFT_LET(branch->peer, MakePeer("cudnn_graph"));
    Peer& peer = *branch->peer;
    WEFT_TRY(peer.Prepare(one, tensors, options, watch.stream()));
    WEFT_LET(branch->variant,
             Fastest(static_cast<int>(peer.variants().size()), "cuDNN",
                     [&](int variant) -> absl::StatusOr<double> {
                       WEFT_TRY(peer.Build(variant));
                       const absl::StatusOr<double> us = watch.Short(
                           [&](int set) { return peer.Enqueue(variant, set, watch.stream()); },
                           tensors.count(), kTryMicroseconds);
                       peer.Release(variant);
                       return us;
                     }));
    WEFT_TRY(peer.Build(branch->variant));
    // The other branches take the same plan.
    options.only = peer.variants()[branch->variant].name;
    options.build_threads = 1;
    branches_.push_back(std::move(branch));
  }
  absl::StrAppend(&name_, "; ", options.only);
  return fork_.Init();
}

absl::Status Libraries::Enqueue(int branches, cudaStream_t stream) const {
  WEFT_TRY(product_->Run(algorithm_, bank_.data(), routing_.data(), mixed_.data(), stream,
                         product_alpha_));
  const bool fork = branches > 1;
  if (fork) {
    for (const auto& branch : branches_) WEFT_TRY(fork_.Order(stream, branch->stream.get()));
  }
  for (std::int64_t n = 0; n < images_; ++n) {
    const Branch& branch = *branches_[n % kBranches];
    WEFT_TRY(branch.peer->Enqueue(branch.variant, static_cast<int>(n / kBranches),
                                  fork ? branch.stream.get() : stream));
  }
  if (fork) {
    for (const auto& branch : branches_) WEFT_TRY(branch->done.Order(branch->stream.get(), stream));
  }
  return absl::OkStatus();
}

}  // namespace weft::perf

#endif
