// Seeded bad input: problems whose fields are set to values that overflow, divide by zero or miss a
// multiple, arguments with one to three things wrong, and what every refusal has to say.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace weft::fuzz {

// A field of a problem, by its name in messages.
template <class P>
struct Field {
  const char* name;
  std::int64_t P::* value;
};

inline std::int64_t BadValue(std::mt19937& engine, std::int64_t good) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  const auto power = [](int of_two) { return std::int64_t{1} << of_two; };
  const std::vector<std::int64_t> values[] = {
      {-kMax - 1, -kMax, -power(31), -2, -1, 0, power(30) + 1, power(31) - 1025, power(31) - 1,
       power(31), power(32), power(40), power(50), power(61), power(62), kMax - 1023, kMax},
      {power(15), power(16) - 1, power(17) - 1, power(17), power(20), power(24), power(27),
       power(28), power(29), power(30) - 1, power(30)},
      {1, 2, 3, 4, 5, 7, 8, 9, 31, 33, good - 1, good + 1, good + 4, 2 * good - 1, 2 * good,
       3 * good, 16 * good + 1}};
  const std::vector<std::int64_t>& some = values[engine() % 3];
  return some[engine() % some.size()];
}

// Sets one to three fields to bad values, and returns their names.
template <class P>
std::vector<std::string> Spoil(std::mt19937& engine, const std::vector<Field<P>>& fields, P* p) {
  std::vector<std::string> names;
  const std::uint32_t more = engine() % 6;  // most often none
  for (std::uint32_t i = 0; i < (more < 3 ? 1 : more - 1) && i < 3; ++i) {
    const Field<P>& field = fields[engine() % fields.size()];
    if (std::find(names.begin(), names.end(), field.name) != names.end()) continue;
    p->*field.value = BadValue(engine, p->*field.value);
    names.push_back(field.name);
  }
  return names;
}

// The value of a product or sum of fields as messages write it; none if a name is no field.
template <class ValueOf>
class Expression {
 public:
  Expression(std::string text, const ValueOf& value_of)
      : text_(std::move(text)), value_of_(value_of) {}

