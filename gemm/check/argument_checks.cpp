#include "weft/gemm/check/argument_checks.hpp"

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "weft/epilogues/table.hpp"
#include "weft/gemm/tile/tile.hpp"

namespace weft::gemm {
namespace {

__extension__ using Wide = __int128;  // sums and products of addresses do not overflow it

absl::Status CheckAddress(const char* who, const TensorArgument& t) {
  if (t.address == nullptr && t.if_null == nullptr) return absl::OkStatus();
  if (t.address == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(who, ": args.", t.field, " ", t.if_null));
  }
  const Wide given = Wide{t.given.count} * t.given.bytes;
  if (t.given.count >= 0 && given < t.Reach()) {
    return absl::InvalidArgumentError(
        absl::StrCat(who, ": args.", t.field, " has ", t.given.count, " elements of ",
                     t.given.bytes, " bytes, and the operator reads or writes ",
                     CeilDiv(t.Reach(), std::int64_t{t.given.bytes}),
                     " of them; give the whole tensor, with what fills its layout's blocks"));
  }
  const auto address = reinterpret_cast<std::uintptr_t>(t.address);
  if (address % t.alignment == 0) return absl::OkStatus();
  const auto has = static_cast<int>(address & (~address + 1));
  std::string remedy;
  if (t.helper != nullptr && has >= t.least_alignment) {
    remedy = absl::StrCat(", or build the operator with ", t.helper, "(config, ", has, ")");
  }
  return absl::InvalidArgumentError(
      absl::StrFormat("%s: args.%s=%p is not %d-byte aligned; allocate it with that alignment%s",
                      who, t.field, t.address, t.alignment, remedy));
}

bool LinesOverlap(Wide distance, const TensorArgument& a, const TensorArgument& b) {
  return -distance < b.line_bytes && distance < a.line_bytes;
}

absl::Status CheckOverlap(const char* who, const TensorArgument& input,
                          const TensorArgument& output) {
  if (input.may_be_output && input.address == output.address) return absl::OkStatus();
  if (!Overlap(input, output)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(who, ": args.", output.field, " overlaps args.", input.field,
                   "; blocks would read what others have written, so give ", output.field,
                   " memory of its own", input.may_be_output ? ", or its very address" : ""));
}

absl::Status WithoutStage(const char* who, const std::string& what, const char* stage,
                          const char* leave) {
  return absl::InvalidArgumentError(absl::StrCat(who, ": args.", what,
                                                 " is set but the policy's Epilogue has no ", stage,
                                                 " stage; leave it ", leave));
}

struct Number {
  const char* field;
  double value;
  bool is_neutral;
  const char* neutral;
  bool read;
  const char* stage;
};

absl::Status CheckNumbers(const char* who, const EpilogueFacts& facts, const OutputRun& run) {
  const Number numbers[] = {
      {"alpha", run.alpha_number, run.alpha_is_one, "1", facts.scale, "Scale"},
      {"beta", run.beta, run.beta == 1.0f, "1", facts.bias && !facts.bias_in_sum, "Bias"},
      {"gamma", run.gamma_number, run.gamma_is_one, "1", facts.residual, "Residual"},
      {"output_scale", run.output_scale, run.output_scale == 0.0f, "0", facts.output_scale,
       "OutputScale"},
      {"zero_point", run.zero_point, run.zero_point == 0.0f, "0", facts.zero_point, "ClampTo"},
      {"epilogue's residual zero_point", run.residual_zero_point, true, "0", true,
       "ResidualWithZeroPoint"},
  };
  if (facts.output_scale && !(run.output_scale > 0.0f && std::isfinite(run.output_scale) &&
                              std::isfinite(1.0f / run.output_scale))) {
    return absl::InvalidArgumentError(absl::StrCat(
        who, ": args.output_scale=", run.output_scale,
        " is not a finite number above 0, but the policy's Epilogue has an OutputScale stage; give "
        "the scale of the quantised output, the real value of one of its steps"));
  }
  for (const Number& n : numbers) {
    if (!std::isfinite(n.value)) {
      return absl::InvalidArgumentError(
          absl::StrCat(who, ": args.", n.field, std::isnan(n.value) ? " is NaN" : " is infinite",
                       "; give a finite number"));
    }
    if (!n.read && !n.is_neutral) {
      return WithoutStage(who, absl::StrCat(n.field, "=", n.value), n.stage, n.neutral);
    }
  }
  struct ZeroPoint {
    const char* field;
    const char* of;
    float value, least, most;
  };
  const ZeroPoint zero_points[] = {
      {"zero_point", "an output", run.zero_point, facts.least_zero_point, facts.most_zero_point},
      {"epilogue's residual zero_point", "a residual", run.residual_zero_point,
       facts.least_residual_zero_point, facts.most_residual_zero_point}};
  for (const ZeroPoint& z : zero_points) {
    if (z.value < z.least || z.value > z.most) {
      return absl::InvalidArgumentError(
          absl::StrCat(who, ": args.", z.field, "=", z.value, " is outside ", z.least, " to ",
                       z.most, ", the values of ", z.of, " of its type; give one of them"));
    }
    if (facts.whole_zero_point && z.value != std::nearbyint(z.value)) {
      return absl::InvalidArgumentError(absl::StrCat(
          who, ": args.", z.field, "=", z.value, " is not an integer, as the values of ", z.of,
          " of its type are; give one from ", z.least, " to ", z.most));
    }
  }
  if (run.wrong_number != nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(who, ": args.epilogue's ", run.wrong_number));
  }
  if (run.channel_alpha.address != nullptr && !run.alpha_is_one) {
    return absl::InvalidArgumentError(
        absl::StrCat(who, ": args.alpha=", run.alpha_number,
                     " and args.channel_alpha are both set; give one of them"));
  }
  return absl::OkStatus();
}

}  // namespace

