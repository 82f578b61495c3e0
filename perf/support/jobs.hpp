// What a run measures: problems from layer lists, each once, and the files that show them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "weft/conv/problem.hpp"

namespace weft::perf {

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
  std::vector<std::string> layers = {};  // instead of lists: one file called "layers"
  std::vector<std::string> batches =
      {};                   // numbers; layers with a batch of their own are in its file
  std::string filter = {};  // only layers whose name contains it
  std::string name = {};    // of the files, instead of the list's; for one list
};

// InvalidArgument or NotFound says which flag is wrong and what would be accepted.
absl::StatusOr<Jobs> MakeJobs(const JobRequest& request);

// Each peer's best variant in an earlier run: lines "layer <tab> n <tab> peer <tab> variant".
class Choices {
 public:
  // Lines that are not of this form are passed over; so is a file that is not there.
  static Choices Parse(const std::string& text);
  std::string Text() const;

  // `peer` with "+<epilogue>" if that is not the usual one. Empty if there is none.
  std::string Find(const conv::Problem& problem, const std::string& peer) const;
  void Put(const conv::Problem& problem, const std::string& peer, const std::string& variant);

 private:
  std::map<std::string, std::string> chosen_;
};

}  // namespace weft::perf
