#include "perf/peers/cudnn_graph.hpp"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "perf/support/status.hpp"

namespace weft::perf::internal {
namespace {

constexpr int kMostConfigs = 256;
constexpr int kMostKnobs = 64;

// Adds operations one by one; each works on the result of the one before.
class Builder {
 public:
  Builder(const CudnnApi& api, std::vector<Descriptor>* kept) : api_(api), kept_(*kept) {
    kept_.reserve(64);  // pointers into it stay
  }

  // A tensor of extents `e` with channels last. The caller finishes it.
  Descriptor* Tensor(std::int64_t id, const TensorExtents& e, cudnnDataType_t type) {
    kept_.emplace_back(api_, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    const bool is_virtual = id >= kVirtual;
    kept_.back()
        .SetInts(CUDNN_ATTR_TENSOR_UNIQUE_ID, {id})
        .SetType(CUDNN_ATTR_TENSOR_DATA_TYPE, type)
        .SetInts(CUDNN_ATTR_TENSOR_DIMENSIONS, {e.n, e.c, e.h, e.w})
        .SetInts(CUDNN_ATTR_TENSOR_STRIDES, {e.h * e.w * e.c, 1, e.w * e.c, e.c})
        .SetInts(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {16})
        .Set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &is_virtual)
        .Finalize();
    return &kept_.back();
  }

  const Descriptor& Window(const conv::Problem& p, cudnnDataType_t compute) {
    const cudnnConvolutionMode_t mode =
        p.mode == conv::Mode::kConvolution ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION;
    kept_.emplace_back(api_, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    Descriptor& conv = kept_.back();
    conv.SetInts(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {2})
        .SetType(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, compute)
        .Set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode)
        .SetInts(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, {p.pad_top, p.pad_left})
        .SetInts(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, {p.pad_bottom, p.pad_right})
        .SetInts(CUDNN_ATTR_CONVOLUTION_DILATIONS, {p.dilation_h, p.dilation_w})
        .SetInts(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, {p.stride_h, p.stride_w})
        .Finalize();
    return conv;
  }

  const Descriptor* Convolve(const conv::Problem& p, const Descriptor& src,
                             const Descriptor& filter, const Descriptor* dst,
                             cudnnDataType_t compute) {
    const Descriptor& conv = Window(p, compute);
    Operation(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR)
        .Set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, src)
        .Set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, filter)
        .Set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, *dst)
        .Set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, conv)
        .SetFloat(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1.0f)
        .SetFloat(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 0.0f)
        .Finalize();
    return dst;
  }

  // dst: the gradient of p by its source. src: that of its result.
  void Gradient(const conv::Problem& p, const Descriptor& src, const Descriptor& filter,
                const Descriptor& dst, cudnnDataType_t compute) {
    const Descriptor& conv = Window(p, compute);
    Operation(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR)
        .Set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, src)
        .Set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, filter)
        .Set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, dst)
        .Set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, conv)
        .SetFloat(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, 1.0f)
        .SetFloat(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, 0.0f)
        .Finalize();
  }

  // dst = mode(src, other); `other` is null for a function of one tensor. `upper` limits a ReLU
  // that has an upper limit.
  const Descriptor* Pointwise(cudnnPointwiseMode_t mode, const Descriptor* src,
                              const Descriptor* other, const Descriptor* dst, double upper = 0.0) {
    kept_.emplace_back(api_, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    Descriptor& pointwise = kept_.back();
    pointwise.Set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode)
        .SetType(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT);
    if (upper > 0.0) {
      pointwise.Set(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, CUDNN_TYPE_DOUBLE, 1, &upper);
    }
    pointwise.Finalize();
    Descriptor& op = Operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    op.Set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pointwise)
        .Set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, *src)
        .Set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, *dst);
    if (other != nullptr) op.Set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *other);
    op.Finalize();
    return dst;
  }

  // The graph of all operations. The first failure of any descriptor.
  absl::Status Graph(cudnnHandle_t handle) {
    std::vector<cudnnBackendDescriptor_t> operations;
    for (const Descriptor* op : operations_) operations.push_back(op->get());
    kept_.emplace_back(api_, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    Descriptor& graph = kept_.back();
    if (handle != nullptr) {
      graph.Set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    }
    graph
        .Set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
             static_cast<std::int64_t>(operations.size()), operations.data())
        .Finalize();
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      WEFT_TRY(api_.Check(kept_[i].status(), absl::StrCat("cuDNN graph, descriptor ", i)));
    }
    return absl::OkStatus();
  }

 private:
  Descriptor& Operation(cudnnBackendDescriptorType_t type) {
    kept_.emplace_back(api_, type);
    operations_.push_back(&kept_.back());
    return kept_.back();
  }

  const CudnnApi& api_;
  std::vector<Descriptor>& kept_;
  std::vector<const Descriptor*> operations_;
};

