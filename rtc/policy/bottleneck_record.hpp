// What compiled code says of a bottleneck's policy: the record of its last convolution, which has the kernel of all, those of the
// others, and what a conv::BottleneckImage has besides.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/conv/bottleneck/bottleneck_image.hpp"
#include "weft/rtc/policy/policy_record.hpp"

namespace weft::rtc {

struct BottleneckRecord {
  // Where the default-constructed parameters are, from the record's beginning.
  std::int32_t defaults = 0;
  conv::BottleneckFacts facts;  // those of the parts are in their own records; names are null
  conv::BottleneckLayout at;
};

// Of one of the convolutions: a PolicyData without kernels.
template <class PolicyT, class... ProbesT>
struct PartData {
  PolicyRecord record;
  typename PolicyT::Epilogue epilogue = {};
  typename PolicyT::Prologue prologue = {};
  conv::SourceFunctorOf<PolicyT> source_functor = {};
  ValueRecord values[sizeof...(ProbesT) + 1] = {internal::ValueOf<PolicyT, ProbesT>()..., {}};
};

// The policy of the projection; where there is none, that of the first convolution, which nobody asks for.
template <class PolicyT>
using ProjectionOf =
    typename std::conditional_t<conv::kProjects<PolicyT>,
                                std::type_identity<conv::BottleneckProjection<PolicyT>>,
                                std::type_identity<conv::BottleneckFirst<PolicyT>>>::type;

// The parts in the order of Compiled::RunOf.
#define WEFT_BOTTLENECK_PARTS(PolicyT)                                        \
  weft::conv::BottleneckThird<PolicyT>, weft::conv::BottleneckFirst<PolicyT>, \
      weft::conv::BottleneckSecond<PolicyT>, weft::rtc::ProjectionOf<PolicyT>

template <class PolicyT, class... ProbesT>
struct BottleneckData {
  PartData<conv::BottleneckThird<PolicyT>, ProbesT...> third;
  PartData<conv::BottleneckFirst<PolicyT>, ProbesT...> first;
  PartData<conv::BottleneckSecond<PolicyT>, ProbesT...> second;
  PartData<ProjectionOf<PolicyT>, ProbesT...> projection;
  BottleneckRecord fused;
  conv::BottleneckParamsOf<PolicyT> params = {};
};

WEFT_OFFSETS_BEGIN

namespace internal {

template <class PolicyT, class... ProbesT>
constexpr PolicyRecord RecordOfPart() {
  PolicyRecord r = RecordOfFunctors<PartData<PolicyT, ProbesT...>, PolicyT, sizeof...(ProbesT)>();
  for (auto& params : r.image.params) params = {};  // of kernels that nobody starts
  return r;
}

}  // namespace internal

template <class PolicyT, class... ProbesT>
constexpr BottleneckData<PolicyT, ProbesT...> BottleneckDataOf() {
  using Data = BottleneckData<PolicyT, ProbesT...>;
  using List = gemm::KernelList<PolicyT>;
  PolicyRecord r = internal::RecordOfPart<conv::BottleneckThird<PolicyT>, ProbesT...>();
  r.kernels = List::kCount;
  internal::AddKernels<PolicyT>(r, std::make_integer_sequence<int, List::kCount>());
  r.others[0] = ByteRange{.at = WEFT_OFFSET(Data, first), .size = sizeof(Data::first)};
  r.others[1] = ByteRange{.at = WEFT_OFFSET(Data, second), .size = sizeof(Data::second)};
  r.others[2] = ByteRange{.at = WEFT_OFFSET(Data, projection), .size = sizeof(Data::projection)};
  r.fused = ByteRange{.at = WEFT_OFFSET(Data, fused),
                      .size = static_cast<std::int32_t>(sizeof(Data)) - WEFT_OFFSET(Data, fused)};
  BottleneckRecord fused;
  fused.defaults = WEFT_OFFSET(Data, params) - WEFT_OFFSET(Data, fused);
  fused.facts = conv::BottleneckFactsOf<PolicyT>();
  for (auto& part : fused.facts.part) {
    part.src_layout = part.dst_layout = part.prologue.name = nullptr;
    part.config.other = nullptr;
  }
  fused.facts.tile.src_layout = fused.facts.tile.dst_layout = nullptr;
  fused.facts.tile.config.other = nullptr;
  fused.at = conv::internal::BottleneckLayoutOf<conv::BottleneckParamsOf<PolicyT>>();
  return {.third = {r},
          .first = {internal::RecordOfPart<conv::BottleneckFirst<PolicyT>, ProbesT...>()},
          .second = {internal::RecordOfPart<conv::BottleneckSecond<PolicyT>, ProbesT...>()},
          .projection = {internal::RecordOfPart<ProjectionOf<PolicyT>, ProbesT...>()},
          .fused = fused};
}

WEFT_OFFSETS_END

}  // namespace weft::rtc
