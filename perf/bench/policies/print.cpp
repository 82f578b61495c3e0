// print [hopper]: what perf/operators.cmake compiles, lines "<program> <policy>" for the policies of the families that
// programs measure. The program is compiled and run when CMake configures. hopper: the kernels are for sm_90a.
#include <cstdio>
#include <set>
#include <string>
#include <typeindex>
#include <typeinfo>
#include <utility>

#include "perf/block_bench/policies.hpp"
#include "perf/bottleneck_bench/policies.hpp"
#include "perf/condconv_bench/policies.hpp"
#include "perf/deconv_bench/policies.hpp"
#include "perf/epilogue_bench/policies.hpp"
#include "perf/fused_bench/policies.hpp"
#include "perf/gemm_bench/policies.hpp"
#include "perf/list_bench/policies.hpp"
#include "perf/local_bench/policies.hpp"
#include "perf/rtc_bench/policies.hpp"
#include "perf/weft_perf/tiles.hpp"

namespace weft::perf {
namespace {

// What was printed: families of a program may share policies.
std::set<std::pair<std::string, std::type_index>> seen;

// Those of which wanted.operator()<Policy>() is true, each once.
template <class Wanted, class... Policies>
void Print(const char* program, const char* name, gemm::Family<Policies...> family,
           const Wanted& wanted) {
  ForEachPolicy(family, [&]<class P>(int i) {
    if (!wanted.template operator()<P>() || !seen.emplace(program, typeid(P*)).second) return;
    std::printf("%s weft::gemm::PolicyOf<%s, %zu, %d>\n", program, name, sizeof...(Policies), i);
  });
}

}  // namespace
}  // namespace weft::perf

#define PRINT(program, ...) weft::perf::Print(#program, #__VA_ARGS__, __VA_ARGS__(), all);

int main(int argc, char**) {
  const auto all = []<class P>() { return true; };
  PRINT(block_bench, weft::perf::BlockOperators)
  PRINT(bottleneck_bench, weft::perf::bottleneck::Operators)
  PRINT(condconv_bench, weft::perf::condconv::Operators)
  PRINT(deconv_bench, weft::perf::deconv::Operators)
  PRINT(epilogue_bench, weft::perf::variants::Operators)
  PRINT(fused_bench, weft::perf::fused::Operators)
  PRINT(list_bench, weft::perf::ListOperators)
  PRINT(local_bench, weft::perf::local::Operators)
  PRINT(rtc_bench, weft::perf::rtc_cases::Operators)
#define FAMILY(...)
#define GEMM(Type, A, B) PRINT(gemm_bench, weft::perf::gemms::Type<weft::perf::A, weft::perf::B>)
#include "perf/gemms.def"
  const auto with_registers = [hopper = argc > 1]<class P>() {
    return weft::perf::HasRegisters<P>(hopper);
  };
  weft::perf::Print("weft_perf", "weft::perf::MeasuredPolicies", weft::perf::MeasuredPolicies(),
                    with_registers);
}
