// The peers that are graphs of cuDNN's: NHWC int8, and NHWC half.
#include "perf/peers/peers.hpp"

#if WEFT_HAVE_CUDNN

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "perf/peers/convert.hpp"
#include "perf/peers/cudnn_graph.hpp"

namespace weft::perf::internal {
namespace {

class CudnnGraphPeer : public Peer {
 public:
  CudnnGraphPeer(const std::string& name, bool half) : Peer(name), half_(half) {}

  absl::Status Prepare(const PeerProblem& problem, const PeerTensors& tensors,
                       const PeerOptions& options, Stream stream) override {
    problem_ = problem;
    tensors_ = tensors;
    if (absl::Status s = options.Need(absl::StrCat(name(), " open")); !s.ok()) return s;
    const absl::StatusOr<const CudnnApi*> api = CudnnApi::Get();
    if (!api.ok()) return api.status();
    api_ = *api;
    const absl::StatusOr<cudnnHandle_t> handle = api_->MainHandle();
    if (!handle.ok()) return handle.status();
    handles_ = {*handle};
    if (absl::Status s = MakeTensors(stream); !s.ok()) return s;
    if (absl::Status s = MakeFactors(); !s.ok()) return s;

    forms_ = Forms(options.every_form);
    absl::Status why = absl::UnimplementedError("cuDNN offers no plan");
    for (const GraphForm& form : forms_) {
      if (!options.Step(absl::StrCat(name(), " ", form.name, "graph"))) continue;
      absl::StatusOr<ConvolutionGraph> graph =
          ConvolutionGraph::Create(*api_, handles_[0], problem, form);
      if (!graph.ok()) {
        why = graph.status();
        continue;
      }
      for (ConvolutionGraph::Config& config : graph->Configs(options)) {
        const std::string variant = absl::StrCat(name(), " ", form.name, config.name);
        if (!options.Wants(variant)) continue;
        if (static_cast<int>(plans_.size()) >= options.most_variants) break;
        variants_.push_back(
            {variant, {true, true, problem.relu, problem.residual, problem.hswish}});
        plans_.emplace_back().config = std::move(config.descriptor);
        plans_.back().form = &form;
      }
      graphs_.push_back(std::move(*graph));
    }
    if (plans_.empty()) return why;
    FinishPlans(options);
    return absl::OkStatus();
  }

