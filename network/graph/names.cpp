#include "weft/network/graph/names.hpp"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace weft::network {
namespace {

constexpr std::pair<Kind, const char*> kKinds[] = {
    {Kind::kQuantize, "quantize"},
    {Kind::kDequantize, "dequantize"},
    {Kind::kConvert, "convert"},
    {Kind::kConvolution, "convolution"},
    {Kind::kFullyConnected, "fully_connected"},
    {Kind::kAdd, "add"},
    {Kind::kMultiply, "multiply"},
    {Kind::kTable, "table"},
    {Kind::kMaxPool, "max_pool"},
    {Kind::kAveragePool, "average_pool"},
    {Kind::kGlobalAveragePool, "global_average_pool"},
    {Kind::kConcat, "concat"},
    {Kind::kResize, "resize"},
};
constexpr std::pair<Element, const char*> kElements[] = {
    {Element::kInt8, "int8"}, {Element::kUint8, "uint8"}, {Element::kFloat, "float"}};
constexpr std::pair<Format, const char*> kFormats[] = {{Format::kNhwc, "nhwc"},
                                                       {Format::kNc4, "nc4"},
                                                       {Format::kNc32, "nc32"},
                                                       {Format::kNchw, "nchw"}};
constexpr std::pair<Blocks, const char*> kBlocks[] = {{Blocks::kWhereQuicker, "where_quicker"},
                                                      {Blocks::kAlways, "always"},
                                                      {Blocks::kNever, "never"}};

template <class Word, std::size_t kCount>
const char* Find(const std::pair<Word, const char*> (&words)[kCount], Word word) {
  for (const auto& [known, name] : words) {
    if (known == word) return name;
  }
  return "unknown";
}

template <class Word, std::size_t kCount>
std::optional<Word> Find(const std::pair<Word, const char*> (&words)[kCount],
                         std::string_view name) {
  for (const auto& [word, known] : words) {
    if (known == name) return word;
  }
  return std::nullopt;
}

}  // namespace

const char* NameOf(Kind kind) {
  return Find(kKinds, kind);
}
const char* NameOf(Element element) {
  return Find(kElements, element);
}
const char* NameOf(Format format) {
  return Find(kFormats, format);
}
const char* NameOf(Blocks blocks) {
  return Find(kBlocks, blocks);
}
std::optional<Kind> KindOf(std::string_view name) {
  return Find(kKinds, name);
}
std::optional<Element> ElementOf(std::string_view name) {
  return Find(kElements, name);
}
std::optional<Format> FormatOf(std::string_view name) {
  return Find(kFormats, name);
}
std::optional<Blocks> BlocksOf(std::string_view name) {
  return Find(kBlocks, name);
}

absl::Status OfNode(const absl::Status& status, std::string_view node) {
  return absl::Status(status.code(), absl::StrCat("network: node \"", std::string(node),
                                                  "\": ", std::string(status.message())));
}

}  // namespace weft::network
