// What Gemm<Listed<P>> checks of the arguments of a list of products, in addition to what Gemm<P>
// checks of each product. It is compiled once, for all policies.
#pragma once

#include <cstddef>

#include "weft/gemm/check/argument_checks.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::gemm {

// `status`, whose message begins with "gemm: ", with a message that names product i of the list.
absl::Status OfProduct(std::size_t i, const absl::Status& status);

// InvalidArgument: there are `given` arguments, and the list has another number of products.
absl::Status WrongCount(std::size_t given, std::size_t products);

// InvalidArgument if the address of the GPU's copy of the table is null or not `alignment`-byte
// aligned.
absl::Status CheckTable(const void* table, std::size_t alignment);

// A tensor that product `product` of a list reads or writes. Its address is not null.
struct ListedTensor {
  std::size_t product = 0;
  bool is_written = false;
  TensorArgument tensor;
};

// InvalidArgument if a product writes what another one reads or writes.
absl::Status CheckListApart(absl::Span<const ListedTensor> tensors);

}  // namespace weft::gemm
