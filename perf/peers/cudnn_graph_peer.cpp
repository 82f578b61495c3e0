// The peers that are graphs of cuDNN's: NHWC int8, and NHWC half.
#include <algorithm>
#include <atomic>
#include <deque>
#include <optional>
#include <thread>
#include <utility>

#include "perf/peers/peer.hpp"

#include "absl/strings/str_cat.h"
#include "perf/peers/cudnn_graph.hpp"
#include "perf/support/floor.hpp"

namespace weft::perf::internal {
namespace {

class CudnnGraphPeer : public FormattedPeer {
 public:
  CudnnGraphPeer(const std::string& name, bool half, bool to_int8)
      : FormattedPeer(name), half_(half), to_int8_(to_int8) {}

  absl::Status Prepare(const PeerProblem& problem, const PeerTensors& tensors,
                       const PeerOptions& options, Stream stream) override {
    WEFT_TRY(options.Need(absl::StrCat(name(), " open")));
    WEFT_LET(api_, CudnnApi::Get());
    WEFT_LET(const cudnnHandle_t handle, api_->MainHandle());
    handles_ = {handle};
    WEFT_TRY(MakeTensors(problem, tensors, TensorFormatName::kNhwc, TensorFormatName::kNhwc,
                         half_ ? Element::kHalf : Element::kInt8, stream));
    WEFT_TRY(MakeOperands(stream));
    WEFT_TRY(options.Need(absl::StrCat(name(), " graph")));
    // "f32": the type in which the sums go on. Names of variants are kept in files.
    const std::string form = half_ ? " " : " f32 ";
    WEFT_LET(graph_, CudnnGraph::Convolution(*api_, handle, problem, half_));
    for (CudnnGraph::Config& config : graph_->Configs(options)) {
      const std::string variant = absl::StrCat(name(), form, config.name);
      if (!options.Wants(variant)) continue;
      if (static_cast<int>(plans_.size()) >= options.most_variants) break;
      variants_.push_back({variant});
      plans_.emplace_back().config = std::move(config);
    }
    if (plans_.empty()) return absl::UnimplementedError("cuDNN offers no plan");
    FinishPlans(options);
    if (to_int8_) WEFT_TRY(FindQuantization(options));
    return absl::OkStatus();
  }

  absl::Status Build(int variant) override {
    if (!plans_[variant].tried) Finish(plans_[variant], handles_[0]);
    return plans_[variant].plan.Bind(tensors_.count(), [this](int set) { return At(set); });
  }

  void Release(int variant) override { plans_[variant].plan.Release(); }

  absl::Status Enqueue(int variant, int set, Stream stream) override {
    WEFT_TRY(plans_[variant].plan.Enqueue(set, stream));
    return to_int8_ ? quantize_plan_.Enqueue(set, stream) : absl::OkStatus();
  }

  // With a conversion the result is int8, at the tensors' dst.
  absl::Status Poison(int set, Stream stream) override {
    if (!to_int8_) return FormattedPeer::Poison(set, stream);
    return CudaStatus(
        cudaMemsetAsync(tensors_.sets[set].dst, 0xB5, NHWC::Size(problem_.problem.dst()), stream),
        "poison");
  }
  absl::Status Output(int set, std::int8_t* dst, Stream stream) override {
    if (!to_int8_) return FormattedPeer::Output(set, dst, stream);
    return CudaStatus(
        cudaMemcpyAsync(dst, tensors_.sets[set].dst, NHWC::Size(problem_.problem.dst()),
                        cudaMemcpyDeviceToDevice, stream),
        "output");
  }

 private:
  struct Plan {
    CudnnGraph::Config config;
    CudnnPlan plan;
    bool tried = false;  // plan is made
  };

  // Filters and biases of half, which hold the scales, and constants.
  absl::Status MakeOperands(Stream stream) {
    WEFT_LET(gamma_, DeviceBuffer::From(std::vector<float>{problem_.gamma}));
    WEFT_LET(three_, DeviceBuffer::From(std::vector<float>{3.0f}));
    WEFT_LET(sixth_, DeviceBuffer::From(std::vector<float>{1.0f / (6.0f * problem_.output_scale)}));
    if (!half_) return absl::OkStatus();
    using Set = PeerTensors::Set;
    const std::int64_t k = problem_.problem.k;
    WEFT_LET(filter_,
             TensorSets::Converted(tensors_.Each(&Set::filter),
                                   AsTensor(WholeFilter(problem_.problem)), TensorFormatName::kNhwc,
                                   Element::kHalf, stream, tensors_.Each(&Set::channel_alpha)));
    for (const Set& set : tensors_.sets) {
      std::vector<float> bias(k);
      WEFT_TRY(
          CudaStatus(cudaMemcpy(bias.data(), set.bias, 4 * k, cudaMemcpyDeviceToHost), "bias"));
      std::vector<Half> halves;
      for (const float b : bias) halves.push_back(Half::FromFloat(b));
      WEFT_LET(DeviceBuffer buffer, DeviceBuffer::From(halves));
      half_bias_.push_back(std::move(buffer));
    }
    return absl::OkStatus();
  }

