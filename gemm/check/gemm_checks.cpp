#include "weft/gemm/check/gemm_checks.hpp"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "weft/gemm/tile/tile.hpp"
#include "weft/layouts/formats.hpp"

namespace weft::gemm {
namespace {

constexpr std::int64_t kTileOvershoot = 1024;  // tiles reach past the last row by less
constexpr std::int64_t kMaxExtent = kInt32Max - kTileOvershoot;
constexpr std::int64_t kInt64Max = std::numeric_limits<std::int64_t>::max();

absl::Status CheckExtent(const char* field, std::int64_t value) {
  if (value < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("gemm: ", field, "=", value, " is negative; give 0 or more"));
  }
  if (value > kMaxExtent) {
    return absl::OutOfRangeError(
        absl::StrCat("gemm: ", field, "=", value, " exceeds ", kMaxExtent, "; split the product"));
  }
  return absl::OkStatus();
}

// A matrix as it lies in memory: `lines` rows (of a column-major one, columns) of `extent` adjacent
// elements. The fields' names are for messages.
struct PitchedMatrix {
  const char* pitch_field;
  const char* extent_field;
  std::int64_t lines;
  std::int64_t extent;
  int element_bytes;   // bytes of an element, rounded up
  int access;          // elements of one access, of which pitches are multiples
  const char* helper;  // what lowers config.alignment; null: nothing does
};

// Checks *pitch, the elements from one line to the next, and fills it in if it is 0.
absl::Status CheckPitch(const PitchedMatrix& m, std::int64_t* pitch) {
  const bool given = *pitch != 0;
  if (!given) *pitch = m.extent;
  if (*pitch < m.extent) {
    return absl::InvalidArgumentError(absl::StrCat("gemm: ", m.pitch_field, "=", *pitch,
                                                   " is less than ", m.extent_field, "=", m.extent,
                                                   ", the elements that it steps over"));
  }
  const int multiple = m.access;
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
  // Tiles may reach past the last line. Kernels compute offsets there, although they do not use
  // them.
  const std::int64_t most = kInt64Max / (m.lines + kTileOvershoot) / m.element_bytes;
  if (*pitch > most) {
    return absl::OutOfRangeError(absl::StrCat("gemm: ", m.pitch_field, "=", *pitch, " exceeds ",
                                              most, ": ", m.lines,
                                              " lines so far apart pass a 64-bit offset's reach"));
  }
  return absl::OkStatus();
}

// Checks *stride, the elements from one of `batch` matrices `m` to the next, and fills it in if it
// is kPacked. by_tma: TMA reads them.
absl::Status CheckStride(const char* field, const PitchedMatrix& m, std::int64_t pitch,
                         std::int64_t batch, bool by_tma, std::int64_t* stride) {
  // The stride of a single product means nothing, and may be any number.
  if (*stride == GemmProblem::kPacked || batch <= 1) *stride = m.lines * pitch;
  if (batch <= 1) return absl::OkStatus();
  if (*stride < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("gemm: ", field, "=", *stride,
                     " is negative; give the elements from one product's matrix to the next one's, "
                     "or GemmProblem::kPacked"));
  }
  const int multiple = m.access;
  if (*stride % multiple != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "gemm: ", field, "=", *stride, " is not a multiple of ", multiple,
        ", the elements of one access; move the matrices apart",
        m.helper == nullptr ? "" : absl::StrCat(" or lower config.alignment with ", m.helper)));
  }
  const std::int64_t reach = kInt64Max / m.element_bytes - (m.lines + kTileOvershoot) * pitch;
  const std::int64_t most = std::min(
      reach / batch, (by_tma ? (std::int64_t{1} << 40) - 16 : kInt64Max) / m.element_bytes);
  if (*stride > most) {
    return absl::OutOfRangeError(absl::StrCat("gemm: ", field, "=", *stride, " exceeds ", most,
                                              ", the reach of ", by_tma ? "TMA" : "a 64-bit offset",
                                              "; split the batch"));
  }
  return absl::OkStatus();
}