  std::optional<long double> Value() {
    const long double value = Sum();
    if (failed_ || at_ != text_.size() || names_.empty()) return std::nullopt;
    return value;
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  bool Next(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  long double Sum() {
    long double sum = Product();
    for (;;) {
      if (Next('+')) {
        sum += Product();
      } else if (Next('-')) {
        sum -= Product();
      } else {
        return sum;
      }
    }
  }
  long double Product() {
    long double product = Factor();
    for (;;) {
      if (Next('*')) {
        product *= Factor();
      } else if (Next('/')) {
        product = std::floor(product / Factor());
      } else {
        return product;
      }
    }
  }
  long double Factor() {
    if (Next('(')) {
      const long double inner = Sum();
      failed_ = failed_ || !Next(')');
      return inner;
    }
    std::string word;
    while (at_ < text_.size() && (std::isalnum(text_[at_]) || text_[at_] == '_')) {
      word += text_[at_++];
    }
    if (!word.empty() && std::isdigit(word[0]))
      return static_cast<long double>(std::atoll(word.c_str()));
    const std::optional<std::int64_t> value = value_of_(word);
    failed_ = failed_ || !value.has_value();
    names_.push_back(word);
    return static_cast<long double>(value.value_or(0));
  }

  const std::string text_;
  const ValueOf& value_of_;
  std::size_t at_ = 0;
  bool failed_ = false;
  std::vector<std::string> names_;
};

// Whether `message` says "expression=value" of fields, one of them involved(name), and the value is
// theirs. value_of(name): a field's value, none for other names.
template <class ValueOf, class Involved>
bool NamesField(const std::string& message, const ValueOf& value_of, const Involved& involved) {
  for (std::size_t at = message.find('='); at != std::string::npos;
       at = message.find('=', at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && (std::isalnum(message[begin - 1]) ||
                         absl::StrContains("_*/+-()", message.substr(begin - 1, 1)))) {
      --begin;
    }
    std::string text = message.substr(begin, at - begin);
    const auto count = [&](char c) { return std::count(text.begin(), text.end(), c); };
    while (!text.empty() && text[0] == '(' && count('(') > count(')')) text.erase(0, 1);
    if (text.empty()) continue;
    const long double said = std::strtold(message.c_str() + at + 1, nullptr);
    Expression<ValueOf> expression(text, value_of);
    const std::optional<long double> value = expression.Value();
    // Products of fields may be shown as doubles are.
    const long double margin = expression.names().size() > 1 ? 1e-15L * std::abs(said) : 0.0L;
    if (!value || std::abs(*value - said) > margin) continue;
    for (const std::string& name : expression.names()) {
      if (involved(name)) return true;
    }
  }
  return false;
}

// What a problem's refusal must be: of a code that blames the problem, of this operator, and naming
// a changed field with its value. Of what is computed from several, a name will do.
template <class P>
void ExpectRefusal(const absl::Status& status, const std::string& prefix, const P& p,
                   const std::vector<Field<P>>& fields, const std::vector<std::string>& changed) {
  SCOPED_TRACE(status.ToString());
  const absl::StatusCode code = status.code();
  EXPECT_TRUE(code == absl::StatusCode::kInvalidArgument || code == absl::StatusCode::kOutOfRange ||
              code == absl::StatusCode::kUnimplemented ||
              code == absl::StatusCode::kResourceExhausted);
  const std::string message(status.message());
  EXPECT_TRUE(absl::StartsWith(message, prefix));
  for (const char* computed :
       {"blocks=", "rows of one product=", "channel blocks of one image with its padding=",
        "units from the first to the last source value under a filter=", "rows under a filter=",
        "pixels of one output image with a thread's more=", "bytes of one filter=",
        "p*q of ImageSums=", "blocks that mix filters=", "k times the classes of pixels",
        " in each of its ", "is not 3x3 or 5x5", "; said of "}) {
    if (absl::StrContains(message, computed)) return;
  }
  const auto value_of = [&](const std::string& name) -> std::optional<std::int64_t> {
    if constexpr (requires { p.p(); }) {  // fields that were found to be in range
      if (name == "p") return p.p();
      if (name == "q") return p.q();
    }
    for (const Field<P>& field : fields) {
      if (name == field.name) return p.*field.value;
    }
    return std::nullopt;
  };
  const auto involved = [&](const std::string& name) {
    return name == "p" || name == "q" ||
           std::find(changed.begin(), changed.end(), name) != changed.end();
  };
  EXPECT_TRUE(NamesField(message, value_of, involved)) << "which names no changed field";
}

// One thing that is wrong with the arguments at an address, and the field that the refusal names.
struct Break {
  std::string field;
  std::function<void(void*, std::mt19937&)> apply;
};

// What can be wrong with arguments, whatever their type: what does not depend on it is compiled once for all of them.
// dst: where the output lies.
class BreaksOfAnyType {
 public:
  const std::vector<Break>& all() const { return all_; }

 protected:
  using Set = std::function<void(void*, std::uintptr_t)>;
  // Writes an address to a member, which is a pointer or what the library has in place of one.
  using AssignFunction = void (*)(void* member, std::uintptr_t address);

  BreaksOfAnyType(std::uintptr_t dst, std::int64_t dst_bytes) : dst_(dst), dst_bytes_(dst_bytes) {}

  void AddAny(const char* field, std::function<void(void*, std::mt19937&)> apply) {
    all_.push_back({field, std::move(apply)});
  }

  static Set SetMember(std::ptrdiff_t offset, AssignFunction assign) {
    return
        [=](void* a, std::uintptr_t address) { assign(static_cast<char*>(a) + offset, address); };
  }

  void TensorOfAny(const char* field, const void* address, std::int64_t bytes, int alignment,
                   bool required, const Set& set) {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    if (required) AddAny(field, [=](void* a, std::mt19937&) { set(a, std::uintptr_t{0}); });
    if (alignment > 1) {
      AddAny(field, [=](void* a, std::mt19937& engine) {
        set(a, at / alignment * alignment + 1 + engine() % static_cast<unsigned>(alignment - 1));
      });
    }
    if (bytes == 0) return;
    const std::int64_t step = std::max(alignment, 4), dst_bytes = dst_bytes_;
    const auto dst = dst_;
    AddAny(field, [=](void* a, std::mt19937& engine) {
      const std::int64_t low = (bytes - 1) / step, high = (dst_bytes - 1) / step;
      std::int64_t steps =
          static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(low + high + 1)) - low;
      if (steps == 0 && low + high > 0) steps = high > 0 ? 1 : -1;  // a residual may be dst
      set(a, dst + static_cast<std::uintptr_t>(steps * step));
    });
  }

  void UnreadOfAny(const char* field, const Set& set) {
    const auto dst = dst_;
    AddAny(field, [=](void* a, std::mt19937& engine) { set(a, dst + 64 * (1 + engine() % 1000)); });
  }

  void NumberOfAny(const char* field, std::ptrdiff_t offset, bool read) {
    AddAny(field, [=](void* a, std::mt19937& engine) {
      constexpr float kInfinity = std::numeric_limits<float>::infinity();
      const float numbers[] = {0.5f, -3.0f, 1e-40f};
      const float none[] = {std::numeric_limits<float>::quiet_NaN(), kInfinity, -kInfinity};
      *reinterpret_cast<float*>(static_cast<char*>(a) + offset) =
          read || engine() % 2 == 0 ? none[engine() % 3] : numbers[engine() % 3];
    });
  }

 private:
  std::uintptr_t dst_;
  std::int64_t dst_bytes_;
  std::vector<Break> all_;
};

// The same, of an operator's Arguments.
template <class Arguments>
class Breaks : public BreaksOfAnyType {
 public:
  Breaks(std::uintptr_t dst, std::int64_t dst_bytes) : BreaksOfAnyType(dst, dst_bytes) {}
  explicit Breaks(const void* dst, std::int64_t dst_bytes)
      : Breaks(reinterpret_cast<std::uintptr_t>(dst), dst_bytes) {}

