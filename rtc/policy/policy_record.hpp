// What compiled code says of its policy: a PolicyImage, the names it points to as text, the kernels,
// the bytes that their parameters begin with, and the functors. It holds no address, so that it can be
// read out of a file of code that nobody has loaded. What g++ makes of a policy (rtc/cpu) and what NVRTC
// makes of it (rtc/gpu) have the same record.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "weft/conv/launch/image.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/launch/kernel_list.hpp"
#include "weft/rtc/policy/functor_record.hpp"

namespace weft::rtc {

// What starts one of a policy's kernels.
struct KernelRecord {
  std::int32_t threads = 0;  // of a block; 0: the policy has no such kernel
  std::int32_t shared_bytes = 0;
  std::int32_t params_bytes = 0;
  bool dependent = false;  // it can start while earlier kernels of the stream run
};

inline constexpr int kMostKernels = 8;  // of a policy
inline constexpr int kOtherParts = 3;  // convolutions of a bottleneck besides the last one, at most

// Bytes within the data of a policy.
struct ByteRange {
  std::int32_t at = -1, size = 0;  // from the beginning of the record; -1: nowhere
};

struct PolicyRecord {
  std::int32_t bytes = sizeof(PolicyRecord);  // who reads it compares
  std::int32_t kernels = 0;                   // the kernels of the policy, existing or not
  conv::PolicyImage image;                    // its addresses are null
  char src_layout[kMostName + 1] = {}, dst_layout[kMostName + 1] = {};
  char filter_layout[kMostName + 1] = {};
  char prologue[kMostName + 1] = {}, other[kMostName + 1] = {};
  std::int32_t defaults[3] = {-1, -1, -1};  // where image.params[i].defaults are, as ByteRange::at
  KernelRecord kernel[kMostKernels];
  // Letters of the elements (LetterOf).
  char src = '?', filter = '?', dst = '?', bias = '?', residual = '?', copy = '?';
  ByteRange part[kParts];  // the functors as they are default-constructed, by Part
  EpilogueRecord epilogue;
  FilterCount filters = FilterCount::kAny;
  // Checks of a run need a functor's own function, which only code for the host has.
  bool asks_host = false;
  std::int32_t values = 0;  // ValueRecords, `first_value` bytes from the beginning
  std::int32_t first_value = 0;
  // Of an operator of several convolutions, whose last one this is, with the kernels of all: where the records of the others begin,
  // and what else is known of it (bottleneck_record.hpp).
  ByteRange others[kOtherParts], fused;
};

namespace internal {

struct NoParams {};

// In the place of a kernel that a policy lacks.
struct NoKernel {
  using Params = NoParams;
  struct SharedStorage {};
  static constexpr int kThreads = 32;
  static constexpr arch::Requires kRequires{};
  WEFT_DEVICE void operator()(const Params&, SharedStorage&, arch::Thread) const {}
};

template <class PolicyT, int kIndex>
constexpr auto ChooseKernel() {
  using List = gemm::KernelList<PolicyT>;
  if constexpr (kIndex < List::kCount) {
    if constexpr (List::template kExists<kIndex>) {
      return std::type_identity<gemm::OperatorKernel<PolicyT, kIndex>>();
    } else {
      return std::type_identity<NoKernel>();
    }
  } else {
    return std::type_identity<NoKernel>();
  }
}

template <class PolicyT, int kIndex>
constexpr void AddKernel(PolicyRecord& record) {
  if constexpr (gemm::KernelList<PolicyT>::template kExists<kIndex>) {
    using Kernel = gemm::OperatorKernel<PolicyT, kIndex>;
    record.kernel[kIndex].threads = Kernel::kThreads;
    record.kernel[kIndex].shared_bytes = sizeof(typename Kernel::SharedStorage);
    record.kernel[kIndex].params_bytes = sizeof(typename Kernel::Params);
    record.kernel[kIndex].dependent = Kernel::kDependent;
  }
}

template <class PolicyT, int... kIndex>
constexpr void AddKernels(PolicyRecord& record, std::integer_sequence<int, kIndex...>) {
  (AddKernel<PolicyT, kIndex>(record), ...);
}

// Names, of which the record has the text.
constexpr void AddNames(PolicyRecord& r) {
  CopyName(r.image.facts.src_layout, r.src_layout);
  CopyName(r.image.facts.dst_layout, r.dst_layout);
  CopyName(r.image.facts.prologue.name, r.prologue);
  CopyName(r.image.facts.config.other, r.other);
  r.image.facts.src_layout = r.image.facts.dst_layout = r.image.facts.prologue.name = nullptr;
  r.image.facts.config.other = nullptr;
  for (auto& params : r.image.params) params.defaults = nullptr;
}

template <class PolicyT>
constexpr void AddFunctors(PolicyRecord& r) {
  using Checked = conv::CheckedPolicy<PolicyT>;
  using Epilogue = typename PolicyT::Epilogue;
  CopyName(PolicyT::FilterLayout::kName, r.filter_layout);
  r.src = LetterOf<conv::SourceElement<PolicyT>>();
  r.filter = LetterOf<typename Checked::FilterElement>();
  r.dst = LetterOf<typename Epilogue::Output>();
  if constexpr (Epilogue::kHasBias) r.bias = LetterOf<typename Epilogue::BiasElement>();
  if constexpr (Epilogue::kHasResidual) r.residual = LetterOf<typename Epilogue::ResidualElement>();
  if constexpr (Epilogue::kHasCopy) r.copy = LetterOf<typename Epilogue::CopyStage::Element>();
  RecordStage stages;
  VisitStages<Epilogue>(stages);
  r.epilogue = stages.record;
  r.filters = FilterCountOf<typename PolicyT::Prologue>();
  r.asks_host = stages.asks_host || r.filters == FilterCount::kAskHost;
}

}  // namespace internal

// Whether the functors of a policy lie where they may in what has no alignment of its own, the values of a run and
// the parameters of a kernel.
template <class PolicyT>
inline constexpr bool kFunctorsAreAligned =
    alignof(typename PolicyT::Epilogue) <= 16 && alignof(typename PolicyT::Prologue) <= 16 &&
    alignof(conv::SourceFunctorOf<PolicyT>) <= 16;

// Kernel kIndex of a policy; NoKernel if it has none.
template <class PolicyT, int kIndex>
using KernelOf = typename decltype(internal::ChooseKernel<PolicyT, kIndex>())::type;

// The record, and what it refers to. ProbesT: probes of the values of functors (rtc/text).
template <class PolicyT, class... ProbesT>
struct PolicyData {
  PolicyRecord record;
  typename KernelOf<PolicyT, 0>::Params params_0 = {};
  typename KernelOf<PolicyT, 1>::Params params_1 = {};
  typename KernelOf<PolicyT, 2>::Params params_2 = {};
  typename PolicyT::Epilogue epilogue = {};
  typename PolicyT::Prologue prologue = {};
  conv::SourceFunctorOf<PolicyT> source_functor = {};
  // The last one is none.
  ValueRecord values[sizeof...(ProbesT) + 1] = {internal::ValueOf<PolicyT, ProbesT>()..., {}};
};

WEFT_OFFSETS_BEGIN

namespace internal {

// What is known of a convolution's functors. Data: its PolicyData, or what has the same functors and values.
template <class Data, class PolicyT, int kValues>
constexpr PolicyRecord RecordOfFunctors() {
  static_assert(conv::CheckedPolicy<PolicyT>::kValid);
  static_assert(
      kFunctorsAreAligned<PolicyT>,
      "weft: a functor of this policy is aligned to more than 16 bytes; alignas(16) is the "
      "most that an operator of a string has");
  PolicyRecord r;
  r.image = conv::ImageOf<PolicyT>();
  AddNames(r);
  AddFunctors<PolicyT>(r);
  r.part[0] = ByteRange{.at = WEFT_OFFSET(Data, epilogue), .size = sizeof(Data::epilogue)};
  r.part[1] = ByteRange{.at = WEFT_OFFSET(Data, prologue), .size = sizeof(Data::prologue)};
  r.part[2] =
      ByteRange{.at = WEFT_OFFSET(Data, source_functor), .size = sizeof(Data::source_functor)};
  r.values = kValues;
  r.first_value = WEFT_OFFSET(Data, values);
  return r;
}

}  // namespace internal

template <class PolicyT, class... ProbesT>
constexpr PolicyRecord RecordOf() {
  using Data = PolicyData<PolicyT, ProbesT...>;
  using List = gemm::KernelList<PolicyT>;
  static_assert(List::kCount <= kMostKernels);
  PolicyRecord r = internal::RecordOfFunctors<Data, PolicyT, sizeof...(ProbesT)>();
  r.kernels = List::kCount;
  internal::AddKernels<PolicyT>(r, std::make_integer_sequence<int, List::kCount>());
  constexpr auto kHas = [](auto type) {
    return !std::is_same_v<typename decltype(type)::type, internal::NoParams>;
  };
  if (kHas(std::type_identity<decltype(Data::params_0)>())) {
    r.defaults[0] = WEFT_OFFSET(Data, params_0);
  }
  if (kHas(std::type_identity<decltype(Data::params_1)>())) {
    r.defaults[1] = WEFT_OFFSET(Data, params_1);
  }
  if (kHas(std::type_identity<decltype(Data::params_2)>())) {
    r.defaults[2] = WEFT_OFFSET(Data, params_2);
  }
  return r;
}

WEFT_OFFSETS_END

}  // namespace weft::rtc
