#include "perf/nc4_bench/cudnn_int8x4.hpp"

#if WEFT_HAVE_CUDNN

#include <cudnn.h>
#include <dlfcn.h>

#include "absl/strings/str_cat.h"

namespace weft::perf {

// The functions used, each a pointer of the same name without its prefix.
#define WEFT_CUDNN_FUNCTIONS(X)         \
  X(GetVersion)                         \
  X(GetErrorString)                     \
  X(Create)                             \
  X(Destroy)                            \
  X(SetStream)                          \
  X(CreateTensorDescriptor)             \
  X(SetTensor4dDescriptor)              \
  X(DestroyTensorDescriptor)            \
  X(CreateFilterDescriptor)             \
  X(SetFilter4dDescriptor)              \
  X(DestroyFilterDescriptor)            \
  X(CreateConvolutionDescriptor)        \
  X(SetConvolution2dDescriptor)         \
  X(SetConvolutionReorderType)          \
  X(DestroyConvolutionDescriptor)       \
  X(CreateActivationDescriptor)         \
  X(SetActivationDescriptor)            \
  X(DestroyActivationDescriptor)        \
  X(GetConvolutionForwardWorkspaceSize) \
  X(ConvolutionBiasActivationForward)

struct Cudnn::Api {
  void* library = nullptr;
  cudnnHandle_t handle = nullptr;
#define WEFT_DECLARE(name) decltype(&::cudnn##name) name = nullptr;
  WEFT_CUDNN_FUNCTIONS(WEFT_DECLARE)
#undef WEFT_DECLARE

