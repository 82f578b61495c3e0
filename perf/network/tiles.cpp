#include "perf/network/tiles.hpp"

#include "perf/network/policies.hpp"

namespace weft::perf {

const NetworkTiles& GpuNetworkTiles() {
  static const NetworkTiles* const tiles = [] {
    auto* const made = new NetworkTiles;
    constexpr Backend kGpu = Backend::kGpu;
    AddFamily<FirstDp4aFamily, kGpu>(&made->first);
    AddFamily<FirstMmaFamily, kGpu>(&made->first);
    AddFamily<NetworkFamily<epilogues::BiasRelu<>>, kGpu>(&made->relu);
    AddFamily<NetworkFamily<epilogues::ResidualBiasRelu<>>, kGpu>(&made->residual_relu);
    AddFamily<NetworkFamily<epilogues::BiasIdentity<>>, kGpu>(&made->nothing);
    return made;
  }();
  return *tiles;
}

}  // namespace weft::perf
