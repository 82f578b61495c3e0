// What every operator checks of a run's arguments before it launches, compiled once: addresses,
// alignment, overlap with the output, numbers. And whether a device can run it.
//
// Host values only: what lies in memory (bias, channel_alpha, residual) may be on a GPU and is not
// looked at.
#pragma once

#include <cstdint>
#include <limits>

#include "weft/gemm/arch/device.hpp"
#include "weft/gemm/check/typed_pointer.hpp"
#include "weft/gemm/policy/facts.hpp"
#include "weft/layouts/base/abseil.hpp"
#include "weft/layouts/element/complex.hpp"

namespace weft::gemm {

// A tensor or matrix of a run, as bytes: `lines` lines of line_bytes bytes, pitch_bytes apart. One
// line is a tensor without gaps.
struct TensorArgument {
  const char* field = "";  // of Arguments
  const void* address = nullptr;
  int alignment = 1;  // that the address must have
  std::int64_t line_bytes = 0;
  std::int64_t lines = 1;
  std::int64_t pitch_bytes = 0;
  // The helper that gives a config another alignment, "WithDstAlignment", and the least it can
  // give; null: there is no choice.
  const char* helper = nullptr;
  int least_alignment = 1;
  const char* if_null = "is null; give the tensor's address";  // null: it may be null
  bool may_be_output = false;  // at the output's own address each thread reads what it writes
  GivenElements given = {};    // where a span or a vector was given
  std::int64_t reach = 0;      // bytes that it has to have then; 0: those up to its last line's end

  std::int64_t Reach() const { return reach != 0 ? reach : (lines - 1) * pitch_bytes + line_bytes; }
};

// `t` for `batch` such matrices, `stride` bytes apart, as one: of longer lines or of more lines of the
// same pitch where they are those of a larger matrix, else as all bytes from first to last.
TensorArgument Batched(TensorArgument t, std::int64_t batch, std::int64_t stride);

// Whether a byte belongs to both. Of matrices with one pitch, such as two blocks of columns of a
// larger one, exactly; of others, whether their ranges from first to last byte overlap.
bool Overlap(const TensorArgument& a, const TensorArgument& b);

// Which arguments an epilogue reads.
struct EpilogueFacts {
  bool scale = false;
  bool bias = false;
  bool bias_in_sum = false;
  bool residual = false;
  bool output_scale = false;
  bool zero_point = false;
  bool channel_values = false;    // of an activation
  bool whole_zero_point = false;  // it is added to integers
  // Of zero_point and of the residual's: what their types hold.
  float least_zero_point = 0.0f, most_zero_point = 0.0f;
  float least_residual_zero_point = 0.0f, most_residual_zero_point = 0.0f;
};

// The epilogue's part of a run's arguments.
struct EpilogueArguments {
  EpilogueFacts facts;
  TensorArgument bias, channel_alpha, residual;
  TensorArgument channel_values = {};
  // What the epilogue writes beside the output; of no bytes where it does not.
  TensorArgument copy = {}, low = {}, high = {}, image_sums = {};
  bool writes_output = true;
  float alpha = 1.0f, beta = 1.0f, gamma = 1.0f, output_scale = 0.0f, zero_point = 0.0f;
  float residual_zero_point = 0.0f;
  bool alpha_is_one = true, gamma_is_one = true;  // to the last bit of what alpha and gamma are
  bool gamma_is_zero = false;                     // then the residual is not read
};

namespace internal {

// For messages: NaN if a part is.
template <class Type>
[[gnu::visibility("hidden")]] float AsFloat(const Type& value) {
  if constexpr (kIsComplex<Type>) {
    return static_cast<float>(value.im == value.im ? value.re : value.im);
  } else {
    return static_cast<float>(value);
  }
}

}  // namespace internal

// From an operator's Arguments: `channels` output channels (columns), `residual` as bytes, its
// address aside.
template <class Epilogue, class Arguments>
[[gnu::visibility("hidden")]] EpilogueArguments EpilogueArgumentsOf(
    const Arguments& args, std::int64_t channels, const TensorArgument& residual) {
  EpilogueArguments e = {
      .facts = {.scale = Epilogue::kHasScale,
                .bias = Epilogue::kHasBias,
                .bias_in_sum = Epilogue::kBiasInSum,
                .residual = Epilogue::kHasResidual,
                .output_scale = Epilogue::kHasOutputScale,
                .zero_point = Epilogue::OutputStage::kAddsZeroPoint,
                .whole_zero_point = Epilogue::kRoundsFirst},
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
      .alpha = internal::AsFloat(args.alpha),
      .beta = args.beta,
      .gamma = internal::AsFloat(args.gamma),
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

// InvalidArgument, beginning with `who` ("conv"), if a tensor is null, misaligned, has fewer elements than
// are read (where it was given with a size) or overlaps the output; if an argument is set that no stage of
// the epilogue reads; if alpha and channel_alpha are both set; if a number is NaN or infinite, or
// output_scale no number above 0 with an inverse; if a zero point lies outside the type that it belongs to.
absl::Status CheckArguments(const char* who, absl::Span<const TensorArgument> operands,
                            const TensorArgument& output, const EpilogueArguments& epilogue);

// FailedPrecondition if the operator's kernels need another GPU; ResourceExhausted if they need
// more shared memory than one block can have there.
absl::Status CheckDevice(const char* who, const TileFacts& facts, const arch::DeviceLimits& device);

}  // namespace weft::gemm
