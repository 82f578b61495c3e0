#include "weft/rtc/text/source_text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace weft::rtc {
namespace {

bool InWord(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
}

}  // namespace

namespace internal {

std::vector<std::string_view> TokensOf(std::string_view text) {
  std::vector<std::string_view> tokens;
  bool line_begins = true;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    const std::string_view rest = text.substr(i);
    const auto skip_to = [&](std::string_view end) {
      const std::size_t found = text.find(end, i + 2);
      i = found == text.npos ? text.size() : found + end.size();
    };
    if (c == '\n') {
      line_begins = true, ++i;
    } else if (absl::ascii_isspace(static_cast<unsigned char>(c))) {
      ++i;
    } else if (rest.starts_with("//") || (c == '#' && line_begins)) {
      while (i < text.size() && text[i] != '\n') i += text[i] == '\\' ? 2 : 1;
    } else if (rest.starts_with("/*")) {
      skip_to("*/");
    } else if (rest.starts_with("R\"")) {
      const std::size_t open = text.find('(', i);
      if (open == text.npos) break;
      skip_to(absl::StrCat(")", std::string(text.substr(i + 2, open - i - 2)), "\""));
    } else if (c == '"' || c == '\'') {
      for (++i; i < text.size() && text[i] != c; ++i) i += text[i] == '\\' ? 1 : 0;
      ++i;
    } else {
      line_begins = false;
      std::size_t end = i + 1;
      // A number takes the signs that separate its digits along.
      const bool number = absl::ascii_isdigit(static_cast<unsigned char>(c));
      while (InWord(c) && end < text.size() &&
             (InWord(text[end]) || (number && (text[end] == '\'' || text[end] == '.')))) {
        ++end;
      }
      tokens.push_back(text.substr(i, end - i));
      i = end;
    }
  }
  return tokens;
}

bool IsName(std::string_view token) {
  return InWord(token[0]) && !absl::ascii_isdigit(static_cast<unsigned char>(token[0]));
}

bool IsKeyword(std::string_view word) {
  constexpr std::string_view kWords[] = {
      "alignas",  "alignof",   "and",       "auto",      "bitand",    "bitor",     "bool",
      "break",    "case",      "catch",     "char",      "class",     "compl",     "concept",
      "const",    "constexpr", "consteval", "constinit", "continue",  "decltype",  "default",
      "delete",   "do",        "double",    "else",      "enum",      "explicit",  "export",
      "extern",   "false",     "float",     "for",       "friend",    "goto",      "if",
      "inline",   "int",       "long",      "mutable",   "namespace", "new",       "noexcept",
      "not",      "nullptr",   "operator",  "or",        "private",   "protected", "public",
      "register", "requires",  "return",    "short",     "signed",    "sizeof",    "static",
      "struct",   "switch",    "template",  "this",      "throw",     "true",      "try",
      "typedef",  "typeid",    "typename",  "union",     "unsigned",  "using",     "virtual",
      "void",     "volatile",  "while",     "xor",       "final",     "override"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

}  // namespace internal

using internal::IsKeyword;
using internal::IsName;
using internal::TokensOf;

namespace {

// The end of what begins at tokens[i], such as the parentheses of alignas(16): behind the last of `closes`.
std::size_t BehindPair(const std::vector<std::string_view>& tokens, std::size_t i,
                       std::string_view opens, std::string_view closes) {
  int depth = 0;
  do {
    depth += tokens[i] == opens ? 1 : tokens[i] == closes ? -1 : 0;
    ++i;
  } while (depth > 0 && i < tokens.size());
  return i;
}

// Where the name of a class is, whose `struct` is tokens[i]: behind its attributes.
std::size_t PlaceOfName(const std::vector<std::string_view>& tokens, std::size_t i) {
  for (++i; i + 1 < tokens.size();) {
    if (tokens[i] == "alignas") {
      i = BehindPair(tokens, i + 1, "(", ")");
    } else if (tokens[i] == "[") {
      i = BehindPair(tokens, i, "[", "]");
    } else {
      break;
    }
  }
  return i;
}

}  // namespace

std::string LastTypeOf(std::string_view source) {
  const std::vector<std::string_view> tokens = TokensOf(source);
  const auto at = [&](std::size_t i) {
    return i < tokens.size() ? tokens[i] : std::string_view(";");
  };
  std::string last;
  std::vector<std::string> spaces;  // namespaces that are open
  int depth = 0;                    // of all other braces
  bool is_template = false;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view token = tokens[i];
    if (token == "{") ++depth;
    if (token == "}") {
      if (depth > 0) {
        --depth;
      } else if (!spaces.empty()) {
        spaces.pop_back();
      }
    }
    if (depth != 0) continue;
    if (token == "namespace") {
      std::string name;
      std::size_t end = i + 1;
      while (at(end) != "{" && at(end) != ";" && at(end) != "=") name += at(end++);
      if (at(end) == "{") spaces.push_back(name.empty() ? name : absl::StrCat(name, "::"));
      i = at(end) == "{" ? end : i;
    } else if (token == "template") {
      is_template = true;
    } else if (token == ";" || token == "}") {
      is_template = false;
    } else if (!is_template && i + 2 < tokens.size()) {
      const bool is_enum = i > 0 && tokens[i - 1] == "enum";
      const bool is_class = (token == "struct" || token == "class") && !is_enum;
      const std::size_t name = is_class ? PlaceOfName(tokens, i) : i + 1;
      const std::string_view next = at(name + 1);
      if ((is_class && (next == "{" || next == ":" || next == "final")) ||
          (token == "using" && next == "=")) {
        last = absl::StrCat(absl::StrJoin(spaces, ""), std::string(at(name)));
      }
    }
  }
  return last;
}

