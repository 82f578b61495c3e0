#include "weft/conv/problem/problem_name.hpp"

#include <vector>

#include "absl/strings/str_cat.h"
#include "weft/gemm/check/problem_name.hpp"

namespace weft::conv {
namespace {

constexpr const char* kFlipped = "flipped";

std::string Pair(std::int64_t rows, std::int64_t columns) {
  return rows == columns ? absl::StrCat(rows) : absl::StrCat(rows, "x", columns);
}

// The problem called `name`. In the notation of layer lists (`layer`) a name may omit `n` and `p`.
// *has_batch: whether it has an `n`.
absl::StatusOr<Problem> Parse(const std::string& name, bool layer, bool* has_batch) {
  Problem p;
  gemm::NameReader reader(name, "n16c64h92w160k32r3s1p1");
  struct Part {
    char letter;
    std::vector<std::int64_t*> into;
    const char* what;
  };
  const Part parts[] = {
      {'n', {&p.n}, "the number of images"},
      {'c', {&p.c}, "the input channels"},
      {'h', {&p.h}, "the input rows"},
      {'w', {&p.w}, "the input columns"},
      {'k', {&p.k}, "the output channels"},
      {'r', {&p.r, &p.s}, "the filter's rows and columns"},
      {'s', {&p.stride_h, &p.stride_w}, "the strides"},
      {'p', {&p.pad_top, &p.pad_left, &p.pad_bottom, &p.pad_right}, "the padding"},
  };
  for (const Part& part : parts) {
    const bool given = reader.At(part.letter);
    if (part.letter == 'n') *has_batch = given;
    if (layer && !given && part.letter == 'n') continue;
    if (layer && !given && part.letter == 'p') {
      p.pad_top = p.pad_bottom = p.r / 2;
      p.pad_left = p.pad_right = p.s / 2;
      continue;
    }
    if (absl::Status s = reader.Numbers(part.letter, part.into, part.what); !s.ok()) return s;
  }
  if (reader.At('d')) {
    const absl::Status s = reader.Numbers('d', {&p.dilation_h, &p.dilation_w}, "the dilations");
    if (!s.ok()) return s;
  }
  if (reader.At('g')) {
    if (absl::Status s = reader.Numbers('g', {&p.groups}, "the channel groups"); !s.ok()) return s;
  }
  if (reader.Take(kFlipped)) p.mode = Mode::kConvolution;
  if (!reader.AtEnd()) {
    return reader.Wrong(reader.at(),
                        "the end, 'd' and the dilations, 'g' and the groups, or 'flipped'");
  }
  return p;
}

std::string Name(const Problem& p, bool with_batch, bool with_padding) {
  std::string name = with_batch ? absl::StrCat("n", p.n) : "";
  absl::StrAppend(&name, "c", p.c, "h", p.h, "w", p.w, "k", p.k, "r", Pair(p.r, p.s), "s",
                  Pair(p.stride_h, p.stride_w));
  if (with_padding) {
    absl::StrAppend(&name, "p", p.pad_top);
    if (p.pad_left != p.pad_top || p.pad_bottom != p.pad_top || p.pad_right != p.pad_top) {
      absl::StrAppend(&name, "x", p.pad_left, "x", p.pad_bottom, "x", p.pad_right);
    }
  }
  if (p.dilation_h != 1 || p.dilation_w != 1) {
    absl::StrAppend(&name, "d", Pair(p.dilation_h, p.dilation_w));
  }
  if (p.groups != 1) absl::StrAppend(&name, "g", p.groups);
  if (p.mode == Mode::kConvolution) name += kFlipped;
  return name;
}

}  // namespace

std::string ProblemName(const Problem& p) {
  return Name(p, true, true);
}

absl::StatusOr<Problem> ParseProblemName(const std::string& name) {
  bool has_batch = false;
  return Parse(name, false, &has_batch);
}

std::string LayerName(const Problem& p, bool with_batch) {
  const bool half = p.pad_top == p.r / 2 && p.pad_bottom == p.r / 2 && p.pad_left == p.s / 2 &&
                    p.pad_right == p.s / 2;
  return Name(p, with_batch, !half);
}

absl::StatusOr<Problem> ParseLayerName(const std::string& name, bool* has_batch) {
  bool ignored = false;
  return Parse(name, true, has_batch != nullptr ? has_batch : &ignored);
}

}  // namespace weft::conv
