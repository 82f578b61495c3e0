#include "perf/support/layers.hpp"

#include <sstream>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "perf/support/layer_texts.hpp"

namespace weft::perf {
namespace {

constexpr const char* kGrammar =
    "a layer is [n<N>]c<C>h<H>w<W>k<K>r<R>s<stride>[p<pad>][d<dilation>], such as "
    "c64h56w56k64r3s1 or n16c64h92w160k32r3s1p1";
constexpr std::int64_t kLargest = 1 << 20;

struct Part {
  char letter;
  const char* meaning;
  bool required;
  int least;
};
constexpr Part kParts[] = {
    {'n', "images", false, 1},         {'c', "input channels", true, 1},
    {'h', "input rows", true, 1},      {'w', "input columns", true, 1},
    {'k', "output channels", true, 1}, {'r', "filter rows and columns", true, 1},
    {'s', "stride", true, 1},          {'p', "padding", false, 0},
    {'d', "dilation", false, 1},
};
constexpr int kPartCount = sizeof(kParts) / sizeof(kParts[0]);

absl::Status Bad(const std::string& name, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat("layer: '", name, "': ", what, "; ", kGrammar));
}

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

absl::StatusOr<Layer> ParseLayer(const std::string& name) {
  std::int64_t values[kPartCount] = {};
  bool given[kPartCount] = {};
  std::size_t at = 0;
  for (int i = 0; i < kPartCount; ++i) {
    const Part& part = kParts[i];
    if (at >= name.size() || name[at] != part.letter) {
      if (!part.required) continue;
      const std::string found =
          at < name.size() ? absl::StrCat("found '", name.substr(at), "'") : "the name ends";
      return Bad(name, absl::StrCat(found, " where ", std::string(1, part.letter), " (",
                                    part.meaning, ") should be"));
    }
    std::size_t end = at + 1;
    while (end < name.size() && IsDigit(name[end])) ++end;
    const std::string digits = name.substr(at + 1, end - at - 1);
    const std::string shown = absl::StrCat(std::string(1, part.letter), " (", part.meaning, ")");
    if (digits.empty()) return Bad(name, absl::StrCat(shown, " has no number"));
    if (!absl::SimpleAtoi(digits, &values[i]) || values[i] < part.least || values[i] > kLargest) {
      return Bad(name, absl::StrCat(shown, " is ", digits, ", not a number from ", part.least,
                                    " to ", kLargest));
    }
    given[i] = true;
    at = end;
  }
  if (at != name.size()) return Bad(name, absl::StrCat("cannot read '", name.substr(at), "'"));

  const auto [n, c, h, w, k, r, s, p, d] = values;
  Layer layer;
  layer.has_batch = given[0];
  conv::Problem& problem = layer.problem;
  problem.n = given[0] ? n : 1;
  problem.c = c, problem.h = h, problem.w = w, problem.k = k;
  problem.r = problem.s = r;
  problem.stride_h = problem.stride_w = s;
  const std::int64_t pad = given[7] ? p : r / 2;
  problem.pad_top = problem.pad_left = problem.pad_bottom = problem.pad_right = pad;
  problem.dilation_h = problem.dilation_w = given[8] ? d : 1;
  return layer;
}

std::string LayerName(const conv::Problem& problem, bool with_batch) {
  std::string name = with_batch ? absl::StrCat("n", problem.n) : "";
  absl::StrAppend(&name, "c", problem.c, "h", problem.h, "w", problem.w, "k", problem.k, "r",
                  problem.r, "s", problem.stride_h);
  if (problem.pad_top != problem.r / 2) absl::StrAppend(&name, "p", problem.pad_top);
  if (problem.dilation_h != 1) absl::StrAppend(&name, "d", problem.dilation_h);
  return name;
}

absl::StatusOr<std::vector<Layer>> ParseLayerList(const std::string& source,
                                                  const std::string& text) {
  std::vector<Layer> layers;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string name, word;
    if (!(words >> name)) continue;
    absl::StatusOr<Layer> layer = ParseLayer(name);
    if (!layer.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(source, ":", number, ": ", std::string(layer.status().message())));
    }
    while (words >> word) {
      if (word.rfind("count=", 0) != 0 || !absl::SimpleAtoi(word.substr(6), &layer->count) ||
          layer->count < 1) {
        return absl::InvalidArgumentError(
            absl::StrCat(source, ":", number, ": cannot read '", word,
                         "'; after the layer's name only count=<N>, N >= 1, may follow"));
      }
    }
    layers.push_back(*layer);
  }
  return layers;
}

std::vector<std::string> LayerListNames() {
  std::vector<std::string> names;
  for (const internal::LayerText& text : internal::LayerTexts()) names.push_back(text.name);
  return names;
}

absl::StatusOr<std::vector<Layer>> LayerList(const std::string& name) {
  for (const internal::LayerText& text : internal::LayerTexts()) {
    if (name == text.name) {
      return ParseLayerList(absl::StrCat("perf/layers/", name, ".txt"), text.text);
    }
  }
  return absl::NotFoundError(absl::StrCat("layer list '", name, "' does not exist; the lists are ",
                                          absl::StrJoin(LayerListNames(), ", ")));
}

}  // namespace weft::perf
