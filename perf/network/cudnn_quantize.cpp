#include "perf/network/cudnn_quantize.hpp"

#if WEFT_HAVE_CUDNN

namespace weft::perf {
namespace {

using internal::Descriptor;

constexpr int kMostConfigs = 16;

}  // namespace

absl::StatusOr<CudnnQuantize> CudnnQuantize::Create(const CudnnApi& api, cudnnHandle_t handle,
                                                    const TensorExtents& e, void* src, void* dst) {
  CudnnQuantize made;
  made.api_ = &api;
  made.handle_ = handle;
  const auto keep = [&](cudnnBackendDescriptorType_t type) -> Descriptor& {
    made.kept_.emplace_back(api, type);
    return made.kept_.back();
  };
  made.kept_.reserve(64);  // references into it stay
  const auto tensor = [&](std::int64_t id, cudnnDataType_t type) -> Descriptor& {
    return keep(CUDNN_BACKEND_TENSOR_DESCRIPTOR)
        .SetInts(CUDNN_ATTR_TENSOR_UNIQUE_ID, {id})
        .SetType(CUDNN_ATTR_TENSOR_DATA_TYPE, type)
        .SetInts(CUDNN_ATTR_TENSOR_DIMENSIONS, {e.n, e.c, e.h, e.w})
        .SetInts(CUDNN_ATTR_TENSOR_STRIDES, {e.h * e.w * e.c, 1, e.w * e.c, e.c})
        .SetInts(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {16})
        .Finalize();
  };
  const Descriptor& from = tensor(1, CUDNN_DATA_HALF);
  const Descriptor& to = tensor(2, CUDNN_DATA_INT8);
  const cudnnPointwiseMode_t mode = CUDNN_POINTWISE_IDENTITY;
  const Descriptor& pointwise =
      keep(CUDNN_BACKEND_POINTWISE_DESCRIPTOR)
          .Set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode)
          .SetType(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT)
          .Finalize();
  const Descriptor& operation = keep(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR)
                                    .Set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pointwise)
                                    .Set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, from)
                                    .Set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, to)
                                    .Finalize();
  const Descriptor& graph =
      keep(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)
          .Set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle)
          .Set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation)
          .Finalize();
  const cudnnBackendHeurMode_t heuristic = CUDNN_HEUR_MODE_A;
  const Descriptor& heuristics =
      keep(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR)
          .Set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph)
          .Set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &heuristic)
          .Finalize();
  if (absl::Status s = api.Check(heuristics.status(), "cuDNN's conversion to int8"); !s.ok()) {
    return s;
  }
  std::vector<cudnnBackendDescriptor_t> handles;
  for (int i = 0; i < kMostConfigs; ++i) {
    handles.push_back(keep(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR).get());
  }
  std::int64_t count = 0;
  if (absl::Status s =
          api.Check(api.BackendGetAttribute(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                            CUDNN_TYPE_BACKEND_DESCRIPTOR, kMostConfigs, &count,
                                            handles.data()),
                    "cuDNN's conversion to int8");
      !s.ok()) {
    return s;
  }
  absl::Status why = absl::UnimplementedError("cuDNN has no plan for a conversion to int8");
  for (int i = 0; i < count && i < kMostConfigs; ++i) {
    Descriptor plan(api, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    plan.Set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle)
        .Set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &handles[i])
        .Finalize();
    why = api.Check(plan.status(), "cuDNN's conversion to int8");
    if (!why.ok() || plan.GetInt(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE) > 0) continue;
    const std::vector<std::int64_t> ids = {1, 2};
    void* const pointers[] = {src, dst};
    made.pack_ = Descriptor(api, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    made.pack_.SetInts(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids)
        .Set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 2, pointers)
        .Finalize();
    if (why = api.Check(made.pack_.status(), "cuDNN's conversion to int8"); !why.ok()) continue;
    made.plan_ = std::move(plan);
    return made;
  }
  if (why.ok()) why = absl::UnimplementedError("cuDNN's conversion to int8 wants a workspace");
  return why;
}

absl::Status CudnnQuantize::Run(Stream stream) const {
  if (absl::Status s = api_->Check(api_->SetStream(handle_, stream), "cudnnSetStream"); !s.ok()) {
    return s;
  }
  return api_->Check(api_->BackendExecute(handle_, plan_.get(), pack_.get()),
                     "cuDNN's conversion to int8");
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDNN
