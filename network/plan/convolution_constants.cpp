#include "weft/network/plan/convolution_constants.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "weft/epilogues/table.hpp"
#include "weft/layouts/packed_filter.hpp"
#include "weft/network/graph/names.hpp"
#include "weft/network/plan/arena.hpp"

namespace weft::network {
namespace {

std::int64_t Append(const void* from, std::int64_t count, std::string* bytes) {
  bytes->resize(
      static_cast<std::size_t>(RoundUp(static_cast<std::int64_t>(bytes->size()), kArenaAlignment)));
  const auto at = static_cast<std::int64_t>(bytes->size());
  bytes->append(static_cast<const char*>(from), static_cast<std::size_t>(count));
  return at;
}

// A filter of groups as one for all channels, whose other products are zeros.
std::vector<std::int8_t> WithoutGroups(const std::vector<std::int8_t>& values, const Node& node,
                                       std::int64_t k, std::int64_t c, std::int64_t taps) {
  const std::int64_t of_group = c / node.groups, outputs = k / node.groups;
  std::vector<std::int8_t> all(static_cast<std::size_t>(k * c * taps));
  for (std::int64_t i = 0; i < k; ++i) {
    const std::int64_t first = i / outputs * of_group;
    for (std::int64_t j = 0; j < of_group * taps; ++j) {
      all[static_cast<std::size_t>((i * c + first) * taps + j)] =
          values[static_cast<std::size_t>(i * of_group * taps + j)];
    }
  }
  return all;
}

// Takes the source's zero point times the sum of each output channel's filter from its bias, modulo 2^32 as sums are.
void Correct(const std::vector<std::int8_t>& filters, std::int32_t zero_point,
             std::vector<std::int32_t>* bias) {
  const std::size_t each = filters.size() / bias->size();
  for (std::size_t k = 0; k < bias->size(); ++k) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < each; ++i) {
      sum += static_cast<std::uint32_t>(std::int32_t{filters[k * each + i]});
    }
    std::int32_t& b = (*bias)[k];
    b = static_cast<std::int32_t>(static_cast<std::uint32_t>(b) -
                                  static_cast<std::uint32_t>(zero_point) * sum);
  }
}

// Packs the filter, and makes the correction of a source's zero point.
template <class Buffer>
absl::Status AppendPacked(const absl::StatusOr<Buffer>& packed, const conv::Problem& problem,
                          std::int32_t zero_point, ConvolutionConstants* constants,
                          std::string* bytes) {
  if (!packed.ok()) return packed.status();
  constants->filter = rtc::FilterOf(packed->view());
  constants->filter_at = Append(packed->data(), packed->bytes(), bytes);
  if (zero_point == 0) return absl::OkStatus();
  const absl::StatusOr<conv::SourceCorrectionBuffer> table =
      conv::MakeSourceCorrection(problem, *packed, zero_point);
  if (!table.ok()) return table.status();
  constants->correction = table->view();
  constants->correction_at = Append(table->data(), table->bytes(), bytes);
  return absl::OkStatus();
}

template <class Format>
absl::Status AppendFilter(const ConvolutionStep& step, const Node& node,
                          const std::vector<std::int8_t>& values, std::int32_t zero_point,
                          ConvolutionConstants* constants, std::string* bytes) {
  const conv::Problem& p = step.problem;
  const std::vector<std::int8_t> all =
      node.groups == 1 ? values : WithoutGroups(values, node, p.k, p.c, p.r * p.s);
  return AppendPacked(PackFilter<Format, KCRS>(p.filter(), all), p, zero_point, constants, bytes);
}

// InvalidArgument if a ratio of scales is no finite number.
absl::Status CheckRatio(const char* what, float ratio) {
  if (std::isfinite(ratio)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, " is ", ratio, "; give scales that are not so far apart"));
}

absl::Status SetNumbers(const Graph& graph, const ConvolutionStep& what,
                        ConvolutionConstants* constants) {
  const auto tensor = [&](int index) -> const Tensor& {
    return graph.tensors[static_cast<std::size_t>(index)];
  };
  const Node& node = graph.nodes[static_cast<std::size_t>(what.node)];
  const Tensor& out = tensor(node.output);
  const auto zero = [](const Tensor& t) { return static_cast<float>(t.quantization.zero_point); };
  if (what.add < 0) {
    if (what.table.empty()) constants->zero_point = zero(out);
    if (node.inputs.size() < 2) return absl::OkStatus();
    const Tensor& residual = tensor(node.inputs[1]);
    if (zero(residual) != 0.0f) constants->numbers = {{"zero_point", zero(residual)}};
    constants->gamma = residual.quantization.scale / out.quantization.scale;
    return CheckRatio("the residual's scale by the output's", constants->gamma);
  }
  const Node& add = graph.nodes[static_cast<std::size_t>(what.add)];
  const Tensor &a = tensor(add.inputs[0]), &b = tensor(add.inputs[1]), &sum = tensor(add.output);
  const float ra = a.quantization.scale / sum.quantization.scale,
              rb = b.quantization.scale / sum.quantization.scale;
  const float fixed = zero(sum) - std::fma(ra, zero(a), rb * zero(b));
  constants->gamma = what.sum_is_first ? rb : ra;
  constants->numbers = {{"sum_ratio", what.sum_is_first ? ra : rb}, {"fixed", fixed}};
  if (what.table.empty() || what.table_is_last) {
    constants->numbers.emplace_back("zero_point", zero(out));
  }
  if (absl::Status s = CheckRatio("the first operand's scale by the sum's", ra); !s.ok()) return s;
  if (absl::Status s = CheckRatio("the second operand's scale by the sum's", rb); !s.ok()) return s;
  return CheckRatio("the zero points in steps of the sum", fixed);
}

// The values of epilogues::Table: of each integer that the stage rounds to, less the zero point of what it stands for, what
// the table of 256 bytes makes of it.
std::string ValuesOf(const std::string& table, Element element, std::int32_t zero_point) {
  const std::int32_t low = LeastOf(element);
  std::string values;
  for (std::int32_t i = 0; i < epilogues::Table<>::kValues; ++i) {
    const std::int32_t steps = epilogues::Table<>::kLeast + i;
    const std::int32_t integer = std::clamp(steps + zero_point, low, low + 255);
    values.push_back(table[static_cast<std::uint8_t>(integer)]);
  }
  return values;
}

// The table of a step: of the convolution's integers, or of the sum, whose steps have the zero point already.
void AppendTable(const Graph& graph, const ConvolutionStep& what, const Tensor& out,
                 ConvolutionConstants* constants, std::string* bytes) {
  if (what.table.empty()) return;
  const bool of_sum = what.add >= 0 && what.table_is_last;
  const std::string values =
      of_sum ? ValuesOf(what.table,
                        graph
                            .tensors[static_cast<std::size_t>(
                                graph.nodes[static_cast<std::size_t>(what.add)].output)]
                            .element,
                        0)
             : ValuesOf(what.table, out.element, out.quantization.zero_point);
  constants->table_at = Append(values.data(), static_cast<std::int64_t>(values.size()), bytes);
}

// src: the format of the source. corrects: whether the kernel corrects its sums for the source's zero point, which is else part of
// the bias.
absl::StatusOr<ConvolutionConstants> AppendAll(const Graph& graph, const ConvolutionStep& what,
                                               Format src, bool corrects, std::string* bytes) {
  const Node& node = graph.nodes[static_cast<std::size_t>(what.node)];
  const Tensor& in = graph.tensors[static_cast<std::size_t>(node.inputs[0])];
  const Tensor& out = graph.tensors[static_cast<std::size_t>(node.output)];
  const conv::Problem& p = what.problem;
  const auto values = NumbersOf<std::int8_t>(graph, node.filter);
  const std::int32_t zero_point = corrects ? in.quantization.zero_point : 0;
  ConvolutionConstants constants;
  absl::Status status;
  if (what.depthwise) {
    status = AppendPacked(PackDepthwiseFilter<KCRS>(conv::PackedExtents(p, true), values), p,
                          zero_point, &constants, bytes);
  } else if (src == Format::kNc4) {
    status = AppendFilter<CxRSKx<4>>(what, node, values, zero_point, &constants, bytes);
  } else if (src == Format::kNhwc) {
    status = AppendFilter<KRSC>(what, node, values, zero_point, &constants, bytes);
  } else {
    status = AppendFilter<CxRSKx<32>>(what, node, values, zero_point, &constants, bytes);
  }
  if (!status.ok()) return status;
  auto bias = NumbersOf<std::int32_t>(graph, node.bias);
  bias.resize(static_cast<std::size_t>(p.k));
  if (!corrects) Correct(values, in.quantization.zero_point, &bias);
  constants.bias_at = Append(bias.data(), 4 * p.k, bytes);
  std::vector<float> scales = NumbersOf<float>(graph, node.filter_scale);
  scales.resize(static_cast<std::size_t>(p.k), scales[0]);
  for (float& scale : scales) {
    scale = in.quantization.scale * scale / out.quantization.scale;
    if (absl::Status s = CheckRatio("the source's scale times filter_scale by the output's", scale);
        !s.ok())
      return s;
  }
  constants.scales_at = Append(scales.data(), 4 * p.k, bytes);
  if (absl::Status s = SetNumbers(graph, what, &constants); !s.ok()) return s;
  AppendTable(graph, what, out, &constants, bytes);
  return constants;
}

}  // namespace

rtc::Arguments ConvolutionConstants::At(const char* base) const {
  rtc::Arguments args;
  args.filter = filter;
  args.filter.run.data = base + filter_at;
  args.bias = base + bias_at;
  args.channel_alpha = reinterpret_cast<const float*>(base + scales_at);
  if (correction_at >= 0) {
    args.source_correction = correction.With(
        reinterpret_cast<const std::int32_t*>(base + correction_at), correction.zero_point());
  }
  args.zero_point = zero_point;
  args.gamma = gamma;
  args.filter_is_constant = true;
  return args;
}

absl::StatusOr<ConvolutionConstants> AppendConstants(const Graph& graph, const Plan& plan,
                                                     const Step& step, std::string* bytes) {
  const auto& what = std::get<ConvolutionStep>(step.what);
  const TensorType& source = plan.tensors[static_cast<std::size_t>(step.src)].type;
  return AppendAll(graph, what, source.format, CorrectsSource(what.problem, source.quantization),
                   bytes);
}

absl::StatusOr<BlockConstants> AppendConstants(const Graph& graph, const BottleneckStep& step,
                                               std::string* bytes) {
  BlockConstants made;
  const std::pair<const ConvolutionStep*, ConvolutionConstants*> parts[] = {
      {&step.first, &made.first},
      {&step.second, &made.second},
      {&step.third, &made.third},
      {&step.projection, &made.projection}};
  for (const auto& [part, constants] : parts) {
    if (part->node < 0) continue;
    absl::StatusOr<ConvolutionConstants> of_part =
        AppendAll(graph, *part, Format::kNc32, /*corrects=*/false, bytes);
    if (!of_part.ok()) return of_part.status();
    *constants = *std::move(of_part);
  }
  return made;
}

}  // namespace weft::network
