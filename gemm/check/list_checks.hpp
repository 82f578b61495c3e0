// What Gemm<Listed<P>> checks of a list beside what each product's Gemm<P> checks; compiled once.
#pragma once

#include <cstddef>
#include <vector>

#include "weft/gemm/check/argument_checks.hpp"
#include "weft/gemm/check/gemm_checks.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::gemm {

// InvalidArgument for an empty list, OutOfRange for one longer than 2^31 - 1.
absl::Status CheckListSize(std::size_t products);

// InvalidArgument for a batch, or an m below 0.
absl::Status CheckListed(const GemmProblem& problem);

// `status`, which begins with "gemm: ", as one of product i of the list.
absl::Status OfProduct(std::size_t i, const absl::Status& status);

absl::Status TooManyTiles(std::int64_t tiles);
absl::Status WrongCount(std::size_t given, std::size_t products);

// InvalidArgument for a null or misaligned address.
absl::Status CheckTable(const void* table, std::size_t alignment);

// A tensor of product `product`; no address is null.
struct ListedTensor {
  std::size_t product = 0;
  bool is_written = false;
  TensorArgument tensor;
};

// InvalidArgument if a product writes what another one reads or writes.
absl::Status CheckListApart(absl::Span<const ListedTensor> tensors);

}  // namespace weft::gemm
