// Gemm<Policy>: C = epilogue(A B), int8 operands with int32 sums.
//
//     struct MyGemm {
//       using Element = std::int8_t;
//       using LayoutA = weft::layouts::RowMajor;      // m x k
//       using LayoutB = weft::layouts::ColumnMajor;   // k x n
//       using LayoutC = weft::layouts::RowMajor;      // m x n, or ColumnMajor
//       using Epilogue = weft::epilogues::BiasRelu<>; // bias and scale per column n
//       static constexpr weft::gemm::Config config = weft::gemm::kSimt128x128;
//     };
//     auto op = weft::gemm::Gemm<MyGemm>::Create({.m = 512, .n = 256, .k = 1024});
//     op->RunOnCpu({.a = a, .b = b, .bias = bias, .c = c});
#pragma once

#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "weft/gemm/arch/device.hpp"
#include "weft/gemm/gemm_checks.hpp"
#include "weft/gemm/simt_gemm_kernel.hpp"

#if defined(WEFT_CPU_BACKEND)
#include "weft/gemm/arch/cpu_launch.hpp"
#endif

namespace weft::gemm {

// Instantiating this checks a GEMM policy.
template <class P>
struct CheckedGemmPolicy {
  static_assert(std::is_same_v<typename P::Element, std::int8_t>,
                "weft: the simt GEMM multiplies Element = std::int8_t");
  static_assert(
      std::is_same_v<typename P::LayoutA, layouts::RowMajor> &&
          std::is_same_v<typename P::LayoutB, layouts::ColumnMajor>,
      "weft: the simt GEMM of int8 reads A row-major and B column-major (k along memory)");
  static_assert(epilogues::IsChain<typename P::Epilogue>::value,
                "weft: Epilogue is a weft::epilogues::Chain<stages...>");
  static_assert(!P::Epilogue::kHasResidual, "weft: the simt GEMM has no Residual stage yet");
  static_assert(CheckedSimtTiles<P>::kValid);
  static_assert(P::config.alignment.src == 4 || P::config.alignment.src == 16,
                "weft: config.alignment.src of a GEMM is 4 or 16 bytes");
  static_assert(P::config.alignment.dst % static_cast<int>(sizeof(typename P::Epilogue::Output)) ==
                        0 &&
                    (std::is_same_v<typename P::LayoutC, layouts::RowMajor> ||
                     P::config.alignment.dst == sizeof(typename P::Epilogue::Output)),
                "weft: config.alignment.dst must be whole elements, and one element for a "
                "column-major C");
  static constexpr bool kValid = true;
};

template <class P>
class Gemm {
  static_assert(CheckedGemmPolicy<P>::kValid);
  using OutputP = OutputParams<P>;

 public:
  using Output = typename P::Epilogue::Output;
  using BiasElement = typename OutputP::BiasElement;

  // Addresses are GPU addresses for Run and host addresses for RunOnCpu.
  struct Arguments {
    const std::int8_t* a = nullptr;        // m x k, row i at a + i * lda
    const std::int8_t* b = nullptr;        // k x n, column j at b + j * ldb
    const BiasElement* bias = nullptr;     // n values, with a Bias stage only
    Output* c = nullptr;                   // m x n
    float alpha = 1.0f;                    // scale of the sums
    const float* channel_alpha = nullptr;  // or n of them, one per column
    float beta = 1.0f;                     // scale of the bias
    float zero_point = 0.0f;               // added before the conversion to an 8-bit type
    typename P::Epilogue epilogue{};
  };

  // InvalidArgument or OutOfRange, naming the field, its value and what would be accepted.
  static absl::StatusOr<Gemm> Create(const GemmProblem& problem) {
    const bool row_major = std::is_same_v<typename P::LayoutC, layouts::RowMajor>;
    absl::StatusOr<GemmProblem> checked =
        CheckGemmProblem(problem, P::config, row_major, sizeof(Output));
    if (!checked.ok()) return checked.status();
    return Gemm(*checked);
  }

  const GemmProblem& problem() const { return problem_; }

