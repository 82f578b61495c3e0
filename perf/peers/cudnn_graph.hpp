// cuDNN's backend descriptors with owners, and its graphs: one convolution, or one conversion.
#pragma once

#if WEFT_HAVE_CUDNN

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "perf/peers/libraries.hpp"
#include "perf/peers/peer.hpp"
#include "perf/support/cuda.hpp"

namespace weft::perf::internal {

// Owns a backend descriptor. The first failure of Set and Finalize is kept in status().
class Descriptor {
 public:
  Descriptor() = default;
  Descriptor(const CudnnApi& api, cudnnBackendDescriptorType_t type) : api_(&api) {
    status_ = api.BackendCreateDescriptor(type, &handle_);
  }
  ~Descriptor() {
    if (handle_ != nullptr) api_->BackendDestroyDescriptor(handle_);
  }
  Descriptor(Descriptor&& other) noexcept { *this = std::move(other); }
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(api_, other.api_);
    std::swap(handle_, other.handle_);
    std::swap(status_, other.status_);
    return *this;
  }

  cudnnBackendDescriptor_t get() const { return handle_; }
  cudnnStatus_t status() const { return status_; }

  Descriptor& Set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                  std::int64_t count, const void* values) {
    if (status_ == CUDNN_STATUS_SUCCESS) {
      status_ = api_->BackendSetAttribute(handle_, name, type, count, values);
    }
    return *this;
  }
  Descriptor& Set(cudnnBackendAttributeName_t name, const Descriptor& value) {
    if (status_ == CUDNN_STATUS_SUCCESS) status_ = value.status_;
    const cudnnBackendDescriptor_t handle = value.get();
    return Set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &handle);
  }
  Descriptor& SetInts(cudnnBackendAttributeName_t name, const std::vector<std::int64_t>& values) {
    return Set(name, CUDNN_TYPE_INT64, static_cast<std::int64_t>(values.size()), values.data());
  }
  Descriptor& SetType(cudnnBackendAttributeName_t name, cudnnDataType_t value) {
    return Set(name, CUDNN_TYPE_DATA_TYPE, 1, &value);
  }
  Descriptor& SetFloat(cudnnBackendAttributeName_t name, float value) {
    return Set(name, CUDNN_TYPE_FLOAT, 1, &value);
  }
  Descriptor& Finalize() {
    if (status_ == CUDNN_STATUS_SUCCESS) status_ = api_->BackendFinalize(handle_);
    return *this;
  }

  // The descriptors that an attribute holds, of at most `most`; fewer than asked for if there is an
  // error.
  std::vector<Descriptor> GetAll(cudnnBackendAttributeName_t name,
                                 cudnnBackendDescriptorType_t type, int most) const;
  // 0 if there is none.
  std::int64_t GetInt(cudnnBackendAttributeName_t name,
                      cudnnBackendAttributeType_t type = CUDNN_TYPE_INT64) const {
    std::int64_t value = 0, count = 0;
    (void)api_->BackendGetAttribute(handle_, name, type, 1, &count, &value);
    return value;
  }

 private:
  const CudnnApi* api_ = nullptr;
  cudnnBackendDescriptor_t handle_ = nullptr;
  cudnnStatus_t status_ = CUDNN_STATUS_SUCCESS;
};

// The tensors of a graph.
enum GraphTensor : std::int64_t {
  kSrc = 1,
  kFilter,
  kScale,
  kBias,
  kResidual,
  kGamma,
  kThree,  // and kSixth: the constants of hard swish, float; the latter over the output's scale
  kSixth,
  kDst,
  kVirtual
};

// Whether the graph reads kGamma.
bool HasGamma(const PeerProblem& problem, bool half);

// Descriptors of operations, and the graph made of them. Needs no GPU if `handle` is null.
class CudnnGraph {
 public:
  // The convolution and what follows it, of int8 or of half. Of half there is no scale, and the
  // residual holds gamma.
  static absl::StatusOr<CudnnGraph> Convolution(const CudnnApi& api, cudnnHandle_t handle,
                                                const PeerProblem& problem, bool half);
  // kDst, the gradient of a convolution by its source, from kSrc, that of its result; NHWC, of half
  // with sums in float.
  static absl::StatusOr<CudnnGraph> Gradient(const CudnnApi& api, cudnnHandle_t handle,
                                             const conv::Problem& problem);
  // kSrc, half, rounded and clamped to kDst, int8; both NHWC.
  static absl::StatusOr<CudnnGraph> Quantization(const CudnnApi& api, cudnnHandle_t handle,
                                                 const TensorExtents& e);

  const Descriptor& graph() const { return kept_.back(); }

  // An engine configuration and what it is called: "eng4 k2=3 k13=1".
  struct Config {
    std::string name;
    Descriptor descriptor;
  };
  // The union of what the heuristics A, B and "fallback" answer, best first, and of every engine
  // with its default settings that none of them named.
  std::vector<Config> Configs(const PeerOptions& options) const;

  const CudnnApi& api() const { return *api_; }

 private:
  explicit CudnnGraph(const CudnnApi& api) : api_(&api) {}

  const CudnnApi* api_;
  std::vector<Descriptor> kept_;  // the last is the graph
};

// A graph by one configuration, with a workspace, and addresses of each buffer set.
class CudnnPlan {
 public:
  CudnnPlan() = default;
  // Makes the plan, which may take seconds; status() is cuDNN's answer. The handle stays the plan's.
  CudnnPlan(const CudnnGraph& graph, cudnnHandle_t handle, const CudnnGraph::Config& config);

  cudnnStatus_t status() const { return plan_.status(); }
  std::int64_t workspace_bytes() const {
    return plan_.GetInt(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
  }

  // Where the graph's tensors are in a set.
  using Addresses = std::vector<std::pair<GraphTensor, const void*>>;
  // Allocates the workspace. What cuDNN said of the plan, if it is none.
  absl::Status Bind(int sets, const std::function<Addresses(int set)>& addresses);
  void Release();

  absl::Status Enqueue(int set, cudaStream_t stream) const;

 private:
  const CudnnApi* api_ = nullptr;
  cudnnHandle_t handle_ = nullptr;
  std::string name_;
  Descriptor plan_;
  DeviceBuffer workspace_;
  std::vector<Descriptor> packs_;  // of each set
};

}  // namespace weft::perf::internal

#endif  // WEFT_HAVE_CUDNN
