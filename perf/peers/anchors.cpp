#include "perf/peers/anchors.hpp"

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "perf/support/layers.hpp"

namespace weft::perf {

absl::StatusOr<std::vector<Anchor>> ParseAnchors(const std::string& source,
                                                 const std::string& text) {
  std::vector<Anchor> anchors;
  std::istringstream lines(text);
  std::string line;
  bool header = true;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.empty() || line[0] == '#') continue;
    const auto bad = [&](const char* what) {
      return absl::InvalidArgumentError(
          absl::StrCat(source, ":", number, ": '", line, "': ", what));
    };
    if (header) {
      if (line != "layer,n,cudnn,f16") return bad("the header is layer,n,cudnn,f16");
      header = false;
      continue;
    }
    const std::vector<std::string> words = absl::StrSplit(line, ',');
    if (words.size() != 4) return bad("a line has four values");
    Anchor anchor;
    const absl::StatusOr<Layer> layer = ParseLayer(words[0]);
    if (!layer.ok()) return bad(std::string(layer.status().message()).c_str());
    anchor.layer = LayerName(layer->problem);
    if (!absl::SimpleAtoi(words[1], &anchor.batch) || anchor.batch < 1) {
      return bad("n is not a positive number");
    }
    if (!absl::SimpleAtod(words[2], &anchor.cudnn_us) ||
        !absl::SimpleAtod(words[3], &anchor.f16_us)) {
      return bad("cudnn and f16 are microseconds, or -1");
    }
    anchors.push_back(anchor);
  }
  return anchors;
}

const std::vector<Anchor>& Anchors() {
  static const std::vector<Anchor>* const anchors = [] {
    absl::StatusOr<std::vector<Anchor>> parsed =
        ParseAnchors("perf/layers/anchors_us.csv", internal::AnchorsText());
    if (!parsed.ok()) {
      std::fprintf(stderr, "%s\n", parsed.status().ToString().c_str());
      std::abort();
    }
    return new std::vector<Anchor>(std::move(*parsed));
  }();
  return *anchors;
}

const Anchor* FindAnchor(const std::string& layer, int batch) {
  for (const Anchor& anchor : Anchors()) {
    if (anchor.layer == layer && anchor.batch == batch) return &anchor;
  }
  return nullptr;
}

}  // namespace weft::perf
