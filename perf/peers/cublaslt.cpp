// A 1x1 convolution of stride 1 as an int8 matrix product of cuBLASLt's.
//
// In its column-major words: D (K x pixels) = A^T (K x C) * B (C x pixels), where A is the filter
// and B the NHWC source, so that scale and bias belong to D's rows. How much of scale, bias and
// ReLU cuBLASLt can do to int8 is asked for each problem: every form is tried.
#include "perf/peers/peers.hpp"

#if WEFT_HAVE_CUBLASLT

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "perf/peers/convert.hpp"
#include "perf/peers/cublaslt_api.hpp"

namespace weft::perf::internal {
namespace {

// What is left of the epilogue.
struct Form {
  const char* name;
  bool channel_alpha, bias, relu;
};
constexpr Form kForms[] = {
    {"alpha[k] bias relu", true, true, true}, {"alpha[k] relu", true, false, true},
    {"alpha[k]", true, false, false},         {"alpha bias relu", false, true, true},
    {"alpha relu", false, false, true},       {"alpha", false, false, false},
};
constexpr int kAlgorithms = 8;  // of each form
constexpr std::size_t kWorkspace = std::size_t{32} << 20;

class CublasLtPeer : public Peer {
 public:
  explicit CublasLtPeer(const std::string& name) : Peer(name) {}

  ~CublasLtPeer() override {
    if (api_ == nullptr) return;
    for (cublasLtMatmulDesc_t desc : descs_) {
      if (desc != nullptr) api_->MatmulDescDestroy(desc);
    }
    for (cublasLtMatrixLayout_t layout : {a_, b_, d_}) {
      if (layout != nullptr) api_->MatrixLayoutDestroy(layout);
    }
  }

  absl::Status Prepare(const PeerProblem& problem, const PeerTensors& tensors,
                       const PeerOptions& options, Stream) override {
    problem_ = problem;
    tensors_ = tensors;
    const conv::Problem& p = problem.problem;
    if (problem.hswish) return absl::UnimplementedError("hard swish: cuBLASLt knows ReLU");
    if (p.r != 1 || p.s != 1 || p.stride_h != 1 || p.stride_w != 1 || p.pad_top != 0 ||
        p.pad_bottom != 0 || p.pad_left != 0 || p.pad_right != 0) {
      return absl::UnimplementedError("no matrix product: not 1x1, stride 1, no padding");
    }
    if (absl::Status s = options.Need(absl::StrCat(name(), " open")); !s.ok()) return s;
    const absl::StatusOr<const LtApi*> api = Lt();
    if (!api.ok()) return api.status();
    api_ = *api;
    absl::StatusOr<ConvertedSets> dst =
        MakeSets(NHWC::Size(p.dst()), Element::kInt8, tensors_.sets);
    if (!dst.ok()) return dst.status();
    dst_ = std::move(*dst);
    absl::StatusOr<DeviceBuffer> workspace = DeviceBuffer::Create(kWorkspace);
    if (!workspace.ok()) return workspace.status();
    workspace_ = std::move(*workspace);

    const auto k = static_cast<std::uint64_t>(p.k), c = static_cast<std::uint64_t>(p.c);
    const auto pixels = static_cast<std::uint64_t>(p.n * p.p() * p.q());
    absl::Status s = api_->Check(api_->MatrixLayoutCreate(&a_, CUDA_R_8I, c, k, p.c), "layout");
    if (s.ok()) s = api_->Check(api_->MatrixLayoutCreate(&b_, CUDA_R_8I, c, pixels, p.c), "layout");
    if (s.ok()) s = api_->Check(api_->MatrixLayoutCreate(&d_, CUDA_R_8I, k, pixels, p.k), "layout");
    if (!s.ok()) return s;
    std::string why;
    for (const Form& form : kForms) {
      if (form.relu && !problem.relu) continue;
      if (!options.Step(absl::StrCat(name(), " ", form.name, " heuristics"))) continue;
      if (absl::Status found = FindAlgorithms(form, options); !found.ok()) {
        absl::StrAppend(&why, why.empty() ? "" : "; ", std::string(found.message()));
      }
    }
    return plans_.empty() ? absl::UnimplementedError(why) : absl::OkStatus();
  }

  absl::Status Build(int) override { return absl::OkStatus(); }
  void Release(int) override {}

