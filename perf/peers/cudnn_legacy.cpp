// cudnnConvolutionBiasActivationForward: NHWC, NCxHWx<4> and NCxHWx<32>.
#include "perf/peers/peers.hpp"

#if WEFT_HAVE_CUDNN

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "perf/peers/convert.hpp"
#include "perf/peers/cudnn_api.hpp"

namespace weft::perf::internal {
namespace {

constexpr const char* kAlgorithms[CUDNN_CONVOLUTION_FWD_ALGO_COUNT] = {
    "implicit_gemm", "implicit_precomp_gemm", "gemm", "direct", "fft", "fft_tiling",
    "winograd",      "winograd_nonfused"};

// For int8, cuDNN's default are kernels without tensor cores.
struct Math {
  const char* name;
  cudnnMathType_t type;
};
constexpr Math kMaths[] = {{"", CUDNN_DEFAULT_MATH}, {" tensor_op", CUDNN_TENSOR_OP_MATH}};
constexpr int kMathCount = 2;

class CudnnLegacy : public Peer {
 public:
  CudnnLegacy(const std::string& name, LegacyFormat format) : Peer(name), format_(format) {}

  ~CudnnLegacy() override {
    if (api_ == nullptr) return;
    for (cudnnTensorDescriptor_t t : {src_desc_, dst_desc_, bias_desc_}) {
      if (t != nullptr) api_->DestroyTensorDescriptor(t);
    }
    if (filter_desc_ != nullptr) api_->DestroyFilterDescriptor(filter_desc_);
    for (const auto& descs : conv_desc_) {
      for (cudnnConvolutionDescriptor_t c : descs) {
        if (c != nullptr) api_->DestroyConvolutionDescriptor(c);
      }
    }
    if (activation_desc_ != nullptr) api_->DestroyActivationDescriptor(activation_desc_);
  }

  absl::Status Prepare(const PeerProblem& problem, const PeerTensors& tensors,
                       const PeerOptions& options, Stream stream) override {
    problem_ = problem;
    tensors_ = tensors;
    const conv::Problem& p = problem.problem;
    if (problem.hswish) return absl::UnimplementedError("hard swish: the legacy call knows ReLU");
    if (p.pad_top != p.pad_bottom || p.pad_left != p.pad_right) {
      return absl::UnimplementedError(
          "unequal paddings: cuDNN's legacy call takes one for both sides");
    }
    const int block = format_ == LegacyFormat::kInt8x32 ? 32 : 4;
    if (p.c % block != 0 || p.k % block != 0) {
      return absl::UnimplementedError(
          absl::StrCat("c=", p.c, ", k=", p.k, ": both must be multiples of ", block));
    }
    if (absl::Status s = options.Need(absl::StrCat(name(), " open")); !s.ok()) return s;
    const absl::StatusOr<const CudnnApi*> api = CudnnApi::Get();
    if (!api.ok()) return api.status();
    const absl::StatusOr<cudnnHandle_t> handle = (*api)->MainHandle();
    if (!handle.ok()) return handle.status();
    api_ = *api;
    handle_ = *handle;
    if (absl::Status s = options.Need(absl::StrCat(name(), " descriptors")); !s.ok()) return s;
    if (absl::Status s = Describe(); !s.ok()) return s;
    if (absl::Status s = api_->Check(api_->SetStream(handle_, stream), "cudnnSetStream"); !s.ok()) {
      return s;
    }
    if (absl::Status s = MakeTensors(options, stream); !s.ok()) return s;
    FindPlans(options);
    if (plans_.empty()) return absl::UnimplementedError("cuDNN names no algorithm for it");
    return absl::OkStatus();
  }

  absl::Status Build(int variant) override {
    absl::StatusOr<DeviceBuffer> made =
        DeviceBuffer::Create(std::max<std::int64_t>(plans_[variant].workspace_bytes, 256));
    if (!made.ok()) return made.status();
    plans_[variant].workspace = std::move(*made);
    return absl::OkStatus();
  }

