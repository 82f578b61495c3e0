#include "weft/network/plan/convolution_policy.hpp"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "weft/rtc/text/source_text.hpp"

namespace weft::network {
namespace {

const char* TypeOf(Element element) {
  return element == Element::kInt8 ? "std::int8_t" : "std::uint8_t";
}

std::string TypeOf(Format format) {
  return VisitFormat(format, []<class Layout>() { return absl::StrCat("weft::", Layout::kName); });
}

// The ready-made policy over a source's format.
const char* BaseOf(Format src, bool depthwise) {
  if (src == Format::kNc4) return depthwise ? "S8Depthwise4" : "S8Conv4";
  if (src == Format::kNhwc) return depthwise ? "S8DepthwiseNhwc" : "S8ConvNhwc";
  return depthwise ? "S8Depthwise32" : "S8Conv32";
}

std::string PoolOf(const conv::PoolFacts& pool) {
  if (!pool.exists()) return "";
  return absl::StrCat("MaxPool<", pool.size, ", ", pool.step, ", ", pool.padding, ">, ");
}

}  // namespace

ConvolutionPolicy PolicyOf(const Plan& plan, const Step& step, const std::string& tile) {
  const auto& what = std::get<ConvolutionStep>(step.what);
  const auto type = [&](int place) -> const TensorType& {
    return plan.tensors[static_cast<std::size_t>(place)].type;
  };
  const TensorType &src = type(step.src), &dst = type(step.dst);
  ConvolutionPolicy policy;
  // What follows Scale, up to the integer that ClampTo writes.
  std::vector<std::string> steps;
  const auto table_to = [&](Element element) {
    steps.push_back(absl::StrCat("Table<", TypeOf(element), ">"));
    policy.values.emplace_back("table");
  };
  std::string residual;
  if (what.add < 0 && step.other >= 0) {
    const bool centred = type(step.other).quantization.zero_point == 0;
    residual = absl::StrCat(centred ? "Residual<" : "ResidualWithZeroPoint<",
                            TypeOf(type(step.other).element), ">, ");
    if (!centred) policy.values.emplace_back("zero_point");
  }
  const bool has_table = !what.table.empty();
  const bool table_is_first = has_table && (what.add < 0 || !what.table_is_last);
  if (table_is_first) {
    table_to(what.table_element);
  } else if (what.add < 0) {
    steps.emplace_back("RoundFirst");
  } else {
    steps.push_back(absl::StrCat("QuantizeSteps<", TypeOf(what.element), ">"));
    policy.values.emplace_back("zero_point");
  }
  if (what.add >= 0) {
    steps.push_back(absl::StrCat("QuantizedAdd<", TypeOf(type(step.other).element), ", ",
                                 what.sum_is_first ? "true" : "false", ">"));
    policy.values.insert(policy.values.end(), {"sum_ratio", "fixed"});
  }
  if (has_table && !table_is_first) table_to(what.table_element);
  const std::string output =
      dst.element == Element::kFloat
          ? "ToFloat"
          : absl::StrCat(absl::StrJoin(steps, ", "), ", ", PoolOf(what.pool), "ClampTo<",
                         TypeOf(dst.element), ">");
  const std::string stages = absl::StrCat(
      residual, CorrectsSource(what.problem, src.quantization) ? "SourceZeroPoint, " : "",
      "SumBias, Scale, ", output);
  policy.text = rtc::PolicySource(
      {.name = "NetworkConvolution",
       .code = absl::StrCat("namespace network_epilogue {\nusing namespace weft::epilogues;\n",
                            "struct Epilogue : Chain<", stages, "> {};\n}\n"),
       .base = absl::StrCat("weft::conv::", BaseOf(src.format, what.depthwise),
                            "<network_epilogue::Epilogue, ", TypeOf(dst.format),
                            ", weft::conv::", tile, ">"),
       .element = src.element == Element::kUint8 ? "std::uint8_t" : ""});
  return policy;
}

}  // namespace weft::network
