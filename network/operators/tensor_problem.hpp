// What a TensorOperator is made for.
#pragma once

#include <cstdint>
#include <string>

#include "weft/layouts/base/abseil.hpp"
#include "weft/network/graph/graph.hpp"
#include "weft/network/graph/names.hpp"
#include "weft/network/graph/tensor.hpp"

namespace weft::network {

// An operator of one of these kinds: kQuantize, kDequantize, kConvert, kAdd, kMultiply, kTable, kMaxPool,
// kAveragePool, kGlobalAveragePool, kResize. docs/networks.md has their formulas. Each tensor has a format of its own.
// Only the source of kQuantize and the output of kDequantize are floats.
struct TensorProblem {
  Kind kind = Kind::kConvert;
  TensorType src{};
  TensorType
      other{};  // of kAdd and kMultiply; of kMultiply it may have one pixel, which is for all
  TensorType dst{};
  Window window{};             // of kMaxPool and kAveragePool
  bool count_padding = false;  // of kAveragePool: sums are divided by all pixels of a window
  // The channel of dst that the first one of src becomes: of kConvert any, of other kinds a multiple of 16, and 0 of kQuantize and
  // kDequantize. dst may have more channels than src, and those of others stay as they are; the last channels of dst also
  // fill its last block with zeros.
  std::int64_t first_channel = 0;
  std::int64_t factor_h = 1, factor_w = 1;  // of kResize
  std::string table{};                      // of kTable: 256 bytes, what each byte becomes
};

// Whether an average pooling is of all pixels at once, and without padding: it is then computed as kGlobalAveragePool,
// as onnxruntime does, which rounds sums in another way.
bool IsGlobal(const TensorProblem& average_pool);

// InvalidArgument, with the field, its value and what would be accepted, if there is no such operator; OutOfRange if a
// tensor is too large.
absl::Status CheckTensorProblem(const TensorProblem& problem);

}  // namespace weft::network
