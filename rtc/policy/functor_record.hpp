// What compiled code says of a policy's functors, so that the host, which knows no type of them, can set
// their members by name and check them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "weft/conv/policy/policy.hpp"
#include "weft/epilogues/chain.hpp"
#include "weft/gemm/policy/output_layout.hpp"

namespace weft::rtc {

// Element types, as letters: b int8, B uint8, i int32, u uint32, q int64, f float, d double, e half,
// E bfloat16, o bool, p an address, ? another one.
template <class Type>
constexpr char LetterOf() {
  if (std::is_pointer_v<Type>) return 'p';
  if (std::is_same_v<Type, std::int8_t>) return 'b';
  if (std::is_same_v<Type, std::uint8_t>) return 'B';
  if (std::is_same_v<Type, std::int32_t>) return 'i';
  if (std::is_same_v<Type, std::uint32_t>) return 'u';
  if (std::is_same_v<Type, std::int64_t>) return 'q';
  if (std::is_same_v<Type, float>) return 'f';
  if (std::is_same_v<Type, double>) return 'd';
  if (std::is_same_v<Type, Half>) return 'e';
  if (std::is_same_v<Type, Bfloat16>) return 'E';
  if (std::is_same_v<Type, bool>) return 'o';
  return '?';
}

// Whose member a value is.
enum class Part : std::int32_t { kEpilogue, kPrologue, kSourceFunctor };
inline constexpr int kParts = 3;

inline constexpr int kMostName = 63;  // characters

// Copies a name, or as much of it as there is room for.
constexpr void CopyName(const char* from, char (&to)[kMostName + 1]) {
  for (int i = 0; from != nullptr && from[i] != 0 && i < kMostName; ++i) to[i] = from[i];
}

// A member of a functor, which a run may set: `count` elements, `offset` bytes from the beginning of
// the part.
struct ValueRecord {
  char name[kMostName + 1] = {};
  Part part = Part::kEpilogue;
  std::int32_t offset = 0, count = 0;
  std::int32_t owners =
      0;  // functors of the policy that have a member of this name; 0: it is no value
  char letter = '?';
};

// Where the epilogue's stages have what a run says of itself (gemm::OutputRun), in bytes from the
// epilogue's beginning; -1: it has no such stage.
struct EpilogueRecord {
  std::int32_t copy = -1, low = -1, high = -1, image_sums = -1, channel_values = -1;
  std::int32_t residual_zero_point = -1, table = -1;
};

// How many filters a prologue needs.
enum class FilterCount : std::int32_t { kAny, kOne, kOneEach, kAskHost };

namespace internal {

WEFT_OFFSETS_BEGIN

template <class MemberT>
constexpr ValueRecord MemberAt(std::int32_t offset) {
  using Element = std::remove_cv_t<std::remove_all_extents_t<MemberT>>;
  ValueRecord v;
  v.offset = offset;
  v.count = sizeof(MemberT) / sizeof(Element);
  v.letter = LetterOf<Element>();
  v.owners = 1;
  return v;
}

// Adds what ProbeT::Of<Object>() says of a member, if Object has it.
template <class ProbeT, class Object>
constexpr void Look(Part part, std::int32_t base, ValueRecord& found) {
  const ValueRecord here = ProbeT::template Of<Object>();
  if (here.owners == 0) return;
  const std::int32_t owners = found.owners + 1;
  if (owners == 1) {
    found = here;
    found.part = part;
    found.offset += base;
  }
  found.owners = owners;
}

// Calls visit.operator()<Stage>(offset of the stage) for each stage of an epilogue.
template <class Visit>
constexpr void VisitStages(const epilogues::internal::StageList<>*, std::int32_t, Visit&) {}
template <class First, class... Rest, class Visit>
constexpr void VisitStages(const epilogues::internal::StageList<First, Rest...>*, std::int32_t base,
                           Visit& visit) {
  using List = epilogues::internal::StageList<First, Rest...>;
  visit.template operator()<First>(base + WEFT_OFFSET(List, first));
  VisitStages(static_cast<const epilogues::internal::StageList<Rest...>*>(nullptr),
              base + WEFT_OFFSET(List, rest), visit);
}
template <class Epilogue, class Visit>
constexpr void VisitStages(Visit& visit) {
  VisitStages(static_cast<const decltype(Epilogue::stages)*>(nullptr),
              WEFT_OFFSET(Epilogue, stages), visit);
}

template <class ProbeT>
struct LookInStage {
  ValueRecord found;
  template <class Stage>
  constexpr void operator()(std::int32_t at) {
    Look<ProbeT, Stage>(Part::kEpilogue, at, found);
  }
};

// The value that the probe finds among the functors of a policy.
template <class PolicyT, class ProbeT>
constexpr ValueRecord ValueOf() {
  LookInStage<ProbeT> look;
  VisitStages<typename PolicyT::Epilogue>(look);
  Look<ProbeT, typename PolicyT::Prologue>(Part::kPrologue, 0, look.found);
  Look<ProbeT, conv::SourceFunctorOf<PolicyT>>(Part::kSourceFunctor, 0, look.found);
  CopyName(ProbeT::kName, look.found.name);
  return look.found;
}

// Fills an EpilogueRecord in.
struct RecordStage {
  EpilogueRecord record;
  bool asks_host = false;  // a functor's own function must say, which code for a GPU cannot

  template <class Stage>
  constexpr void operator()(std::int32_t at) {
    using epilogues::internal::HasZeroPoint;
    if constexpr (epilogues::kIsCopy<Stage>) record.copy = at + WEFT_OFFSET(Stage, to);
    if constexpr (epilogues::kIsRange<Stage>) {
      record.low = at + WEFT_OFFSET(Stage, low), record.high = at + WEFT_OFFSET(Stage, high);
    }
    if constexpr (epilogues::kIsSums<Stage>) record.image_sums = at + WEFT_OFFSET(Stage, to);
    if constexpr (HasZeroPoint<Stage>()) {
      record.residual_zero_point = at + WEFT_OFFSET(Stage, zero_point);
    }
    if constexpr (epilogues::internal::kIsTable<Stage>)
      record.table = at + WEFT_OFFSET(Stage, table);
    if constexpr (std::is_same_v<Stage, epilogues::PRelu>) {
      record.channel_values = at + WEFT_OFFSET(Stage, slope);
    } else if constexpr (epilogues::internal::WantChannelValues<Stage>::value) {
      asks_host = true;
    }
    if constexpr (epilogues::ChecksItsNumbers<Stage>) asks_host = true;
  }
};

WEFT_OFFSETS_END

template <class Prologue>
constexpr FilterCount FilterCountOf() {
  constexpr prologues::BatchExtents kSamples[] = {{.n = 1, .p = 1, .q = 1, .g = 1},
                                                  {.n = 2, .p = 1, .q = 1, .g = 1},
                                                  {.n = 2, .p = 3, .q = 5, .g = 7},
                                                  {.n = 11, .p = 7, .q = 5, .g = 3}};
  bool any = true, one = true, each = true;
  for (const prologues::BatchExtents& sample : kSamples) {
    const std::int64_t count = Prologue::Filters(sample);
    any = any && count == 0, one = one && count == 1, each = each && count == sample.Count();
  }
  return any    ? FilterCount::kAny
         : one  ? FilterCount::kOne
         : each ? FilterCount::kOneEach
                : FilterCount::kAskHost;
}

}  // namespace internal
}  // namespace weft::rtc
