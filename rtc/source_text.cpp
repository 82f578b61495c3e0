#include "weft/rtc/source_text.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace weft::rtc {
namespace {

bool InWord(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
}

// The words and single signs of C++ text, without comments, literals of text and lines of the
// preprocessor. It is no compiler: what it takes for a name is asked of one.
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

// Words that may stand where a member's name does, and would be wrong behind a point.
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

}  // namespace

std::string LastTypeOf(std::string_view source) {
  const std::vector<std::string_view> tokens = TokensOf(source);
  std::string_view last;
  int depth = 0;
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (tokens[i] == "{") ++depth;
    if (tokens[i] == "}") --depth;
    if (depth != 0) continue;
    const bool is_class = tokens[i] == "struct" || tokens[i] == "class";
    const std::string_view next = tokens[i + 2];
    if (is_class && (next == "{" || next == ":" || next == "final")) last = tokens[i + 1];
    if (tokens[i] == "using" && next == "=") last = tokens[i + 1];
  }
  return std::string(last);
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
  return absl::StrCat("struct WeftValue", index, " {\n  static constexpr const char* kName = \"",
                      value, "\";\n  template <class Object> static constexpr weft::rtc::Value ",
                      "Of() {\n    if constexpr (", owner, "requires { requires ",
                      "std::is_member_object_pointer_v<decltype(&Object::", member, ")>; }) {\n",
                      "      return weft::rtc::internal::MemberAt<decltype(Object::", member,
                      ")>(__builtin_offsetof(Object, ", member,
                      "));\n    } else {\n      return {};\n    }\n  }\n};\n");
}

}  // namespace

std::string TwinSource(std::string_view source, std::string_view policy,
                       const std::vector<std::string>& values) {
  std::string text = absl::StrCat(
      "#include \"weft/rtc/twin_table.hpp\"\n#include \"weft/conv/ready_made.hpp\"\n#line 1 \"",
      kSourceName, "\"\n", std::string(source), "\n#line 1 \"", kPolicyLine,
      "\"\nusing WeftPolicy = ", std::string(policy), ";\n#line 1 \"weft\"\n",
      "namespace {\nconst weft::rtc::ExecutorTable* weft_executor;\n");
  for (std::size_t i = 0; i < values.size(); ++i) text += ProbeOf(values[i], i);
  absl::StrAppend(&text, "constexpr weft::rtc::Value weft_values[] = {{}");
  for (std::size_t i = 0; i < values.size(); ++i) {
    absl::StrAppend(&text, ",\n  weft::rtc::internal::ValueOf<WeftPolicy, WeftValue", i, ">()");
  }
  absl::StrAppend(&text, R"(};
constexpr weft::conv::PolicyImage weft_image = weft::conv::ImageOf<WeftPolicy>();
}
#define WEFT_EXECUTOR(result, function, field, parameters, arguments) \
  result weft::arch::function parameters { return weft_executor->field arguments; }
#include "weft/rtc/executor.def"
#pragma GCC visibility push(default)
extern "C" {
extern const weft::rtc::TwinSizes weft_twin_sizes;
const weft::rtc::TwinSizes weft_twin_sizes;
extern const weft::rtc::TwinTable weft_twin;
const weft::rtc::TwinTable weft_twin = weft::rtc::TwinOf<WeftPolicy>(
    &weft_image, weft_values + 1, )",
                  values.size(), R"(,
    [](const weft::rtc::ExecutorTable& executor) { weft_executor = &executor; });
}
#pragma GCC visibility pop
)");
  return text;
}

}  // namespace internal

}  // namespace weft::rtc
