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

#include <cstdint>

#include "weft/gemm/check/refused.hpp"
#include "weft/gemm/check/typed_pointer.hpp"
#include "weft/gemm/launch/planned_operator.hpp"
#include "weft/gemm/product/gemm_image.hpp"
#include "weft/gemm/product/gemm_kernels.hpp"
#include "weft/gemm/product/gemm_plan.hpp"
#include "weft/gemm/product/gemm_start.hpp"
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
using GemmArgumentsOf = GemmArguments<typename PolicyT::Element, typename PolicyT::Epilogue,
                                      LoadOf<PolicyT, true>, LoadOf<PolicyT, false>>;

// The rest of its members: gemm/launch/planned_operator.hpp. If m, n or batch is 0, runs do nothing; if k is
// 0, C is the epilogue of 0, and A and B are not read.
template <class PolicyT>
class Gemm : public PlannedOperator<Gemm<PolicyT>, GemmPlanner, GemmArgumentsOf<PolicyT>> {
  static_assert(!kListed<PolicyT>,
                "weft: include weft/gemm/gemm_list.hpp for a Gemm of a Listed policy");
  static_assert(GemmKernel<PolicyT>::kThreads > 0);  // its mainloop checks the config
  using Base = PlannedOperator<Gemm, GemmPlanner, GemmArgumentsOf<PolicyT>>;

 public:
  using Policy = PolicyT;
  using Output = typename PolicyT::Epilogue::Output;
  using Element = typename PolicyT::Element;
  using BiasElement = typename Base::Arguments::BiasElement;
  using ResidualElement = typename Base::Arguments::ResidualElement;

  [[gnu::visibility("hidden")]] static constexpr GemmImage kImage = ImageOf<PolicyT>();
  static constexpr GemmFacts Facts() { return kImage.facts; }

  // For callers that have the group offsets on the host: InvalidArgument unless they are
  // problem().batch ascending numbers of 0 to problem().m. Run itself cannot read them; RunOnCpu does.
  absl::Status CheckGroupOffsets(absl::Span<const std::int32_t> group_offsets) const
    requires kGrouped<PolicyT>
  {
    return gemm::CheckGroupOffsets(this->problem(), group_offsets);
  }

  static GemmRun RunOf(const GemmPlan&, const GemmArgumentsOf<PolicyT>& args) {
    return GemmRunOf<typename PolicyT::Epilogue>(args);
  }

 private:
  friend Base;
  template <class>
  friend class Dispatch;  // makes the plans itself

  explicit Gemm(const GemmPlan& plan) : Base(plan) {}
};

template <class PolicyT>
  requires(!CheckedGemmPolicy<PolicyT>::kValid)
class Gemm<PolicyT> : public RefusedOperator<Gemm<PolicyT>, GemmProblem> {};

}  // namespace weft::gemm
