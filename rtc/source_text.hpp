// The text of policies: what a source defines, and what a twin is compiled from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::rtc {

// The name of the last class, struct or alias that is defined outside all braces; empty if there is
// none.
std::string LastTypeOf(std::string_view source);

// The names that may be members of the functors in a source: words that are declared with a type in
// front of them, none of them twice. Most are none (locals, and whatever looks like a member).
std::vector<std::string> PossibleMembersOf(std::string_view source);

// A policy written out of its parts, each a C++ expression or type. Those that are empty are the
// base's.
struct PolicySpec {
  std::string name = "Policy";  // of the struct
  std::string code;             // written before it, such as functors and includes
  std::string base;  // a policy, such as weft::conv::S8Conv4<>, of which the rest is inherited
  std::string element, src_layout, filter_layout, dst_layout, prologue, epilogue, config;
  std::string source_functor;
};

// The text of the policy, for rtc::Compile.
std::string PolicySource(const PolicySpec& spec);

namespace internal {

// The file that a twin is compiled from. values: names of members, as Options::values.
std::string TwinSource(std::string_view source, std::string_view policy,
                       const std::vector<std::string>& values);

// What the compiler calls the user's lines, and the line that names the policy.
inline constexpr char kSourceName[] = "operator";
inline constexpr char kPolicyLine[] = "the name of the policy";

}  // namespace internal

}  // namespace weft::rtc
