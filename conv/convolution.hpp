// Convolution<Policy>: an operator.
//
//     using Op = weft::conv::Convolution<MyConv>;               // MyConv: see conv/policy.hpp
//     absl::StatusOr<Op> op = Op::Create(problem);              // every check that needs no
//     pointer op->Run({.src = x, .filter = w, .bias = b, .dst = y}, stream);   // on the GPU
//     op->RunOnCpu({.src = x, .filter = w, .bias = b, .dst = y});      // the same kernel, on the
//     CPU
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "weft/conv/geometry.hpp"
#include "weft/conv/kernels.hpp"
#include "weft/conv/launch.hpp"
#include "weft/conv/params.hpp"
#include "weft/conv/policy.hpp"
#include "weft/gemm/arch/device.hpp"
#include "weft/gemm/launch_on_gpu.hpp"
#include "weft/layouts/packed_filter.hpp"

#if defined(WEFT_CPU_BACKEND)
#include "weft/gemm/arch/cpu_launch.hpp"
#endif

namespace weft::conv {

// The tensors and numbers of one run: a Convolution's Arguments. Addresses are GPU addresses for
// Run and host addresses for RunOnCpu. No tensor may overlap dst, but for a residual that has dst's
// own layout and address. Policies that differ in their config only share this type.
template <class Element, class Filter, class BiasElement, class ResidualElement, class Epilogue>
struct ConvolutionArguments {
  const Element* src = nullptr;       // problem.src() in SrcLayout; aligned to config.alignment.src
  Filter filter;                      // problem.filter(); 16-byte aligned
  const BiasElement* bias = nullptr;  // problem.k values, with a Bias stage only
  const ResidualElement* residual = nullptr;  // problem.dst(), with a Residual stage only
  typename Epilogue::Output* dst = nullptr;   // problem.dst() in DstLayout; config.alignment.dst
  float alpha = 1.0f;                    // scale of the accumulator, the same for every channel
  const float* channel_alpha = nullptr;  // or problem.k of them, one per output channel
  float beta = 1.0f;                     // scale of the bias
  float gamma = 1.0f;                    // scale of the residual
  float zero_point = 0.0f;               // added before the conversion to an 8-bit type
  Epilogue epilogue{};                   // run-time values of the activations, if they have any
};

// An immutable operator for one problem; cheap to copy, safe to share between threads. Holds no
// memory of its own and needs no workspace.
template <class P>
class Convolution {
  static_assert(CheckedPolicy<P>::kValid);
  using Epilogue = typename P::Epilogue;
  using OutputP = gemm::OutputParams<P>;

 public:
  using Element = typename P::Element;
  using Output = typename Epilogue::Output;
  using BiasElement = typename OutputP::BiasElement;
  using ResidualElement = typename OutputP::ResidualElement;
  using Filter = PackedFilter<typename P::FilterLayout, Element>;

  using Arguments = ConvolutionArguments<Element, Filter, BiasElement, ResidualElement, Epilogue>;

  // InvalidArgument or OutOfRange: a message that names the field, its value and what would be
  // accepted.
  static absl::StatusOr<Convolution> Create(const Problem& problem) {
    absl::StatusOr<Geometry> geometry = MakeGeometry(problem, Facts());
    if (!geometry.ok()) return geometry.status();
    return Convolution(*geometry);
  }

  // The same, and FailedPrecondition or ResourceExhausted if `device` cannot run this policy.
  static absl::StatusOr<Convolution> Create(const Problem& problem,
                                            const arch::DeviceLimits& device) {
    if (absl::Status s = CheckDevice(Facts(), device); !s.ok()) return s;
    return Create(problem);
  }

  const Problem& problem() const { return geometry_.problem; }

  // Elements of src and dst in memory, the zero channels of blocked layouts included.
  std::int64_t src_size() const { return P::SrcLayout::Size(problem().src()); }
  std::int64_t dst_size() const { return P::DstLayout::Size(problem().dst()); }

  // One line: tile, path, grid, shared memory, layouts.
  std::string Describe() const { return DescribeGeometry(geometry_, Facts()); }

  // Enqueues the kernel on `stream` and returns; it allocates and synchronises nothing and can be
  // captured in a CUDA graph. InvalidArgument for bad arguments; FailedPrecondition if there is no
  // GPU, if it is too old, or if this program holds no GPU code for P; Internal if CUDA refuses.
  absl::Status Run(const Arguments& args, Stream stream) const {
    if (absl::Status s = CheckArguments(args); !s.ok()) return s;
    return gemm::LaunchOnThisGpu(
        "conv", HasGpuCode<P>(),
        "put WEFT_INSTANTIATE_CONVOLUTION(Policy) in a .cu file or call weft_add_operators() in "
        "CMake",
        [](const arch::DeviceLimits& limits) { return CheckDevice(Facts(), limits); },
        [&] { return LaunchOnGpu<P>(MakeParams(args), geometry_.pointwise, Grid(), stream); });
  }

#if defined(WEFT_CPU_BACKEND)
  // Runs the same kernel on the CPU and returns when it is done. Internal if the executor finds the
  // kernel at fault (deadlock, divergence, a bad access), with the kernel's line.
  absl::Status RunOnCpu(const Arguments& args, const arch::CpuOptions& options =
                                                   arch::CpuOptions::FromEnvironment()) const {
    return RunOnCpu(args, options, nullptr);
  }