  void Release(int variant) override { plans_[variant].workspace = DeviceBuffer(); }

  absl::Status Enqueue(int variant, int set, Stream stream) override {
    const Plan& plan = plans_[variant];
    const float one_scale = tensors_.alpha, gamma = problem_.residual ? problem_.gamma : 0.0f;
    if (absl::Status s = api_->Check(api_->SetStream(handle_, stream), "cudnnSetStream"); !s.ok()) {
      return s;
    }
    const bool reordered = format_ == LegacyFormat::kInt8x32 && plan.reorder == CUDNN_NO_REORDER;
    const void* const filter = reordered ? reordered_.at(set) : Filter(set);
    const void* const bias = reordered ? reordered_bias_.data() : tensors_.bias;
    void* const dst = dst_.at(set);
    return api_->Check(api_->ConvolutionBiasActivationForward(
                           handle_, &one_scale, src_desc_, Src(set).address, filter_desc_, filter,
                           conv_desc_[plan.reorder][plan.math], plan.algorithm,
                           plan.workspace.data(), static_cast<std::size_t>(plan.workspace_bytes),
                           &gamma, dst_desc_, problem_.residual ? Residual(set) : dst, bias_desc_,
                           bias, activation_desc_, dst_desc_, dst),
                       variants()[variant].name);
  }

  absl::Status Poison(int set, Stream stream) override {
    return CudaStatus(cudaMemsetAsync(dst_.at(set), 0xB5, dst_.stride, stream), "poison");
  }

  absl::Status Output(int set, std::int8_t* dst, Stream stream) override {
    const TensorExtents e = problem_.problem.dst();
    ConvertParams params{dst_.at(set), dst, e, {}, StridesOf<NHWC>(e)};
    params.from = format_ == LegacyFormat::kNhwc     ? StridesOf<NHWC>(e)
                  : format_ == LegacyFormat::kInt8x4 ? StridesOf<NCxHWx<4>>(e)
                                                     : StridesOf<NCxHWx<32>>(e);
    return Convert(params, Element::kInt8, Element::kInt8, stream);
  }

  Place Src(int set) const override {
    return {nhwc() ? const_cast<std::int8_t*>(tensors_.src.at(set))
                   : static_cast<std::int8_t*>(src_.at(set)),
            name_of_format()};
  }
  Place Dst(int set) const override {
    return {static_cast<std::int8_t*>(dst_.at(set)), name_of_format()};
  }

 private:
  struct Plan {
    cudnnConvolutionFwdAlgo_t algorithm;
    int reorder;
    int math;  // place in kMaths
    std::int64_t workspace_bytes;
    DeviceBuffer workspace;
  };

  bool nhwc() const { return format_ == LegacyFormat::kNhwc; }
  TensorFormatName name_of_format() const {
    return nhwc()                             ? TensorFormatName::kNhwc
           : format_ == LegacyFormat::kInt8x4 ? TensorFormatName::kNc4
                                              : TensorFormatName::kNc32;
  }
  const void* Filter(int set) const { return nhwc() ? tensors_.filter.at(set) : filter_.at(set); }
  const void* Residual(int set) const {
    return nhwc() ? tensors_.residual.at(set) : residual_.at(set);
  }

