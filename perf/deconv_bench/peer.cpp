#include "perf/deconv_bench/peer.hpp"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "perf/bench/bench.hpp"
#include "weft/layouts/element/float16.hpp"
#include "weft/layouts/packing.hpp"

namespace weft::perf {
namespace {

constexpr double kTryMicroseconds = 500.0;

// The convolution whose gradient the problem is.
conv::Problem Forward(const conv::DeconvolutionProblem& d) {
  conv::Problem p;
  p.n = d.n, p.h = d.p(), p.w = d.q(), p.c = d.k, p.k = d.c, p.r = d.r, p.s = d.s;
  p.pad_top = d.pad_top, p.pad_left = d.pad_left;
  p.pad_bottom = d.pad_bottom, p.pad_right = d.pad_right;
  p.stride_h = d.stride_h, p.stride_w = d.stride_w;
  p.dilation_h = d.dilation_h, p.dilation_w = d.dilation_w;
  return p;
}

// Channels last, halves.
absl::StatusOr<std::vector<Half>> Halves(const TensorExtents& e,
                                         const std::vector<std::int8_t>& bytes) {
  WEFT_LET(const std::vector<std::int8_t> last,
           (ConvertTensor<NCHW, NHWC, std::int8_t>(e, absl::MakeConstSpan(bytes))));
  std::vector<Half> halves;
  for (const std::int8_t x : last) {
    halves.push_back(Half::FromFloat(static_cast<float>(x) / 64.0f));
  }
  return halves;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CudnnGradient>> CudnnGradient::Create(
    const conv::DeconvolutionProblem& problem, const std::vector<std::int8_t>& src,
    const std::vector<std::int8_t>& filter, int sets, const Stopwatch& watch) {
  auto made = std::make_unique<CudnnGradient>();
  WEFT_LET(const CudnnApi* const api, CudnnApi::Get());
  WEFT_LET(const cudnnHandle_t handle, api->MainHandle());
  WEFT_LET(const std::vector<Half> src_halves, Halves(problem.src(), src));
  WEFT_LET(const std::vector<Half> filter_halves,
           Halves({problem.c, problem.k, problem.r, problem.s}, filter));
  for (int i = 0; i < sets; ++i) {
    Set set;
    WEFT_LET(set.src, DeviceBuffer::From(src_halves));
    WEFT_LET(set.filter, DeviceBuffer::From(filter_halves));
    WEFT_LET(set.dst, DeviceBuffer::Create(2 * NHWC::Size(problem.dst())));
    made->sets_.push_back(std::move(set));
  }
  WEFT_LET(made->graph_, internal::CudnnGraph::Gradient(*api, handle, Forward(problem)));
  const std::vector<internal::CudnnGraph::Config> configs = made->graph_->Configs({});
  const auto make = [&](int i) {
    made->plan_ = internal::CudnnPlan(*made->graph_, handle, configs[i]);
    return made->plan_.Bind(sets, [&](int set) {
      const Set& s = made->sets_[set];
      return internal::CudnnPlan::Addresses{{internal::kSrc, s.src.data()},
                                            {internal::kFilter, s.filter.data()},
                                            {internal::kDst, s.dst.data()}};
    });
  };
  const auto attempt = [&](int i) -> absl::StatusOr<double> {
    WEFT_TRY(make(i));
    return watch.Short([&](int set) { return made->Enqueue(set, watch.stream()); }, sets,
                       kTryMicroseconds);
  };
  WEFT_LET(const int best, FastestAnswer(static_cast<int>(configs.size()), "cuDNN", attempt));
  WEFT_TRY(make(best));
  made->name_ = absl::StrCat("cudnn half ", configs[best].name);
  return made;
}

}  // namespace weft::perf