  // The same, with the executor's counts in *stats.
  absl::Status RunOnCpu(const Arguments& args, const arch::CpuOptions& options,
                        arch::CpuStats* stats) const {
    if (absl::Status s = CheckArguments(args); !s.ok()) return s;
    const KernelParams<P> params = MakeParams(args);
    const arch::CpuReport report =
        geometry_.pointwise ? arch::LaunchOnCpu<Kernel<P, true>>(Grid(), params, options)
                            : arch::LaunchOnCpu<Kernel<P, false>>(Grid(), params, options);
    if (stats != nullptr) *stats = report.stats;
    if (!report.ok()) return absl::InternalError(absl::StrCat("conv: ", report.error));
    return absl::OkStatus();
  }
#endif

  // What Run checks before it launches.
  absl::Status CheckArguments(const Arguments& args) const;

 private:
  explicit Convolution(const Geometry& geometry) : geometry_(geometry) {}

  static PolicyFacts Facts() {
    using AnyKernel = Kernel<P, false>;
    using Dst = typename P::DstLayout;
    return {.config = P::config,
            .threads = AnyKernel::kThreads,
            .shared_bytes = sizeof(typename AnyKernel::SharedStorage),
            .hardware = AnyKernel::kRequires,
            .packet_channels =
                CheckedPolicy<P>::kNhwc ? P::config.alignment.src : P::SrcLayout::kInterleave,
            .nhwc = CheckedPolicy<P>::kNhwc,
            .filter_multiple = P::FilterLayout::kInterleave,
            .src_layout = P::SrcLayout::kName,
            .filter_layout = P::FilterLayout::kName,
            .dst_layout = Dst::kName,
            .dst_channel_run = Dst::kChannelRun,
            .dst_interleave = Dst::kInterleave,
            .dst_element_bytes = sizeof(Output)};
  }

  arch::Dim3 Grid() const {
    return {geometry_.tiles_m * geometry_.tiles_n, 1, 1};
  }
  KernelParams<P> MakeParams(const Arguments& args) const;

  Geometry geometry_;
};

template <class P>
absl::Status Convolution<P>::CheckArguments(const Arguments& args) const {
  if (absl::Status s = CheckPointer("src", args.src, P::config.alignment.src); !s.ok()) return s;
  if (absl::Status s = CheckFilter(problem(), args.filter.extents(), args.filter.data()); !s.ok()) {
    return s;
  }
  if (absl::Status s = CheckPointer("filter", args.filter.data(), 16); !s.ok()) return s;
  if (absl::Status s = CheckPointer("dst", args.dst, P::config.alignment.dst); !s.ok()) return s;
  if constexpr (Epilogue::kHasBias) {
    if (absl::Status s = CheckPointer("bias", args.bias, alignof(BiasElement)); !s.ok()) return s;
  } else if (args.bias != nullptr) {
    return absl::InvalidArgumentError(
        "conv: args.bias is set but the policy's Epilogue has no Bias stage; leave it null");
  }
  if constexpr (Epilogue::kHasResidual) {
    // Blocked layouts are read by words of 4 channels.
    if (absl::Status s = CheckPointer("residual", args.residual, 4); !s.ok()) return s;
  } else if (args.residual != nullptr) {
    return absl::InvalidArgumentError(
        "conv: args.residual is set but the policy's Epilogue has no Residual stage; leave it "
        "null");
  }
  if (args.channel_alpha != nullptr) {
    if (!Epilogue::kHasScale) {
      return absl::InvalidArgumentError(
          "conv: args.channel_alpha is set but the policy's Epilogue has no Scale stage; leave it "
          "null");
    }
    if (args.alpha != 1.0f) {
      return absl::InvalidArgumentError(
          absl::StrCat("conv: args.alpha=", args.alpha,
                       " and args.channel_alpha are both set; give one of them"));
    }
    if (absl::Status s = CheckPointer("channel_alpha", args.channel_alpha, alignof(float));
        !s.ok()) {
      return s;
    }
  }
  const auto src = reinterpret_cast<std::uintptr_t>(args.src);
  const auto dst = reinterpret_cast<std::uintptr_t>(args.dst);
  const std::uintptr_t src_bytes = src_size() * sizeof(Element);
  const std::uintptr_t dst_bytes = dst_size() * sizeof(Output);
  if (src < dst + dst_bytes && dst < src + src_bytes) {
    return absl::InvalidArgumentError(
        "conv: args.dst overlaps args.src; blocks would read what others have written, so give dst "
        "memory of its own");
  }
  return absl::OkStatus();
}

template <class P>
KernelParams<P> Convolution<P>::MakeParams(const Arguments& args) const {
  KernelParams<P> params;
  params.activation = geometry_.activation;
  params.activation.src = args.src;
  params.filter = geometry_.filter;
  params.filter.filter = args.filter.data();
  params.tiles_n = gemm::FastDivmod(geometry_.tiles_n);
  params.slices = geometry_.slices;

  OutputP& out = params.output;
  out.dst = args.dst;
  out.bias = args.bias;
  out.channel_alpha = args.channel_alpha;
  out.residual = args.residual;
  out.alpha = args.alpha;
  out.beta = args.beta;
  out.gamma = args.gamma;
  out.zero_point = args.zero_point;
  out.pixels = geometry_.activation.pixels;
  out.k = static_cast<std::int32_t>(problem().k);
  out.padded_k = geometry_.padded_k;
  out.image_pixels = geometry_.activation.image_pixels;
  out.row_pixels = geometry_.activation.row_pixels;
  out.extents = problem().dst();
  out.epilogue = args.epilogue;
  return params;
}

}  // namespace weft::conv
