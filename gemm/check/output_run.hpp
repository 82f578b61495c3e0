// The epilogue's part of the arguments of a run, of any operator, without the types of its policy.
#pragma once

#include <cmath>

#include "weft/gemm/check/typed_pointer.hpp"
#include "weft/layouts/element/complex.hpp"

namespace weft::gemm {

// An array of a run: its address, and its size if it was given with one.
struct GivenTensor {
  const void* address = nullptr;
  GivenElements given;
};

// The epilogue's part of a run, without its types: what the Arguments of any operator are for those
// who check them and who make a kernel's parameters of them. It points into the Arguments.
struct OutputRun {
  GivenTensor bias, channel_alpha, residual, dst;
  const void *alpha = nullptr, *gamma = nullptr;  // numbers of the type Epilogue::Value
  float beta = 1.0f, output_scale = 0.0f, zero_point = 0.0f;
  const void* epilogue = nullptr;  // the run-time values of its stages, as bytes
  // alpha and gamma for checks and messages.
  double alpha_number = 1.0, gamma_number = 1.0;
  bool alpha_is_one = true, gamma_is_one = true;  // exactly, in their types
  bool gamma_is_zero = false;                     // exactly, so that the residual is not read
  // What stages say of themselves; null where the epilogue has no such stage.
  const void *copy = nullptr, *low = nullptr, *high = nullptr, *image_sums = nullptr;
  const void *channel_values = nullptr, *table = nullptr;
  float residual_zero_point = 0.0f;
  const char* wrong_number = nullptr;  // of an activation: Chain::WrongNumber

  // What kernels take for the residual. With a gamma of 0 it may be null: they then do not read it, but
  // compute addresses from it, so that dst takes its place.
  const void* ResidualOrOutput() const {
    return residual.address != nullptr ? residual.address : dst.address;
  }
};

namespace internal {

// `value` as a number for checks and messages; of a complex number the part that is not finite, if
// there is one.
template <class Type>
[[gnu::visibility("hidden")]] double AsDouble(const Type& value) {
  if constexpr (kIsComplex<Type>) {
    return static_cast<double>(std::isfinite(value.im) ? value.re : value.im);
  } else {
    return static_cast<double>(value);
  }
}

template <class Pointer>
[[gnu::visibility("hidden")]] GivenTensor TensorOf(const Pointer& pointer) {
  return {pointer, GivenOf(pointer)};
}

}  // namespace internal

// Writes to *run what the epilogue's stages say of themselves.
template <class Epilogue>
[[gnu::visibility("hidden")]] void DescribeEpilogue(const Epilogue& epilogue, OutputRun* run) {
  run->wrong_number = epilogue.WrongNumber();
  if constexpr (Epilogue::kHasCopy) {
    run->copy = epilogue.template Get<typename Epilogue::CopyStage>().to;
  }
  if constexpr (Epilogue::kHasRange) {
    const auto& range = epilogue.template Get<typename Epilogue::RangeStage>();
    run->low = range.low, run->high = range.high;
  }
  if constexpr (Epilogue::kHasSums) {
    run->image_sums = epilogue.template Get<typename Epilogue::SumsStage>().to;
  }
  if constexpr (Epilogue::kHasChannelValues) run->channel_values = epilogue.ChannelValues();
  if constexpr (Epilogue::kHasTable) {
    run->table = epilogue.template Get<typename Epilogue::TableStage>().table;
  }
  if constexpr (Epilogue::kResidualZeroPoint) {
    run->residual_zero_point = epilogue.template Get<typename Epilogue::ResidualStage>().zero_point;
  }
}

// The epilogue's part of an operator's Arguments. dst: the member of theirs that is the output.
template <class Epilogue, class Arguments, class Dst>
[[gnu::visibility("hidden")]] OutputRun OutputRunOf(const Arguments& args, const Dst& dst) {
  using Value = typename Epilogue::Value;
  OutputRun run;
  run.bias = internal::TensorOf(args.bias);
  run.channel_alpha = internal::TensorOf(args.channel_alpha);
  run.residual = internal::TensorOf(args.residual);
  run.dst = internal::TensorOf(dst);
  run.alpha = &args.alpha, run.gamma = &args.gamma;
  run.beta = args.beta, run.output_scale = args.output_scale, run.zero_point = args.zero_point;
  run.epilogue = &args.epilogue;
  run.alpha_number = internal::AsDouble(args.alpha);
  run.gamma_number = internal::AsDouble(args.gamma);
  run.alpha_is_one = args.alpha == Value{1}, run.gamma_is_one = args.gamma == Value{1};
  run.gamma_is_zero = args.gamma == Value{0};
  DescribeEpilogue<Epilogue>(args.epilogue, &run);
  return run;
}

}  // namespace weft::gemm
