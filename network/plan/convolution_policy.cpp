#include "weft/network/plan/convolution_policy.hpp"

#include "absl/strings/str_cat.h"
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
  return depthwise ? "S8Depthwise32" : "S8Conv32";
}

}  // namespace

ConvolutionPolicy PolicyOf(const Plan& plan, const Step& step, const std::string& tile) {
  const auto& what = std::get<ConvolutionStep>(step.what);
  const auto type = [&](int place) -> const TensorType& {
    return plan.tensors[static_cast<std::size_t>(place)].type;
  };
  const TensorType &src = type(step.src), &dst = type(step.dst);
  ConvolutionPolicy policy;
  std::string rounding = "RoundFirst";
  if (what.add >= 0) {
    rounding = absl::StrCat("QuantizeSteps<", TypeOf(what.element), ">, QuantizedAdd<",
                            TypeOf(type(step.other).element), ", ",
                            what.sum_is_first ? "true" : "false", ">");
    policy.values = {"zero_point", "sum_ratio", "fixed"};
  }
  const std::string stages =
      absl::StrCat(src.quantization.zero_point != 0 ? "SourceZeroPoint, " : "", "SumBias, Scale, ",
                   rounding, ", ClampTo<", TypeOf(dst.element), ">");
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
