#include "weft/gemm/choose/tuning.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace weft::gemm {
namespace {

constexpr const char* kWhiteSpace = " \t\r";
constexpr const char* kFields[] = {"device", "sms", "operator", "problem", "policy", "us"};

std::tuple<std::string, int, std::string, std::string> KeyOf(const TuningRecord& r) {
  return {r.device, r.sm_count, r.operator_name, r.problem.name};
}

absl::Status Bad(const std::string& message) {
  return absl::InvalidArgumentError(message);
}

absl::Status CheckWord(const char* field, const std::string& value) {
  if (value.empty()) return Bad(absl::StrCat(field, " is empty; give a name"));
  if (value.find_first_of(" \t\r\n\"#") != std::string::npos) {
    return Bad(absl::StrCat(field, "=", value, " has white space, '\"' or '#' in it; give a name ",
                            "without"));
  }
  return absl::OkStatus();
}

absl::Status CheckRecord(const TuningRecord& r, const absl::StatusOr<std::string>& problem) {
  if (r.device.empty()) {
    return Bad("device is empty; give the GPU's name as CUDA has it, such as \"NVIDIA H200\"");
  }
  if (r.device.find_first_of("\"\r\n") != std::string::npos) {
    return Bad(absl::StrCat("device=", r.device, " has a '\"' or a line break in it"));
  }
  if (r.sm_count < 1) {
    return Bad(absl::StrCat("sms=", r.sm_count, " is not a number of multiprocessors; give 1 or ",
                            "more"));
  }
  if (absl::Status s = CheckWord("operator", r.operator_name); !s.ok()) return s;
  if (!problem.ok()) return problem.status();
  if (absl::Status s = CheckWord("problem", *problem); !s.ok()) return s;
  if (absl::Status s = CheckWord("policy", r.policy); !s.ok()) return s;
  if (!std::isfinite(r.microseconds) || r.microseconds < 5e-5) {
    return Bad(
        absl::StrFormat("us=%g is not a time; give microseconds, 0.0001 or more", r.microseconds));
  }
  return absl::OkStatus();
}

// The fields of one line of a table: all of kFields, each once, or none of an empty line. An error
// says which field is unknown, missing or given twice.
absl::StatusOr<std::map<std::string, std::string>> Fields(const std::string& line) {
  std::map<std::string, std::string> fields;
  std::size_t at = line.find_first_not_of(kWhiteSpace);
  while (at != std::string::npos && line[at] != '#') {
    const std::size_t equals = line.find_first_of("= \t\r", at);
    const std::string name = line.substr(at, equals == std::string::npos ? equals : equals - at);
    if (std::find(std::begin(kFields), std::end(kFields), name) == std::end(kFields)) {
      return Bad(absl::StrCat("'", name, "' is not a field; there are device, sms, operator, ",
                              "problem, policy and us"));
    }
    if (equals == std::string::npos || line[equals] != '=') {
      return Bad(absl::StrCat(name, " has no value; write ", name, "=value"));
    }
    const bool quoted = equals + 1 < line.size() && line[equals + 1] == '"';
    const std::size_t first = equals + 1 + quoted;
    std::size_t end = line.find_first_of(quoted ? "\"" : " \t\r#", first);
    if (end == std::string::npos) {
      if (quoted) return Bad(absl::StrCat(name, " has no closing '\"'"));
      end = line.size();
    }
    if (!fields.emplace(name, line.substr(first, end - first)).second) {
      return Bad(absl::StrCat(name, " is given twice"));
    }
    at = line.find_first_not_of(kWhiteSpace, end + quoted);
  }
  for (const char* name : kFields) {
    if (!fields.empty() && fields.count(name) == 0) {
      return Bad(absl::StrCat(name, " is missing; a record has device, sms, operator, problem, ",
                              "policy and us"));
    }
  }
  return fields;
}

absl::StatusOr<TuningRecord> Record(const std::map<std::string, std::string>& fields) {
  TuningRecord r;
  r.device = fields.at("device");
  r.operator_name = fields.at("operator");
  r.policy = fields.at("policy");
  if (!absl::SimpleAtoi(fields.at("sms"), &r.sm_count)) {
    return Bad(absl::StrCat("sms=", fields.at("sms"), " is not a whole number"));
  }
  r.problem.name = fields.at("problem");
  if (!absl::SimpleAtod(fields.at("us"), &r.microseconds)) {
    return Bad(absl::StrCat("us=", fields.at("us"), " is not a number of microseconds"));
  }
  return r;
}

}  // namespace

std::string PolicyName(const TileDescription& c) {
  const std::string own =
      c.mainloop == Mainloop::kSimt || c.mainloop == Mainloop::kOther
          ? absl::StrCat("t", c.thread.m, "x", c.thread.n)
      : c.mainloop == Mainloop::kWgmmaSm90
          ? absl::StrCat("b", c.blocks_per_sm,
                         c.cluster_split_k > 1 ? absl::StrCat("_c", c.cluster_split_k) : "",
                         c.packed_rows > 1 ? absl::StrCat("_t", c.packed_rows) : "",
                         c.ping_pong ? "_p2" : "")
          : absl::StrCat("s", c.stages);
  return absl::StrFormat("%s_%dx%dx%d_w%dx%dx%d_%s_a%d_d%d", c.name(), c.threadblock.m,
                         c.threadblock.n, c.threadblock.k, c.warp.m, c.warp.n, c.warp.k, own,
                         c.alignment.src, c.alignment.dst);
}