  absl::Status Check(cudnnStatus_t status, const char* what) const {
    if (status == CUDNN_STATUS_SUCCESS) return absl::OkStatus();
    const std::string message = absl::StrCat(what, ": ", GetErrorString(status));
    // From 3000 on, cuDNN 9 names reasons why something is not supported.
    const bool unsupported = status >= CUDNN_STATUS_NOT_SUPPORTED && status < 4000;
    return unsupported ? absl::UnimplementedError(message) : absl::InternalError(message);
  }
};

absl::StatusOr<std::unique_ptr<Cudnn>> Cudnn::Open(Stream stream) {
  auto api = std::make_unique<Api>();
  api->library = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL);
  if (api->library == nullptr) return absl::NotFoundError(dlerror());
#define WEFT_LOAD(name)                                                                  \
  api->name = reinterpret_cast<decltype(api->name)>(dlsym(api->library, "cudnn" #name)); \
  if (api->name == nullptr) return absl::NotFoundError("libcudnn.so.9 has no cudnn" #name);
  WEFT_CUDNN_FUNCTIONS(WEFT_LOAD)
#undef WEFT_LOAD
  if (absl::Status s = api->Check(api->Create(&api->handle), "cudnnCreate"); !s.ok()) return s;
  if (absl::Status s = api->Check(api->SetStream(api->handle, stream), "cudnnSetStream"); !s.ok()) {
    return s;
  }
  return std::unique_ptr<Cudnn>(new Cudnn(std::move(api)));
}

Cudnn::Cudnn(std::unique_ptr<Api> api) : api_(std::move(api)) {
  const auto version = api_->GetVersion();
  version_ = absl::StrCat(version / 10000, ".", version / 100 % 100, ".", version % 100);
  Dl_info info = {};
  if (dladdr(reinterpret_cast<void*>(api_->GetVersion), &info) != 0 && info.dli_fname != nullptr) {
    path_ = info.dli_fname;
  }
}

// The library stays loaded: cuDNN does not unload cleanly.
Cudnn::~Cudnn() {
  api_->Destroy(api_->handle);
}

struct CudnnInt8x4::Descriptors {
  const Cudnn::Api& api;
  cudnnTensorDescriptor_t src = nullptr, dst = nullptr, bias = nullptr;
  cudnnFilterDescriptor_t filter = nullptr;
  cudnnConvolutionDescriptor_t conv[2] = {};  // by reorder type
  cudnnActivationDescriptor_t relu = nullptr;

  explicit Descriptors(const Cudnn::Api& a) : api(a) {}
  ~Descriptors() {
    for (cudnnTensorDescriptor_t t : {src, dst, bias}) {
      if (t != nullptr) api.DestroyTensorDescriptor(t);
    }
    if (filter != nullptr) api.DestroyFilterDescriptor(filter);
    for (cudnnConvolutionDescriptor_t c : conv) {
      if (c != nullptr) api.DestroyConvolutionDescriptor(c);
    }
    if (relu != nullptr) api.DestroyActivationDescriptor(relu);
  }

  // The first call that fails.
  absl::Status Set(const conv::Problem& p) {
    const int n = static_cast<int>(p.n), c = static_cast<int>(RoundUp(p.c, 4));
    const int k = static_cast<int>(p.k);
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
    const auto then = [&](cudnnStatus_t next) {
      if (status == CUDNN_STATUS_SUCCESS) status = next;
    };
    then(api.CreateTensorDescriptor(&src));
    then(api.CreateTensorDescriptor(&dst));
    then(api.CreateTensorDescriptor(&bias));
    then(api.CreateFilterDescriptor(&filter));
    then(api.CreateActivationDescriptor(&relu));
    if (status != CUDNN_STATUS_SUCCESS) return api.Check(status, "cuDNN descriptors");
    then(api.SetTensor4dDescriptor(src, CUDNN_TENSOR_NCHW_VECT_C, CUDNN_DATA_INT8x4, n, c,
                                   static_cast<int>(p.h), static_cast<int>(p.w)));
    then(api.SetTensor4dDescriptor(dst, CUDNN_TENSOR_NCHW_VECT_C, CUDNN_DATA_INT8x4, n, k,
                                   static_cast<int>(p.p()), static_cast<int>(p.q())));
    then(api.SetTensor4dDescriptor(bias, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, k, 1, 1));
    then(api.SetFilter4dDescriptor(filter, CUDNN_DATA_INT8x4, CUDNN_TENSOR_NCHW_VECT_C, k, c,
                                   static_cast<int>(p.r), static_cast<int>(p.s)));
    then(api.SetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0.0));
    for (int reorder = 0; reorder < 2; ++reorder) {
      then(api.CreateConvolutionDescriptor(&conv[reorder]));
      if (status != CUDNN_STATUS_SUCCESS) break;
      then(api.SetConvolution2dDescriptor(
          conv[reorder], static_cast<int>(p.pad_top), static_cast<int>(p.pad_left),
          static_cast<int>(p.stride_h), static_cast<int>(p.stride_w),
          static_cast<int>(p.dilation_h), static_cast<int>(p.dilation_w), CUDNN_CROSS_CORRELATION,
          CUDNN_DATA_INT32));
      then(api.SetConvolutionReorderType(conv[reorder], static_cast<cudnnReorderType_t>(reorder)));
    }
    return api.Check(status, "cuDNN descriptors");
  }
};

CudnnInt8x4::CudnnInt8x4(const Cudnn& cudnn, std::unique_ptr<Descriptors> descriptors)
    : cudnn_(cudnn), d_(std::move(descriptors)) {}
CudnnInt8x4::~CudnnInt8x4() = default;

absl::StatusOr<std::unique_ptr<CudnnInt8x4>> CudnnInt8x4::Create(const Cudnn& cudnn,
                                                                 const conv::Problem& p) {
  if (p.pad_top != p.pad_bottom || p.pad_left != p.pad_right) {
    return absl::UnimplementedError("cuDNN takes one padding for both sides");
  }
  if (p.k % 4 != 0 || p.mode != conv::Mode::kCrossCorrelation) {
    return absl::UnimplementedError("not said in cuDNN's INT8x4: K not in fours, true convolution");
  }
  auto descriptors = std::make_unique<Descriptors>(cudnn.api());
  if (absl::Status s = descriptors->Set(p); !s.ok()) return s;
  return std::unique_ptr<CudnnInt8x4>(new CudnnInt8x4(cudnn, std::move(descriptors)));
}

std::vector<CudnnInt8x4::Plan> CudnnInt8x4::Plans() const {
  static const char* const kNames[CUDNN_CONVOLUTION_FWD_ALGO_COUNT] = {
      "implicit_gemm", "implicit_precomp_gemm", "gemm", "direct", "fft", "fft_tiling",
      "winograd",      "winograd_nonfused"};
  std::vector<Plan> plans;
  for (int algorithm = 0; algorithm < CUDNN_CONVOLUTION_FWD_ALGO_COUNT; ++algorithm) {
    for (int reorder = 0; reorder < 2; ++reorder) {
      std::size_t bytes = 0;
      const cudnnStatus_t status = cudnn_.api().GetConvolutionForwardWorkspaceSize(
          cudnn_.api().handle, d_->src, d_->filter, d_->conv[reorder], d_->dst,
          static_cast<cudnnConvolutionFwdAlgo_t>(algorithm), &bytes);
      if (status != CUDNN_STATUS_SUCCESS) continue;
      plans.push_back({absl::StrCat("cudnn int8x4 ", kNames[algorithm],
                                    reorder == CUDNN_NO_REORDER ? ", no reorder" : ""),
                       algorithm, reorder, static_cast<std::int64_t>(bytes)});
    }
  }
  return plans;
}

absl::Status CudnnInt8x4::Run(const Plan& plan, const std::int8_t* src, const std::int8_t* filter,
                              const float* bias, float alpha, void* workspace,
                              std::int8_t* dst) const {
  const float zero = 0.0f;
  const Cudnn::Api& api = cudnn_.api();
  return api.Check(
      api.ConvolutionBiasActivationForward(
          api.handle, &alpha, d_->src, src, d_->filter, filter, d_->conv[plan.reorder],
          static_cast<cudnnConvolutionFwdAlgo_t>(plan.algorithm), workspace, plan.workspace_bytes,
          &zero, d_->dst, dst, d_->bias, bias, d_->relu, d_->dst, dst),
      plan.name.c_str());
}

}  // namespace weft::perf

#else

namespace weft::perf {

struct Cudnn::Api {};
struct CudnnInt8x4::Descriptors {};

absl::StatusOr<std::unique_ptr<Cudnn>> Cudnn::Open(Stream) {
  return absl::NotFoundError("built without cudnn.h");
}
Cudnn::Cudnn(std::unique_ptr<Api> api) : api_(std::move(api)) {}
Cudnn::~Cudnn() = default;
CudnnInt8x4::CudnnInt8x4(const Cudnn& cudnn, std::unique_ptr<Descriptors> descriptors)
    : cudnn_(cudnn), d_(std::move(descriptors)) {}
CudnnInt8x4::~CudnnInt8x4() = default;
absl::StatusOr<std::unique_ptr<CudnnInt8x4>> CudnnInt8x4::Create(const Cudnn&,
                                                                 const conv::Problem&) {
  return absl::NotFoundError("built without cudnn.h");
}
std::vector<CudnnInt8x4::Plan> CudnnInt8x4::Plans() const {
  (void)cudnn_;
  return {};
}
absl::Status CudnnInt8x4::Run(const Plan&, const std::int8_t*, const std::int8_t*, const float*,
                              float, void*, std::int8_t*) const {
  return absl::NotFoundError("built without cudnn.h");
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDNN
