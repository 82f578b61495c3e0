// Gemm<Policy>: C = epilogue(A B). How to write a policy such as MyGemm:
// gemm/policy/gemm_policy.hpp.
//
//     auto op = weft::gemm::Gemm<MyGemm>::Create({.m = 512, .n = 256, .k = 1024});
//     op->Run({.a = a, .b = b, .bias = bias, .c = c}, stream);  // on the GPU
//     op->RunOnCpu({.a = a, .b = b, .bias = bias, .c = c});     // the same kernel, on the CPU
//
// A batch of products is one launch: Create({.m = 128, .n = 128, .k = 64, .batch = 96}). So is a
// Gemm<Grouped<MyGemm>>, whose products (groups) have different numbers of rows.
//
// A leading dimension counts the elements from one row (RowMajor) or column (ColumnMajor) to the
// next; those of A and B are multiples of config.alignment.src bytes. Every row (column) must be
// readable up to its leading dimension, as kernels may read the padding.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>

#include "weft/gemm/check/argument_checks.hpp"
#include "weft/gemm/check/refused.hpp"
#include "weft/gemm/check/typed_pointer.hpp"
#include "weft/gemm/launch/launch.hpp"
#include "weft/gemm/launch/params_writer.hpp"
#include "weft/gemm/product/gemm_kernels.hpp"
#include "weft/gemm/product/gemm_plan.hpp"
#include "weft/gemm/product/policy_facts.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::gemm {

// The matrices and numbers of one run: a Gemm's Arguments. Addresses are GPU addresses for Run and
// host addresses for RunOnCpu. Policies that differ only in their config share this type.
template <class Element, class Epilogue, class LoadA = NoLoad, class LoadB = NoLoad>
struct GemmArguments {
  using BiasElement = typename Epilogue::BiasElement;
  using ResidualElement = typename Epilogue::ResidualElement;
  using Value = typename Epilogue::Value;  // float; double or Complex with such accumulators

  // For a batch, these are the matrices of the first product; GemmProblem's strides lead to the
  // others. With a LoadA or LoadB the elements are its Source; Int4 has two to a byte.
  OperandAPointer<OperandElement<Element, LoadA>> a = nullptr;              // m x k
  OperandBPointer<OperandElement<ElementOfB<Element>, LoadB>> b = nullptr;  // k x n
  // n values, for a Bias or SumBias stage; with problem.own_bias, n for each product.
  BiasPointer<BiasElement> bias = nullptr;
  // For a Residual stage: m x n, with C's layout, leading dimension and stride. If its elements
  // have the size of C's, it may be c itself, for C += A B; nothing else may overlap c.
  ResidualPointer<ResidualElement> residual = nullptr;
  OutputPointer<typename Epilogue::Output> c = nullptr;  // m x n
  Value alpha{1};                                        // scale of A B
  NumbersPointer<Value> channel_alpha = nullptr;         // or one per column, as many as bias has
  float beta = 1.0f;                                     // scale of the bias
  Value gamma{1};                                        // scale of the residual
  float output_scale = 0.0f;  // for an OutputScale stage: the real value of a step of c
  float zero_point = 0.0f;    // added before the conversion to an 8-bit type
  Epilogue epilogue{};
  // For Grouped only, in the same memory as A and C: problem.batch ascending numbers; number g is
  // the row behind group g's last one. A group begins where the one before it ends, the first at
  // row 0; groups may be empty. Rows from the last number to problem.m belong to no group, and C
  // keeps what it has there. On a GPU the numbers are read when the kernel runs, so that earlier
  // kernels may write them. They are clamped to 0 to problem.m; if they descend, the results are
  // meaningless.
  NumbersPointer<std::int32_t> group_offsets = nullptr;
  // The load functors, for those that have run-time values.
  LoadA load_a{};
  LoadB load_b{};
};

template <class PolicyT>
class Gemm {
  static_assert(!kListed<PolicyT>,
                "weft: include weft/gemm/gemm_list.hpp for a Gemm of a Listed policy");
  static_assert(GemmKernel<PolicyT>::kThreads > 0);  // its mainloop checks the config
  using Epilogue = typename PolicyT::Epilogue;
  static constexpr bool kRowMajorC = std::is_same_v<typename PolicyT::LayoutC, layouts::RowMajor>;

 public:
  using Problem = GemmProblem;
  using Planner = GemmPlanner;
  using Output = typename Epilogue::Output;
  using Element = typename PolicyT::Element;
  using Arguments = GemmArguments<Element, Epilogue, LoadOf<PolicyT, true>, LoadOf<PolicyT, false>>;
  using BiasElement = typename Arguments::BiasElement;
  using ResidualElement = typename Arguments::ResidualElement;

  static constexpr GemmFacts Facts() { return GemmFactsOf<PolicyT>(); }
  static constexpr GemmFacts PlanFacts() { return Facts(); }  // for Planner

  // Errors are InvalidArgument or OutOfRange, and name the field, its value and what would be
  // accepted. If m, n or batch is 0, runs do nothing; if k is 0, C is the epilogue of 0, and A and
  // B are not read.
  static absl::StatusOr<Gemm> Create(const GemmProblem& problem) {
    return Planned(GemmPlanner::Make(problem, Facts(), nullptr));
  }

  // The same, with FailedPrecondition or ResourceExhausted if `device` cannot run this policy.
  static absl::StatusOr<Gemm> Create(const GemmProblem& problem, const arch::DeviceLimits& device) {
    return Planned(GemmPlanner::Make(problem, Facts(), &device));
  }

  template <class Number, class... More>
    requires(std::is_arithmetic_v<Number>)
  static absl::StatusOr<Gemm> Create(Number, More...) {
    static_assert(sizeof(Number) == 0,
                  "weft: Create takes a GemmProblem, whose fields have names: "
                  "Create({.m = 512, .n = 256, .k = 1024})");
    return absl::InternalError("");
  }

  const GemmProblem& problem() const { return plan_.problem; }

  // How the work is divided into tiles.
  const PlanCounts& counts() const { return plan_.counts; }

  // One line: tile, grid, shared memory, layouts.
  std::string Describe() const { return DescribeGemm(plan_, Facts()); }

  // Enqueues the kernel on `stream`. Errors are those of conv::Convolution::Run.
  absl::Status Run(const Arguments& args, Stream stream, const LaunchOptions& options = {}) const {
    return Start(args, GpuBackEnd{stream, options});
  }

  // Runs the same kernel on the CPU and returns when it is done.
  absl::Status RunOnCpu(const Arguments& args,
                        const CpuOptions& options = CpuOptions::FromEnvironment(),
                        CpuStats* stats = nullptr) const {
    if (stats != nullptr) *stats = {};
    if constexpr (kGrouped<PolicyT>) {
      const auto groups = static_cast<std::size_t>(problem().batch);
      absl::Status s = CheckArguments(args);
      if (s.ok() && !problem().IsEmpty()) s = CheckGroupOffsets({args.group_offsets, groups});
      if (!s.ok()) return s;
    }
    return Start(args, CpuBackEnd{options, stats});
  }

  // For callers that have the group offsets on the host: InvalidArgument unless they are
  // problem().batch ascending numbers of 0 to problem().m. Run itself cannot read them.
  absl::Status CheckGroupOffsets(absl::Span<const std::int32_t> group_offsets) const
    requires kGrouped<PolicyT>
  {
    return gemm::CheckGroupOffsets(problem(), group_offsets);
  }

  // Checks what Run checks before it launches.
  absl::Status CheckArguments(const Arguments& args) const {
    if (!kGrouped<PolicyT> && args.group_offsets != nullptr) {
      return absl::InvalidArgumentError(
          "gemm: args.group_offsets is set but the policy is no weft::gemm::Grouped<P>; leave it "
          "null");
    }
    if (problem().IsEmpty()) return absl::OkStatus();
    const Tensors t = TensorsOf(args);
    constexpr int kOperands = kGrouped<PolicyT> ? 3 : 2;
    return gemm::CheckArguments("gemm", absl::MakeSpan(t.operands).first(kOperands), t.c,
                                t.epilogue());
  }

 private:
  template <class>
  friend class Gemm;  // that of a list, which makes one of a product's plan where it needs one
  template <class>
  friend class Dispatch;  // makes the plans itself

  explicit Gemm(const GemmPlan& plan) : plan_(plan) {}
  static absl::StatusOr<Gemm> Planned(const absl::StatusOr<GemmPlan>& plan) {
    if (!plan.ok()) return plan.status();
    return Gemm(*plan);
  }

  // The memory that a run reads and writes.
  struct Tensors {
    TensorArgument operands[3];  // a, b, and the group offsets of Grouped
    TensorArgument c;
    OutputRun run;
    TensorArgument residual;  // without its address
    std::int64_t channels;    // numbers that the epilogue has an own one of
    EpilogueArguments epilogue() const {
      return EpilogueArgumentsOf(kEpilogue, run, channels, residual);
    }
  };
  [[gnu::visibility("hidden")]] static constexpr EpilogueFacts kEpilogue =
      EpilogueFactsOf<Epilogue>();
  Tensors TensorsOf(const Arguments& args) const {
    const GemmProblem& p = problem();
    const auto operand = [&]<bool kIsA>(std::bool_constant<kIsA>, const char* field,
                                        const auto& address, std::int64_t lines,
                                        std::int64_t elements, std::int64_t pitch,
                                        std::int64_t stride) {
      constexpr int kBits = kOperandBits<PolicyT, kIsA>;
      if (p.k == 0) return TensorArgument{.field = field, .address = address, .if_null = nullptr};
      constexpr bool kFixed = CheckedGemmPolicy<PolicyT>::kWgmma || kLoads<LoadOf<PolicyT, kIsA>>;
      // Kernels load whole accesses, at most up to the end of the last line's pitch.
      constexpr std::int64_t kAccess = kOperandAccess<PolicyT, kIsA>;
      const std::int64_t reach = (p.batch - 1) * stride + (lines - 1) * pitch +
                                 (std::min)(pitch, RoundUp(elements, kAccess));
      return Batched({.field = field,
                      .address = address,
                      .alignment = kOperandAccess<PolicyT, kIsA> * kBits / 8,
                      .line_bytes = BytesOfElements<kBits>(elements),
                      .lines = lines,
                      .pitch_bytes = BytesOfElements<kBits>(pitch),
                      .helper = kFixed ? nullptr : "WithSrcAlignment",
                      .least_alignment = sizeof(Element) < 4 ? 4 : sizeof(Element),
                      .given = address.given(),
                      .reach = BytesOfElements<kBits>(reach)},
                     p.batch, BytesOfElements<kBits>(stride));
    };
    constexpr std::true_type kA;
    constexpr std::false_type kB;
    Tensors all;
    all.operands[0] = kKMajorA<PolicyT> ? operand(kA, "a", args.a, p.m, p.k, p.lda, p.stride_a)
                                        : operand(kA, "a", args.a, p.k, p.m, p.lda, p.stride_a);
    all.operands[1] = kKMajorB<PolicyT> ? operand(kB, "b", args.b, p.n, p.k, p.ldb, p.stride_b)
                                        : operand(kB, "b", args.b, p.k, p.n, p.ldb, p.stride_b);
    if constexpr (kGrouped<PolicyT>) {
      TensorArgument& group_offsets = all.operands[2];
      group_offsets.field = "group_offsets", group_offsets.address = args.group_offsets,
      group_offsets.alignment = alignof(std::int32_t);
      group_offsets.given = args.group_offsets.given();
      group_offsets.line_bytes = p.batch * std::int64_t{sizeof(std::int32_t)};
      group_offsets.if_null =
          "is null; give the address of one number for each of problem.batch groups, the row "
          "behind its last one";
    }
    const auto result = [&](int element_bytes, int alignment) {
      return Batched({.field = "c",
                      .address = args.c,
                      .alignment = alignment,
                      .line_bytes = (kRowMajorC ? p.n : p.m) * element_bytes,
                      .lines = kRowMajorC ? p.m : p.n,
                      .pitch_bytes = p.ldc * element_bytes},
                     p.batch, p.stride_c * element_bytes);
    };
    all.c = result(sizeof(Output), PolicyT::config.alignment.dst);
    all.c.given = args.c.given();
    all.c.helper = "WithDstAlignment";
    all.c.least_alignment = sizeof(Output);
    // wgmma_sm90 loads a residual of bytes by accesses as wide as its stores to C.
    constexpr bool kWide = CheckedGemmPolicy<PolicyT>::kWgmma && sizeof(ResidualElement) == 1;
    TensorArgument residual = result(
        sizeof(ResidualElement), kWide ? PolicyT::config.alignment.dst : alignof(ResidualElement));
    residual.may_be_output = sizeof(ResidualElement) == sizeof(Output);
    all.residual = residual;
    all.run = OutputRunOf<Epilogue>(args, args.c);
    all.channels = p.n * (p.own_bias ? p.batch : 1);
    return all;
  }

  // Checks the arguments, makes the kernel's parameters and starts it.
  template <class BackEnd>
  absl::Status Start(const Arguments& args, const BackEnd& on) const {
    if (absl::Status s = CheckArguments(args); !s.ok()) return s;
    if (problem().IsEmpty()) return absl::OkStatus();
    Launch launch;
    launch.grid = {plan_.tiles, 1, 1};
    if constexpr (CheckedGemmPolicy<PolicyT>::kWgmma) {
      WgmmaGemmParams<PolicyT> p;
      if (absl::Status s = FillProduct(args, BackEnd::kMakeMap, &p); !s.ok()) return s;
      FillSchedule<BandedTileGrid>(args, BandOf(PolicyT::config.threadblock), &p.schedule);
      p.ring = plan_.tma.ring;
      p.plan = plan_.tma.plan;
      p.tiles = plan_.tiles;
      launch.params = &p;
      return on.template Run<PolicyT>("gemm", Facts(), launch);
    } else {
      GemmParams<PolicyT> p;
      if (absl::Status s = FillProduct(args, BackEnd::kMakeMap, &p); !s.ok()) return s;
      FillSchedule<TileGrid>(args, 1, &p.schedule);
      launch.kernel = HasRaggedK() ? 1 : 0;
      launch.params = &p;
      return on.template Run<PolicyT>("gemm", Facts(), launch);
    }
  }

  // Whether the kernel that masks the last access of each line must run: if k is ragged.
  bool HasRaggedK() const {
    if (KernelList<PolicyT>::kRaggedK && kOneKernel) return true;
    return KernelList<PolicyT>::kRaggedK &&
           problem().k * std::int64_t{sizeof(Element)} % PolicyT::config.alignment.src != 0;
  }

  // Sets what the kernel is given for this product: p->a, b, output and k_tiles.
  template <class Params>
  absl::Status FillProduct(const Arguments& args, MakeTensorMap make, Params* p) const {
    Fill(args, p);
    // An operand without elements may be null. The kernel still forms addresses of it, and TMA
    // needs an aligned one, so that it is given some other address.
    constexpr std::uintptr_t kAligned = 16;
    const auto* some = reinterpret_cast<const void*>(
        reinterpret_cast<std::uintptr_t>(static_cast<const void*>(args.c)) / kAligned * kAligned);
    const void* const a = problem().k == 0 ? some : static_cast<const void*>(args.a);
    const void* const b = problem().k == 0 ? some : static_cast<const void*>(args.b);
    if constexpr (CheckedGemmPolicy<PolicyT>::kWgmma) {
      const WgmmaGemmPlan& plan = plan_.tma;
      static_cast<MatrixCopies&>(p->a) = plan.a.params;
      static_cast<MatrixCopies&>(p->b) = plan.b.params;
      for (const auto& [spec, base, map] :
           {std::tuple(&plan.a.spec, a, &p->a.map), {&plan.b.spec, b, &p->b.map}}) {
        if (absl::Status s = MakeMap("gemm", make, *spec, base, map); !s.ok()) return s;
      }
    } else {
      const auto k = static_cast<std::int32_t>(problem().k);
      // simt_async takes the short k tile first: accumulators then start with the products of
      // padding zeros instead of ending with them, which would turn -0 into 0. Not with sliced k,
      // where each warp's part is one of k tiles that begin with k = 0.
      constexpr bool kShortFirst = PolicyT::config.kMainloop == Mainloop::kSimtAsync &&
                                   PolicyT::config.warp.k == PolicyT::config.threadblock.k;
      const std::int32_t first = kShortFirst ? k - p->k_tiles * PolicyT::config.threadblock.k : 0;
      static_cast<MatrixParams&>(p->a) = {a, problem().lda, p->output.rows.rows,
                                          k, first,         problem().stride_a};
      static_cast<MatrixParams&>(p->b) = {b, problem().ldb, p->output.k,
                                          k, first,         problem().stride_b};
      SetLoad(args.load_a, &p->a);
      SetLoad(args.load_b, &p->b);
    }
    return absl::OkStatus();
  }

  template <class Grid, class Schedule>
  void FillSchedule(const Arguments& args, std::int32_t band, Schedule* s) const {
    const auto tiles_n = static_cast<std::int32_t>(counts().tiles_n);
    if constexpr (kGrouped<PolicyT>) {
      s->grid = Grid::Make(plan_.tile_rows, tiles_n, band);
      s->block_m = FastDivmod(PolicyT::config.threadblock.m);
      s->group_offsets = args.group_offsets;
      s->products = static_cast<std::int32_t>(problem().batch);
      s->m = static_cast<std::int32_t>(problem().m);
    } else {
      *s = BatchedGrid<Grid>::Make(plan_.tile_rows, tiles_n, band);
    }
  }

  // Sets the parameters that all kernels have.
  template <class Params>
  void Fill(const Arguments& args, Params* p) const {
    p->k_tiles = counts().k_tiles;
    static constexpr OutputLayout kOutput = OutputLayoutOf<decltype(p->output)>();
    PutOutput(kOutput, OutputRunOf<Epilogue>(args, args.c), ParamsWriter(&p->output));
    p->output.k = p->output.padded_k = static_cast<std::int32_t>(problem().n);
    p->output.rows.rows = static_cast<std::int32_t>(problem().m);
    // The Cs of a batch are parts of one matrix, product by product row_step rows and column_step
    // columns further (gemm/check/gemm_checks.cpp makes sure that these fit 32 bits).
    const auto lines = static_cast<std::int32_t>(problem().stride_c / problem().ldc);
    const auto along = static_cast<std::int32_t>(problem().stride_c % problem().ldc);
    p->output.rows.row_step = kRowMajorC ? lines : along;
    p->output.rows.column_step = kRowMajorC ? along : lines;
    p->output.rows.value_step = problem().own_bias ? p->output.k : 0;
    p->output.extents = {.n = 1, .c = problem().n, .h = problem().ldc, .w = problem().m};
  }

  GemmPlan plan_;
};

template <class PolicyT>
  requires(!CheckedGemmPolicy<PolicyT>::kValid)
class Gemm<PolicyT> : public RefusedOperator<Gemm<PolicyT>, GemmProblem> {};

}  // namespace weft::gemm