  // The first call that fails.
  absl::Status Describe() {
    const conv::Problem& p = problem_.problem;
    const auto as_int = [](std::int64_t value) { return static_cast<int>(value); };
    const cudnnTensorFormat_t format = nhwc() ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW_VECT_C;
    const cudnnDataType_t type = nhwc()                             ? CUDNN_DATA_INT8
                                 : format_ == LegacyFormat::kInt8x4 ? CUDNN_DATA_INT8x4
                                                                    : CUDNN_DATA_INT8x32;
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
    const auto then = [&](cudnnStatus_t next) {
      if (status == CUDNN_STATUS_SUCCESS) status = next;
    };
    then(api_->CreateTensorDescriptor(&src_desc_));
    then(api_->CreateTensorDescriptor(&dst_desc_));
    then(api_->CreateTensorDescriptor(&bias_desc_));
    then(api_->CreateFilterDescriptor(&filter_desc_));
    then(api_->CreateActivationDescriptor(&activation_desc_));
    for (auto& descs : conv_desc_) {
      for (cudnnConvolutionDescriptor_t& c : descs) then(api_->CreateConvolutionDescriptor(&c));
    }
    if (status != CUDNN_STATUS_SUCCESS) return api_->Check(status, "cuDNN descriptors");
    then(api_->SetTensor4dDescriptor(src_desc_, format, type, as_int(p.n), as_int(p.c), as_int(p.h),
                                     as_int(p.w)));
    then(api_->SetTensor4dDescriptor(dst_desc_, format, type, as_int(p.n), as_int(p.k),
                                     as_int(p.p()), as_int(p.q())));
    then(api_->SetTensor4dDescriptor(bias_desc_, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1,
                                     as_int(p.k), 1, 1));
    then(api_->SetFilter4dDescriptor(filter_desc_, type, format, as_int(p.k), as_int(p.c),
                                     as_int(p.r), as_int(p.s)));
    then(api_->SetActivationDescriptor(
        activation_desc_, problem_.relu ? CUDNN_ACTIVATION_RELU : CUDNN_ACTIVATION_IDENTITY,
        CUDNN_NOT_PROPAGATE_NAN, 0.0));
    for (int reorder = 0; reorder < 2; ++reorder) {
      for (int math = 0; math < kMathCount; ++math) {
        const cudnnConvolutionDescriptor_t desc = conv_desc_[reorder][math];
        then(api_->SetConvolution2dDescriptor(
            desc, as_int(p.pad_top), as_int(p.pad_left), as_int(p.stride_h), as_int(p.stride_w),
            as_int(p.dilation_h), as_int(p.dilation_w),
            p.mode == conv::Mode::kConvolution ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION,
            CUDNN_DATA_INT32));
        then(api_->SetConvolutionReorderType(desc, static_cast<cudnnReorderType_t>(reorder)));
        then(api_->SetConvolutionMathType(desc, kMaths[math].type));
      }
    }
    return api_->Check(status, "cuDNN descriptors");
  }

  absl::Status MakeTensors(const PeerOptions& options, Stream stream) {
    if (nhwc()) {
      const std::int64_t size = NHWC::Size(problem_.problem.dst());
      return Keep(MakeSets(size, Element::kInt8, tensors_.sets), &dst_);
    }
    if (format_ == LegacyFormat::kInt8x4) return MakeBlocked<NCxHWx<4>>(stream);
    if (absl::Status s = MakeBlocked<NCxHWx<32>>(stream); !s.ok()) return s;
    return Reorder(options);
  }

  template <TensorFormat Format>
  absl::Status MakeBlocked(Stream stream) {
    const conv::Problem& p = problem_.problem;
    const int sets = tensors_.sets;
    const auto convert = [&](const PeerTensors::Sets& from, const TensorExtents& e,
                             ConvertedSets* to) {
      return Keep(ConvertSets<Format>(from, e, Element::kInt8, sets, stream), to);
    };
    if (absl::Status s = convert(tensors_.src, p.src(), &src_); !s.ok()) return s;
    if (absl::Status s = convert(tensors_.filter, AsTensor(p.filter()), &filter_); !s.ok()) {
      return s;
    }
    if (problem_.residual) {
      if (absl::Status s = convert(tensors_.residual, p.dst(), &residual_); !s.ok()) return s;
    }
    return Keep(MakeSets(Format::Size(p.dst()), Element::kInt8, sets), &dst_);
  }

