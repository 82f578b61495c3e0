#include "perf/support/layers.hpp"

#include <algorithm>
#include <map>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "perf/support/status.hpp"
#include "weft/conv/problem/problem_checks.hpp"
#include "weft/conv/problem/problem_name.hpp"

namespace weft::perf {
namespace {

struct NamedList {
  std::string name;
  std::vector<Layer> layers;
};

absl::StatusOr<std::vector<NamedList>> Lists(const JobRequest& request) {
  std::vector<NamedList> lists;
  if (!request.layers.empty()) {
    lists.push_back({"layers", {}});
    for (const std::string& name : request.layers) {
      WEFT_LET(const Layer layer, ParseLayer(name));
      lists.back().layers.push_back(layer);
    }
  } else {
    for (const std::string& name : request.lists) {
      WEFT_LET(std::vector<Layer> layers, LayerList(name));
      lists.push_back({name, std::move(layers)});
    }
  }
  if (!request.name.empty()) {
    if (lists.size() != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("--name=", request.name, " is for one list, not for ", lists.size()));
    }
    lists[0].name = request.name;
  }
  return lists;
}

}  // namespace

absl::StatusOr<Layer> ParseLayer(const std::string& name) {
  Layer layer;
  const auto problem = conv::ParseLayerName(name, &layer.has_batch);
  absl::Status status = problem.status();
  if (status.ok()) status = conv::CheckProblem(layer.problem = *problem);
  if (status.ok()) return layer;
  return absl::InvalidArgumentError(
      absl::StrCat("layer '", name, "': ", std::string(status.message()),
                   "; a layer is [n<N>]c<C>h<H>w<W>k<K>r<R>s<stride>[p<pad>][d<dilation>], such as "
                   "c64h56w56k64r3s1 or n16c64h92w160k32r3x5s1x2p1"));
}

std::string LayerName(const conv::Problem& problem, bool with_batch) {
  return conv::LayerName(problem, with_batch);
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

absl::StatusOr<std::vector<int>> ParseBatches(const std::vector<std::string>& texts) {
  std::vector<int> batches;
  for (const std::string& text : texts) {
    int batch = 0;
    if (!absl::SimpleAtoi(text, &batch) || batch < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("--batch=", text, " is not a positive number; give such as 1,16,64"));
    }
    if (std::find(batches.begin(), batches.end(), batch) == batches.end()) batches.push_back(batch);
  }
  return batches;
}

std::string Jobs::File::name() const {
  return absl::StrCat(list, "-n", batch);
}

absl::StatusOr<Jobs> MakeJobs(const JobRequest& request) {
  WEFT_LET(const std::vector<NamedList> lists, Lists(request));
  WEFT_LET(const std::vector<int> batches, ParseBatches(request.batches));
  Jobs jobs;
  for (const NamedList& list : lists) {
    std::map<int, Jobs::File> files;
    const auto add = [&](const Layer& layer, int batch) {
      conv::Problem problem = layer.problem;
      problem.n = batch;
      auto& all = jobs.problems;
      const auto place = std::find(all.begin(), all.end(), problem);
      const int index = static_cast<int>(place - all.begin());
      if (place == all.end()) all.push_back(problem);
      auto& rows = files[batch].rows;
      const auto same = [&](const Jobs::File::Row& row) { return row.problem == index; };
      if (std::none_of(rows.begin(), rows.end(), same)) rows.push_back({index, layer.count});
    };
    for (const Layer& layer : list.layers) {
      if (layer.has_batch) {
        add(layer, static_cast<int>(layer.problem.n));
      } else {
        for (const int batch : batches) add(layer, batch);
      }
    }
    for (auto& [batch, file] : files) {
      file.list = list.name;
      file.batch = batch;
      jobs.files.push_back(std::move(file));
    }
  }
  if (jobs.problems.empty()) return absl::InvalidArgumentError("--list and --layer name no layer");
  return jobs;
}

}  // namespace weft::perf