bool IncludesOtherFiles(std::string_view source) {
  const std::string lines(source);
  for (const absl::string_view line : absl::StrSplit(lines, '\n')) {
    const std::size_t comment = line.rfind("*/");  // a directive may stand behind one
    const absl::string_view text =
        absl::StripLeadingAsciiWhitespace(comment == line.npos ? line : line.substr(comment + 2));
    if (!absl::StartsWith(text, "#")) continue;
    if (absl::StrContains(text, "__has_include") || absl::StrContains(text, "embed")) return true;
    const std::size_t word = text.find("include");
    if (word == text.npos) continue;
    // Weft's own headers, and the standard library's, whose names have neither an ending nor a folder.
    const absl::string_view name =
        absl::StripLeadingAsciiWhitespace(text.substr(word + std::strlen("include")));
    const absl::string_view standard = name.substr(0, name.find('>'));
    const bool is_standard = absl::StartsWith(name, "<") && !absl::StrContains(standard, '.') &&
                             !absl::StrContains(standard, '/');
    if (!absl::StartsWith(name, "\"weft/") && !is_standard) return true;
  }
  return false;
}

std::vector<std::string> PossibleMembersOf(std::string_view source) {
  const std::vector<std::string_view> tokens = TokensOf(source);
  std::vector<std::string> names;
  for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
    const std::string_view before = tokens[i - 1], name = tokens[i], next = tokens[i + 1];
    const bool declared = IsName(before) || before == "*" || before == "," || before == ">";
    const bool ends = next == "=" || next == ";" || next == "{" || next == "," || next == "[";
    // Names without a small letter may be macros.
    const bool small = std::any_of(name.begin(), name.end(), absl::ascii_islower);
    if (!declared || !ends || !IsName(name) || !small || IsKeyword(name)) continue;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  }
  return names;
}

