#include "weft/rtc/text/messages.hpp"

#include <cstddef>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "weft/rtc/text/source_text.hpp"

namespace weft::rtc::internal {
namespace {

// g++ writes FILE:LINE:, NVRTC FILE(LINE).
bool IsOf(const char* file, absl::string_view line) {
  return absl::StartsWith(line, absl::StrCat(file, ":")) ||
         absl::StartsWith(line, absl::StrCat(file, "("));
}

std::string FirstErrors(const std::string& output) {
  constexpr std::size_t kMostLines = 8;
  std::vector<std::string> errors, first;
  bool follows = false;  // the line shows what the error before it is about
  for (const absl::string_view line : absl::StrSplit(output, '\n', absl::SkipEmpty())) {
    if (absl::StartsWith(line, "Info: ")) continue;
    const bool shows = absl::StartsWith(line, " ");
    const bool sentence = absl::StrContains(line, "weft: ");
    if (!shows) {
      follows = absl::StrContains(line, "error") && (IsOf(kSourceName, line) || sentence);
    }
    // NVRTC writes a question mark for each quotation mark of a sentence, and what was being made of a
    // template where.
    const std::string text = sentence ? absl::StrReplaceAll(line, {{"?", "`"}}) : std::string(line);
    if (first.size() < kMostLines) first.push_back(text);
    const bool where =
        absl::StrContains(line, "instantiation of") || absl::StrContains(line, "detected during");
    if (follows && !where && errors.size() < kMostLines) errors.push_back(text);
  }
  return absl::StrJoin(errors.empty() ? first : errors, "\n");
}

}  // namespace

absl::Status CompileError(const std::string& output, const std::string& policy) {
  bool no_name = false, of_source = false;
  for (const absl::string_view line : absl::StrSplit(output, '\n')) {
    if (!absl::StrContains(line, "error")) continue;
    no_name = no_name || IsOf(kPolicyLine, line);
    of_source = of_source || IsOf(kSourceName, line);
  }
  if (no_name && !of_source) {
    return absl::InvalidArgumentError(absl::StrCat(
        "rtc: options.policy=", policy, " names no type of the source; name the policy struct"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("rtc: the policy ", policy, " does not compile:\n", FirstErrors(output)));
}

}  // namespace weft::rtc::internal
