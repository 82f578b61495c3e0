// What a network computes: tensors and nodes, without a batch, a format or a kernel.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weft/layouts/base/abseil.hpp"
#include "weft/network/graph/tensor.hpp"

namespace weft::network {

// Of one image: a network plans for any number of them.
struct Tensor {
  std::string name{};
  Element element = Element::kUint8;
  std::int64_t c = 1, h = 1, w = 1;  // a vector of c numbers has one pixel
  Quantization quantization{};

  TensorType Type(std::int64_t n, Format format) const {
    return {.element = element,
            .extents = {n, c, h, w},
            .format = format,
            .quantization = quantization};
  }
};

// Part of a graph's constants.
struct Constant {
  std::int64_t at = 0, bytes = 0;  // bytes from their beginning; 0 bytes: there is none

  bool exists() const { return bytes != 0; }
};

// What a node does. docs/networks.md has the formula of each, to the bit.
enum class Kind : std::int8_t {
  kQuantize,           // floats to integers
  kDequantize,         // integers to floats
  kConvert,            // integers to integers of another scale, zero point or element
  kConvolution,        // with `filter`, `bias`, `window`, `groups`; to integers or to floats
  kFullyConnected,     // with `filter` (k, c h w) and `bias`; to integers or to floats
  kAdd,                // of two tensors of one shape
  kMultiply,           // likewise, or the second has one pixel
  kTable,              // each integer by a table of 256 bytes
  kMaxPool,            // with `window`
  kAveragePool,        // with `window`
  kGlobalAveragePool,  // over all pixels
  kConcat,             // of channels
  kResize,             // each pixel becomes factor_h x factor_w pixels
};

// Where a convolution or pooling looks.
struct Window {
  std::int64_t h = 1, w = 1;
  std::int64_t stride_h = 1, stride_w = 1;
  std::int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  std::int64_t dilation_h = 1, dilation_w = 1;

  friend constexpr bool operator==(const Window&, const Window&) = default;
};

struct Node {
  Kind kind = Kind::kConvert;
  std::string name{};  // that errors and reports say
  // Places in Graph::tensors. A second one of a convolution or a fully connected layer is a residual, which is
  // added before the result is rounded.
  std::vector<int> inputs{};
  int output = -1;
  Window window{};
  std::int64_t groups = 1;
  bool count_padding = false;  // kAveragePool: padding counts as zeros of the real numbers
  std::int64_t factor_h = 1, factor_w = 1;
  Constant filter{};        // int8, [k][c / groups][r][s]; its zero point is 0
  Constant filter_scale{};  // float, one number or k
  Constant bias{};   // int32, [k], in units of the source's scale times the filter's; or none
  Constant table{};  // 256 bytes: what each byte of the source becomes
};

struct Graph {
  std::string name{};
  std::vector<Tensor> tensors{};
  std::vector<Node> nodes{};             // each behind those whose outputs it reads
  std::vector<int> inputs{}, outputs{};  // places in tensors
  std::shared_ptr<const std::string> constants{};

  std::string_view Bytes(const Constant& constant) const {
    return std::string_view(*constants)
        .substr(static_cast<std::size_t>(constant.at), static_cast<std::size_t>(constant.bytes));
  }
};

// InvalidArgument, with the name of the node or the tensor, its value and what would be accepted, if the graph
// is not one that a network can run.
absl::Status CheckGraph(const Graph& graph);

// The file of a graph (docs/networks.md says what is in it), and the graph of a file's bytes. InvalidArgument if
// they are none, are damaged or are of a newer version, and the errors of CheckGraph.
std::string WriteGraph(const Graph& graph);
absl::StatusOr<Graph> ReadGraph(std::string_view bytes);

}  // namespace weft::network
