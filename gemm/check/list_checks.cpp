#include "weft/gemm/check/list_checks.hpp"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

namespace weft::gemm {
namespace {

std::uintptr_t BeginOf(const ListedTensor& t) {
  return reinterpret_cast<std::uintptr_t>(t.tensor.address);
}
__extension__ using Wide = unsigned __int128;

// The address behind the tensor's last byte, at most the largest address there is.
std::uintptr_t EndOf(const ListedTensor& t) {
  const auto bytes =
      static_cast<Wide>(t.tensor.lines - 1) * static_cast<std::uint64_t>(t.tensor.pitch_bytes) +
      static_cast<std::uint64_t>(t.tensor.line_bytes);
  const Wide most = ~std::uintptr_t{0};
  return static_cast<std::uintptr_t>(std::min(BeginOf(t) + bytes, most));
}

}  // namespace

absl::Status OfProduct(std::size_t i, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat("gemm: problem ", i, " of the list: ",
                                                  absl::StripPrefix(status.message(), "gemm: ")));
}

absl::Status WrongCount(std::size_t given, std::size_t products) {
  return absl::InvalidArgumentError(
      absl::StrCat("gemm: args has ", given, " elements, but the list ", products,
                   " products; give one for each, in the order of Create"));
}

absl::Status CheckTable(const void* table, std::size_t alignment) {
  if (table == nullptr) {
    return absl::InvalidArgumentError(
        "gemm: table is null; give the address of a copy of Table()'s in the GPU's memory");
  }
  if (reinterpret_cast<std::uintptr_t>(table) % alignment != 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("gemm: table=%p is not %d-byte aligned; allocate it with that alignment",
                        table, alignment));
  }
  return absl::OkStatus();
}

absl::Status CheckListApart(absl::Span<const ListedTensor> tensors) {
  std::vector<const ListedTensor*> written;  // sorted by their first bytes
  for (const ListedTensor& t : tensors) {
    if (t.is_written) written.push_back(&t);
  }
  std::sort(written.begin(), written.end(),
            [](const ListedTensor* a, const ListedTensor* b) { return BeginOf(*a) < BeginOf(*b); });
  std::vector<std::uintptr_t> reach;  // the furthest end of written[0] to written[i]
  for (const ListedTensor* t : written) {
    reach.push_back(std::max(EndOf(*t), reach.empty() ? 0 : reach.back()));
  }
  for (const ListedTensor& t : tensors) {
    auto behind = std::lower_bound(
        written.begin(), written.end(), EndOf(t),
        [](const ListedTensor* w, std::uintptr_t end) { return BeginOf(*w) < end; });
    for (std::ptrdiff_t i = behind - written.begin() - 1; i >= 0 && reach[i] > BeginOf(t); --i) {
      const ListedTensor& w = *written[i];
      if (w.product == t.product || !Overlap(w.tensor, t.tensor)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("gemm: args[", w.product, "].", w.tensor.field, " overlaps args[", t.product,
                       "].", t.tensor.field, "; products of a list run at the same time, so give ",
                       w.tensor.field, " memory of its own"));
    }
  }
  return absl::OkStatus();
}

}  // namespace weft::gemm
