#include "perf/network/cudnn_chain.hpp"

#if WEFT_HAVE_CUDNN

#include <algorithm>
#include <atomic>
#include <thread>

#include "absl/strings/str_cat.h"

namespace weft::perf {
namespace {

using internal::Descriptor;

constexpr int kPoison = 0xB5;  // a byte that ReLU never gives
// Of all layers, which run one after the other. Plans that want more are passed over.
constexpr std::int64_t kWorkspaceBytes = std::int64_t{1} << 29;

absl::Status Keep(absl::StatusOr<DeviceBuffer> made, DeviceBuffer* to) {
  if (made.ok()) *to = std::move(*made);
  return made.status();
}

FormatStrides Ours(const TensorExtents& e) {
  return e.c < 32 ? StridesOf<NCxHWx<4>>(e) : StridesOf<NCxHWx<32>>(e);
}

}  // namespace

absl::StatusOr<std::unique_ptr<CudnnChain>> CudnnChain::Create(const OurChain& ours,
                                                               Stream stream) {
  std::unique_ptr<CudnnChain> chain(new CudnnChain(ours));
  if (absl::Status s = chain->Init(stream); !s.ok()) return s;
  return chain;
}

absl::Status CudnnChain::Init(Stream stream) {
  const absl::StatusOr<const CudnnApi*> api = CudnnApi::Get();
  if (!api.ok()) return api.status();
  api_ = *api;
  const absl::StatusOr<cudnnHandle_t> handle = api_->MainHandle();
  if (!handle.ok()) return handle.status();
  handles_ = {*handle};
  const Network& network = ours_.network();
  tensors_.resize(network.tensors());
  for (int i = 0; i < network.tensors(); ++i) {
    absl::Status s = Keep(DeviceBuffer::Create(NHWC::Size(network.Extents(i))), &tensors_[i]);
    if (!s.ok()) return s;
  }
  layers_.resize(network.layers.size());
  for (int i = 0; i < ours_.size(); ++i) {
    Layer& layer = layers_[i];
    const NetworkLayer& described = network.layers[i];
    layer.same_as = i;
    for (int k = 0; k < i && layer.same_as == i; ++k) {
      const NetworkLayer& other = network.layers[k];
      if (other.problem == described.problem && other.after == described.after) layer.same_as = k;
    }
    layer.forms = FormsOf(i);
    layer.operands.resize(layer.forms.size());
  }
  if (absl::Status s = Keep(DeviceBuffer::Create(kWorkspaceBytes), &workspace_); !s.ok()) return s;
  return CopyTensors(stream);
}

absl::Status CudnnChain::CopyTensor(int tensor, Stream stream) {
  const TensorExtents e = ours_.network().Extents(tensor);
  return Convert({ours_.Address(tensor), tensors_[tensor].data(), e, Ours(e), StridesOf<NHWC>(e)},
                 Element::kInt8, Element::kInt8, stream);
}

absl::Status CudnnChain::CopyTensors(Stream stream) {
  for (int i = 0; i < ours_.network().tensors(); ++i) {
    if (absl::Status s = CopyTensor(i, stream); !s.ok()) return s;
  }
  return CudaStatus(cudaStreamSynchronize(stream), "copies of tensors");
}

// Few channels are said in several ways, since cuDNN's int8 engines are slow on 4 of them. All give
// the same sums: of half operands the products of bytes and their sums are exact in float, also
// with scales in the filter that are powers of two (parameters.hpp). A half result is rounded
// twice. The layer reads an input of the network, of which each form has a copy made beforehand.
std::vector<CudnnChain::Form> CudnnChain::FormsOf(int layer) const {
  const std::int64_t c = ours_.network().layers[layer].problem.c;
  std::vector<Form> forms;
  forms.push_back({{}, c, Element::kInt8, ""});
  if (c >= 16) return forms;
  for (const std::int64_t channels : {16, 32}) {
    forms.push_back(
        {{}, channels, Element::kInt8, absl::StrCat("padded to ", channels, " channels ")});
  }
  for (const std::int64_t channels : {c, std::int64_t{8}}) {
    Form form{{}, channels, Element::kHalf, absl::StrCat("half operands ", channels, " channels ")};
    form.graph.half_operands = true;
    form.graph.compute = CUDNN_DATA_FLOAT;
    forms.push_back(form);
    form.graph.half = true;
    form.name = absl::StrCat("half and converted ", channels, " channels ");
    forms.push_back(form);
  }
  return forms;
}

PeerProblem CudnnChain::ProblemOf(int layer, const Form& form) const {
  const NetworkLayer& described = ours_.network().layers[layer];
  PeerProblem problem;
  problem.problem = described.problem;
  problem.problem.c = form.channels;
  problem.relu = described.after != After::kNothing;
  problem.residual = described.after == After::kResidualRelu;
  problem.gamma = kNetworkGamma;
  return problem;
}

absl::Status CudnnChain::MakeOperands(int layer, int form, Stream stream) {
  Operands& operands = layers_[layer].operands[form];
  if (operands.src != nullptr) return absl::OkStatus();
  const Form& f = layers_[layer].forms[form];
  const NetworkLayer& described = ours_.network().layers[layer];
  const TensorExtents src = described.problem.src();
  TensorExtents wide = src;
  wide.c = f.channels;
  FilterExtents filter = described.problem.filter();
  const TensorExtents planar_filter = AsTensor(filter);
  filter.c = f.channels;
  const TensorExtents wide_filter = AsTensor(filter);

  absl::Status s = absl::OkStatus();
  if (wide == src && f.operand == Element::kInt8) {
    operands.src = tensors_[described.src].data();
  } else {
    s = Keep(DeviceBuffer::Create(NHWC::Size(wide) * Bytes(f.operand)), &operands.own_src);
    if (s.ok()) s = operands.own_src.Fill(0);
    if (s.ok()) {
      s = Convert({tensors_[described.src].data(), operands.own_src.data(), src,
                   StridesOf<NHWC>(src), StridesOf<NHWC>(wide)},
                  Element::kInt8, f.operand, stream);
    }
    operands.src = operands.own_src.data();
  }
  DeviceBuffer planar;
  if (s.ok()) s = Keep(DeviceBuffer::From(ours_.parameters(layer).filter), &planar);
  if (s.ok()) {
    s = Keep(DeviceBuffer::Create(NHWC::Size(wide_filter) * Bytes(f.operand)),
             &operands.own_filter);
  }
  if (s.ok()) s = operands.own_filter.Fill(0);
  if (s.ok()) {
    s = Convert(
        {planar.data(), operands.own_filter.data(), planar_filter, StridesOf<NCHW>(planar_filter),
         StridesOf<NHWC>(wide_filter), f.graph.half ? ours_.channel_alpha(layer) : nullptr},
        Element::kInt8, f.operand, stream);
  }
  if (s.ok() && f.graph.half) s = MakeHalfResult(layer, &operands);
  if (s.ok()) s = CudaStatus(cudaStreamSynchronize(stream), "operands");
  operands.filter = operands.own_filter.data();
  if (!s.ok()) operands = Operands();
  return s;
}

absl::Status CudnnChain::MakeHalfResult(int layer, Operands* operands) {
  const int tensor = ours_.network().OutputOf(layer);
  const TensorExtents e = ours_.network().Extents(tensor);
  std::vector<std::uint16_t> bias;
  for (const float b : ours_.parameters(layer).bias) bias.push_back(HalfFromFloat(b));
  absl::Status s = Keep(DeviceBuffer::From(bias), &operands->half_bias);
  if (s.ok()) s = Keep(DeviceBuffer::Create(2 * NHWC::Size(e)), &operands->half_dst);
  if (!s.ok()) return s;
  absl::StatusOr<CudnnQuantize> quantize = CudnnQuantize::Create(
      *api_, handles_[0], e, operands->half_dst.data(), tensors_[tensor].data());
  if (!quantize.ok()) return quantize.status();
  operands->quantize = *std::move(quantize);
  return absl::OkStatus();
}

void CudnnChain::Finish(Plan& plan, int handle) {
  plan.tried = true;
  plan.handle = handle;
  plan.plan = Descriptor(*api_, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan.plan.Set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handles_[handle])
      .Set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, plan.config)
      .Finalize();
}

