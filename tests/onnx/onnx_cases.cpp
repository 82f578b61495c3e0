// Runs the convolutions in a file, for tests/onnx/compare.py.
//
//     onnx_cases                   one line for each operator: its name, and 0 or 1 for unsigned,
//                                  integer, filter_zero_point, grouped and depthwise
//     onnx_cases CASES RESULTS     runs CASES and writes their outputs one after the other
//     onnx_cases activations CASES RESULTS     the same of those of tests/onnx/activations.py
//     onnx_cases operators CASES RESULTS       the same of those of tests/onnx/operators.py
#include <cstdio>
#include <fstream>

#include "tests/onnx/nodes.hpp"

namespace {

using weft::onnx_test::CaseHeader;
using weft::onnx_test::Operator;

std::vector<Operator> AllOperators() {
  std::vector<Operator> all = weft::onnx_test::CopiedOperators();
  for (const auto& others :
       {weft::onnx_test::TensorCoreOperators(), weft::onnx_test::WgmmaOperators(),
        weft::onnx_test::DepthwiseOperators()}) {
    all.insert(all.end(), others.begin(), others.end());
  }
  return all;
}

int Fail(const char* what, const std::string& why) {
  std::fprintf(stderr, "onnx_cases: %s: %s\n", what, why.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<Operator> operators = AllOperators();
  if (argc == 1) {
    for (const Operator& op : operators) {
      std::printf("%s %d %d %d %d %d\n", op.name, op.unsigned_source, op.integer,
                  op.filter_zero_point, op.grouped, op.depthwise);
    }
    return 0;
  }
  const std::string what = argc == 4 ? argv[1] : "";
  if (what == "activations" || what == "operators") {
    std::ifstream cases(argv[2], std::ios::binary);
    std::ofstream results(argv[3], std::ios::binary);
    if (!cases) return Fail(argv[2], "cannot be read");
    const std::string error = what == "operators"
                                  ? weft::onnx_test::RunTensorOperators(cases, results)
                                  : weft::onnx_test::RunActivations(cases, results);
    if (!error.empty()) return Fail(argv[2], error);
    return results.flush() ? 0 : Fail(argv[3], "cannot be written");
  }
  if (argc != 3) return Fail("arguments", "give a file of cases and one for the results, or none");
  std::ifstream cases(argv[1], std::ios::binary);
  std::ofstream results(argv[2], std::ios::binary);
  if (!cases) return Fail(argv[1], "cannot be read");
  CaseHeader header;
  for (int number = 0; cases.read(reinterpret_cast<char*>(&header), sizeof(header)); ++number) {
    const std::string name = "case " + std::to_string(number);
    if (header.op < 0 || header.op >= static_cast<int>(operators.size())) {
      return Fail(name.c_str(), "no such operator");
    }
    const std::string error =
        operators[static_cast<std::size_t>(header.op)].run(header, cases, results);
    if (!error.empty()) return Fail(name.c_str(), error);
  }
  if (!results.flush()) return Fail(argv[2], "cannot be written");
  return 0;
}