  absl::Status Build(int variant) override {
    Plan& plan = plans_[variant];
    if (!plan.tried) Finish(plan, 0);
    const std::string& what = variants()[variant].name;
    if (absl::Status s = api_->Check(plan.plan.status(), what); !s.ok()) return s;
    const std::int64_t bytes = plan.plan.GetInt(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
    absl::StatusOr<DeviceBuffer> workspace =
        DeviceBuffer::Create(std::max<std::int64_t>(bytes, 256));
    if (!workspace.ok()) return workspace.status();
    plan.workspace = std::move(*workspace);
    plan.packs.clear();
    for (int set = 0; set < tensors_.sets; ++set) {
      plan.packs.push_back(Pack(plan, set));
      if (absl::Status s = api_->Check(plan.packs.back().status(), what); !s.ok()) return s;
    }
    return absl::OkStatus();
  }

  void Release(int variant) override {
    Plan& plan = plans_[variant];
    plan.packs.clear();
    plan.workspace = DeviceBuffer();
  }

  absl::Status Enqueue(int variant, int set, Stream stream) override {
    const Plan& plan = plans_[variant];
    const cudnnHandle_t handle = handles_[plan.handle];
    if (absl::Status s = api_->Check(api_->SetStream(handle, stream), "cudnnSetStream"); !s.ok()) {
      return s;
    }
    return api_->Check(api_->BackendExecute(handle, plan.plan.get(), plan.packs[set].get()),
                       variants()[variant].name);
  }

  absl::Status Poison(int set, Stream stream) override {
    return CudaStatus(cudaMemsetAsync(dst_.at(set), 0xB5, dst_.stride, stream), "poison");
  }

  absl::Status Output(int set, std::int8_t* dst, Stream stream) override {
    const TensorExtents e = problem_.problem.dst();
    return Convert({dst_.at(set), dst, e, StridesOf<NHWC>(e), StridesOf<NHWC>(e)}, element(),
                   Element::kInt8, stream);
  }

  Place Src(int set) const override {
    if (half_) return {};
    return {const_cast<std::int8_t*>(tensors_.src.at(set)), TensorFormatName::kNhwc};
  }
  Place Dst(int set) const override {
    if (half_) return {};
    return {static_cast<std::int8_t*>(dst_.at(set)), TensorFormatName::kNhwc};
  }

 private:
  struct Plan {
    const GraphForm* form = nullptr;
    Descriptor config, plan;
    bool tried = false;  // plan.status() is cuDNN's answer
    int handle = 0;      // index, of the thread that made the plan
    DeviceBuffer workspace;
    std::vector<Descriptor> packs;  // one a set
  };

  // The first is enough where time counts; the others say the same to other engines.
  std::vector<GraphForm> Forms(bool all) const {
    if (half_) return {{"", true, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, GraphOrder::kPlain}};
    std::vector<GraphForm> forms = {{.name = "f32 "}};
    if (problem_.residual && problem_.gamma != 1.0f) {
      forms.push_back({.name = "gamma_outside ", .order = GraphOrder::kGammaOutside});
    }
    if (all) {
      forms.push_back({.name = "i32 ", .sums = CUDNN_DATA_INT32});
      forms.push_back({.name = "f32_compute ", .compute = CUDNN_DATA_FLOAT});
      if (!problem_.residual && !problem_.hswish) {
        forms.push_back({.name = "requantize ", .order = GraphOrder::kRequantize});
      }
    }
    return forms;
  }

  Element element() const { return half_ ? Element::kHalf : Element::kInt8; }

  absl::Status MakeTensors(Stream stream) {
    const conv::Problem& p = problem_.problem;
    const auto keep = [](absl::StatusOr<ConvertedSets> made, ConvertedSets* to) {
      if (made.ok()) *to = std::move(*made);
      return made.status();
    };
    const int sets = tensors_.sets;
    absl::Status s = keep(MakeSets(NHWC::Size(p.dst()), element(), sets), &dst_);
    if (!s.ok() || !half_) return s;
    s = keep(ConvertSets<NHWC>(tensors_.src, p.src(), Element::kHalf, sets, stream), &src_);
    if (!s.ok()) return s;
    s = keep(ConvertSets<NHWC>(tensors_.filter, AsTensor(p.filter()), Element::kHalf, sets, stream,
                               tensors_.channel_alpha),
             &filter_);
    if (!s.ok()) return s;
    if (problem_.residual) {
      const absl::StatusOr<DeviceBuffer> gammas =
          DeviceBuffer::From(std::vector<float>(p.n, problem_.gamma));
      if (!gammas.ok()) return gammas.status();
      s = keep(ConvertSets<NHWC>(tensors_.residual, p.dst(), Element::kHalf, sets, stream,
                                 gammas->as<float>()),
               &residual_);
      if (s.ok()) s = CudaStatus(cudaStreamSynchronize(stream), "residual");
      if (!s.ok()) return s;
    }
    return Keep(HalfBias(), &bias_);
  }

  static absl::Status Keep(absl::StatusOr<DeviceBuffer> made, DeviceBuffer* to) {
    if (made.ok()) *to = std::move(*made);
    return made.status();
  }

  absl::StatusOr<std::vector<float>> Download(const float* values) const {
    std::vector<float> host(problem_.problem.k);
    if (absl::Status s = CudaStatus(
            cudaMemcpy(host.data(), values, host.size() * 4, cudaMemcpyDeviceToHost), "cudaMemcpy");
        !s.ok()) {
      return s;
    }
    return host;
  }

  absl::StatusOr<DeviceBuffer> HalfBias() const {
    const absl::StatusOr<std::vector<float>> bias = Download(tensors_.bias);
    if (!bias.ok()) return bias.status();
    std::vector<std::uint16_t> half;
    for (const float b : *bias) half.push_back(HalfFromFloat(b));
    return DeviceBuffer::From(half);
  }

  // What the other orders want.
  absl::Status MakeFactors() {
    absl::Status scalars = Keep(DeviceBuffer::From(std::vector<float>{3.0f}), &three_);
    if (scalars.ok()) scalars = Keep(DeviceBuffer::From(std::vector<float>{1.0f / 6}), &sixth_);
    if (half_ || !scalars.ok()) return scalars;
    const absl::StatusOr<std::vector<float>> scale = Download(tensors_.channel_alpha);
    if (!scale.ok()) return scale.status();
    const absl::StatusOr<std::vector<float>> bias = Download(tensors_.bias);
    if (!bias.ok()) return bias.status();
    std::vector<float> bias_by_scale = *bias, scale_by_gamma = *scale, bias_by_gamma = *bias;
    for (std::size_t k = 0; k < bias->size(); ++k) {
      bias_by_scale[k] /= (*scale)[k];
      scale_by_gamma[k] /= problem_.gamma;
      bias_by_gamma[k] /= problem_.gamma;
    }
    absl::Status s = Keep(DeviceBuffer::From(bias_by_scale), &bias_by_scale_);
    if (s.ok()) s = Keep(DeviceBuffer::From(scale_by_gamma), &scale_by_gamma_);
    if (s.ok()) s = Keep(DeviceBuffer::From(bias_by_gamma), &bias_by_gamma_);
    if (s.ok()) s = Keep(DeviceBuffer::From(std::vector<float>{problem_.gamma}), &gamma_);
    return s;
  }

  void Finish(Plan& plan, int handle) {
    plan.tried = true;
    plan.handle = handle;
    plan.plan = Descriptor(*api_, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    plan.plan.Set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handles_[handle])
        .Set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, plan.config)
        .Finalize();
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
      workers.emplace_back([this, &next, handle = t + 1] {
        for (std::size_t i = next++; i < plans_.size(); i = next++) Finish(plans_[i], handle);
      });
    }
    for (std::thread& worker : workers) worker.join();
  }

