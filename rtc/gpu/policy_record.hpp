// What compiled code says of its policy: a PolicyImage, the names it points to as text, the kernels
// and the bytes their parameters begin with. It holds no address, so that it can be read out of a file
// of code that nobody has loaded.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/conv/launch/image.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/launch/kernel_list.hpp"

namespace weft::rtc {

// What starts one of a policy's kernels.
struct KernelRecord {
  std::int32_t threads = 0;  // of a block; 0: the policy has no such kernel
  std::int32_t shared_bytes = 0;
  std::int32_t params_bytes = 0;
  bool dependent = false;  // it can start while earlier kernels of the stream run
};

inline constexpr int kMostKernels = 8;  // of a policy
inline constexpr int kMostName = 63;    // characters

struct PolicyRecord {
  std::int32_t bytes = sizeof(PolicyRecord);  // who reads it compares
  std::int32_t kernels = 0;                   // the kernels of the policy, existing or not
  conv::PolicyImage image;                    // its addresses are null
  char src_layout[kMostName + 1] = {}, dst_layout[kMostName + 1] = {};
  char prologue[kMostName + 1] = {}, other[kMostName + 1] = {};
  // Where image.params[i].defaults are, in bytes from the beginning of the record; -1: nowhere.
  std::int32_t defaults[3] = {-1, -1, -1};
  KernelRecord kernel[kMostKernels];
};

namespace internal {

constexpr void CopyName(const char* from, char (&to)[kMostName + 1]) {
  for (int i = 0; from != nullptr && from[i] != 0 && i < kMostName; ++i) to[i] = from[i];
}

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

}  // namespace internal

// Kernel kIndex of a policy; NoKernel if it has none.
template <class PolicyT, int kIndex>
using KernelOf = typename decltype(internal::ChooseKernel<PolicyT, kIndex>())::type;

// The record, and the parameters that it refers to.
template <class PolicyT>
struct PolicyData {
  PolicyRecord record;
  typename KernelOf<PolicyT, 0>::Params params_0 = {};
  typename KernelOf<PolicyT, 1>::Params params_1 = {};
  typename KernelOf<PolicyT, 2>::Params params_2 = {};
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

template <class PolicyT>
constexpr PolicyRecord RecordOf() {
  using Data = PolicyData<PolicyT>;
  using List = gemm::KernelList<PolicyT>;
  static_assert(List::kCount <= kMostKernels);
  PolicyRecord r;
  r.image = conv::ImageOf<PolicyT>();
  internal::CopyName(r.image.facts.src_layout, r.src_layout);
  internal::CopyName(r.image.facts.dst_layout, r.dst_layout);
  internal::CopyName(r.image.facts.prologue.name, r.prologue);
  internal::CopyName(r.image.facts.config.other, r.other);
  r.image.facts.src_layout = r.image.facts.dst_layout = r.image.facts.prologue.name = nullptr;
  r.image.facts.config.other = nullptr;
  for (auto& params : r.image.params) params.defaults = nullptr;
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

#pragma GCC diagnostic pop

}  // namespace weft::rtc
