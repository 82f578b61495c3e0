#include "weft/rtc/text/functions.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "weft/rtc/text/source_text.hpp"

namespace weft::rtc {
namespace {

constexpr char kExponentials[] =
    "weft::epilogues has Sigmoid, Silu, Tanh, Gelu and GeluTanh, which have the same bits on every "
    "machine, as in weft::epilogues::Sigmoid{}(x)";
constexpr char kNone[] = "Weft has no such function; build it of weft::epilogues::Fma, Mul and Add";

struct Function {
  std::string_view name;
  const char* remedy;
};
constexpr Function kRefused[] = {
    {"exp", kExponentials},
    {"exp2", kExponentials},
    {"expm1", kExponentials},
    {"tanh", "call weft::epilogues::Tanh{}(x)"},
    {"sinh", kExponentials},
    {"cosh", kExponentials},
    {"erf", "weft::epilogues::Gelu{}(x) is x (1 + erf(x / sqrt 2)) / 2"},
    {"erfc", "weft::epilogues::Gelu{}(x) is x (1 + erf(x / sqrt 2)) / 2"},
    {"pow", "call weft::epilogues::Mul(x, x) for a square"},
    {"fmax", "call std::max"},
    {"fmin", "call std::min"},
    {"rint", "call weft::epilogues::RoundHalfEven(x)"},
    {"nearbyint", "call weft::epilogues::RoundHalfEven(x)"},
    {"lrint", "call weft::epilogues::RoundHalfEven(x)"},
    {"lround", "call std::round"},
    {"log", kNone},
    {"log2", kNone},
    {"log10", kNone},
    {"log1p", kNone},
    {"sin", kNone},
    {"cos", kNone},
    {"tan", kNone},
    {"asin", kNone},
    {"acos", kNone},
    {"atan", kNone},
    {"atan2", kNone},
    {"asinh", kNone},
    {"acosh", kNone},
    {"atanh", kNone},
    {"cbrt", kNone},
    {"hypot", kNone},
    {"fmod", kNone},
    {"remainder", kNone},
    {"tgamma", kNone},
    {"lgamma", kNone},
};

const Function* Find(std::string_view name) {
  for (const Function& f : kRefused) {
    if (name == f.name || (name.ends_with("f") && name.substr(0, name.size() - 1) == f.name)) {
      return &f;
    }
  }
  return nullptr;
}

// Whether a word in front of a name and a parenthesis makes them a call: others, such as float, declare a function.
bool IsBeforeCall(std::string_view word) {
  return word == "return" || word == "else" || word == "do" || word == "case" || word == "and" ||
         word == "or" || word == "not" || word == "throw" || !internal::IsName(word);
}

}  // namespace

absl::Status CheckFunctions(std::string_view source) {
  const std::vector<std::string_view> tokens = internal::TokensOf(source);
  const auto at = [&](std::size_t i) {
    return i < tokens.size() ? tokens[i] : std::string_view(".");
  };
  const auto is_called = [&](std::size_t i) { return at(i + 1) == "("; };
  std::vector<std::string_view> own;  // functions of the source that have such a name
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (is_called(i) && i > 0 && !IsBeforeCall(tokens[i - 1])) own.push_back(tokens[i]);
  }
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Function* const f = Find(tokens[i]);
    if (f == nullptr) continue;
    const bool scoped = at(i - 1) == ":" && at(i - 2) == ":";
    const bool is_std = scoped && at(i - 3) == "std";
    const bool is_global = scoped ? is_called(i) && IsBeforeCall(at(i - 3))
                                  : is_called(i) && at(i - 1) != "." && at(i - 1) != ">" &&
                                        std::find(own.begin(), own.end(), tokens[i]) == own.end();
    if (!is_std && !is_global) continue;
    const auto before = static_cast<std::size_t>(tokens[i].data() - source.data());
    return absl::InvalidArgumentError(absl::StrCat(
        "rtc: line ",
        1 + std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(before), '\n'),
        " of the source calls ", is_std ? "std::" : "", std::string(tokens[i]),
        ", which NVRTC does not have; ", f->remedy));
  }
  return absl::OkStatus();
}

}  // namespace weft::rtc
