#include "perf/peers/cudnn_graph.hpp"

#if WEFT_HAVE_CUDNN

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"

namespace weft::perf::internal {
namespace {

constexpr int kMostConfigs = 256;
constexpr int kMostKnobs = 64;
constexpr int kMostKnobValues = 64;

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

  const Descriptor* Convolve(const conv::Problem& p, const Descriptor& src,
                             const Descriptor& filter, const Descriptor* dst,
                             cudnnDataType_t compute) {
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

  void Graph(cudnnHandle_t handle) {
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
  }

  // The first failure of any descriptor.
  absl::Status Status() const {
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      if (kept_[i].status() != CUDNN_STATUS_SUCCESS) {
        return api_.Check(kept_[i].status(), absl::StrCat("cuDNN graph, descriptor ", i));
      }
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

}  // namespace

bool HasGamma(const PeerProblem& problem, const GraphForm& form) {
  return problem.residual && !form.half &&
         (problem.gamma != 1.0f || form.order == GraphOrder::kGammaOutside);
}

absl::StatusOr<ConvolutionGraph> ConvolutionGraph::Create(const CudnnApi& api, cudnnHandle_t handle,
                                                          const PeerProblem& problem,
                                                          const GraphForm& form) {
  const conv::Problem& p = problem.problem;
  const TensorExtents per_channel{1, p.k, 1, 1};
  const cudnnDataType_t type = form.half ? CUDNN_DATA_HALF : CUDNN_DATA_INT8;
  ConvolutionGraph made(api);
  Builder build(api, &made.kept_);
  std::int64_t next = kVirtual;
  const auto intermediate = [&](cudnnDataType_t t) { return build.Tensor(next++, p.dst(), t); };
  const auto target = [&](bool last) {
    return last ? build.Tensor(kDst, p.dst(), type) : intermediate(CUDNN_DATA_FLOAT);
  };

  const cudnnDataType_t operand = form.half_operands ? CUDNN_DATA_HALF : type;
  const Descriptor* src = build.Tensor(kSrc, p.src(), operand);
  const Descriptor* filter = build.Tensor(kFilter, {p.k, p.c, p.r, p.s}, operand);
  const Descriptor* x = build.Convolve(p, *src, *filter, intermediate(form.sums), form.compute);
  const bool requantize = form.order == GraphOrder::kRequantize;
  const Descriptor* scale =
      form.half ? nullptr : build.Tensor(kScale, per_channel, CUDNN_DATA_FLOAT);
  const Descriptor* bias =
      build.Tensor(kBias, per_channel, form.half ? CUDNN_DATA_HALF : CUDNN_DATA_FLOAT);
  if (scale != nullptr && !requantize) {
    x = build.Pointwise(CUDNN_POINTWISE_MUL, x, scale, intermediate(CUDNN_DATA_FLOAT));
  }
  const bool scaled_after = form.order != GraphOrder::kPlain;
  x = build.Pointwise(
      CUDNN_POINTWISE_ADD, x, bias,
      target(!problem.residual && !problem.relu && !problem.hswish && !scaled_after));
  if (problem.residual) {
    const Descriptor* residual = build.Tensor(kResidual, p.dst(), type);
    const Descriptor* gamma =
        HasGamma(problem, form) ? build.Tensor(kGamma, {1, 1, 1, 1}, CUDNN_DATA_FLOAT) : nullptr;
    if (gamma != nullptr && !scaled_after) {
      residual =
          build.Pointwise(CUDNN_POINTWISE_MUL, residual, gamma, intermediate(CUDNN_DATA_FLOAT));
    }
    x = build.Pointwise(CUDNN_POINTWISE_ADD, x, residual, target(!problem.relu && !scaled_after));
    if (scaled_after) {
      x = build.Pointwise(CUDNN_POINTWISE_MUL, x, gamma, target(!problem.relu));
    }
  }
  if (problem.relu) {
    x = build.Pointwise(CUDNN_POINTWISE_RELU_FWD, x, nullptr, target(!requantize));
  }
  if (problem.hswish) {
    const TensorExtents one{1, 1, 1, 1};
    const Descriptor* const three = build.Tensor(kThree, one, CUDNN_DATA_FLOAT);
    const Descriptor* const sixth = build.Tensor(kSixth, one, CUDNN_DATA_FLOAT);
    const auto then = [&](cudnnPointwiseMode_t mode, const Descriptor* from,
                          const Descriptor* other) {
      return build.Pointwise(mode, from, other, intermediate(CUDNN_DATA_FLOAT));
    };
    const Descriptor* const shifted = then(CUDNN_POINTWISE_ADD, x, three);
    const Descriptor* const gate = build.Pointwise(CUDNN_POINTWISE_RELU_FWD, shifted, nullptr,
                                                   intermediate(CUDNN_DATA_FLOAT), 6.0);
    x = then(CUDNN_POINTWISE_MUL, x, gate);
    build.Pointwise(CUDNN_POINTWISE_MUL, x, sixth, target(true));
  }
  if (requantize) build.Pointwise(CUDNN_POINTWISE_MUL, x, scale, target(true));
  if (absl::Status s = build.Status(); !s.ok()) return s;
  build.Graph(handle);
  if (absl::Status s = build.Status(); !s.ok()) return s;
  return made;
}

std::string ConvolutionGraph::ConfigName(const Descriptor& config, std::int64_t* engine) const {
  Descriptor of_config(*api_, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t handle = of_config.get();
  std::int64_t count = 0;
  (void)api_->BackendGetAttribute(config.get(), CUDNN_ATTR_ENGINECFG_ENGINE,
                                  CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &handle);
  *engine = of_config.GetInt(CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
  std::string name = absl::StrCat("eng", *engine);

  std::vector<Descriptor> knobs;
  std::vector<cudnnBackendDescriptor_t> handles;
  for (int i = 0; i < kMostKnobs; ++i) {
    knobs.emplace_back(*api_, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    handles.push_back(knobs.back().get());
  }
  count = 0;
  (void)api_->BackendGetAttribute(config.get(), CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                                  CUDNN_TYPE_BACKEND_DESCRIPTOR, kMostKnobs, &count,
                                  handles.data());
  for (int i = 0; i < count && i < kMostKnobs; ++i) {
    absl::StrAppend(&name, " k",
                    knobs[i].GetInt(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE), "=",
                    knobs[i].GetInt(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE));
  }
  return name;
}

void ConvolutionGraph::AddKnobs(const Descriptor& engine, std::vector<Descriptor>* configs) const {
  std::vector<Descriptor> infos;
  std::vector<cudnnBackendDescriptor_t> handles;
  for (int i = 0; i < kMostKnobs; ++i) {
    infos.emplace_back(*api_, CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR);
    handles.push_back(infos.back().get());
  }
  std::int64_t count = 0;
  (void)api_->BackendGetAttribute(engine.get(), CUDNN_ATTR_ENGINE_KNOB_INFO,
                                  CUDNN_TYPE_BACKEND_DESCRIPTOR, kMostKnobs, &count,
                                  handles.data());
  for (int i = 0; i < count && i < kMostKnobs; ++i) {
    const auto type = static_cast<cudnnBackendKnobType_t>(
        infos[i].GetInt(CUDNN_ATTR_KNOB_INFO_TYPE, CUDNN_TYPE_KNOB_TYPE));
    const std::int64_t most = infos[i].GetInt(CUDNN_ATTR_KNOB_INFO_MAXIMUM_VALUE);
    const std::int64_t step =
        std::max<std::int64_t>(infos[i].GetInt(CUDNN_ATTR_KNOB_INFO_STRIDE), 1);
    std::int64_t value = infos[i].GetInt(CUDNN_ATTR_KNOB_INFO_MINIMUM_VALUE);
    for (int n = 0; value <= most && n < kMostKnobValues; value += step, ++n) {
      Descriptor choice(*api_, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
      choice.Set(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &type)
          .SetInts(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, {value})
          .Finalize();
      Descriptor config(*api_, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
      config.Set(CUDNN_ATTR_ENGINECFG_ENGINE, engine)
          .Set(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, choice)
          .Finalize();
      if (config.status() == CUDNN_STATUS_SUCCESS) configs->push_back(std::move(config));
    }
  }
}

std::vector<ConvolutionGraph::Config> ConvolutionGraph::Configs(const PeerOptions& options) {
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
    std::vector<Descriptor> results;
    std::vector<cudnnBackendDescriptor_t> handles;
    for (int i = 0; i < kMostConfigs; ++i) {
      results.emplace_back(*api_, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
      handles.push_back(results.back().get());
    }
    std::int64_t count = 0;
    if (api_->BackendGetAttribute(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                  CUDNN_TYPE_BACKEND_DESCRIPTOR, kMostConfigs, &count,
                                  handles.data()) != CUDNN_STATUS_SUCCESS) {
      continue;
    }
    for (int i = 0; i < count && i < kMostConfigs; ++i) add(std::move(results[i]));
  }

  const std::int64_t all = graph().GetInt(CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT);
  for (std::int64_t index = 0; index < all; ++index) {
    const bool named = engines.contains(index);
    if (named && !options.every_knob) continue;
    if (!options.Step(absl::StrCat("cuDNN engine ", index))) continue;
    Descriptor engine(*api_, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    engine.Set(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph())
        .SetInts(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, {index})
        .Finalize();
    std::vector<Descriptor> made;
    made.emplace_back(*api_, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    made[0].Set(CUDNN_ATTR_ENGINECFG_ENGINE, engine).Finalize();
    if (made[0].status() != CUDNN_STATUS_SUCCESS) continue;
    if (options.every_knob) AddKnobs(engine, &made);
    for (Descriptor& config : made) add(std::move(config));
  }
  return configs;
}

}  // namespace weft::perf::internal

#endif  // WEFT_HAVE_CUDNN
