// Gemm<Policy>: C = epilogue(A B).
//
//     struct MyGemm {
//       using Element = std::int8_t;                  // of A and B
//       using LayoutA = weft::layouts::RowMajor;      // m x k; each RowMajor or ColumnMajor
//       using LayoutB = weft::layouts::ColumnMajor;   // k x n
//       using LayoutC = weft::layouts::RowMajor;      // m x n
//       using Epilogue = weft::epilogues::BiasRelu<>; // bias and scale per column n
//       static constexpr weft::gemm::Config config = weft::gemm::kMma128x128;
//     };
//
//     Element            sums    config.mainloop  result
//     std::int8_t        int32   kSimt, kMmaSm80  exact
//     float, double      same    kSimt            one fma for each k in ascending order
//     Half, Bfloat16     float   kMmaSm80         rounding within the sum is the hardware's
//
// A leading dimension counts the elements from one row (RowMajor) or column (ColumnMajor) to the
// next; those of A and B are multiples of config.alignment.src bytes.
//     auto op = weft::gemm::Gemm<MyGemm>::Create({.m = 512, .n = 256, .k = 1024});
//     op->RunOnCpu({.a = a, .b = b, .bias = bias, .c = c});
#pragma once

#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "weft/gemm/arch/device.hpp"
#include "weft/gemm/arch/launch_result.hpp"
#include "weft/gemm/argument_checks.hpp"
#include "weft/gemm/gemm_checks.hpp"
#include "weft/gemm/gemm_kernels.hpp"
#include "weft/gemm/launch_on_gpu.hpp"
#include "weft/gemm/typed_pointer.hpp"

#if defined(WEFT_CPU_BACKEND)
#include "weft/gemm/arch/cpu_launch.hpp"
#endif

