#include "weft/gemm/gemm_checks.hpp"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "weft/gemm/tile.hpp"
#include "weft/layouts/formats.hpp"

namespace weft::gemm {
namespace {

constexpr std::int64_t kTileOvershoot = 1024;  // tiles may reach past the last row by less
constexpr std::int64_t kMaxExtent = kInt32Max - kTileOvershoot;
constexpr std::int64_t kLargestProduct = 128 * 128;

absl::Status CheckExtent(const char* field, std::int64_t value) {
  if (value < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("gemm: ", field, "=", value, " is not positive; give 1 or more"));
  }
  if (value > kMaxExtent) {
    return absl::OutOfRangeError(
        absl::StrCat("gemm: ", field, "=", value, " exceeds ", kMaxExtent, "; split the product"));
  }
  return absl::OkStatus();
}

// A matrix of `lines` lines of `extent` elements (in messages: the extent's name), `pitch` apart.
struct Lines {
  const char* pitch_field;
  const char* extent_field;
  std::int64_t lines;
  std::int64_t extent;
  int element_bytes;
  int access_bytes;  // one access's; pitches are multiples of it
  const char* helper;
};

// Fills in *pitch if it is 0.
absl::Status CheckPitch(const Lines& m, std::int64_t* pitch) {
  const bool given = *pitch != 0;
  if (!given) *pitch = m.extent;
  if (*pitch < m.extent) {
    return absl::InvalidArgumentError(absl::StrCat("gemm: ", m.pitch_field, "=", *pitch,
                                                   " is less than ", m.extent_field, "=", m.extent,
                                                   ", the elements that it steps over"));
  }
  const int multiple = m.access_bytes / m.element_bytes;
  if (*pitch % multiple != 0) {
    const std::string accesses =
        absl::StrCat(" is not a multiple of ", multiple, ", the elements of one access; ");
    const std::string lower =
        m.helper == nullptr ? "" : absl::StrCat(" or lower config.alignment with ", m.helper);
    if (given) {
      return absl::InvalidArgumentError(absl::StrCat("gemm: ", m.pitch_field, "=", *pitch, accesses,
                                                     "pad the matrix's lines", lower));
    }
    return absl::InvalidArgumentError(
        absl::StrCat("gemm: ", m.extent_field, "=", m.extent, accesses, "pad the matrix's lines (",
                     m.pitch_field, "=", RoundUp(m.extent, std::int64_t{multiple}), ")", lower));
  }
  // Tiles may reach past the last line; offsets there are formed, though not used.
  const std::int64_t most =
      std::numeric_limits<std::int64_t>::max() / (m.lines + kTileOvershoot) / m.element_bytes;
  if (*pitch > most) {
    return absl::OutOfRangeError(absl::StrCat("gemm: ", m.pitch_field, "=", *pitch, " exceeds ",
                                              most, ": ", m.lines,
                                              " lines so far apart pass a 64-bit offset's reach"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckExtents(const GemmProblem& p) {
  for (const auto& [field, value] : {std::pair{"m", p.m}, {"n", p.n}, {"k", p.k}}) {
    if (absl::Status s = CheckExtent(field, value); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::StatusOr<GemmProblem> CheckGemmProblem(const GemmProblem& problem, const TileFacts& facts) {
  const TileDescription& config = facts.config;
  GemmProblem p = problem;
  if (absl::Status s = CheckExtents(p); !s.ok()) return s;
  if (facts.int32_sums && p.k * kLargestProduct > kInt32Max) {
    return absl::InvalidArgumentError(
        absl::StrCat("gemm: k=", p.k,
                     " products of two int8 values can overflow the int32 accumulator; at most ",
                     kInt32Max / kLargestProduct, " are accepted, so split the product"));
  }
  if (p.k * facts.element_bytes > kMaxExtent) {
    return absl::OutOfRangeError(absl::StrCat(
        "gemm: k=", p.k, " exceeds ", kMaxExtent / facts.element_bytes, "; split the product"));
  }
  const int store = 8 * config.alignment.dst / facts.dst_element_bits;
  if (facts.row_major_c && p.n % store != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("gemm: n=", p.n, " is not a multiple of ", store, ", the elements of one ",
                     config.alignment.dst, "-byte store; pad C or lower config.alignment.dst with ",
                     "WithDstAlignment"));
  }
  const auto operand = [&](const char* pitch, bool k_lines, const char* name, std::int64_t extent) {
    return Lines{pitch,
                 k_lines ? "k" : name,
                 k_lines ? extent : p.k,
                 k_lines ? p.k : extent,
                 facts.element_bytes,
                 config.alignment.src,
                 config.mainloop == Mainloop::kWgmmaSm90 ? nullptr : "WithSrcAlignment"};
  };
  // A residual has C's pitch, and elements of at most 4 bytes.
  const int c_bytes = std::max(facts.dst_element_bits / 8, 4);
  const Lines c = {"ldc",
                   facts.row_major_c ? "n" : "m",
                   facts.row_major_c ? p.m : p.n,
                   facts.row_major_c ? p.n : p.m,
                   c_bytes,
                   facts.row_major_c ? store * c_bytes : c_bytes,
                   "WithDstAlignment"};
  if (absl::Status s = CheckPitch(operand("lda", facts.lines_a, "m", p.m), &p.lda); !s.ok()) {
    return s;
  }
  if (absl::Status s = CheckPitch(operand("ldb", facts.lines_b, "n", p.n), &p.ldb); !s.ok()) {
    return s;
  }
  if (absl::Status s = CheckPitch(c, &p.ldc); !s.ok()) return s;
  return p;
}

}  // namespace weft::gemm
