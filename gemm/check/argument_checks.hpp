// What every operator checks of a run's arguments before it launches: addresses, alignment, overlap
// with the output, numbers; and whether a device can run it. The checks are compiled once for all
// operators.
//
// They read host values only: what pointers point to (bias, channel_alpha, residual) may lie in a
// GPU's memory and is not read.
#pragma once

#include <cmath>
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

// Which arguments an epilogue reads.
struct EpilogueFacts {
  bool scale = false;
  bool bias = false;
  bool bias_in_sum = false;
  bool residual = false;
  bool output_scale = false;
  bool zero_point = false;
  bool channel_values = false;  // an activation reads a value for each channel
  // Zero points are integers; false where zero_point also stands for something else.
  bool whole_zero_point = true;
  // The ranges of the types of zero_point and of the residual's zero point.
  float least_zero_point = 0.0f, most_zero_point = 0.0f;
  float least_residual_zero_point = 0.0f, most_residual_zero_point = 0.0f;
};

// The epilogue's part of a run's arguments.
struct EpilogueArguments {
  EpilogueFacts facts;
  TensorArgument bias, channel_alpha, residual;
  TensorArgument channel_values = {};
  // The epilogue's auxiliary outputs; those that it does not write have no bytes.
  TensorArgument copy = {}, low = {}, high = {}, image_sums = {};
  bool writes_output = true;
  double alpha = 1.0, gamma = 1.0;
  float beta = 1.0f, output_scale = 0.0f, zero_point = 0.0f;
  float residual_zero_point = 0.0f;
  const char* wrong_number = nullptr;             // of an activation: Chain::WrongNumber
  bool alpha_is_one = true, gamma_is_one = true;  // exactly, in the types of alpha and gamma
  bool gamma_is_zero = false;                     // exactly, so that the residual is not read
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

}  // namespace internal

// The epilogue's part of an operator's Arguments. channels: output channels (columns of a product);
// residual: its extent in bytes and its alignment, without the address.
template <class Epilogue, class Arguments>
[[gnu::visibility("hidden")]] EpilogueArguments EpilogueArgumentsOf(
    const Arguments& args, std::int64_t channels, const TensorArgument& residual) {
  EpilogueArguments e = {
      .facts = {.scale = Epilogue::kHasScale,
                .bias = Epilogue::kHasBias,
                .bias_in_sum = Epilogue::kBiasInSum,
                .residual = Epilogue::kHasResidual,
                .output_scale = Epilogue::kHasOutputScale,
                .zero_point = Epilogue::OutputStage::kAddsZeroPoint},
      .bias = {.field = "bias",
               .address = args.bias,
               .alignment = alignof(decltype(*args.bias)),
               .line_bytes = channels * std::int64_t{sizeof(*args.bias)},
               .given = GivenOf(args.bias)},
      .channel_alpha = {.field = "channel_alpha",
                        .address = args.channel_alpha,
                        .alignment = alignof(decltype(args.alpha)),
                        .line_bytes = channels * std::int64_t{sizeof(args.alpha)},
                        .given = GivenOf(args.channel_alpha)},
      .residual = residual,
      .alpha = internal::AsDouble(args.alpha),
      .gamma = internal::AsDouble(args.gamma),
      .beta = args.beta,
      .output_scale = args.output_scale,
      .zero_point = args.zero_point,
      .alpha_is_one = args.alpha == decltype(args.alpha){1},
      .gamma_is_one = args.gamma == decltype(args.gamma){1},
      .gamma_is_zero = args.gamma == decltype(args.gamma){0}};
  e.residual.field = "residual";
  e.residual.address = args.residual;
  e.residual.given = GivenOf(args.residual);
  if constexpr (Epilogue::OutputStage::kAddsZeroPoint) {
    using Limits = std::numeric_limits<typename Epilogue::Output>;
    e.facts.least_zero_point = (Limits::min)(), e.facts.most_zero_point = (Limits::max)();
  }
  if constexpr (Epilogue::kResidualZeroPoint) {
    e.residual_zero_point =
        args.epilogue.template Get<typename Epilogue::ResidualStage>().zero_point;
    using Limits = std::numeric_limits<typename Epilogue::ResidualElement>;
    e.facts.least_residual_zero_point = (Limits::min)();
    e.facts.most_residual_zero_point = (Limits::max)();
  }
  if constexpr (Epilogue::kHasRange) {
    e.low = e.high = e.channel_alpha;
    e.low.given = e.high.given = {};
    e.low.field = "epilogue's low", e.high.field = "epilogue's high";
    const auto& range = args.epilogue.template Get<typename Epilogue::RangeStage>();
    e.low.address = range.low, e.high.address = range.high;
    e.low.if_null = e.high.if_null =
        "is null; give args.epilogue.Get<ChannelRange>() the addresses of one number for each "
        "output channel";
  }
  e.writes_output = Epilogue::kWritesOutput;
  e.wrong_number = args.epilogue.WrongNumber();
  if constexpr (Epilogue::kHasChannelValues) {
    e.facts.channel_values = true;
    e.channel_values = e.channel_alpha;
    e.channel_values.given = {};
    e.channel_values.field = "epilogue's channel values";
    e.channel_values.address = args.epilogue.ChannelValues();
    e.channel_values.if_null =
        "are null; give the address of one number for each output channel, for PRelu "
        "args.epilogue.Get<PRelu>().slope";
  }
  return e;
}

// InvalidArgument, with a message that begins with `who` ("conv"), if a tensor is null, is
// misaligned, has fewer elements than the operator reads (where it was given with a size) or
// overlaps the output; if an argument is set that no stage of the epilogue reads; if alpha and
// channel_alpha are both set; if a number is NaN or infinite; if output_scale is not above 0 or has
// no finite inverse; or if a zero point is no value of its type, which is one of integers.
absl::Status CheckArguments(const char* who, absl::Span<const TensorArgument> operands,
                            const TensorArgument& output, const EpilogueArguments& epilogue);

// FailedPrecondition if the operator's kernels need another GPU; ResourceExhausted if they need
// more shared memory than one block can have there.
absl::Status CheckDevice(const char* who, const TileFacts& facts, const arch::DeviceLimits& device);

}  // namespace weft::gemm
