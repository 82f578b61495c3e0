// What every operator checks of a run's arguments before it launches: addresses, alignment, overlap
// with the output, numbers; and whether a device can run it. The checks are compiled once for all
// operators.
//
// They read host values only: what pointers point to (bias, channel_alpha, residual) may lie in a
// GPU's memory and is not read.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/device.hpp"
#include "weft/gemm/check/epilogue_facts.hpp"
#include "weft/gemm/check/output_run.hpp"
#include "weft/gemm/check/typed_pointer.hpp"
#include "weft/gemm/policy/facts.hpp"
#include "weft/layouts/base/abseil.hpp"

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

// The tensors of a run that belong to its epilogue, with their extents.
struct EpilogueArguments {
  const EpilogueFacts& facts;
  const OutputRun& run;
  TensorArgument bias = {}, channel_alpha = {}, residual = {}, channel_values = {}, table = {};
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
// no finite inverse; or if a zero point is no value of its type, which is one of integers.
absl::Status CheckArguments(const char* who, absl::Span<const TensorArgument> operands,
                            const TensorArgument& output, const EpilogueArguments& epilogue);

// FailedPrecondition if the operator's kernels need another GPU; ResourceExhausted if they need
// more shared memory than one block can have there.
absl::Status CheckDevice(const char* who, const TileFacts& facts, const arch::DeviceLimits& device);

}  // namespace weft::gemm
