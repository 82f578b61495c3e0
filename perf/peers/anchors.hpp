// The measured anchors of perf/layers/anchors_us.csv, which are part of the program.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace weft::perf {

struct Anchor {
  std::string layer;  // as LayerName writes it
  int batch = 0;
  double cudnn_us = -1.0;  // best int8 answer of cuDNN; negative: not measured
  double f16_us = -1.0;    // fp16 NHWC
};

// Lines "layer,n,cudnn,f16" after a header; # starts a comment. InvalidArgument begins with
// `source:line`.
absl::StatusOr<std::vector<Anchor>> ParseAnchors(const std::string& source,
                                                 const std::string& text);

// perf/layers/anchors_us.csv.
const std::vector<Anchor>& Anchors();

// Null if there is none.
const Anchor* FindAnchor(const std::string& layer, int batch);

namespace internal {
const char* AnchorsText();
}  // namespace internal

}  // namespace weft::perf