std::string ConfigName(const Descriptor& config, std::int64_t* engine) {
  const std::vector<Descriptor> engines =
      config.GetAll(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1);
  *engine = engines.empty() ? -1 : engines[0].GetInt(CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
  std::string name = absl::StrCat("eng", *engine);
  for (const Descriptor& knob : config.GetAll(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                                              CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, kMostKnobs)) {
    absl::StrAppend(&name, " k",
                    knob.GetInt(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE), "=",
                    knob.GetInt(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE));
  }
  return name;
}

}  // namespace

std::vector<Descriptor> Descriptor::GetAll(cudnnBackendAttributeName_t name,
                                           cudnnBackendDescriptorType_t type, int most) const {
  std::vector<Descriptor> all;
  std::vector<cudnnBackendDescriptor_t> handles;
  for (int i = 0; i < most; ++i) handles.push_back(all.emplace_back(*api_, type).get());
  std::int64_t count = 0;
  if (api_->BackendGetAttribute(handle_, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, most, &count,
                                handles.data()) != CUDNN_STATUS_SUCCESS) {
    count = 0;
  }
  while (static_cast<std::int64_t>(all.size()) > count) all.pop_back();
  return all;
}

bool HasGamma(const PeerProblem& problem, bool half) {
  return problem.residual && !half && problem.gamma != 1.0f;
}

absl::StatusOr<CudnnGraph> CudnnGraph::Convolution(const CudnnApi& api, cudnnHandle_t handle,
                                                   const PeerProblem& problem, bool half) {
  const conv::Problem& p = problem.problem;
  const TensorExtents per_channel{1, p.k, 1, 1}, one{1, 1, 1, 1};
  const cudnnDataType_t type = half ? CUDNN_DATA_HALF : CUDNN_DATA_INT8;
  CudnnGraph made(api);
  Builder build(api, &made.kept_);
  std::int64_t next = kVirtual;
  const auto target = [&](bool last) {
    return last ? build.Tensor(kDst, p.dst(), type)
                : build.Tensor(next++, p.dst(), CUDNN_DATA_FLOAT);
  };
  const auto floats = [&](std::int64_t id, const TensorExtents& e) {
    return build.Tensor(id, e, CUDNN_DATA_FLOAT);
  };

  const Descriptor* src = build.Tensor(kSrc, p.src(), type);
  const Descriptor* filter = build.Tensor(kFilter, {p.k, p.c / p.groups, p.r, p.s}, type);
  const Descriptor* x =
      build.Convolve(p, *src, *filter, target(false), half ? CUDNN_DATA_FLOAT : CUDNN_DATA_INT32);
  if (!half)
    x = build.Pointwise(CUDNN_POINTWISE_MUL, x, floats(kScale, per_channel), target(false));
  const Descriptor* bias =
      build.Tensor(kBias, per_channel, half ? CUDNN_DATA_HALF : CUDNN_DATA_FLOAT);
  const bool activated = problem.relu || problem.hswish;
  x = build.Pointwise(CUDNN_POINTWISE_ADD, x, bias, target(!problem.residual && !activated));
  if (problem.residual) {
    const Descriptor* residual = build.Tensor(kResidual, p.dst(), type);
    if (HasGamma(problem, half)) {
      residual = build.Pointwise(CUDNN_POINTWISE_MUL, residual, floats(kGamma, one), target(false));
    }
    x = build.Pointwise(CUDNN_POINTWISE_ADD, x, residual, target(!activated));
  }
  if (problem.relu) build.Pointwise(CUDNN_POINTWISE_RELU_FWD, x, nullptr, target(true));
  if (problem.hswish) {
    const Descriptor* const three = floats(kThree, one);
    const Descriptor* const sixth = floats(kSixth, one);
    const Descriptor* gate = build.Pointwise(CUDNN_POINTWISE_ADD, x, three, target(false));
    gate = build.Pointwise(CUDNN_POINTWISE_RELU_FWD, gate, nullptr, target(false), 6.0);
    x = build.Pointwise(CUDNN_POINTWISE_MUL, x, gate, target(false));
    build.Pointwise(CUDNN_POINTWISE_MUL, x, sixth, target(true));
  }
  WEFT_TRY(build.Graph(handle));
  return made;
}

