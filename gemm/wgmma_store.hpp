// The second half of an epilogue for warpgroup products.
#pragma once

#include <type_traits>

#include "weft/gemm/config.hpp"
#include "weft/gemm/epilogue_store.hpp"
#include "weft/gemm/staged_store.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// What a warpgroup product's outputs go through: bytes through shared memory, and 16 bits where channels lie
// side by side in memory; others straight from registers, each by itself.
template <class P, class Output, class M>
class WgmmaStoreOf {
  static constexpr int kBytes = sizeof(typename P::Epilogue::Output);
  struct Narrow {
    using DstLayout = typename P::DstLayout;
    using Epilogue = typename P::Epilogue;
    static constexpr auto config = WithDstAlignment(P::config, kBytes);
  };

 public:
  using type = typename std::conditional_t<
      kBytes == 1 || (M::kHalves && P::DstLayout::kChannelRun != 1),
      std::type_identity<StagedStore<P, Output, M>>,
      std::type_identity<DirectStore<Narrow, Output, typename M::Map>>>::type;
};
template <class P, class Output, class M>
using WgmmaStore = typename WgmmaStoreOf<P, Output, M>::type;

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
