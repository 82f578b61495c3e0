#include "perf/support/results.hpp"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "perf/support/rows.hpp"

namespace weft::perf {
namespace {

bool Begins(const Json& row, const std::string& status) {
  return absl::StartsWith(row.value("status", "failed"), status);
}

// Whether a row has all fields of an identity.
bool IsOf(const Json& row, const Json& identity) {
  const auto fields = identity.items();
  return std::all_of(fields.begin(), fields.end(), [&](const auto& field) {
    return row.contains(field.key()) && row[field.key()] == field.value();
  });
}

}  // namespace

std::string RowLine(const Json& row) {
  std::string line;
  const auto add = [&](const Json& value) {
    absl::StrAppend(&line, value.is_string() ? value.get<std::string>() : Line(value), "  ");
  };
  for (const char* const field : {"layer", "batch", "layout", "variant", "kernel"}) {
    if (row.contains(field)) add(row[field]);
  }
  for (const auto& [name, value] : row.items()) {
    const bool time = absl::EndsWith(name, "_us") || absl::EndsWith(name, "_ms");
    const bool quantile = absl::StrContains(name, "_p10") || absl::StrContains(name, "_p90");
    if ((time && !quantile) || absl::StrContains(name, "ratio") || name == "noise" ||
        name == "clock_mhz" || name == "mismatches") {
      absl::StrAppend(&line, name, " ");
      add(value);
    }
  }
  return line + row.value("status", "");
}

int Results::Add(const Json& identity) {
  identities_.push_back(identity);
  rows_.push_back(nullptr);
  return count() - 1;
}

absl::Status Results::TakeOver(const ResultFile& file, const std::string& text,
                               const Json& environment) {
  const Json earlier = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!earlier.is_object() || !earlier.contains("environment") || !earlier.contains("rows")) {
    return absl::InvalidArgumentError("the file to resume is no result file");
  }
  for (const char* const field : {"commit", "settings", "tiles"}) {
    const std::string then = earlier["environment"].value(field, "");
    const std::string now = environment.value(field, "");
    if (then != now) {
      return absl::InvalidArgumentError(absl::StrCat("the file to resume is of ", field, " '", then,
                                                     "', this run of '", now, "'"));
    }
  }
  for (const auto& [job, fields] : file.jobs) {
    Json rows = Json::array();
    for (const Json& row : earlier["rows"]) {
      if (IsOf(row, identities_[job])) rows.push_back(row);
    }
    const bool whole = std::none_of(rows.begin(), rows.end(), [](const Json& row) {
      return Begins(row, "failed") || Begins(row, kNotRun);
    });
    if (!rows.empty() && whole) rows_[job] = std::move(rows);
  }
  return absl::OkStatus();
}

bool Results::WasMeasured(int job) const {
  const Json& rows = rows_[job];
  return !rows.is_null() && (rows.empty() || !Begins(rows[0], absl::StrCat("failed: ", kNotRun)));
}

std::vector<Json> Results::RowsOf(const ResultFile& file) const {
  std::vector<Json> all;
  for (const auto& [job, fields] : file.jobs) {
    if (!WasMeasured(job)) continue;
    for (const Json& row : rows_[job]) {
      all.push_back(row);
      all.back().update(fields);
    }
  }
  return all;
}

int Results::NotRun(const ResultFile& file) const {
  return static_cast<int>(std::count_if(file.jobs.begin(), file.jobs.end(),
                                        [&](const auto& job) { return !WasMeasured(job.first); }));
}

bool Results::Fine() const {
  return std::all_of(rows_.begin(), rows_.end(), [](const Json& rows) {
    return !rows.is_null() &&
           std::all_of(rows.begin(), rows.end(), [](const Json& row) { return Begins(row, "ok"); });
  });
}

bool Results::Empty() const {
  return std::all_of(rows_.begin(), rows_.end(),
                     [](const Json& rows) { return !rows.is_null() && rows.empty(); });
}

}  // namespace weft::perf