  // Filters and bias in the order that CUDNN_NO_REORDER expects of INT8x32.
  absl::Status Reorder(const PeerOptions& options) {
    if (!options.Step(absl::StrCat(name(), " cudnnReorderFilterAndBias"))) {
      can_reorder_ = false;
      return absl::OkStatus();
    }
    const conv::Problem& p = problem_.problem;
    absl::Status s =
        Keep(MakeSets(NCxHWx<32>::Size(AsTensor(p.filter())), Element::kInt8, tensors_.sets),
             &reordered_);
    if (!s.ok()) return s;
    absl::StatusOr<DeviceBuffer> bias = DeviceBuffer::Create(p.k * 4);
    if (!bias.ok()) return bias.status();
    reordered_bias_ = std::move(*bias);
    for (int set = 0; set < tensors_.sets; ++set) {
      s = api_->Check(
          api_->ReorderFilterAndBias(handle_, filter_desc_, CUDNN_DEFAULT_REORDER, filter_.at(set),
                                     reordered_.at(set), 1, tensors_.bias, reordered_bias_.data()),
          "cudnnReorderFilterAndBias");
      if (!s.ok()) {
        can_reorder_ = false;
        break;
      }
    }
    return CudaStatus(cudaDeviceSynchronize(), "cudnnReorderFilterAndBias");
  }

  void FindPlans(const PeerOptions& options) {
    for (int algorithm = 0; algorithm < CUDNN_CONVOLUTION_FWD_ALGO_COUNT; ++algorithm) {
      for (int reorder = 0; reorder < 2; ++reorder) {
        for (int math = 0; math < kMathCount; ++math) FindPlan(options, algorithm, reorder, math);
      }
    }
  }

  void FindPlan(const PeerOptions& options, int algorithm, int reorder, int math) {
    const bool prepared = reorder == CUDNN_NO_REORDER;
    if (prepared && !can_reorder_) return;
    const std::string variant = absl::StrCat(name(), " ", kAlgorithms[algorithm],
                                             prepared ? " no_reorder" : "", kMaths[math].name);
    if (!options.Wants(variant)) return;
    options.about_to(variant);
    std::size_t bytes = 0;
    const auto algo = static_cast<cudnnConvolutionFwdAlgo_t>(algorithm);
    if (api_->GetConvolutionForwardWorkspaceSize(handle_, src_desc_, filter_desc_,
                                                 conv_desc_[reorder][math], dst_desc_, algo,
                                                 &bytes) != CUDNN_STATUS_SUCCESS ||
        static_cast<int>(plans_.size()) >= options.most_variants) {
      return;
    }
    plans_.push_back({algo, reorder, math, static_cast<std::int64_t>(bytes), {}});
    variants_.push_back({variant, {false, true, problem_.relu, problem_.residual}});
  }

  static absl::Status Keep(absl::StatusOr<ConvertedSets> made, ConvertedSets* to) {
    if (made.ok()) *to = std::move(*made);
    return made.status();
  }

  LegacyFormat format_;
  const CudnnApi* api_ = nullptr;
  cudnnHandle_t handle_ = nullptr;
  PeerProblem problem_;
  PeerTensors tensors_;
  cudnnTensorDescriptor_t src_desc_ = nullptr, dst_desc_ = nullptr, bias_desc_ = nullptr;
  cudnnFilterDescriptor_t filter_desc_ = nullptr;
  cudnnConvolutionDescriptor_t conv_desc_[2][kMathCount] = {};  // by reorder type and math
  cudnnActivationDescriptor_t activation_desc_ = nullptr;
  ConvertedSets src_, filter_, residual_, dst_, reordered_;
  DeviceBuffer reordered_bias_;
  bool can_reorder_ = true;
  std::vector<Plan> plans_;
};

}  // namespace

std::unique_ptr<Peer> MakeCudnnLegacy(const std::string& name, LegacyFormat format) {
  return std::make_unique<CudnnLegacy>(name, format);
}

}  // namespace weft::perf::internal

#endif  // WEFT_HAVE_CUDNN
