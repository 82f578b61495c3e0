// Chooses the second half of an epilogue for wgmma products.
#pragma once

#include <type_traits>

#include "weft/gemm/epilogue/epilogue_store.hpp"
#include "weft/gemm/staged/pooled_store.hpp"
#include "weft/gemm/staged/staged_store.hpp"
#include "weft/gemm/tile/config.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// Outputs of one byte are stored through shared memory (StagedStore, or with a MaxPool PooledStore), and so are 16-bit ones if
// channels are adjacent in the destination and the columns are not in the order kPaired
// (Mma::kHalves). All others are stored straight from registers, element by element (DirectStore).
template <class PolicyT, class Output, class Mma>
class WgmmaStoreOf {
  static constexpr int kOutputBytes = sizeof(typename PolicyT::Epilogue::Output);
  struct Stored : StorePolicyTraits {
    using DstLayout = typename PolicyT::DstLayout;
    using Epilogue = typename PolicyT::Epilogue;
    static constexpr auto config = PolicyT::config;
    static constexpr bool kDependentLaunch = true;
  };
  struct Narrow : Stored {
    static constexpr auto config = WithDstAlignment(PolicyT::config, kOutputBytes);
  };

 public:
  using type = typename std::conditional_t<
      kOutputBytes == 1 || (Mma::kHalves && PolicyT::DstLayout::kChannelRun != 1),
      std::conditional_t<PolicyT::Epilogue::kHasPool,
                         std::type_identity<PooledStore<Stored, Output, Mma>>,
                         std::type_identity<StagedStore<Stored, Output, Mma>>>,
      std::type_identity<DirectStore<Narrow, Output, typename Mma::Map>>>::type;
};
template <class PolicyT, class Output, class Mma>
using WgmmaStore = typename WgmmaStoreOf<PolicyT, Output, Mma>::type;

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
