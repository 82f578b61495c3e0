// What every operator checks of a run's arguments before it launches: addresses, alignment, overlap
// with the output, numbers; and whether a device can run it. The checks are compiled once for all
// operators.
//
// They read host values only: what pointers point to (bias, channel_alpha, residual) may lie in a
// GPU's memory and is not read.
#pragma once

#include <cstdint>
#include <limits>

#include "weft/gemm/arch/device.hpp"
#include "weft/gemm/check/typed_pointer.hpp"
#include "weft/gemm/policy/facts.hpp"
#include "weft/layouts/base/abseil.hpp"
#include "weft/layouts/element/complex.hpp"

namespace weft::gemm {

// A tensor or matrix of a run, as bytes: `lines` lines of line_bytes bytes each, pitch_bytes apart.
// A tensor without gaps is one line.
struct TensorArgument {
  const char* field = "";  // its name in Arguments
  const void* address = nullptr;
  int alignment = 1;  // bytes of which the address must be a multiple
  std::int64_t line_bytes = 0;
  std::int64_t lines = 1;
  std::int64_t pitch_bytes = 0;
  // The helper that gives a config a narrower alignment, such as "WithDstAlignment", and the least
  // that it can give; null: there is no choice.
  const char* helper = nullptr;
  int least_alignment = 1;
  const char* if_null = "is null; give the tensor's address";  // null: it may be null
  bool may_be_output = false;  // may be the output: each thread reads what only it writes later
  GivenElements given = {};    // the size, where a span or a vector was given
  std::int64_t reach = 0;      // the bytes that it then must have; 0: up to its last line's end

  std::int64_t Reach() const { return reach != 0 ? reach : (lines - 1) * pitch_bytes + line_bytes; }
};

// `batch` matrices like `t`, `stride` bytes apart, as one TensorArgument. Where they are parts of a
// larger matrix it has longer lines, or more lines of the same pitch; otherwise it is one line of
// all bytes from the first matrix to the last.
TensorArgument Batched(TensorArgument t, std::int64_t batch, std::int64_t stride);

// Whether a byte belongs to both. The answer is exact for matrices with the same pitch, such as two
// blocks of columns of a larger matrix; of others it says whether their ranges from first to last
// byte overlap.
bool Overlap(const TensorArgument& a, const TensorArgument& b);

// What an epilogue reads and writes, as values instead of types.
struct EpilogueFacts {
  bool scale = false;
  bool bias = false;
  bool bias_in_sum = false;
  bool residual = false;
  bool output_scale = false;
  bool zero_point = false;
  bool channel_values = false;    // an activation reads a value for each channel
  bool whole_zero_point = false;  // zero_point is added to integers, so it must be one
  bool source_zero_point = false, filter_zero_point = false;  // it has these stages
  bool range = false, image_sums = false;                     // it has these auxiliary outputs
  bool writes_output = true;
  // Bytes of an element, in a run's arguments; of copy 0 where there is no Copy stage.
  int output_bytes = 1, bias_bytes = 4, residual_bytes = 1, copy_bytes = 0;
  int value_bytes = 4, value_alignment = 4;  // of alpha, gamma and channel_alpha
  // The ranges of the types of zero_point and of the residual's zero point.
  float least_zero_point = 0.0f, most_zero_point = 0.0f;
  float least_residual_zero_point = 0.0f, most_residual_zero_point = 0.0f;
};

template <class Epilogue>
constexpr EpilogueFacts EpilogueFactsOf() {
  using Output = typename Epilogue::Output;
  using Residual = typename Epilogue::ResidualElement;
  EpilogueFacts f;
  f.scale = Epilogue::kHasScale;
  f.bias = Epilogue::kHasBias;
  f.bias_in_sum = Epilogue::kBiasInSum;
  f.residual = Epilogue::kHasResidual;
  f.output_scale = Epilogue::kHasOutputScale;
  f.zero_point = Epilogue::OutputStage::kAddsZeroPoint;
  f.channel_values = Epilogue::kHasChannelValues;
  f.whole_zero_point = Epilogue::kRoundsFirst;
  f.source_zero_point = Epilogue::kSourceZeroPoint;
  f.filter_zero_point = Epilogue::kFilterZeroPoint;
  f.range = Epilogue::kHasRange;
  f.image_sums = Epilogue::kHasSums;
  f.writes_output = Epilogue::kWritesOutput;
  f.output_bytes = sizeof(Output);
  f.bias_bytes = sizeof(typename Epilogue::BiasElement);
  f.residual_bytes = sizeof(Residual);
  f.value_bytes = sizeof(typename Epilogue::Value);
  f.value_alignment = alignof(typename Epilogue::Value);
  if constexpr (Epilogue::kHasCopy) f.copy_bytes = sizeof(typename Epilogue::CopyStage::Element);
  if constexpr (Epilogue::OutputStage::kAddsZeroPoint) {
    f.least_zero_point = (std::numeric_limits<Output>::min)();
    f.most_zero_point = (std::numeric_limits<Output>::max)();
  }
  if constexpr (Epilogue::kResidualZeroPoint) {
    f.least_residual_zero_point = (std::numeric_limits<Residual>::min)();
    f.most_residual_zero_point = (std::numeric_limits<Residual>::max)();
  }
  return f;
}

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
  // alpha and gamma for checks; a complex number is NaN if either part is.
  float alpha_number = 1.0f, gamma_number = 1.0f;
  bool alpha_is_one = true, gamma_is_one = true;  // exactly, in their types
  bool gamma_is_zero = false;                     // exactly, so that the residual is not read
  // What stages say of themselves; null where the epilogue has no such stage.
  const void *copy = nullptr, *low = nullptr, *high = nullptr, *image_sums = nullptr;
  const void* channel_values = nullptr;
  float residual_zero_point = 0.0f;