absl::Status CudnnChain::Prepare(int layer, const PeerOptions& options) {
  Layer& l = layers_[layer];
  absl::Status why = absl::UnimplementedError("cuDNN offers no plan");
  for (int f = 0; f < static_cast<int>(l.forms.size()); ++f) {
    const Form& form = l.forms[f];
    if (!options.Step(absl::StrCat(form.name, "graph"))) continue;
    absl::StatusOr<internal::ConvolutionGraph> graph =
        internal::ConvolutionGraph::Create(*api_, handles_[0], ProblemOf(layer, form), form.graph);
    if (!graph.ok()) {
      why = graph.status();
      continue;
    }
    for (internal::ConvolutionGraph::Config& config : graph->Configs(options)) {
      const std::string name = absl::StrCat(form.name, config.name);
      if (!options.Wants(name)) continue;
      Plan& plan = l.plans.emplace_back();
      plan.name = name;
      plan.form = f;
      plan.config = std::move(config.descriptor);
    }
    l.graphs.push_back(std::move(*graph));
  }
  if (l.plans.empty()) return why;

  const int threads = std::min<int>(options.build_threads, static_cast<int>(l.plans.size()));
  if (threads <= 1) return absl::OkStatus();  // Build makes them one by one
  if (!options.Step("plans on threads")) return absl::OkStatus();
  while (static_cast<int>(handles_.size()) <= threads) {
    const absl::StatusOr<cudnnHandle_t> handle = api_->NewHandle();
    if (!handle.ok()) return handle.status();
    handles_.push_back(*handle);
  }
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([this, &next, &l, handle = t + 1] {
      for (std::size_t i = next++; i < l.plans.size(); i = next++) Finish(l.plans[i], handle);
    });
  }
  for (std::thread& worker : workers) worker.join();
  return absl::OkStatus();
}