  Descriptor Pack(const Plan& plan, int set) const {
    const auto sets_at = [&](const ConvertedSets& converted, const PeerTensors::Sets& given) {
      return const_cast<void*>(half_ ? converted.at(set) : given.at(set));
    };
    const GraphOrder order = plan.form->order;
    void* bias = half_ ? bias_.data() : const_cast<float*>(tensors_.bias);
    void* scale = const_cast<float*>(tensors_.channel_alpha);
    if (order == GraphOrder::kRequantize) bias = bias_by_scale_.data();
    if (order == GraphOrder::kGammaOutside) {
      bias = bias_by_gamma_.data();
      scale = scale_by_gamma_.data();
    }
    std::vector<std::int64_t> ids = {kSrc, kFilter, kBias, kDst};
    std::vector<void*> pointers = {sets_at(src_, tensors_.src), sets_at(filter_, tensors_.filter),
                                   bias, dst_.at(set)};
    const auto add = [&](std::int64_t id, void* pointer) {
      ids.push_back(id);
      pointers.push_back(pointer);
    };
    if (!half_) add(kScale, scale);
    if (problem_.residual) add(kResidual, sets_at(residual_, tensors_.residual));
    if (HasGamma(problem_, *plan.form)) add(kGamma, gamma_.data());
    if (problem_.hswish) {
      add(kThree, three_.data());
      add(kSixth, sixth_.data());
    }
    const void* const workspace = plan.workspace.data();
    Descriptor pack(*api_, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack.SetInts(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids)
        .Set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
             static_cast<std::int64_t>(pointers.size()), pointers.data())
        .Set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace)
        .Finalize();
    return pack;
  }

  bool half_;
  const CudnnApi* api_ = nullptr;
  std::vector<cudnnHandle_t> handles_;  // the first is the main one
  PeerProblem problem_;
  PeerTensors tensors_;
  ConvertedSets src_, filter_, residual_, dst_;  // but for dst, half only
  DeviceBuffer bias_;                            // half only
  DeviceBuffer bias_by_scale_, scale_by_gamma_, bias_by_gamma_, gamma_;
  DeviceBuffer three_, sixth_;  // of hard swish
  std::vector<GraphForm> forms_;
  std::vector<ConvolutionGraph> graphs_;  // what the configurations refer to
  std::vector<Plan> plans_;
};

}  // namespace

std::unique_ptr<Peer> MakeCudnnGraph(const std::string& name, bool half) {
  return std::make_unique<CudnnGraphPeer>(name, half);
}

}  // namespace weft::perf::internal

#endif  // WEFT_HAVE_CUDNN