  void Finish(Plan& plan, cudnnHandle_t handle) {
    plan.tried = true;
    plan.plan = CudnnPlan(*graph_, handle, plan.config);
  }

  // Compiles the plans on several threads, each with a handle of its own.
  void FinishPlans(const PeerOptions& options) {
    const int threads = std::min<int>(options.build_threads, static_cast<int>(plans_.size()));
    if (threads <= 1) return;
    if (!options.Step(absl::StrCat(name(), " plans on ", threads, " threads"))) return;
    static std::vector<cudnnHandle_t>* const kept = new std::vector<cudnnHandle_t>;
    while (static_cast<int>(kept->size()) < threads) {
      const absl::StatusOr<cudnnHandle_t> handle = api_->NewHandle();
      if (!handle.ok()) return;
      kept->push_back(*handle);
    }
    handles_.insert(handles_.end(), kept->begin(), kept->end());
    std::atomic<std::size_t> next = 0;
    std::vector<std::thread> workers;
    for (int t = 0; t < threads; ++t) {
      workers.emplace_back([this, &next, handle = handles_[t + 1]] {
        for (std::size_t i = next++; i < plans_.size(); i = next++) Finish(plans_[i], handle);
      });
    }
    for (std::thread& worker : workers) worker.join();
  }

  // The first of cuDNN's suggestions that it accepts and that needs no workspace.
  absl::Status FindQuantization(const PeerOptions& options) {
    WEFT_LET(quantize_, CudnnGraph::Quantization(*api_, handles_[0], problem_.problem.dst()));
    for (const CudnnGraph::Config& config : quantize_->Configs(options)) {
      quantize_plan_ = CudnnPlan(*quantize_, handles_[0], config);
      if (quantize_plan_.status() == CUDNN_STATUS_SUCCESS &&
          quantize_plan_.workspace_bytes() == 0) {
        return quantize_plan_.Bind(tensors_.count(), [this](int set) {
          return CudnnPlan::Addresses{{kSrc, DstAt(set)}, {kDst, tensors_.sets[set].dst}};
        });
      }
    }
    return absl::UnimplementedError("cuDNN has no plan for a conversion to int8");
  }

  CudnnPlan::Addresses At(int set) const {
    const PeerTensors::Set& given = tensors_.sets[set];
    CudnnPlan::Addresses all = {{kSrc, SrcAt(set)}, {kDst, DstAt(set)}};
    if (half_) {
      all.insert(all.end(), {{kFilter, filter_.at(set)}, {kBias, half_bias_[set].data()}});
    } else {
      all.insert(all.end(),
                 {{kFilter, given.filter}, {kBias, given.bias}, {kScale, given.channel_alpha}});
    }
    if (problem_.residual) all.emplace_back(kResidual, ResidualAt(set));
    if (HasGamma(problem_, half_)) all.emplace_back(kGamma, gamma_.data());
    if (problem_.hswish) {
      all.insert(all.end(), {{kThree, three_.data()}, {kSixth, sixth_.data()}});
    }
    return all;
  }

  const bool half_, to_int8_;
  const CudnnApi* api_ = nullptr;
  std::vector<cudnnHandle_t> handles_;  // the first is the main one
  TensorSets filter_;                   // half only
  std::vector<DeviceBuffer> half_bias_;
  DeviceBuffer gamma_, three_, sixth_;
  std::optional<CudnnGraph> graph_, quantize_;  // what the configurations refer to
  std::deque<Plan> plans_;
  CudnnPlan quantize_plan_;
};

}  // namespace

std::unique_ptr<Peer> MakeCudnnGraph(const std::string& name, bool half, bool to_int8) {
  return std::make_unique<CudnnGraphPeer>(name, half, to_int8);
}

}  // namespace weft::perf::internal