absl::StatusOr<std::string> TuningTable::OneNameOf(const std::string& name) {
  if (name.empty() || name[0] != 'm') return name;
  absl::StatusOr<GemmProblem> product = ParseProductName(name);
  if (!product.ok()) return product.status();
  if (absl::Status s = CheckExtents(*product); !s.ok()) {
    return Bad(absl::StrCat("problem=", name, ": ", s.message()));
  }
  return ProblemName(*product);
}

absl::Status TuningTable::AddText(const std::string& source, const std::string& text) {
  std::map<Key, int> lines;
  int number = 0;
  for (const auto& piece : absl::StrSplit(text, '\n')) {
    const std::string line(piece);
    ++number;
    const auto at_line = [&](const absl::Status& s) {
      return Bad(absl::StrCat(source, ":", number, ": ", s.message()));
    };
    const auto fields = Fields(line);
    if (!fields.ok()) return at_line(fields.status());
    if (fields->empty()) continue;
    absl::StatusOr<TuningRecord> record = Record(*fields);
    if (!record.ok()) return at_line(record.status());
    const absl::StatusOr<std::string> problem = one_name_(record->problem.name);
    if (absl::Status s = CheckRecord(*record, problem); !s.ok()) return at_line(s);
    record->problem.name = *problem;
    const Key key = KeyOf(*record);
    if (const auto [place, is_new] = lines.emplace(key, number); !is_new) {
      return at_line(
          Bad(absl::StrCat("problem=", std::get<3>(key), " stands in line ", place->second,
                           " already, for the same device and operator; ", "keep one of them")));
    }
    records_[key] = *std::move(record);
  }
  return absl::OkStatus();
}

absl::Status TuningTable::AddFile(const std::string& path) {
  if (std::error_code error; std::filesystem::is_directory(path, error)) {
    return absl::NotFoundError(absl::StrCat("tuning table ", path, " is a folder; give a file"));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return absl::NotFoundError(absl::StrCat("tuning table ", path, " cannot be opened"));
  }
  // Stream iterators would throw where reading fails.
  std::string text;
  char block[4096];
  while (file.read(block, sizeof(block)) || file.gcount() > 0) text.append(block, file.gcount());
  if (file.bad()) return absl::UnavailableError(absl::StrCat(path, " cannot be read"));
  return AddText(path, text);
}

absl::StatusOr<TuningTable> TuningTable::Parse(const std::string& source, const std::string& text) {
  TuningTable table;
  if (absl::Status s = table.AddText(source, text); !s.ok()) return s;
  return table;
}

absl::StatusOr<TuningTable> TuningTable::Read(const std::string& path) {
  TuningTable table;
  if (absl::Status s = table.AddFile(path); !s.ok()) return s;
  return table;
}

absl::Status TuningTable::Put(const TuningRecord& record) {
  const absl::StatusOr<std::string> problem = one_name_(record.problem.name);
  if (absl::Status s = CheckRecord(record, problem); !s.ok()) {
    return Bad(absl::StrCat("tuning record: ", s.message()));
  }
  TuningRecord named = record;
  named.problem.name = *problem;
  records_[KeyOf(named)] = named;
  return absl::OkStatus();
}

const TuningRecord* TuningTable::Find(const std::string& device, int sm_count,
                                      const std::string& operator_name,
                                      const TunedProblem& problem) const {
  const auto place = records_.find({device, sm_count, operator_name, problem.name});
  return place == records_.end() ? nullptr : &place->second;
}

std::vector<TuningRecord> TuningTable::records() const {
  std::vector<TuningRecord> all;
  for (const auto& [key, record] : records_) all.push_back(record);
  return all;
}

std::string TuningTable::Text(const std::string& comment) const {
  std::string text;
  if (!comment.empty()) {
    for (const auto& line : absl::StrSplit(comment, '\n')) {
      absl::StrAppend(&text, line.empty() ? "#" : "# ", line, "\n");
    }
  }
  for (const auto& [key, r] : records_) {
    absl::StrAppendFormat(&text, "device=\"%s\" sms=%d operator=%s problem=%s policy=%s us=%.4f\n",
                          r.device, r.sm_count, r.operator_name, std::get<3>(key), r.policy,
                          r.microseconds);
  }
  return text;
}

absl::Status TuningTable::Write(const std::string& path, const std::string& comment) const {
  const std::string beside = path + ".new";
  const auto failed = [&](const char* what) {
    std::remove(beside.c_str());
    return absl::UnavailableError(absl::StrCat("tuning table ", path, " cannot be ", what));
  };
  std::ofstream file(beside, std::ios::binary);
  file << Text(comment);
  file.close();
  if (!file) return failed("written");
  if (std::rename(beside.c_str(), path.c_str()) != 0) return failed("replaced");
  return absl::OkStatus();
}

}  // namespace weft::gemm