bool Overlap(const TensorArgument& a, const TensorArgument& b) {
  const Wide start_a = reinterpret_cast<std::uintptr_t>(a.address);
  const Wide start_b = reinterpret_cast<std::uintptr_t>(b.address);
  const Wide distance = start_b - start_a;
  const Wide span_a = Wide{a.lines - 1} * a.pitch_bytes + a.line_bytes;
  const Wide span_b = Wide{b.lines - 1} * b.pitch_bytes + b.line_bytes;
  if (-distance >= span_b || distance >= span_a) return false;
  if (a.lines == 1 && b.lines == 1) return true;
  const Wide pitch = a.lines > 1 ? a.pitch_bytes : b.pitch_bytes;
  if (a.lines > 1 && b.lines > 1 && pitch != b.pitch_bytes) return true;
  if (a.line_bytes > pitch || b.line_bytes > pitch) return true;
  // Both have lines `pitch` apart, so line i of a can overlap only line i + steps of b and the
  // next.
  Wide steps = -distance / pitch;
  if (distance + steps * pitch > 0) --steps;
  for (const Wide j : {steps, steps + 1}) {
    if (j > -a.lines && j < b.lines && LinesOverlap(distance + j * pitch, a, b)) return true;
  }
  return false;
}

TensorArgument Batched(TensorArgument t, std::int64_t batch, std::int64_t stride) {
  const std::int64_t further = (batch - 1) * stride;  // from the first matrix to the last
  if (further == 0) return t;
  if (further <= t.pitch_bytes - t.line_bytes) {
    t.line_bytes += further;
  } else if (stride % t.pitch_bytes == 0) {
    t.lines += further / t.pitch_bytes;
  } else {
    t.line_bytes += further + (t.lines - 1) * t.pitch_bytes;
    t.lines = 1;
  }
  return t;
}

EpilogueArguments EpilogueArgumentsOf(const EpilogueFacts& facts, const OutputRun& run,
                                      std::int64_t channels, const TensorArgument& residual) {
  EpilogueArguments e = {.facts = facts,
                         .run = run,
                         .bias = {.field = "bias",
                                  .address = run.bias.address,
                                  .alignment = facts.bias_bytes,
                                  .line_bytes = channels * facts.bias_bytes,
                                  .given = run.bias.given},
                         .channel_alpha = {.field = "channel_alpha",
                                           .address = run.channel_alpha.address,
                                           .alignment = facts.value_alignment,
                                           .line_bytes = channels * facts.value_bytes,
                                           .given = run.channel_alpha.given},
                         .residual = residual};
  e.residual.field = "residual";
  e.residual.address = run.residual.address;
  e.residual.given = run.residual.given;
  // One number for each output channel, as channel_alpha.
  TensorArgument numbers = e.channel_alpha;
  numbers.given = {};
  if (facts.range) {
    numbers.if_null =
        "is null; give args.epilogue.Get<ChannelRange>() the addresses of one number for each "
        "output channel";
    e.low = e.high = numbers;
    e.low.field = "epilogue's low", e.high.field = "epilogue's high";
    e.low.address = run.low, e.high.address = run.high;
  }
  if (facts.channel_values) {
    e.channel_values = numbers;
    e.channel_values.field = "epilogue's channel values";
    e.channel_values.address = run.channel_values;
    e.channel_values.if_null =
        "are null; give the address of one number for each output channel, for PRelu "
        "args.epilogue.Get<PRelu>().slope";
  }
  if (facts.table) {
    e.table = {
        .field = "epilogue's table",
        .address = run.table,
        .line_bytes = epilogues::Table<>::kValues,
        .if_null = "is null; give the address of 512 values, args.epilogue.Get<Table<T>>().table"};
  }
  return e;
}