// The least ldc that holds the blocks of all Cs side by side; the largest int64 if none does.
std::int64_t LeastPitch(const PitchedMatrix& c, const GemmProblem& p) {
  const std::int64_t stride = std::max(p.stride_c, c.extent);
  const std::int64_t most = (kInt64Max - c.extent) / (p.batch - 1);
  return stride > most ? kInt64Max : (p.batch - 1) * stride + c.extent;
}

// Checks that the Cs of a batch have no element in common, and that kernels can count their rows
// and columns with 32 bits.
absl::Status CheckApart(const PitchedMatrix& c, const GemmProblem& p) {
  // Kernels count rows and columns of the one matrix in which all Cs lie (MatrixRows).
  if (p.stride_c / p.ldc > (kMaxExtent - c.lines) / p.batch ||
      p.stride_c % p.ldc > (kMaxExtent - c.extent) / p.batch) {
    return absl::OutOfRangeError(
        absl::StrCat("gemm: stride_c=", p.stride_c, " times batch=", p.batch, " are more than ",
                     kMaxExtent, " times ldc=", p.ldc, "; split the batch"));
  }
  const std::int64_t behind = (c.lines - 1) * p.ldc + c.extent;
  if (p.batch == 1 || p.stride_c >= behind) return absl::OkStatus();
  if (p.stride_c >= c.extent && p.stride_c <= (p.ldc - c.extent) / (p.batch - 1)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "gemm: stride_c=", p.stride_c, " lets the C of a product reach into the next one's; give ",
      behind, " or more, or at least ", c.extent_field, "=", c.extent, " and an ldc of at least ",
      LeastPitch(c, p), " for blocks of one larger matrix"));
}

