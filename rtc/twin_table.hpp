// What a twin says of its policy. A twin is the shared object that g++ makes of a policy given as
// text: the same kernels as on a GPU, for the CPU. Its one symbol, weft_twin, is a TwinTable. Both
// sides include this header, and nothing of Abseil.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "weft/conv/launch/image.hpp"
#include "weft/conv/policy/policy.hpp"
#include "weft/epilogues/chain.hpp"
#include "weft/gemm/arch/cpu_launch.hpp"
#include "weft/gemm/check/output_run.hpp"
#include "weft/gemm/launch/kernel_list.hpp"
#include "weft/rtc/executor_table.hpp"

namespace weft::rtc {

// Element types, as letters: b int8, B uint8, i int32, q int64, f float, d double, e half,
// E bfloat16, o bool, p an address, ? another one.
template <class Type>
constexpr char LetterOf() {
  if (std::is_pointer_v<Type>) return 'p';
  if (std::is_same_v<Type, std::int8_t>) return 'b';
  if (std::is_same_v<Type, std::uint8_t>) return 'B';
  if (std::is_same_v<Type, std::int32_t>) return 'i';
  if (std::is_same_v<Type, std::int64_t>) return 'q';
  if (std::is_same_v<Type, float>) return 'f';
  if (std::is_same_v<Type, double>) return 'd';
  if (std::is_same_v<Type, Half>) return 'e';
  if (std::is_same_v<Type, Bfloat16>) return 'E';
  if (std::is_same_v<Type, bool>) return 'o';
  return '?';
}

// Whose member a value is.
enum class Part { kEpilogue, kPrologue, kSourceFunctor };

// A member of a functor, which a run may set: `count` elements, `offset` bytes from the beginning of
// the part.
struct Value {
  const char* name = "";
  Part part = Part::kEpilogue;
  std::int64_t offset = 0, count = 0;
  char letter = '?';
  int owners = 0;  // functors of the policy that have a member of this name; 0: it is no value
};

struct TensorLetters {
  char src = '?', filter = '?', dst = '?', bias = '?', residual = '?', copy = '?';
};

// The functors as they are default-constructed.
struct PartBytes {
  const void* bytes = nullptr;
  std::int64_t size = 0;
};

struct TwinTable {
  const conv::PolicyImage* image = nullptr;
  TensorLetters letters;
  const char* filter_layout = "";
  int residual_channel_run = 0;  // TensorFormat::kChannelRun of the residual
  PartBytes part[3];             // by Part
  const Value* values = nullptr;
  int value_count = 0;
  void (*set_executor)(const ExecutorTable& executor) = nullptr;
  bool (*run)(const gemm::Launch&, const arch::CpuOptions&, arch::CpuReport*) = nullptr;
  std::int64_t (*filters)(const prologues::BatchExtents&) = nullptr;
  // Writes to *run what the stages with these values say of themselves.
  void (*describe_epilogue)(const void* epilogue, gemm::OutputRun* run) = nullptr;
};

// The sizes of what a twin and the program that loads it share. Twins of other headers than the
// program's have others.
struct TwinSizes {
  int table = sizeof(TwinTable), image = sizeof(conv::PolicyImage), launch = sizeof(gemm::Launch);
  int executor = sizeof(ExecutorTable), lane = sizeof(arch::cpu::Lane);
  int grid = sizeof(arch::cpu::GridLaunch), report = sizeof(arch::CpuReport);
  int options = sizeof(arch::CpuOptions);
  friend constexpr bool operator==(const TwinSizes&, const TwinSizes&) = default;
};

namespace internal {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

// What ProbeT::Of<Object>() says of a member, if Object has it.
template <class MemberT>
constexpr Value MemberAt(std::size_t offset) {
  using Element = std::remove_cv_t<std::remove_all_extents_t<MemberT>>;
  Value v;
  v.offset = static_cast<std::int64_t>(offset);
  v.count = sizeof(MemberT) / sizeof(Element);
  v.letter = LetterOf<Element>();
  v.owners = 1;
  return v;
}

template <class ProbeT, class Object>
constexpr void Look(Part part, std::int64_t base, Value* found) {
  const Value here = ProbeT::template Of<Object>();
  if (here.owners == 0) return;
  const int owners = found->owners + 1;
  if (owners == 1) {
    const char* const name = found->name;
    *found = here;
    found->name = name, found->part = part, found->offset += base;
  }
  found->owners = owners;
}

template <class ProbeT>
constexpr void LookInStages(const epilogues::internal::StageList<>*, std::int64_t, Value*) {}
template <class ProbeT, class First, class... Rest>
constexpr void LookInStages(const epilogues::internal::StageList<First, Rest...>*,
                            std::int64_t base, Value* found) {
  using List = epilogues::internal::StageList<First, Rest...>;
  Look<ProbeT, First>(Part::kEpilogue, base + WEFT_OFFSET(List, first), found);
  LookInStages<ProbeT>(static_cast<const epilogues::internal::StageList<Rest...>*>(nullptr),
                       base + WEFT_OFFSET(List, rest), found);
}

// The value that the probe finds among the functors of a policy.
template <class PolicyT, class ProbeT>
constexpr Value ValueOf() {
  using Epilogue = typename PolicyT::Epilogue;
  Value found;
  found.name = ProbeT::kName;
  LookInStages<ProbeT>(static_cast<const decltype(Epilogue::stages)*>(nullptr),
                       WEFT_OFFSET(Epilogue, stages), &found);
  Look<ProbeT, typename PolicyT::Prologue>(Part::kPrologue, 0, &found);
  Look<ProbeT, conv::SourceFunctorOf<PolicyT>>(Part::kSourceFunctor, 0, &found);
  return found;
}

#pragma GCC diagnostic pop

template <class Epilogue>
void DescribeEpilogue(const void* bytes, gemm::OutputRun* run) {
  gemm::DescribeEpilogue(*static_cast<const Epilogue*>(bytes), run);
}

template <class PolicyT>
bool RunOnCpu(const gemm::Launch& launch, const arch::CpuOptions& options,
              arch::CpuReport* report) {
  return gemm::StartKernel<PolicyT>(
      launch, [&]<class Kernel>(const typename Kernel::Params& params,
                                const arch::LaunchAttributes& attributes) {
        *report = arch::LaunchOnCpu<Kernel>(launch.grid, params, options, attributes);
      });
}

template <class Type>
inline const Type kDefaultPart{};

}  // namespace internal

// The table of a policy, for what is written behind its text.
template <class PolicyT>
constexpr TwinTable TwinOf(const conv::PolicyImage* image, const Value* values, int value_count,
                           void (*set_executor)(const ExecutorTable&)) {
  using Checked = conv::CheckedPolicy<PolicyT>;
  static_assert(Checked::kValid);
  using Epilogue = typename PolicyT::Epilogue;
  using Prologue = typename PolicyT::Prologue;
  using Functor = conv::SourceFunctorOf<PolicyT>;
  TwinTable t;
  t.image = image;
  t.letters.src = LetterOf<conv::SourceElement<PolicyT>>();
  t.letters.filter = LetterOf<typename Checked::FilterElement>();
  t.letters.dst = LetterOf<typename Epilogue::Output>();
  if constexpr (Epilogue::kHasBias) t.letters.bias = LetterOf<typename Epilogue::BiasElement>();
  if constexpr (Epilogue::kHasResidual) {
    t.letters.residual = LetterOf<typename Epilogue::ResidualElement>();
  }
  if constexpr (Epilogue::kHasCopy) {
    t.letters.copy = LetterOf<typename Epilogue::CopyStage::Element>();
  }
  t.filter_layout = PolicyT::FilterLayout::kName;
  t.residual_channel_run =
      Epilogue::template ResidualLayout<typename PolicyT::DstLayout>::kChannelRun;
  t.part[0] = {&internal::kDefaultPart<Epilogue>, sizeof(Epilogue)};
  t.part[1] = {&internal::kDefaultPart<Prologue>, sizeof(Prologue)};
  t.part[2] = {&internal::kDefaultPart<Functor>, sizeof(Functor)};
  t.values = values, t.value_count = value_count;
  t.set_executor = set_executor;
  t.run = &internal::RunOnCpu<PolicyT>;
  t.filters = [](const prologues::BatchExtents& extents) { return Prologue::Filters(extents); };
  t.describe_epilogue = &internal::DescribeEpilogue<Epilogue>;
  return t;
}

}  // namespace weft::rtc
