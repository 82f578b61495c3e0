// cudnnConvolutionBiasActivationForward: NHWC and NCxHWx<4>. (NCxHWx<32> was 10 times slower in
// every result file that has it.)
#include <algorithm>
#include <utility>

#include "perf/peers/peer.hpp"

#include "absl/strings/str_cat.h"
#include "perf/peers/libraries.hpp"
#include "perf/support/floor.hpp"

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

class CudnnLegacy : public FormattedPeer {
 public:
  CudnnLegacy(const std::string& name, TensorFormatName format)
      : FormattedPeer(name), format_(format) {}

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
    const conv::Problem& p = problem.problem;
    if (problem.hswish) return absl::UnimplementedError("hard swish: the legacy call knows ReLU");
    if (p.pad_top != p.pad_bottom || p.pad_left != p.pad_right) {
      return absl::UnimplementedError(
          "unequal paddings: cuDNN's legacy call takes one for both sides");
    }
    if (p.c % 4 != 0 || p.k % 4 != 0) {
      return absl::UnimplementedError(
          absl::StrCat("c=", p.c, ", k=", p.k, ": both must be multiples of 4"));
    }
    WEFT_TRY(options.Need(absl::StrCat(name(), " open")));
    WEFT_LET(api_, CudnnApi::Get());
    WEFT_LET(handle_, api_->MainHandle());
    WEFT_TRY(MakeTensors(problem, tensors, format_, format_, Element::kInt8, stream));
    WEFT_TRY(options.Need(absl::StrCat(name(), " descriptors")));
    WEFT_TRY(Describe());
    WEFT_TRY(api_->Check(api_->SetStream(handle_, stream), "cudnnSetStream"));
    if (!nhwc()) {
      WEFT_LET(filter_,
               TensorSets::Converted(tensors.Each(&PeerTensors::Set::filter),
                                     AsTensor(WholeFilter(p)), format_, Element::kInt8, stream));
    }
    FindPlans(options);
    if (plans_.empty()) return absl::UnimplementedError("cuDNN names no algorithm for it");
    return absl::OkStatus();
  }

  absl::Status Build(int variant) override {
    Plan& plan = plans_[variant];
    WEFT_LET(plan.workspace,
             DeviceBuffer::Create(std::max<std::int64_t>(plan.workspace_bytes, 256)));
    return absl::OkStatus();
  }

  void Release(int variant) override { plans_[variant].workspace = DeviceBuffer(); }

  absl::Status Enqueue(int variant, int set, Stream stream) override {
    const Plan& plan = plans_[variant];
    const PeerTensors::Set& given = tensors_.sets[set];
    const float one_scale = tensors_.alpha, gamma = problem_.residual ? problem_.gamma : 0.0f;
    WEFT_TRY(api_->Check(api_->SetStream(handle_, stream), "cudnnSetStream"));
    const void* const filter = nhwc() ? static_cast<const void*>(given.filter) : filter_.at(set);
    void* const dst = DstAt(set);
    return api_->Check(api_->ConvolutionBiasActivationForward(
                           handle_, &one_scale, src_desc_, SrcAt(set), filter_desc_, filter,
                           conv_desc_[plan.reorder][plan.math], plan.algorithm,
                           plan.workspace.data(), static_cast<std::size_t>(plan.workspace_bytes),
                           &gamma, dst_desc_, problem_.residual ? ResidualAt(set) : dst, bias_desc_,
                           given.bias, activation_desc_, dst_desc_, dst),
                       variants()[variant].name);
  }

 private:
  struct Plan {
    cudnnConvolutionFwdAlgo_t algorithm;
    int reorder;
    int math;  // place in kMaths
    std::int64_t workspace_bytes;
    DeviceBuffer workspace;
  };

  bool nhwc() const { return format_ == TensorFormatName::kNhwc; }

  // The first call that fails.
  absl::Status Describe() {
    const conv::Problem& p = problem_.problem;
    const auto as_int = [](std::int64_t value) { return static_cast<int>(value); };
    const cudnnTensorFormat_t format = nhwc() ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW_VECT_C;
    const cudnnDataType_t type = nhwc() ? CUDNN_DATA_INT8 : CUDNN_DATA_INT8x4;
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
    then(api_->SetFilter4dDescriptor(filter_desc_, type, format, as_int(p.k),
                                     as_int(p.c / p.groups), as_int(p.r), as_int(p.s)));
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
        then(api_->SetConvolutionGroupCount(desc, as_int(p.groups)));
        then(api_->SetConvolutionReorderType(desc, static_cast<cudnnReorderType_t>(reorder)));
        then(api_->SetConvolutionMathType(desc, kMaths[math].type));
      }
    }
    return api_->Check(status, "cuDNN descriptors");
  }

  void FindPlans(const PeerOptions& options) {
    for (int algorithm = 0; algorithm < CUDNN_CONVOLUTION_FWD_ALGO_COUNT; ++algorithm) {
      for (int reorder = 0; reorder < 2; ++reorder) {
        for (int math = 0; math < kMathCount; ++math) FindPlan(options, algorithm, reorder, math);
      }
    }
  }

  void FindPlan(const PeerOptions& options, int algorithm, int reorder, int math) {
    const std::string variant =
        absl::StrCat(name(), " ", kAlgorithms[algorithm],
                     reorder == CUDNN_NO_REORDER ? " no_reorder" : "", kMaths[math].name);
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
    variants_.push_back({variant, true});
  }

  const TensorFormatName format_;
  const CudnnApi* api_ = nullptr;
  cudnnHandle_t handle_ = nullptr;
  cudnnTensorDescriptor_t src_desc_ = nullptr, dst_desc_ = nullptr, bias_desc_ = nullptr;
  cudnnFilterDescriptor_t filter_desc_ = nullptr;
  cudnnConvolutionDescriptor_t conv_desc_[2][kMathCount] = {};  // by reorder type and math
  cudnnActivationDescriptor_t activation_desc_ = nullptr;
  TensorSets filter_;  // in the format, if that is not the given one
  std::vector<Plan> plans_;
};

}  // namespace

std::unique_ptr<Peer> MakeCudnnLegacy(const std::string& name, TensorFormatName format) {
  return std::make_unique<CudnnLegacy>(name, format);
}

}  // namespace weft::perf::internal