// Checks what Grouped allows: no strides of A and C, whose rows the groups share, and a number of
// tiles that 32 bits can count.
absl::Status CheckGroups(const GemmProblem& p, const GemmFacts& facts) {
  for (const auto& [field, value] : {std::pair{"stride_a", p.stride_a}, {"stride_c", p.stride_c}}) {
    if (value != GemmProblem::kPacked) {
      return absl::InvalidArgumentError(
          absl::StrCat("gemm: ", field, "=", value,
                       " is given, but the products of Grouped share the rows of one A and of one "
                       "C; leave it kPacked"));
    }
  }
  const std::int64_t most = kMaxExtent / facts.config.threadblock.m;
  if (p.m / facts.config.threadblock.m > most - p.batch) {
    return absl::OutOfRangeError(absl::StrCat("gemm: batch=", p.batch, " groups of m=", p.m,
                                              " rows need more than ", most,
                                              " rows of tiles; split the product"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckExtents(const GemmProblem& p) {
  for (const auto& [field, value] :
       {std::pair{"m", p.m}, {"n", p.n}, {"k", p.k}, {"batch", p.batch}}) {
    if (absl::Status s = CheckExtent(field, value); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::StatusOr<GemmProblem> CheckGemmProblem(const GemmProblem& problem, const GemmFacts& facts) {
  const TileDescription& config = facts.config;
  GemmProblem p = problem;
  if (absl::Status s = CheckExtents(p); !s.ok()) return s;
  if (facts.grouped) {
    if (absl::Status s = CheckGroups(p, facts); !s.ok()) return s;
    p.stride_a = p.stride_c = 0;
  }
  if (p.own_bias && p.n > kMaxExtent / std::max(p.batch, std::int64_t{1})) {
    return absl::OutOfRangeError(absl::StrCat("gemm: batch=", p.batch, " times n=", p.n,
                                              " exceeds ", kMaxExtent,
                                              ", the most biases of own_bias; split the batch"));
  }
  if (facts.int32_sums && p.k * facts.largest_product > kInt32Max) {
    return absl::InvalidArgumentError(absl::StrCat(
        "gemm: k=", p.k, " products of two bytes can overflow the int32 accumulator; ", "at most ",
        kInt32Max / facts.largest_product, " are accepted, so split the product"));
  }
  if (p.k * facts.element_bytes > kMaxExtent) {
    return absl::OutOfRangeError(absl::StrCat(
        "gemm: k=", p.k, " exceeds ", kMaxExtent / facts.element_bytes, "; split the product"));
  }
  const int store = 8 * config.alignment.dst / facts.store.element_bits;
  if (facts.row_major_c && p.n % store != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("gemm: n=", p.n, " is not a multiple of ", store, ", the elements of one ",
                     config.alignment.dst, "-byte store; pad C or lower config.alignment.dst with ",
                     "WithDstAlignment"));
  }
  const auto operand = [&](const char* pitch, const char* name, std::int64_t extent,
                           const OperandFacts& f) {
    return PitchedMatrix{pitch,
                         f.k_major ? "k" : name,
                         f.k_major ? extent : p.k,
                         f.k_major ? p.k : extent,
                         CeilDiv(f.bits, 8),
                         f.access,
                         config.mainloop == Mainloop::kWgmmaSm90 || (f.loads && !f.k_major)
                             ? nullptr
                             : "WithSrcAlignment"};
  };
  // A residual has C's leading dimension and elements of at most 4 bytes, perhaps wider than C's.
  const int c_bytes = std::max(facts.store.element_bits / 8, 4);
  const PitchedMatrix c = {"ldc",
                           facts.row_major_c ? "n" : "m",
                           facts.row_major_c ? p.m : p.n,
                           facts.row_major_c ? p.n : p.m,
                           c_bytes,
                           facts.row_major_c ? store : 1,
                           "WithDstAlignment"};
  const PitchedMatrix a = operand("lda", "m", p.m, facts.a);
  const PitchedMatrix b = operand("ldb", "n", p.n, facts.b);
  if (absl::Status s = CheckPitch(a, &p.lda); !s.ok()) return s;
  if (absl::Status s = CheckPitch(b, &p.ldb); !s.ok()) return s;
  if (absl::Status s = CheckPitch(c, &p.ldc); !s.ok()) return s;
  const bool by_tma = config.mainloop == Mainloop::kWgmmaSm90;
  if (absl::Status s = CheckStride("stride_a", a, p.lda, p.batch, by_tma, &p.stride_a); !s.ok()) {
    return s;
  }
  if (absl::Status s = CheckStride("stride_b", b, p.ldb, p.batch, by_tma, &p.stride_b); !s.ok()) {
    return s;
  }
  if (absl::Status s = CheckStride("stride_c", c, p.ldc, p.batch, false, &p.stride_c); !s.ok()) {
    return s;
  }
  if (!facts.grouped && !p.IsEmpty()) {
    if (absl::Status s = CheckApart(c, p); !s.ok()) return s;
  }
  return p;
}

absl::Status CheckGroupOffsets(const GemmProblem& p, absl::Span<const std::int32_t> group_offsets) {
  if (static_cast<std::int64_t>(group_offsets.size()) != p.batch) {
    return absl::InvalidArgumentError(absl::StrCat("gemm: group_offsets are ", group_offsets.size(),
                                                   ", but batch=", p.batch,
                                                   " groups; give one number for each"));
  }
  std::int32_t last = 0;
  for (std::int64_t g = 0; g < p.batch; ++g) {
    if (group_offsets[g] < last) {
      return absl::InvalidArgumentError(absl::StrCat(
          "gemm: args.group_offsets[", g, "]=", group_offsets[g], " is less than ", last,
          ", where the group begins; give group offsets that follow one another"));
    }
    if (group_offsets[g] > p.m) {
      return absl::InvalidArgumentError(absl::StrCat("gemm: args.group_offsets[", g,
                                                     "]=", group_offsets[g], " exceeds m=", p.m,
                                                     ", the rows there are"));
    }
    last = group_offsets[g];
  }
  return absl::OkStatus();
}

}  // namespace weft::gemm
