#include "weft/gemm/gemm_checks.hpp"

#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace weft::gemm {
namespace {

constexpr std::int64_t kInt32Max = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kMaxExtent = kInt32Max - 1024;  // tiles may reach past the last row
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

absl::Status CheckPitch(const char* field, std::int64_t value, std::int64_t least, int multiple) {
  if (value < least) {
    return absl::InvalidArgumentError(absl::StrCat("gemm: ", field, "=", value, " is less than ",
                                                   least, ", the extent it steps over"));
  }
  if (value % multiple != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("gemm: ", field, "=", value, " is not a multiple of ", multiple,
                     ", the elements of one access; pad the matrix or lower config.alignment"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<GemmProblem> CheckGemmProblem(const GemmProblem& problem, const GemmFormat& format) {
  const Config& config = format.config;
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
  const std::int64_t least_lda = format.row_major_a ? p.k : p.m;
  const std::int64_t least_ldb = format.row_major_b ? p.n : p.k;
  const std::int64_t least_ldc = format.row_major_c ? p.n : p.m;
  if (p.lda == 0) p.lda = least_lda;
  if (p.ldb == 0) p.ldb = least_ldb;
  if (p.ldc == 0) p.ldc = least_ldc;
  const int load = config.alignment.src / format.element_bytes;
  const int store = config.alignment.dst / format.output_bytes;
  if (absl::Status s = CheckPitch("lda", p.lda, least_lda, load); !s.ok()) return s;
  if (absl::Status s = CheckPitch("ldb", p.ldb, least_ldb, load); !s.ok()) return s;
  if (absl::Status s = CheckPitch("ldc", p.ldc, least_ldc, format.row_major_c ? store : 1);
      !s.ok()) {
    return s;
  }
  if (format.row_major_c && p.n % store != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("gemm: n=", p.n, " is not a multiple of ", store, ", the elements of one ",
                     config.alignment.dst, "-byte store; pad C or lower config.alignment.dst"));
  }
  const std::int64_t blocks = CeilDiv(p.m, std::int64_t{config.threadblock.m}) *
                              CeilDiv(p.n, std::int64_t{config.threadblock.n});
  if (blocks > kInt32Max) {
    return absl::OutOfRangeError(absl::StrCat("gemm: blocks=", blocks, " exceeds ", kInt32Max,
                                              "; use a larger threadblock tile"));
  }
  return p;
}

absl::Status CheckGemmPointer(const char* field, const void* pointer, int alignment) {
  if (pointer == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("gemm: args.", field, " is null; give the address"));
  }
  if (reinterpret_cast<std::uintptr_t>(pointer) % alignment != 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("gemm: args.%s=%p is not %d-byte aligned; allocate it with that alignment",
                        field, pointer, alignment));
  }
  return absl::OkStatus();
}

}  // namespace weft::gemm