  template <class Apply>
  void Add(const char* field, const Apply& apply) {
    AddAny(field,
           [=](void* a, std::mt19937& engine) { apply(*static_cast<Arguments*>(a), engine); });
  }

  // A tensor at `address`, moved by set(arguments, address): null if it is `required`, misaligned,
  // and of an input of `bytes` (0: the output itself) overlapping the output.
  template <class SetTyped>
  void Tensor(const char* field, const void* address, std::int64_t bytes, int alignment,
              bool required, const SetTyped& set) {
    TensorOfAny(field, address, bytes, alignment, required,
                [=](void* a, std::uintptr_t at) { set(*static_cast<Arguments*>(a), at); });
  }
  // The same for a pointer that is a member.
  template <class Member>
  void Pointer(const char* field, const Arguments& good, Member Arguments::* member,
               std::int64_t bytes, int alignment, bool required = true) {
    TensorOfAny(field, AddressOf(good.*member), bytes, alignment, required,
                SetMember(OffsetOf(member), &Assign<Member>));
  }
  // Addresses that no stage reads.
  template <class Member>
  void Unread(const char* field, Member Arguments::* member) {
    UnreadOfAny(field, SetMember(OffsetOf(member), &Assign<Member>));
  }
  // A float: NaN or infinite, and if no stage reads it anything but its neutral value.
  void Number(const char* field, float Arguments::* member, bool read) {
    NumberOfAny(field, OffsetOf(member), read);
  }