  absl::Status Enqueue(int variant, int set, Stream stream) override {
    const Plan& plan = plans_[variant];
    const PeerScope& scope = variants()[variant].scope;
    const float beta = scope.residual ? problem_.gamma : 0.0f;
    const void* const alpha =
        scope.channel_alpha ? static_cast<const void*>(tensors_.channel_alpha) : &tensors_.alpha;
    void* const d = dst_.at(set);
    const void* const c = scope.residual ? tensors_.residual.at(set) : d;
    return api_->Check(api_->Matmul(api_->handle, plan.desc, alpha, tensors_.filter.at(set), a_,
                                    tensors_.src.at(set), b_, &beta, c, d_, d, d_, &plan.algorithm,
                                    workspace_.data(), kWorkspace, stream),
                       variants()[variant].name);
  }

  absl::Status Poison(int set, Stream stream) override {
    return CudaStatus(cudaMemsetAsync(dst_.at(set), 0xB5, dst_.stride, stream), "poison");
  }

  absl::Status Output(int set, std::int8_t* dst, Stream stream) override {
    return CudaStatus(cudaMemcpyAsync(dst, dst_.at(set), NHWC::Size(problem_.problem.dst()),
                                      cudaMemcpyDeviceToDevice, stream),
                      "output");
  }

  Place Src(int set) const override {
    return {const_cast<std::int8_t*>(tensors_.src.at(set)), TensorFormatName::kNhwc};
  }
  Place Dst(int set) const override {
    return {static_cast<std::int8_t*>(dst_.at(set)), TensorFormatName::kNhwc};
  }

 private:
  struct Plan {
    cublasLtMatmulDesc_t desc;
    cublasLtMatmulAlgo_t algorithm;
  };

  absl::Status FindAlgorithms(const Form& form, const PeerOptions& options) {
    cublasLtMatmulDesc_t desc = nullptr;
    absl::Status s = api_->Check(api_->MatmulDescCreate(&desc, CUBLAS_COMPUTE_32I, CUDA_R_32F),
                                 "cublasLtMatmulDescCreate");
    if (!s.ok()) return s;
    descs_.push_back(desc);
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    const auto set = [&](cublasLtMatmulDescAttributes_t name, const auto& value) {
      if (status == CUBLAS_STATUS_SUCCESS) {
        status = api_->MatmulDescSetAttribute(desc, name, &value, sizeof(value));
      }
    };
    set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    // Not ..._BETA_ZERO, which no algorithm of cuBLASLt 13.1 takes on Hopper.
    set(CUBLASLT_MATMUL_DESC_POINTER_MODE, form.channel_alpha
                                               ? CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST
                                               : CUBLASLT_POINTER_MODE_HOST);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE,
        form.bias   ? (form.relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS)
        : form.relu ? CUBLASLT_EPILOGUE_RELU
                    : CUBLASLT_EPILOGUE_DEFAULT);
    if (form.bias) {
      set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, tensors_.bias);
      set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, static_cast<std::int32_t>(CUDA_R_32F));
    }
    cublasLtMatmulPreference_t preference = nullptr;
    if (status == CUBLAS_STATUS_SUCCESS) status = api_->MatmulPreferenceCreate(&preference);
    std::array<cublasLtMatmulHeuristicResult_t, kAlgorithms> results;
    int found = 0;
    if (status == CUBLAS_STATUS_SUCCESS) {
      (void)api_->MatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                               &kWorkspace, sizeof(kWorkspace));
      status = api_->MatmulAlgoGetHeuristic(api_->handle, desc, a_, b_, d_, d_, preference,
                                            kAlgorithms, results.data(), &found);
    }
    if (preference != nullptr) api_->MatmulPreferenceDestroy(preference);
    s = api_->Check(status, form.name);
    if (!s.ok()) return s;
    for (int i = 0; i < found; ++i) {
      const std::string variant = absl::StrCat(name(), " ", form.name, " #", i);
      if (results[i].state != CUBLAS_STATUS_SUCCESS || !options.Wants(variant) ||
          static_cast<int>(plans_.size()) >= options.most_variants) {
        continue;
      }
      plans_.push_back({desc, results[i].algo});
      variants_.push_back({variant, {form.channel_alpha, form.bias, form.relu, problem_.residual}});
    }
    return absl::OkStatus();
  }

  const LtApi* api_ = nullptr;
  PeerProblem problem_;
  PeerTensors tensors_;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, d_ = nullptr;
  std::vector<cublasLtMatmulDesc_t> descs_;
  std::vector<Plan> plans_;
  ConvertedSets dst_;
  DeviceBuffer workspace_;
};

}  // namespace

std::unique_ptr<Peer> MakeCublasLt(const std::string& name) {
  return std::make_unique<CublasLtPeer>(name);
}

}  // namespace weft::perf::internal

#endif  // WEFT_HAVE_CUBLASLT
