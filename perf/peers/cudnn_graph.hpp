// cuDNN's backend descriptors with owners, and the graph of one convolution.
#pragma once

#if WEFT_HAVE_CUDNN

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "perf/peers/cudnn_api.hpp"
#include "perf/peers/peer.hpp"

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

// The tensors of the graph. kScale and kBias are what GraphForm::order makes of scale and bias.
enum GraphTensor : std::int64_t {
  kSrc = 1,
  kFilter,
  kScale,
  kBias,
  kResidual,
  kGamma,
  kThree,  // and kSixth: the constants of hard swish, float
  kSixth,
  kDst,
  kVirtual
};

// The same function in another order: cuDNN's engines do not take every graph.
enum class GraphOrder {
  kPlain,         // sums * scale + bias (+ gamma * residual)
  kRequantize,    // ReLU(sums + bias / scale) * scale, PyTorch's; no residual
  kGammaOutside,  // (sums * (scale / gamma) + bias / gamma + residual) * gamma
};

// What is computed and how it is said. Of half precision there is kPlain only, without scale, and
// the residual holds gamma.
struct GraphForm {
  const char* name = "";
  bool half = false;
  cudnnDataType_t sums = CUDNN_DATA_FLOAT;     // of the convolution's virtual result
  cudnnDataType_t compute = CUDNN_DATA_INT32;  // of the convolution
  GraphOrder order = GraphOrder::kPlain;
  bool half_operands = false;  // source and filter are half, the rest is as of int8
};

// Whether the graph reads kGamma.
bool HasGamma(const PeerProblem& problem, const GraphForm& form);

// The descriptors of a convolution and what follows it, and the graph made of them.
// Needs no GPU if `handle` is null.
class ConvolutionGraph {
 public:
  static absl::StatusOr<ConvolutionGraph> Create(const CudnnApi& api, cudnnHandle_t handle,
                                                 const PeerProblem& problem, const GraphForm& form);

  const Descriptor& graph() const { return kept_.back(); }

  // An engine configuration and what it is called: "eng4 k2=3 k13=1".
  struct Config {
    std::string name;
    Descriptor descriptor;
  };
  // The union of what the heuristics A, B and "fallback" answer, best first, and of every engine
  // with its default settings that none of them named. options.every_knob adds, for each engine,
  // every value of each of its knobs, one knob at a time.
  std::vector<Config> Configs(const PeerOptions& options);

 private:
  explicit ConvolutionGraph(const CudnnApi& api) : api_(&api) {}
  void AddKnobs(const Descriptor& engine, std::vector<Descriptor>* configs) const;
  std::string ConfigName(const Descriptor& config, std::int64_t* engine) const;

  const CudnnApi* api_;
  std::vector<Descriptor> kept_;  // the last is the graph
};

}  // namespace weft::perf::internal

#endif  // WEFT_HAVE_CUDNN
