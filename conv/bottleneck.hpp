// Bottleneck<PolicyT>: a bottleneck of a residual network as one kernel of Hopper
// (docs/bottleneck.md). With x of problem.c channels and the epilogues of the policy
//
//     t1 = FirstEpilogue(1x1 convolution of x)        64 channels
//     t2 = SecondEpilogue(3x3 convolution of t1)      64 channels
//     y  = Epilogue(1x1 convolution of t2, residual)  problem.k channels
//
// where the residual is x itself or Projection(1x1 convolution of x). The result is bit for bit that
// of the convolutions one after the other, but what lies between stays in shared memory.
//
//     using Op = weft::conv::Bottleneck<MyBlock>;  // see bottleneck_policy.hpp
//     absl::StatusOr<Op> op = Op::Create({.n = 64, .h = 56, .w = 56, .c = 256, .k = 256});
//     op->Run({.src = x, .first = {.filter = f1, .bias = b1, .channel_alpha = a1},
//              .second = {.filter = f2, .bias = b2, .channel_alpha = a2},
//              .filter = f3, .bias = b3, .dst = y, .channel_alpha = a3}, stream);
#pragma once

#include <cstdint>

#include "weft/conv/bottleneck/bottleneck_image.hpp"
#include "weft/conv/bottleneck/bottleneck_kernel.hpp"
#include "weft/conv/bottleneck/bottleneck_plan.hpp"
#include "weft/conv/bottleneck/bottleneck_start.hpp"
#include "weft/conv/policy/bottleneck_policy.hpp"
#include "weft/conv/problem/bottleneck_problem.hpp"
#include "weft/gemm/check/refused.hpp"
#include "weft/gemm/check/typed_pointer.hpp"
#include "weft/gemm/launch/planned_operator.hpp"
#include "weft/layouts/packed_filter.hpp"

namespace weft::conv {

// The arguments of a run that belong to one of the convolutions, as in ConvolutionArguments.
template <class Epilogue>
struct BottleneckPartArguments {
  // PackFilter<CxRSKx<32>> of the part's filter, problem.second().filter() for example; 16-byte
  // aligned.
  PackedFilter<CxRSKx<32>, std::int8_t> filter;
  gemm::BiasPointer<typename Epilogue::BiasElement> bias = nullptr;
  float alpha = 1.0f;
  gemm::NumbersPointer<float> channel_alpha = nullptr;
  float beta = 1.0f;
  float output_scale = 0.0f;
  float zero_point = 0.0f;
  Epilogue epilogue{};
  // What a part has not, but code that is shared with other operators asks for.
  [[gnu::visibility("hidden")]] static constexpr const std::int8_t* residual = nullptr;
  [[gnu::visibility("hidden")]] static constexpr const typename Epilogue::Output* dst = nullptr;
  [[gnu::visibility("hidden")]] static constexpr float gamma = 1.0f;
};
// In the place of a projection where there is none.
template <>
struct BottleneckPartArguments<void> {};

// The arguments of a run. No tensor may overlap dst. Policies that differ only in their config
// share this type.
template <class Element, class FirstEpilogue, class SecondEpilogue, class Projection,
          class EpilogueT>
struct BottleneckArguments {
  using Epilogue = EpilogueT;
  gemm::SourcePointer<Element> src = nullptr;  // problem.src() in NCxHWx<32>; 32-byte aligned
  BottleneckPartArguments<FirstEpilogue> first;
  // What stands for 0 in t1, its zero point: the padding of the 3x3 convolution.
  std::int32_t padding = 0;
  BottleneckPartArguments<SecondEpilogue> second;
  BottleneckPartArguments<Projection> projection;
  PackedFilter<CxRSKx<32>, std::int8_t> filter;  // of problem.third()
  gemm::BiasPointer<typename Epilogue::BiasElement> bias = nullptr;
  gemm::OutputPointer<typename Epilogue::Output> dst = nullptr;  // problem.dst(); 16-byte aligned
  float alpha = 1.0f;
  gemm::NumbersPointer<float> channel_alpha = nullptr;
  float beta = 1.0f;
  float gamma = 1.0f;  // scale of the residual
  float output_scale = 0.0f;
  float zero_point = 0.0f;
  // True promises that no earlier kernel of the stream writes the filters, unless it ended before
  // the last launch: they are then fetched while earlier kernels run.
  bool filters_are_constant = false;
  Epilogue epilogue{};
  // The residual is no argument, but code that is shared with other operators asks for one.
  [[gnu::visibility(
      "hidden")]] static constexpr const typename Epilogue::ResidualElement* residual = nullptr;
};

template <class PolicyT>
using BottleneckArgumentsOf =
    BottleneckArguments<typename PolicyT::Element, typename PolicyT::FirstEpilogue,
                        typename PolicyT::SecondEpilogue, typename PolicyT::Projection,
                        typename PolicyT::Epilogue>;

// The rest of its members: gemm/launch/planned_operator.hpp. Errors of Create are those of PlanBottleneck.
template <class PolicyT>
class Bottleneck : public gemm::PlannedOperator<Bottleneck<PolicyT>, BottleneckPlanner,
                                                BottleneckArgumentsOf<PolicyT>> {
  using Base = gemm::PlannedOperator<Bottleneck, BottleneckPlanner, BottleneckArgumentsOf<PolicyT>>;

 public:
  using Policy = PolicyT;
  using Element = typename PolicyT::Element;
  using Epilogue = typename PolicyT::Epilogue;
  using Output = typename Epilogue::Output;
  using Base::problem;

  [[gnu::visibility("hidden")]] static constexpr BottleneckImage kImage =
      BottleneckImageOf<PolicyT>();

  // Elements of src and dst in memory.
  std::int64_t src_size() const { return NCxHWx<32>::Size(problem().src()); }
  std::int64_t dst_size() const { return NCxHWx<32>::Size(problem().dst()); }
  std::int64_t dst_bytes() const { return dst_size(); }

  static BottleneckRun RunOf(const BottleneckPlan&, const BottleneckArgumentsOf<PolicyT>& args) {
    BottleneckRun run;
    run.part[0].src = gemm::internal::TensorOf(args.src);
    FillPart<typename PolicyT::FirstEpilogue>(args.first, &run.part[0]);
    FillPart<typename PolicyT::SecondEpilogue>(args.second, &run.part[1]);
    if constexpr (kProjects<PolicyT>) {
      FillPart<typename PolicyT::Projection>(args.projection, &run.part[2]);
    }
    FillPart<Epilogue>(args, &run.part[3]);
    run.padding = args.padding;
    run.filters_are_constant = args.filters_are_constant;
    return run;
  }

 private:
  friend Base;

  explicit Bottleneck(const BottleneckPlan& plan) : Base(plan) {}

  template <class Part, class Args>
  static void FillPart(const Args& args, ConvRun* run) {
    run->filter = FilterRunOf(args.filter);
    run->output = gemm::OutputRunOf<Part>(args, args.dst);
  }
};

template <class PolicyT>
  requires(!CheckedBottleneck<PolicyT>::kValid)
class Bottleneck<PolicyT> : public gemm::RefusedOperator<Bottleneck<PolicyT>, BottleneckProblem> {};

}  // namespace weft::conv