absl::Status CheckArguments(const char* who, absl::Span<const TensorArgument> operands,
                            const TensorArgument& output, const EpilogueArguments& e) {
  for (const TensorArgument& t : operands) {
    if (absl::Status s = CheckAddress(who, t); !s.ok()) return s;
  }
  if (e.facts.writes_output) {
    if (absl::Status s = CheckAddress(who, output); !s.ok()) return s;
  } else if (output.address != nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(who, ": args.", output.field,
                     " is set but the policy's Epilogue has OnlyImageSums, which writes no output; "
                     "leave it null, or take ImageSums"));
  }
  for (const TensorArgument& t : operands) {
    if (absl::Status s = CheckOverlap(who, t, output); !s.ok()) return s;
  }
  struct Optional {
    const TensorArgument& tensor;
    bool read, may_be_null;
    const char* stage;
  };
  const Optional optional[] = {{e.bias, e.facts.bias, false, "Bias"},
                               {e.residual, e.facts.residual, e.run.gamma_is_zero, "Residual"},
                               {e.channel_alpha, e.facts.scale, true, "Scale"},
                               {e.channel_values, e.facts.channel_values, false, "PRelu"},
                               {e.table, e.facts.table, false, "Table"}};
  for (const Optional& o : optional) {
    const bool given = o.tensor.address != nullptr;
    if (!o.read && given) return WithoutStage(who, o.tensor.field, o.stage, "null");
    if (!o.read || (o.may_be_null && !given)) continue;
    if (absl::Status s = CheckAddress(who, o.tensor); !s.ok()) return s;
    if (absl::Status s = CheckOverlap(who, o.tensor, output); !s.ok()) return s;
  }
  const TensorArgument* written[] = {&output, &e.copy, &e.low, &e.high, &e.image_sums};
  for (const TensorArgument*& beside : absl::MakeSpan(written).subspan(1)) {
    if (beside->line_bytes == 0) continue;
    if (absl::Status s = CheckAddress(who, *beside); !s.ok()) return s;
    for (const TensorArgument* const* before = written; before != &beside; ++before) {
      if ((*before)->line_bytes > 0 && Overlap(**before, *beside)) {
        return absl::InvalidArgumentError(absl::StrCat(who, ": args.", (*before)->field,
                                                       " overlaps args.", beside->field,
                                                       "; give each of them memory of its own"));
      }
    }
    for (const TensorArgument& t : operands) {
      if (absl::Status s = CheckOverlap(who, t, *beside); !s.ok()) return s;
    }
    for (const Optional& o : optional) {
      if (o.tensor.address == nullptr) continue;
      TensorArgument input = o.tensor;
      input.may_be_output = false;
      if (absl::Status s = CheckOverlap(who, input, *beside); !s.ok()) return s;
    }
  }
  return CheckNumbers(who, e.facts, e.run);
}

absl::Status CheckDevice(const char* who, const TileFacts& facts,
                         const arch::DeviceLimits& device) {
  const arch::Requires& needed = facts.hardware;
  if (!needed.Fits(device.compute_capability)) {
    const auto version = [](int c) { return absl::StrCat(c / 10, ".", c % 10); };
    return absl::FailedPreconditionError(absl::StrCat(
        who, ": config.mainloop needs compute capability ", version(needed.min),
        needed.exact ? " and no other" : "", ", this GPU has ", version(device.compute_capability),
        "; run on the CPU or choose an older mainloop"));
  }
  if (facts.shared_bytes > device.shared_memory_per_block) {
    return absl::ResourceExhaustedError(absl::StrCat(
        who, ": config.threadblock needs ", facts.shared_bytes,
        " bytes of shared memory, one block of this GPU has ", device.shared_memory_per_block,
        "; use a smaller threadblock tile or fewer stages"));
  }
  return absl::OkStatus();
}

}  // namespace weft::gemm