absl::StatusOr<CudnnGraph> CudnnGraph::Gradient(const CudnnApi& api, cudnnHandle_t handle,
                                                const conv::Problem& p) {
  CudnnGraph made(api);
  Builder build(api, &made.kept_);
  const Descriptor* src = build.Tensor(kSrc, p.dst(), CUDNN_DATA_HALF);
  const Descriptor* filter = build.Tensor(kFilter, {p.k, p.c, p.r, p.s}, CUDNN_DATA_HALF);
  const Descriptor* dst = build.Tensor(kDst, p.src(), CUDNN_DATA_HALF);
  build.Gradient(p, *src, *filter, *dst, CUDNN_DATA_FLOAT);
  WEFT_TRY(build.Graph(handle));
  return made;
}

absl::StatusOr<CudnnGraph> CudnnGraph::Quantization(const CudnnApi& api, cudnnHandle_t handle,
                                                    const TensorExtents& e) {
  CudnnGraph made(api);
  Builder build(api, &made.kept_);
  build.Pointwise(CUDNN_POINTWISE_IDENTITY, build.Tensor(kSrc, e, CUDNN_DATA_HALF), nullptr,
                  build.Tensor(kDst, e, CUDNN_DATA_INT8));
  WEFT_TRY(build.Graph(handle));
  return made;
}

std::vector<CudnnGraph::Config> CudnnGraph::Configs(const PeerOptions& options) const {
  std::vector<Config> configs;
  std::set<std::string> names;
  std::set<std::int64_t> engines;
  const auto add = [&](Descriptor descriptor) {
    std::int64_t engine = 0;
    const std::string name = ConfigName(descriptor, &engine);
    engines.insert(engine);
    if (names.insert(name).second) configs.push_back({name, std::move(descriptor)});
  };
  for (const cudnnBackendHeurMode_t mode :
       {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_FALLBACK}) {
    if (!options.Step(absl::StrCat("cuDNN heuristics mode ", static_cast<int>(mode)))) continue;
    Descriptor heuristics(*api_, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    heuristics.Set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph())
        .Set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode)
        .Finalize();
    if (heuristics.status() != CUDNN_STATUS_SUCCESS) continue;
    for (Descriptor& config : heuristics.GetAll(CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                                CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, kMostConfigs)) {
      add(std::move(config));
    }
  }
  const std::int64_t all = graph().GetInt(CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT);
  for (std::int64_t index = 0; index < all; ++index) {
    if (engines.contains(index)) continue;
    if (!options.Step(absl::StrCat("cuDNN engine ", index))) continue;
    Descriptor engine(*api_, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    engine.Set(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph())
        .SetInts(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, {index})
        .Finalize();
    Descriptor config(*api_, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    config.Set(CUDNN_ATTR_ENGINECFG_ENGINE, engine).Finalize();
    if (config.status() == CUDNN_STATUS_SUCCESS) add(std::move(config));
  }
  return configs;
}

CudnnPlan::CudnnPlan(const CudnnGraph& graph, cudnnHandle_t handle,
                     const CudnnGraph::Config& config)
    : api_(&graph.api()),
      handle_(handle),
      name_(config.name),
      plan_(graph.api(), CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
  plan_.Set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle)
      .Set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config.descriptor)
      .Finalize();
}

absl::Status CudnnPlan::Bind(int sets, const std::function<Addresses(int set)>& addresses) {
  WEFT_TRY(api_->Check(status(), name_));
  WEFT_LET(workspace_, DeviceBuffer::Create(std::max<std::int64_t>(workspace_bytes(), 256)));
  const void* const workspace = workspace_.data();
  packs_.clear();
  for (int set = 0; set < sets; ++set) {
    std::vector<std::int64_t> ids;
    std::vector<const void*> pointers;
    for (const auto& [id, address] : addresses(set)) {
      ids.push_back(id);
      pointers.push_back(address);
    }
    packs_.emplace_back(*api_, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR)
        .SetInts(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids)
        .Set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
             static_cast<std::int64_t>(pointers.size()), pointers.data())
        .Set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace)
        .Finalize();
    WEFT_TRY(api_->Check(packs_.back().status(), name_));
  }
  return absl::OkStatus();
}

void CudnnPlan::Release() {
  packs_.clear();
  workspace_ = DeviceBuffer();
}

absl::Status CudnnPlan::Enqueue(int set, cudaStream_t stream) const {
  WEFT_TRY(api_->Check(api_->SetStream(handle_, stream), "cudnnSetStream"));
  return api_->Check(api_->BackendExecute(handle_, plan_.get(), packs_[set].get()), name_);
}

}  // namespace weft::perf::internal