 private:
  static const void* AddressOf(const void* p) { return p; }
  template <class Member>
  static std::ptrdiff_t OffsetOf(Member Arguments::* member) {
    const Arguments a{};
    return reinterpret_cast<const char*>(&(a.*member)) - reinterpret_cast<const char*>(&a);
  }
  template <class P>
  static void Assign(void* member, std::uintptr_t address) {
    P* const to = static_cast<P*>(member);
    if constexpr (std::is_same_v<P, void*>) {
      *to = reinterpret_cast<void*>(address);
    } else {
      *to = reinterpret_cast<decltype(&**to)>(address);
    }
  }
};

// An operator of which only the checks are compiled: its kernel, which runs behind the same checks, is another test's.
template <class OpT>
struct ChecksAlone {
  using Arguments = typename OpT::Arguments;
  const OpT& op;
  absl::Status CheckArguments(const Arguments& args) const { return op.CheckArguments(args); }
  absl::Status RunOnCpu(const Arguments& args) const { return op.CheckArguments(args); }
};

// A run with arguments that are wrong.
struct BrokenRun {
  std::function<void*()> reset;         // the arguments, right again
  std::function<absl::Status()> run;    // with the arguments as they are
  std::function<absl::Status()> check;  // the same without the kernel
  std::function<bool()> untouched;      // whether the outputs are as they were
};

// Each of `all` several times, then two or three at once: the refusal names one of their fields, and the outputs stay as
// they were.
inline void FuzzAnyArguments(const std::vector<Break>& all, const std::string& prefix,
                             std::uint32_t seed, const BrokenRun& broken) {
  std::mt19937 engine(seed);
  ASSERT_FALSE(all.empty());
  constexpr std::size_t kEach = 4, kTogether = 400;
  for (std::size_t i = 0; i < kEach * all.size() + kTogether; ++i) {
    std::vector<std::string> fields;
    void* const args = broken.reset();
    std::size_t which = i % all.size();
    for (std::size_t more = i < kEach * all.size() ? 1 : 2 + engine() % 2; more > 0; --more) {
      const Break& one = all[which];
      which = engine() % all.size();
      if (std::find(fields.begin(), fields.end(), one.field) != fields.end()) continue;
      one.apply(args, engine);
      fields.push_back(one.field);
    }
    SCOPED_TRACE(absl::StrCat("step ", i, " seed ", seed, ", wrong: ", fields[0], " and ",
                              fields.size() - 1, " more"));
    const absl::Status status = broken.run();
    SCOPED_TRACE(status.ToString());
    EXPECT_TRUE(status.code() == absl::StatusCode::kInvalidArgument ||
                status.code() == absl::StatusCode::kOutOfRange ||
                status.code() == absl::StatusCode::kResourceExhausted);
    const std::string message(status.message());
    EXPECT_TRUE(absl::StartsWith(message, prefix));
    EXPECT_TRUE(std::any_of(fields.begin(), fields.end(), [&](const std::string& field) {
      return absl::StrContains(message, absl::StrCat("args.", field));
    }));
    // On a GPU nobody can look at a tensor's numbers before the run.
    EXPECT_TRUE(broken.check() == status || absl::StrContains(message, "args.group_offsets["));
    EXPECT_TRUE(broken.untouched()) << "the output was touched";
    if (testing::Test::HasFailure()) return;
  }
}

// The same of an operator. read(): its outputs.
template <class Op, class Read>
void FuzzArguments(const Op& op, const typename Op::Arguments& good,
                   const Breaks<typename Op::Arguments>& breaks, const std::string& prefix,
                   std::uint32_t seed, const Read& read) {
  const auto before = read();
  std::optional<typename Op::Arguments> args;
  const auto reset = [&] { return static_cast<void*>(&args.emplace(good)); };
  FuzzAnyArguments(breaks.all(), prefix, seed,
                   {.reset = reset,
                    .run = [&] { return op.RunOnCpu(*args); },
                    .check = [&] { return op.CheckArguments(*args); },
                    .untouched = [&] { return read() == before; }});
}

}  // namespace weft::fuzz
