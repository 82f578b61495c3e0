// The text of policies: what a source defines, and what both compilers are given.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::rtc {

// What a policy is of.
enum class PolicyKind : std::int8_t { kConvolution, kBottleneck };

// The name of the last class, struct or alias, not a template, that is defined outside all braces but
// those of namespaces; empty if there is none.
std::string LastTypeOf(std::string_view source);

// The names that may be members of the functors in a source: words that are declared with a type in
// front of them, none of them twice. Most are none (locals, and whatever looks like a member).
std::vector<std::string> PossibleMembersOf(std::string_view source);

// Whether a source includes files that are neither Weft's nor of the standard library, so that it may mean
// something else tomorrow.
bool IncludesOtherFiles(std::string_view source);

// A policy written out of its parts, each a C++ expression or type. Those that are empty are the
// base's.
struct PolicySpec {
  std::string name = "Policy";  // of the struct
  std::string code{};           // written before it, such as functors and includes
  std::string base{};  // a policy, such as weft::conv::S8Conv4<>, of which the rest is inherited
  std::string element{}, src_layout{}, filter_layout{}, dst_layout{}, prologue{}, epilogue{},
      config{};
  std::string source_functor{};
};

// The text of the policy, for rtc::Compile.
std::string PolicySource(const PolicySpec& spec);

namespace internal {

// The words and single signs of C++ text, without comments, literals of text and lines of the
// preprocessor. It is no compiler: what it takes for a name is asked of one.
std::vector<std::string_view> TokensOf(std::string_view text);
// Whether a token is a word that begins with a letter, and whether it is one of C++'s own.
bool IsName(std::string_view token);
bool IsKeyword(std::string_view word);

// The part of what either compiler is given that is the same: the source, WeftPolicy, which is the policy,
// WeftData, the type of its PolicyData, WEFT_RECORD, which initialises that, and WEFT_PARTS, the convolutions whose epilogues it
// has. values: names of members, as Options::values.
std::string PolicyText(std::string_view source, std::string_view policy,
                       const std::vector<std::string>& values, PolicyKind kind);

// Whether `name` may be a name of Options::values: a member's, or a functor's, a point and a member's.
bool IsNameOfMember(std::string_view name);

// What compilers call the user's lines, and the line that names the policy.
inline constexpr char kSourceName[] = "operator";
inline constexpr char kPolicyLine[] = "the name of the policy";

}  // namespace internal

}  // namespace weft::rtc