  // What kernels take for the residual. With a gamma of 0 it may be null: they then do not read it, but
  // compute addresses from it, so that dst takes its place.
  const void* ResidualOrOutput() const {
    return residual.address != nullptr ? residual.address : dst.address;
  }
};

namespace internal {

template <class Type>
[[gnu::visibility("hidden")]] float AsFloat(const Type& value) {
  if constexpr (kIsComplex<Type>) {
    return static_cast<float>(value.im == value.im ? value.re : value.im);
  } else {
    return static_cast<float>(value);
  }
}

template <class Pointer>
[[gnu::visibility("hidden")]] GivenTensor TensorOf(const Pointer& pointer) {
  return {pointer, GivenOf(pointer)};
}

}  // namespace internal

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
  run.alpha_number = internal::AsFloat(args.alpha);
  run.gamma_number = internal::AsFloat(args.gamma);
  run.alpha_is_one = args.alpha == Value{1}, run.gamma_is_one = args.gamma == Value{1};
  run.gamma_is_zero = args.gamma == Value{0};
  if constexpr (Epilogue::kHasCopy) {
    run.copy = args.epilogue.template Get<typename Epilogue::CopyStage>().to;
  }
  if constexpr (Epilogue::kHasRange) {
    const auto& range = args.epilogue.template Get<typename Epilogue::RangeStage>();
    run.low = range.low, run.high = range.high;
  }
  if constexpr (Epilogue::kHasSums) {
    run.image_sums = args.epilogue.template Get<typename Epilogue::SumsStage>().to;
  }
  if constexpr (Epilogue::kHasChannelValues) run.channel_values = args.epilogue.ChannelValues();
  if constexpr (Epilogue::kResidualZeroPoint) {
    run.residual_zero_point =
        args.epilogue.template Get<typename Epilogue::ResidualStage>().zero_point;
  }
  return run;
}

// The tensors of a run that belong to its epilogue, with their extents.
struct EpilogueArguments {
  const EpilogueFacts& facts;
  const OutputRun& run;
  TensorArgument bias = {}, channel_alpha = {}, residual = {}, channel_values = {};
  // The epilogue's auxiliary outputs; those that it does not write have no bytes.
  TensorArgument copy = {}, low = {}, high = {}, image_sums = {};
};

// channels: output channels (columns of a product); residual: its extent in bytes and its alignment,
// without the address. The result refers to facts and run. Who has a Copy stage or ImageSums adds the
// extents of these.
EpilogueArguments EpilogueArgumentsOf(const EpilogueFacts& facts, const OutputRun& run,
                                      std::int64_t channels, const TensorArgument& residual);

// InvalidArgument, with a message that begins with `who` ("conv"), if a tensor is null, is
// misaligned, has fewer elements than the operator reads (where it was given with a size) or
// overlaps the output; if an argument is set that no stage of the epilogue reads; if alpha and
// channel_alpha are both set; if a number is NaN or infinite; if output_scale is not above 0 or has
// no finite inverse; or if a zero point lies outside the range of its type.
absl::Status CheckArguments(const char* who, absl::Span<const TensorArgument> operands,
                            const TensorArgument& output, const EpilogueArguments& epilogue);

// FailedPrecondition if the operator's kernels need another GPU; ResourceExhausted if they need
// more shared memory than one block can have there.
absl::Status CheckDevice(const char* who, const TileFacts& facts, const arch::DeviceLimits& device);

}  // namespace weft::gemm
