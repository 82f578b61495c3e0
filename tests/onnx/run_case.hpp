// Runs a case of compare.py on the operator of a policy.
#pragma once

#include <type_traits>

#include "tests/onnx/nodes.hpp"
#include "tests/onnx/run_node.hpp"

namespace weft::onnx_test {

template <class T>
void ReadInto(std::istream& in, std::int64_t count, std::vector<T>* to) {
  to->resize(static_cast<std::size_t>(count));
  in.read(reinterpret_cast<char*>(to->data()), count * static_cast<std::int64_t>(sizeof(T)));
}

template <class P>
std::string RunCase(const CaseHeader& h, std::istream& in, std::ostream& out) {
  Node<typename P::Element> node;
  conv::Problem& p = node.problem;
  p = {.n = h.n, .h = h.h, .w = h.w, .c = h.c, .k = h.k, .r = h.r, .s = h.s};
  p.pad_top = h.pad_top, p.pad_left = h.pad_left;
  p.pad_bottom = h.pad_bottom, p.pad_right = h.pad_right;
  p.stride_h = h.stride_h, p.stride_w = h.stride_w;
  p.dilation_h = h.dilation_h, p.dilation_w = h.dilation_w;
  p.groups = h.groups;
  node.x_zero_point = h.x_zero_point, node.y_zero_point = h.y_zero_point;
  node.x_scale = h.x_scale, node.y_scale = h.y_scale;
  ReadInto(in, NCHW::Size(p.src()), &node.x);
  const std::int64_t filter = KCRS::Size(p.filter()) * p.groups;
  if (h.unsigned_filter != 0) {
    std::vector<std::uint8_t> w;
    ReadInto(in, filter, &w);
    node.w = ToSigned(w);
  } else {
    ReadInto(in, filter, &node.w);
  }
  ReadInto(in, p.k, &node.w_scale);
  ReadInto(in, p.k, &node.w_zero_point);
  ReadInto(in, p.k, &node.b);
  if (!in) return "the file of cases ends early";
  if (h.unsigned_filter != 0) {
    for (std::int32_t& zero : node.w_zero_point) zero -= 128;
  }
  const auto y = RunNode<P>(node);
  if (!y.ok()) return y.status().ToString();
  out.write(reinterpret_cast<const char*>(y->data()),
            static_cast<std::int64_t>(y->size() * sizeof((*y)[0])));
  return "";
}

template <class P>
Operator MakeOperator(const char* name) {
  using Epilogue = typename P::Epilogue;
  return {.name = name,
          .unsigned_source = std::is_same_v<typename P::Element, std::uint8_t>,
          .integer = !Epilogue::kHasScale,
          .filter_zero_point = Epilogue::kFilterZeroPoint,
          .grouped = std::is_same_v<typename P::Prologue, prologues::Grouped>,
          .depthwise = std::is_same_v<typename P::Prologue, prologues::Depthwise>,
          .run = &RunCase<P>};
}

}  // namespace weft::onnx_test
