#include "tests/conv/mma_cases.hpp"  // on the CPU

namespace weft::conv {
namespace {

// Which kernels are launched dependently; that they wait before they read, the executor checks in every run.
template <class EpilogueT>
constexpr bool kDependent =
    Kernel<Nc32Policy<NCxHWx<32>, EpilogueT, MmaSm80Tile<64, 64, 64, 32, 32, 3>>, 0>::kDependent;
static_assert(kDependent<BiasRelu<>>);
static_assert(!kDependent<epilogues::ResidualBiasRelu<>>);
static_assert(!Kernel<S8Conv4<>, 0>::kDependent, "through registers");

}  // namespace
}  // namespace weft::conv