std::string PolicySource(const PolicySpec& spec) {
  std::string text = spec.code;
  if (!text.empty() && text.back() != '\n') text += '\n';
  absl::StrAppend(&text, "struct ", spec.name, spec.base.empty() ? "" : " : ", spec.base, " {\n");
  const std::pair<const char*, const std::string*> types[] = {
      {"Element", &spec.element},
      {"SrcLayout", &spec.src_layout},
      {"FilterLayout", &spec.filter_layout},
      {"DstLayout", &spec.dst_layout},
      {"Prologue", &spec.prologue},
      {"Epilogue", &spec.epilogue},
      {"SourceFunctor", &spec.source_functor}};
  for (const auto& [name, type] : types) {
    if (!type->empty()) absl::StrAppend(&text, "  using ", name, " = ", *type, ";\n");
  }
  if (!spec.config.empty()) {
    absl::StrAppend(&text, "  static constexpr auto config = ", spec.config, ";\n");
  }
  absl::StrAppend(&text, "};\n");
  return text;
}

namespace internal {
namespace {

// The probe of one member: "scale", or "SquaredRelu.scale" of that functor alone.
std::string ProbeOf(const std::string& value, std::size_t index) {
  const std::size_t point = value.rfind('.');
  const bool qualified = point != value.npos;
  const std::string member = qualified ? value.substr(point + 1) : value;
  const std::string owner =
      qualified ? absl::StrCat("std::is_same_v<Object, ", value.substr(0, point), "> && ") : "";
  return absl::StrCat(
      "struct WeftValue", index, " {\n  static constexpr const char* kName = \"", value,
      "\";\n  template <class Object>\n",
      "  static constexpr weft::rtc::ValueRecord Of() {\n    if constexpr (", owner,
      "requires { requires ", "std::is_member_object_pointer_v<decltype(&Object::", member,
      ")>; }) {\n", "      return weft::rtc::internal::MemberAt<decltype(Object::", member,
      ")>(WEFT_OFFSET(Object, ", member, "));\n    } else {\n      return {};\n    }\n  }\n};\n");
}

}  // namespace

std::string PolicyText(std::string_view source, std::string_view policy,
                       const std::vector<std::string>& values, PolicyKind kind) {
  const bool is_bottleneck = kind == PolicyKind::kBottleneck;
  std::string text =
      absl::StrCat(is_bottleneck ? "#include \"weft/rtc/policy/bottleneck_record.hpp\"\n" : "",
                   "#line 1 \"", kSourceName, "\"\n", std::string(source), "\n#line 1 \"",
                   kPolicyLine, "\"\nusing WeftPolicy = ", std::string(policy),
                   ";\n#line 1 \"weft\"\nnamespace {\nWEFT_OFFSETS_BEGIN\n");
  std::string types = "WeftPolicy";
  for (std::size_t i = 0; i < values.size(); ++i) {
    text += ProbeOf(values[i], i);
    absl::StrAppend(&types, ", WeftValue", i);
  }
  absl::StrAppend(&text, "WEFT_OFFSETS_END\n}\n");
  if (is_bottleneck) {
    absl::StrAppend(&text, "using WeftData = weft::rtc::BottleneckData<", types,
                    ">;\n#define WEFT_RECORD weft::rtc::BottleneckDataOf<", types,
                    ">()\n#define WEFT_PARTS WEFT_BOTTLENECK_PARTS(WeftPolicy)\n");
  } else {
    absl::StrAppend(&text, "using WeftData = weft::rtc::PolicyData<", types,
                    ">;\n#define WEFT_RECORD {weft::rtc::RecordOf<", types,
                    ">()}\n#define WEFT_PARTS WeftPolicy\n");
  }
  return text;
}

bool IsNameOfMember(std::string_view name) {
  if (std::count(name.begin(), name.end(), '.') > 1) return false;
  bool begins = true;
  for (const char c : name) {
    if (!InWord(c) && c != '.' && c != ':') return false;
    if (begins && (c == '.' || absl::ascii_isdigit(static_cast<unsigned char>(c)))) return false;
    begins = c == '.' || c == ':';
  }
  return !begins;
}

}  // namespace internal

}  // namespace weft::rtc
