#include "weft/network/plan/convolution_policy.hpp"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "weft/network/plan/choose_block.hpp"
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

// The stages of a convolution's epilogue, and the names of their numbers that differ by step in *values. added: what is added, null
// where nothing is. dst: of the output. corrects: as CorrectsSource.
std::string StagesOf(const ConvolutionStep& what, const TensorType* added, Element dst,
                     bool corrects, std::vector<std::string>* values) {
  // What follows Scale, up to the integer that ClampTo writes.
  std::vector<std::string> steps;
  const auto table_to = [&](Element element) {
    steps.push_back(absl::StrCat("Table<", TypeOf(element), ">"));
    values->emplace_back("table");
  };
  std::string residual;
  if (what.add < 0 && added != nullptr) {
    const bool centred = added->quantization.zero_point == 0;
    residual = absl::StrCat(centred ? "Residual<" : "ResidualWithZeroPoint<",
                            TypeOf(added->element), ">, ");
    if (!centred) values->emplace_back("zero_point");
  }
  const bool has_table = !what.table.empty();
  const bool table_is_first = has_table && (what.add < 0 || !what.table_is_last);
  if (table_is_first) {
    table_to(what.table_element);
  } else if (what.add < 0) {
    steps.emplace_back("RoundFirst");
  } else {
    steps.push_back(absl::StrCat("QuantizeSteps<", TypeOf(what.element), ">"));
    values->emplace_back("zero_point");
  }
  if (what.add >= 0) {
    steps.push_back(absl::StrCat("QuantizedAdd<", TypeOf(added->element), ", ",
                                 what.sum_is_first ? "true" : "false", ">"));
    values->insert(values->end(), {"sum_ratio", "fixed"});
  }
  if (has_table && !table_is_first) table_to(what.table_element);
  const std::string output = dst == Element::kFloat
                                 ? "ToFloat"
                                 : absl::StrCat(absl::StrJoin(steps, ", "), ", ", PoolOf(what.pool),
                                                "ClampTo<", TypeOf(dst), ">");
  return absl::StrCat(residual, corrects ? "SourceZeroPoint, " : "", "SumBias, Scale, ", output);
}

// Epilogues by name, in the namespace network_epilogue.
std::string EpiloguesOf(const std::vector<std::pair<std::string, std::string>>& stages) {
  std::string text = "namespace network_epilogue {\nusing namespace weft::epilogues;\n";
  for (const auto& [name, of_it] : stages) {
    absl::StrAppend(&text, "struct ", name, " : Chain<", of_it, "> {};\n");
  }
  return text + "}\n";
}

std::string SourceElementOf(const TensorType& src) {
  return src.element == Element::kUint8 ? "std::uint8_t" : "";
}

ConvolutionPolicy PolicyOf(const BottleneckStep& what, const TensorType& src, const TensorType& dst,
                           const std::string& tile) {
  ConvolutionPolicy policy;
  std::vector<std::string> none;  // only the third has numbers
  std::vector<std::pair<std::string, std::string>> epilogues = {
      {"First", StagesOf(what.first, nullptr, what.first.element, false, &none)},
      {"Second", StagesOf(what.second, nullptr, what.second.element, false, &none)},
      {"Third", StagesOf(what.third, &what.added, dst.element, false, &policy.values)}};
  std::string names = "network_epilogue::First, network_epilogue::Second, network_epilogue::Third";
  if (what.projects()) {
    epilogues.emplace_back(
        "Projection", StagesOf(what.projection, nullptr, what.projection.element, false, &none));
    names += ", network_epilogue::Projection";
  }
  policy.text = rtc::PolicySource(
      {.name = "NetworkBottleneck",
       .code = EpiloguesOf(epilogues),
       .base = absl::StrCat(
           "weft::conv::", what.projects() ? "ProjectedS8Bottleneck<" : "S8Bottleneck<", names,
           ", weft::conv::", BottleneckTileType(tile), ">"),
       .element = SourceElementOf(src)});
  return policy;
}

}  // namespace

ConvolutionPolicy PolicyOf(const Plan& plan, const Step& step, const std::string& tile) {
  const auto type = [&](int place) -> const TensorType& {
    return plan.tensors[static_cast<std::size_t>(place)].type;
  };
  const TensorType &src = type(step.src), &dst = type(step.dst);
  if (const auto* bottleneck = std::get_if<BottleneckStep>(&step.what)) {
    return PolicyOf(*bottleneck, src, dst, tile);
  }
  const auto& what = std::get<ConvolutionStep>(step.what);
  ConvolutionPolicy policy;
  const std::string stages =
      StagesOf(what, step.other < 0 ? nullptr : &type(step.other), dst.element,
               CorrectsSource(what.problem, src.quantization), &policy.values);
  policy.text =
      rtc::PolicySource({.name = "NetworkConvolution",
                         .code = EpiloguesOf({{"Epilogue", stages}}),
                         .base = absl::StrCat("weft::conv::", BaseOf(src.format, what.depthwise),
                                              "<network_epilogue::Epilogue, ", TypeOf(dst.format),
                                              ", weft::conv::", tile, ">"),
                         .element = SourceElementOf(src)});
  return policy;
}

}  // namespace weft::network
