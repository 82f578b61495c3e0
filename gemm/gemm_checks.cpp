#include "weft/gemm/gemm_checks.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "weft/layouts/formats.hpp"

namespace weft::gemm {
namespace {

constexpr std::int64_t kInt32Max = std::numeric_limits<std::int32_t>::max();
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
    const std::string lower = absl::StrCat(" or lower config.alignment with ", m.helper);
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

absl::StatusOr<GemmProblem> CheckGemmProblem(const GemmProblem& problem, const GemmFormat& format) {
  const TileDescription& config = format.config;
  GemmProblem p = problem;
  for (const auto& [field, value] : {std::pair{"m", p.m}, {"n", p.n}, {"k", p.k}}) {
    if (absl::Status s = CheckExtent(field, value); !s.ok()) return s;
  }
  if (format.int32_sums && p.k * kLargestProduct > kInt32Max) {
    return absl::InvalidArgumentError(
        absl::StrCat("gemm: k=", p.k,
                     " products of two int8 values can overflow the int32 accumulator; at most ",
                     kInt32Max / kLargestProduct, " are accepted, so split the product"));
  }
  if (p.k * format.element_bytes > kMaxExtent) {
    return absl::OutOfRangeError(absl::StrCat(
        "gemm: k=", p.k, " exceeds ", kMaxExtent / format.element_bytes, "; split the product"));
  }
  const int store = config.alignment.dst / format.output_bytes;
  if (format.row_major_c && p.n % store != 0) {
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
                 format.element_bytes,
                 config.alignment.src,
                 "WithSrcAlignment"};
  };
  // A residual has C's pitch, and elements of at most 4 bytes.
  const int c_bytes = std::max(format.output_bytes, 4);
  const Lines c = {"ldc",
                   format.row_major_c ? "n" : "m",
                   format.row_major_c ? p.m : p.n,
                   format.row_major_c ? p.n : p.m,
                   c_bytes,
                   format.row_major_c ? store * c_bytes : c_bytes,
                   "WithDstAlignment"};
  if (absl::Status s = CheckPitch(operand("lda", format.row_major_a, "m", p.m), &p.lda); !s.ok()) {
    return s;
  }
  if (absl::Status s = CheckPitch(operand("ldb", !format.row_major_b, "n", p.n), &p.ldb); !s.ok()) {
    return s;
  }
  if (absl::Status s = CheckPitch(c, &p.ldc); !s.ok()) return s;
  if (const std::int64_t blocks = CountTiles(p, config).blocks(); blocks > kInt32Max) {
    return absl::OutOfRangeError(absl::StrCat("gemm: blocks=", blocks, " exceeds ", kInt32Max,
                                              "; use a larger threadblock tile"));
  }
  return p;
}

PlanCounts CountTiles(const GemmProblem& p, const TileDescription& config) {
  const TileShape& t = config.threadblock;
  PlanCounts counts;
  counts.tiles_m = CeilDiv(p.m, std::int64_t{t.m});
  counts.tiles_n = CeilDiv(p.n, std::int64_t{t.n});
  counts.slices = static_cast<std::int32_t>(CeilDiv(p.k, std::int64_t{t.k}));
  counts.useful =
      double(p.m) * p.n * p.k / (double(counts.blocks()) * t.m * t.n * counts.slices * t.k);
  return counts;
}

std::string DescribeGemm(const PlanCounts& counts, const TileFacts& f) {
  const TileDescription& c = f.config;
  const std::string clusters = c.split > 1 ? absl::StrFormat("clusters of %d ", c.split) : "";
  return absl::StrFormat(
      "%s %dx%dx%d warp %dx%d, %d stages, %d x %d %sblocks of %d threads, %d bytes shared, %s -> "
      "%s",
      MainloopName(c.mainloop), c.threadblock.m, c.threadblock.n, c.threadblock.k, c.warp.m,
      c.warp.n, c.stages, counts.tiles_m, counts.tiles_n, clusters, f.threads, f.shared_bytes,
      f.src_layout, f.dst_layout);
}

}  // namespace weft::gemm