  // Enqueues the kernel on `stream`; errors as conv::Convolution::Run.
  absl::Status Run(const Arguments& args, Stream stream) const {
    if (absl::Status s = CheckArguments(args); !s.ok()) return s;
    using Launcher = arch::LaunchResult(const GemmParams<P>&, arch::Dim3, Stream);
    Launcher* volatile launcher = &LaunchGemmOnGpu<P>;  // see conv::HasGpuCode
    if (launcher == nullptr) {
      return absl::FailedPreconditionError(
          "gemm: this program holds no GPU code for the policy; put WEFT_INSTANTIATE_GEMM(Policy) "
          "in a .cu file, or use RunOnCpu");
    }
    const arch::DeviceQuery device = arch::QueryDevice();
    if (!device.result.ok()) {
      return absl::FailedPreconditionError(
          absl::StrCat("gemm: no usable GPU: ", device.result.message, "; use RunOnCpu"));
    }
    const arch::LaunchResult result = LaunchGemmOnGpu<P>(MakeParams(args), Grid(), stream);
    if (!result.ok()) {
      return absl::InternalError(
          absl::StrCat("gemm: launch failed: ", result.message, " (", result.cuda_error, ")"));
    }
    return absl::OkStatus();
  }

#if defined(WEFT_CPU_BACKEND)
  // Runs the same kernel on the CPU and returns when it is done.
  absl::Status RunOnCpu(const Arguments& args, const arch::CpuOptions& options =
                                                   arch::CpuOptions::FromEnvironment()) const {
    if (absl::Status s = CheckArguments(args); !s.ok()) return s;
    const arch::CpuReport report =
        arch::LaunchOnCpu<SimtGemmKernel<P>>(Grid(), MakeParams(args), options);
    if (!report.ok()) return absl::InternalError(absl::StrCat("gemm: ", report.error));
    return absl::OkStatus();
  }
#endif

 private:
  explicit Gemm(const GemmProblem& problem) : problem_(problem) {}

  absl::Status CheckArguments(const Arguments& args) const {
    constexpr int kAlignment = P::config.alignment.src;
    if (absl::Status s = CheckGemmPointer("a", args.a, kAlignment); !s.ok()) return s;
    if (absl::Status s = CheckGemmPointer("b", args.b, kAlignment); !s.ok()) return s;
    if (absl::Status s = CheckGemmPointer("c", args.c, P::config.alignment.dst); !s.ok()) return s;
    if constexpr (P::Epilogue::kHasBias) {
      return CheckGemmPointer("bias", args.bias, alignof(BiasElement));
    } else if (args.bias != nullptr) {
      return absl::InvalidArgumentError(
          "gemm: args.bias is set but the policy's Epilogue has no Bias stage; leave it null");
    }
    return absl::OkStatus();
  }

  static constexpr std::int64_t TilesN(std::int64_t n) {
    return CeilDiv(n, std::int64_t{P::config.threadblock.n});
  }
  arch::Dim3 Grid() const {
    return {static_cast<int>(CeilDiv(problem_.m, std::int64_t{P::config.threadblock.m}) *
                             TilesN(problem_.n)),
            1, 1};
  }

  GemmParams<P> MakeParams(const Arguments& args) const {
    const auto m = static_cast<std::int32_t>(problem_.m);
    const auto n = static_cast<std::int32_t>(problem_.n);
    const auto k = static_cast<std::int32_t>(problem_.k);
    GemmParams<P> p;
    p.a = {args.a, problem_.lda, m, k};
    p.b = {args.b, problem_.ldb, n, k};
    p.tiles_n = FastDivmod(static_cast<std::int32_t>(TilesN(problem_.n)));
    p.slices = CeilDiv(k, P::config.threadblock.k);
    OutputP& out = p.output;
    out.dst = args.c;
    out.bias = args.bias;
    out.alpha = args.alpha;
    out.channel_alpha = args.channel_alpha;
    out.beta = args.beta;
    out.zero_point = args.zero_point;
    out.pixels = m;
    out.k = out.padded_k = n;
    out.image_pixels = out.row_pixels = FastDivmod(m);
    out.extents = {.n = 1, .c = n, .h = problem_.ldc, .w = m};
    out.epilogue = args.epilogue;
    return p;
  }

  GemmProblem problem_;
};

}  // namespace weft::gemm