int CudnnChain::variants(int layer) const {
  return static_cast<int>(layers_[SameAs(layer)].plans.size());
}

const std::string& CudnnChain::VariantName(int layer, int variant) const {
  return layers_[SameAs(layer)].plans[variant].name;
}

absl::Status CudnnChain::Build(int layer, int variant) {
  Layer& l = layers_[layer];
  Plan& plan = layers_[l.same_as].plans[variant];
  l.built = nullptr;
  if (!plan.tried) Finish(plan, 0);
  if (absl::Status s = api_->Check(plan.plan.status(), plan.name); !s.ok()) return s;
  const std::int64_t bytes = plan.plan.GetInt(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
  if (bytes > workspace_.bytes()) {
    return absl::ResourceExhaustedError(absl::StrCat("a workspace of ", bytes, " bytes"));
  }
  if (absl::Status s = MakeOperands(layer, plan.form, nullptr); !s.ok()) return s;
  const Operands& operands = l.operands[plan.form];
  const NetworkLayer& described = ours_.network().layers[layer];
  const bool half = l.forms[plan.form].graph.half;
  std::vector<std::int64_t> ids = {internal::kSrc, internal::kFilter, internal::kBias,
                                   internal::kDst};
  std::vector<void*> pointers = {
      const_cast<void*>(operands.src), const_cast<void*>(operands.filter),
      half ? operands.half_bias.data() : const_cast<float*>(ours_.bias(layer)),
      half ? operands.half_dst.data() : tensors_[ours_.network().OutputOf(layer)].data()};
  if (!half) {
    ids.push_back(internal::kScale);
    pointers.push_back(const_cast<float*>(ours_.channel_alpha(layer)));
  }
  if (described.residual >= 0) {
    ids.push_back(internal::kResidual);
    pointers.push_back(tensors_[described.residual].data());
  }
  const void* const workspace = workspace_.data();
  l.pack = Descriptor(*api_, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  l.pack.SetInts(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids)
      .Set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
           static_cast<std::int64_t>(pointers.size()), pointers.data())
      .Set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace)
      .Finalize();
  if (absl::Status s = api_->Check(l.pack.status(), plan.name); !s.ok()) return s;
  l.built = &plan;
  return absl::OkStatus();
}

absl::Status CudnnChain::Run(int layer, Stream stream) {
  const Layer& l = layers_[layer];
  if (l.built == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("no plan was built for layer ", ours_.network().layers[layer].name));
  }
  const cudnnHandle_t handle = handles_[l.built->handle];
  if (absl::Status s = api_->Check(api_->SetStream(handle, stream), "cudnnSetStream"); !s.ok()) {
    return s;
  }
  if (absl::Status s = api_->Check(api_->BackendExecute(handle, l.built->plan.get(), l.pack.get()),
                                   l.built->name);
      !s.ok()) {
    return s;
  }
  const std::optional<CudnnQuantize>& quantize = l.operands[l.built->form].quantize;
  return quantize.has_value() ? quantize->Run(stream) : absl::OkStatus();
}

absl::Status CudnnChain::Output(int layer, std::int8_t* dst, Stream stream) const {
  const int tensor = ours_.network().OutputOf(layer);
  const TensorExtents e = ours_.network().Extents(tensor);
  return Convert({tensors_[tensor].data(), dst, e, StridesOf<NHWC>(e), Ours(e)}, Element::kInt8,
                 Element::kInt8, stream);
}

absl::Status CudnnChain::Poison(int layer, Stream stream) {
  DeviceBuffer& tensor = tensors_[ours_.network().OutputOf(layer)];
  return CudaStatus(cudaMemsetAsync(tensor.data(), kPoison, tensor.bytes(), stream), "poison");
}

absl::Status CudnnChain::Enqueue(int first, Stream stream) {
  for (int i = first; i < ours_.size(); ++i) {
    if (absl::Status s = Run(i, stream); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDNN
