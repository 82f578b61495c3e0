// Layers, layer lists and what a run makes of them: perf/layers/README.md has the notation.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "weft/conv/problem/problem.hpp"

namespace weft::perf {

struct Layer {
  conv::Problem problem;   // problem.n is 1 where the name gives no batch
  bool has_batch = false;  // the name gives the batch
  int count = 1;           // how often the layer occurs in its network

  friend bool operator==(const Layer&, const Layer&) = default;
};

// The layer called `name`, such as c64h92w160k32r3s1 or n16c64h92w160k32r3x5s1x2p1: the notation of
// conv/problem/problem_name.hpp with batch and padding left out where wanted. InvalidArgument says
// what is wrong; that the filter is larger than the image, too.
absl::StatusOr<Layer> ParseLayer(const std::string& name);

// conv::LayerName.
std::string LayerName(const conv::Problem& problem, bool with_batch = false);

// The lines of a list: `name [count=N]`, blank, or a comment. InvalidArgument begins with
// `source:line`.
absl::StatusOr<std::vector<Layer>> ParseLayerList(const std::string& source,
                                                  const std::string& text);

// The lists of perf/layers/, which are part of the program: their names, and one of them. NotFound
// names the lists there are.
std::vector<std::string> LayerListNames();
absl::StatusOr<std::vector<Layer>> LayerList(const std::string& name);

// What a run measures: problems from layer lists, each once, and the files that show them.
struct Jobs {
  // The rows of one result file.
  struct File {
    std::string list;
    int batch = 0;
    struct Row {
      int problem = 0;  // place in `problems`
      int count = 1;    // of the layer in its network
    };
    std::vector<Row> rows;
    std::string name() const;  // <list>-n<batch>
  };
  std::vector<conv::Problem> problems;  // distinct
  std::vector<File> files;              // by list, then by batch; none without rows
};

struct JobRequest {
  std::vector<std::string> lists = {};
  std::vector<std::string> layers = {};   // instead of lists: one file called "layers"
  std::vector<std::string> batches = {};  // layers with a batch of their own are in its file
  std::string name = {};                  // of the files, instead of the list's; for one list
};

// InvalidArgument or NotFound says which flag is wrong and what would be accepted.
absl::StatusOr<Jobs> MakeJobs(const JobRequest& request);
// Distinct positive numbers.
absl::StatusOr<std::vector<int>> ParseBatches(const std::vector<std::string>& texts);

namespace internal {

// The files of perf/layers/ as strings; CMake writes the .cpp.
struct LayerText {
  const char* name;  // the file's, without .txt
  const char* text;
};
std::vector<LayerText> LayerTexts();

}  // namespace internal

}  // namespace weft::perf
