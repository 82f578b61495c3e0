// The operators that the comparison with onnxruntime runs, and the cases that compare.py writes.
#pragma once

#include <cstdint>
#include <istream>
#include <ostream>
#include <string>
#include <vector>

namespace weft::onnx_test {

// A case as the file has it: these numbers, then x, w, w_scale (float), w_zero_point and b (int32).
struct CaseHeader {
  std::int32_t op;
  std::int32_t n, c, h, w, k, r, s;
  std::int32_t pad_top, pad_left, pad_bottom, pad_right;
  std::int32_t stride_h, stride_w, dilation_h, dilation_w, groups;
  std::int32_t unsigned_filter, x_zero_point, y_zero_point;
  float x_scale, y_scale;
};

// What an operator takes, for compare.py.
struct Operator {
  const char* name;
  bool unsigned_source;    // and destination, of QLinearConv
  bool integer;            // ConvInteger; else QLinearConv
  bool filter_zero_point;  // it takes any; else 0 of int8, 128 of uint8
  bool grouped;            // it takes groups of channels by 4
  bool depthwise;          // it takes groups of one channel, as many as divide by 4
  // Runs a case from `in` and writes y to `out`; the error, or nothing.
  std::string (*run)(const CaseHeader& header, std::istream& in, std::ostream& out);
};

// By mainloop, each in a file of its own, which compile side by side.
std::vector<Operator> CopiedOperators();
std::vector<Operator> TensorCoreOperators();
std::vector<Operator> WgmmaOperators();
std::vector<Operator> DepthwiseOperators();

// Runs the cases that activations.py writes from `in` and writes their outputs to `out`; the error, or nothing.
std::string RunActivations(std::istream& in, std::ostream& out);

// The same of those of operators.py.
std::string RunTensorOperators(std::istream& in, std::ostream& out);

}  // namespace weft::onnx_test