namespace weft::gemm {

namespace internal {

// Picks before it instantiates: a policy is checked for its own mainloop only.
template <class P, bool kSimt, bool kAsync>
struct CheckedGemmTiles
    : CheckedSimtTiles<P, SimtAtomFor<typename P::Element>::kElements,
                       static_cast<int>(
                           sizeof(typename SimtAtomFor<typename P::Element>::Packet))> {};
template <class P>
struct CheckedGemmTiles<P, true, true>
    : CheckedSimtAsyncTiles<P, static_cast<int>(sizeof(typename P::Element))> {};
template <class P>
struct CheckedGemmTiles<P, false, false>
    : CheckedMmaTiles<P, static_cast<int>(sizeof(typename P::Element))> {};

template <class Layout>
inline constexpr bool kIsMatrixLayout =
    std::is_same_v<Layout, layouts::RowMajor> || std::is_same_v<Layout, layouts::ColumnMajor>;

// A residual in C's layout, or none.
template <class Stage>
inline constexpr bool kResidualOfMatrix = true;
template <class T, class Layout>
inline constexpr bool kResidualOfMatrix<epilogues::Residual<T, Layout>> =
    std::is_same_v<Layout, epilogues::SameAsDst>;

// Nothing but the sums themselves.
template <class Epilogue>
inline constexpr bool kOnlySums = false;
template <class T>
inline constexpr bool kOnlySums<epilogues::Chain<epilogues::ToSums<T>>> = true;

}  // namespace internal

// Instantiating this checks a GEMM policy.
template <class P>
struct CheckedGemmPolicy {
  using Element = typename P::Element;
  using Epilogue = typename P::Epilogue;
  using Sum = typename SumOf<Element>::type;
  static constexpr bool kSimt = P::config.mainloop == Mainloop::kSimt;
  static_assert(kSimt || P::config.mainloop == Mainloop::kMmaSm80,
                "weft: config.mainloop of a GEMM is kSimt or kMmaSm80");
  static_assert(!std::is_void_v<Sum>,
                "weft: a GEMM multiplies Element = std::int8_t, weft::Half, weft::Bfloat16, float "
                "or double");
  static_assert(!kSimt || !(std::is_same_v<Element, Half> || std::is_same_v<Element, Bfloat16>),
                "weft: the simt GEMM multiplies Element = std::int8_t, float or double; 16-bit "
                "floats take the mma_sm80 mainloop");
  static_assert(kSimt || !(std::is_same_v<Element, float> || std::is_same_v<Element, double>),
                "weft: the mma_sm80 GEMM multiplies Element = std::int8_t, weft::Half or "
                "weft::Bfloat16; float and double take the simt mainloop");
  static_assert(internal::kIsMatrixLayout<typename P::LayoutA> &&
                    internal::kIsMatrixLayout<typename P::LayoutB> &&
                    internal::kIsMatrixLayout<typename P::LayoutC>,
                "weft: LayoutA, LayoutB and LayoutC of a GEMM are weft::layouts::RowMajor or "
                "weft::layouts::ColumnMajor");
  static_assert(epilogues::IsChain<Epilogue>::value,
                "weft: Epilogue is a weft::epilogues::Chain<stages...>");
  static_assert(
      internal::kResidualOfMatrix<typename Epilogue::ResidualStage>,
      "weft: the residual of a GEMM has C's layout: Residual<T>, without a tensor format");
  static_assert(!std::is_same_v<Sum, double> || internal::kOnlySums<Epilogue>,
                "weft: the epilogue of a GEMM of doubles is Chain<ToSums<double>>: other stages "
                "compute in float");
  static_assert(internal::CheckedGemmTiles<P, kSimt, UsesSimtAsync<Element>(P::config)>::kValid);
  static_assert((P::config.alignment.src == 4 || P::config.alignment.src == 8 ||
                 P::config.alignment.src == 16) &&
                    P::config.alignment.src >= static_cast<int>(sizeof(Element)),
                "weft: config.alignment.src of a GEMM is 4, 8 or 16 bytes, at least one element");
  static_assert(P::config.alignment.dst % static_cast<int>(sizeof(typename Epilogue::Output)) ==
                        0 &&
                    (std::is_same_v<typename P::LayoutC, layouts::RowMajor> ||
                     P::config.alignment.dst == sizeof(typename Epilogue::Output)),
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
  using Element = typename P::Element;
  using BiasElement = typename OutputP::BiasElement;
  using ResidualElement = typename OutputP::ResidualElement;

  // Addresses are GPU addresses for Run and host addresses for RunOnCpu.
  struct Arguments {
    SourcePointer<Element> a = nullptr;       // m x k
    SourcePointer<Element> b = nullptr;       // k x n
    BiasPointer<BiasElement> bias = nullptr;  // n values, with a Bias or SumBias stage
    // With a Residual stage only: m x n in C's layout with C's leading dimension. If its elements
    // have the size of C's it may be c itself, for C += A B; nothing else may overlap c.
    ResidualPointer<ResidualElement> residual = nullptr;
    OutputPointer<Output> c = nullptr;     // m x n
    float alpha = 1.0f;                    // scale of the sums
    const float* channel_alpha = nullptr;  // or n of them, one per column
    float beta = 1.0f;                     // scale of the bias
    float gamma = 1.0f;                    // scale of the residual
    float zero_point = 0.0f;               // added before the conversion to an 8-bit type
    typename P::Epilogue epilogue{};
  };

  // InvalidArgument or OutOfRange, naming the field, its value and what would be accepted.
  static absl::StatusOr<Gemm> Create(const GemmProblem& problem) {
    const GemmFormat format = {
        .row_major_a = kLinesOfA<P>,
        .row_major_b = !kLinesOfB<P>,
        .row_major_c = kRowMajorC,
        .element_bytes = sizeof(Element),
        .output_bytes = sizeof(Output),
        .int32_sums = std::is_same_v<typename SumOf<Element>::type, std::int32_t>,
        .config = P::config};
    absl::StatusOr<GemmProblem> checked = CheckGemmProblem(problem, format);
    if (!checked.ok()) return checked.status();
    return Gemm(*checked);
  }

  // The same, and FailedPrecondition or ResourceExhausted if `device` cannot run this policy.
  static absl::StatusOr<Gemm> Create(const GemmProblem& problem, const arch::DeviceLimits& device) {
    if (absl::Status s = CheckDevice(device); !s.ok()) return s;
    return Create(problem);
  }

  const GemmProblem& problem() const { return problem_; }

  // Enqueues the kernel on `stream`; errors as conv::Convolution::Run.
  absl::Status Run(const Arguments& args, Stream stream) const {
    if (absl::Status s = CheckArguments(args); !s.ok()) return s;
    return LaunchOnThisGpu(
        "gemm", arch::IsLinked(&LaunchGemmOnGpu<P>),
        "put WEFT_INSTANTIATE_GEMM(Policy) in a .cu file",
        [](const arch::DeviceLimits& limits) { return CheckDevice(limits); },
        [&] { return LaunchGemmOnGpu<P>(MakeParams(args), Grid(), stream); });
  }

#if defined(WEFT_CPU_BACKEND)
  // Runs the same kernel on the CPU and returns when it is done.
  absl::Status RunOnCpu(const Arguments& args, const arch::CpuOptions& options =
                                                   arch::CpuOptions::FromEnvironment()) const {
    if (absl::Status s = CheckArguments(args); !s.ok()) return s;
    const arch::CpuReport report =
        arch::LaunchOnCpu<GemmKernel<P>>(Grid(), MakeParams(args), options);
    if (!report.ok()) return absl::InternalError(absl::StrCat("gemm: ", report.error));
    return absl::OkStatus();
  }
#endif

  // What Run checks before it launches.
  absl::Status CheckArguments(const Arguments& args) const {
    const GemmProblem& p = problem_;
    const auto operand = [](const char* field, const Element* address, std::int64_t lines,
                            std::int64_t elements, std::int64_t pitch) {
      return TensorArgument{.field = field,
                            .address = address,
                            .alignment = P::config.alignment.src,
                            .line_bytes = elements * std::int64_t{sizeof(Element)},
                            .lines = lines,
                            .pitch_bytes = pitch * std::int64_t{sizeof(Element)},
                            .helper = "WithSrcAlignment",
                            .least_alignment = sizeof(Element) < 4 ? 4 : sizeof(Element)};
    };
    const TensorArgument operands[] = {kLinesOfA<P> ? operand("a", args.a, p.m, p.k, p.lda)
                                                    : operand("a", args.a, p.k, p.m, p.lda),
                                       kLinesOfB<P> ? operand("b", args.b, p.n, p.k, p.ldb)
                                                    : operand("b", args.b, p.k, p.n, p.ldb)};
    const auto result = [&](int element_bytes, int alignment) {
      return TensorArgument{.field = "c",
                            .address = args.c,
                            .alignment = alignment,
                            .line_bytes = (kRowMajorC ? p.n : p.m) * element_bytes,
                            .lines = kRowMajorC ? p.m : p.n,
                            .pitch_bytes = p.ldc * element_bytes};
    };
    TensorArgument c = result(sizeof(Output), P::config.alignment.dst);
    c.helper = "WithDstAlignment";
    c.least_alignment = sizeof(Output);
    TensorArgument residual = result(sizeof(ResidualElement), alignof(ResidualElement));
    residual.may_be_output = sizeof(ResidualElement) == sizeof(Output);
    return gemm::CheckArguments("gemm", operands, c,
                                EpilogueArgumentsOf<typename P::Epilogue>(args, p.n, residual));
  }

 private:
  static constexpr bool kRowMajorC = std::is_same_v<typename P::LayoutC, layouts::RowMajor>;

  explicit Gemm(const GemmProblem& problem) : problem_(problem) {}

  static absl::Status CheckDevice(const arch::DeviceLimits& device) {
    using Kernel = GemmKernel<P>;
    return gemm::CheckDevice("gemm", Kernel::kMinComputeCapability,
                             sizeof(typename Kernel::SharedStorage), device);
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
    out.residual = args.residual;
    out.beta = args.beta;
    out.gamma = args.gamma;
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
