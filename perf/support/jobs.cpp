#include "perf/support/jobs.hpp"

#include <algorithm>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "perf/support/layers.hpp"

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
      absl::StatusOr<Layer> layer = ParseLayer(name);
      if (!layer.ok()) return layer.status();
      lists.back().layers.push_back(*layer);
    }
  } else {
    for (const std::string& name : request.lists) {
      absl::StatusOr<std::vector<Layer>> layers = LayerList(name);
      if (!layers.ok()) return layers.status();
      lists.push_back({name, *std::move(layers)});
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

absl::StatusOr<std::vector<int>> Batches(const std::vector<std::string>& texts) {
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

std::string Key(const conv::Problem& problem, const std::string& peer) {
  return absl::StrCat(LayerName(problem), "\t", problem.n, "\t", peer);
}

}  // namespace

std::string Jobs::File::name() const {
  return absl::StrCat(list, "-n", batch);
}

absl::StatusOr<Jobs> MakeJobs(const JobRequest& request) {
  const absl::StatusOr<std::vector<NamedList>> lists = Lists(request);
  if (!lists.ok()) return lists.status();
  const absl::StatusOr<std::vector<int>> batches = Batches(request.batches);
  if (!batches.ok()) return batches.status();
  Jobs jobs;
  for (const NamedList& list : *lists) {
    std::map<int, Jobs::File> files;
    const auto add = [&](const Layer& layer, int batch) {
      conv::Problem problem = layer.problem;
      problem.n = batch;
      if (LayerName(problem).find(request.filter) == std::string::npos) return;
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
        for (const int batch : *batches) add(layer, batch);
      }
    }
    for (auto& [batch, file] : files) {
      file.list = list.name;
      file.batch = batch;
      jobs.files.push_back(std::move(file));
    }
  }
  if (jobs.problems.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("nothing to measure: no layer of these lists has '", request.filter,
                     "' (--filter) in its name"));
  }
  return jobs;
}

Choices Choices::Parse(const std::string& text) {
  Choices choices;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t end = line.rfind('\t');
    if (end != std::string::npos) choices.chosen_[line.substr(0, end)] = line.substr(end + 1);
  }
  return choices;
}

std::string Choices::Text() const {
  std::string text;
  for (const auto& [key, variant] : chosen_) absl::StrAppend(&text, key, "\t", variant, "\n");
  return text;
}

std::string Choices::Find(const conv::Problem& problem, const std::string& peer) const {
  const auto found = chosen_.find(Key(problem, peer));
  return found == chosen_.end() ? "" : found->second;
}

void Choices::Put(const conv::Problem& problem, const std::string& peer,
                  const std::string& variant) {
  chosen_[Key(problem, peer)] = variant;
}

}  // namespace weft::perf
