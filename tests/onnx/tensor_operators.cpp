// Runs the cases of tests/onnx/operators.py: what a network computes besides convolutions.
#include <cstdint>
#include <istream>
#include <ostream>
#include <string>
#include <vector>

#include "tests/onnx/nodes.hpp"
#include "weft/network/operators/tensor_operator.hpp"

namespace weft::onnx_test {
namespace {

using network::TensorType;

struct TensorHeader {
  std::int32_t element, format, n, c, h, w, zero_point;
  float scale;
};

// A case as the file has it: this, then src and other as they lie in memory.
struct Header {
  std::int32_t kind;
  TensorHeader src, other, dst;
  std::int32_t window[10];  // as Window has them
  std::int32_t count_padding, first_channel, factor_h, factor_w;
};

TensorType TypeOf(const TensorHeader& h) {
  return {.element = static_cast<network::Element>(h.element),
          .extents = {h.n, h.c, h.h, h.w},
          .format = static_cast<network::Format>(h.format),
          .quantization = {.scale = h.scale, .zero_point = h.zero_point}};
}

std::vector<char> Bytes(const TensorType& type) {
  return std::vector<char>(static_cast<std::size_t>(type.bytes()));
}

}  // namespace

std::string RunTensorOperators(std::istream& in, std::ostream& out) {
  Header h;
  while (in.read(reinterpret_cast<char*>(&h), sizeof(h))) {
    network::TensorProblem p;
    p.kind = static_cast<network::Kind>(h.kind);
    p.src = TypeOf(h.src), p.other = TypeOf(h.other), p.dst = TypeOf(h.dst);
    const auto& w = h.window;
    p.window = {.h = w[0],
                .w = w[1],
                .stride_h = w[2],
                .stride_w = w[3],
                .pad_top = w[4],
                .pad_left = w[5],
                .pad_bottom = w[6],
                .pad_right = w[7],
                .dilation_h = w[8],
                .dilation_w = w[9]};
    p.count_padding = h.count_padding != 0;
    p.first_channel = h.first_channel;
    p.factor_h = h.factor_h, p.factor_w = h.factor_w;
    const auto op = network::TensorOperator::Create(p);
    if (!op.ok()) return std::string(op.status().message());
    std::vector<char> src = Bytes(p.src), other = Bytes(p.other), dst = Bytes(p.dst);
    in.read(src.data(), static_cast<std::streamsize>(src.size()));
    in.read(other.data(), static_cast<std::streamsize>(other.size()));
    if (!in) return "the file ends within a case";
    const absl::Status s =
        op->RunOnCpu({.src = src.data(), .other = other.data(), .dst = dst.data()});
    if (!s.ok()) return std::string(s.message());
    out.write(dst.data(), static_cast<std::streamsize>(dst.size()));
  }
  return "";
}

}  // namespace weft::onnx_test
